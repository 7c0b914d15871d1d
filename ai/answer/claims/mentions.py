"""A sentence's mentions of places, years and values, and which belong together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ai.answer.claims.facts import Figures
from ai.answer.claims.lexicon import APPROXIMATELY, BOUNDS, PERSONS
from ai.answer.claims.numbers import Number, read_numbers
from ai.text.sentences import word_list
from ai.text.support import WORD, fold

T = TypeVar("T")
AFTER = re.compile(r"[\s(]*([^\W\d_]+)")
_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]++)[\s(]*+$")
TIME_WORDS = word_list("in for by since from to until till during year census and or through between of")
"""Words before a number that make a year of it."""
_GAPS = word_list("by change difference increase decrease gain loss growth decline drop rise fall")
"""Words before a number that make a difference of it."""


@dataclass(frozen=True, slots=True)
class Place:
    start: int
    end: int
    ids: frozenset[str]


@dataclass(slots=True)
class Mentions:
    """The sentence as read: its places, years, values, and what of it is accounted for."""

    text: str
    places: list[Place] = field(default_factory=list)
    years: list[Number] = field(default_factory=list)
    values: list[Number] = field(default_factory=list)
    gaps: list[Number] = field(default_factory=list)
    taken: list[tuple[int, int]] = field(default_factory=list)


def place_names(figures: Figures) -> dict[str, frozenset[str]]:
    """How the places of figures are called: by name, and by name without the word for their kind."""
    found: dict[str, set[str]] = {}
    for entity in {s.place for s in figures.stated} | {r.place for r in figures.ranked}:
        forms = {entity.name}
        kind = entity.type.replace("_", " ")
        if kind and entity.name.casefold().endswith(f" {kind.casefold()}"):
            forms.add(entity.name[: -len(kind) - 1])
        for form in forms:
            found.setdefault(" ".join(form.casefold().split()), set()).add(entity.entity_id)
    return {form: frozenset(ids) for form, ids in found.items()}


def read_mentions(text: str, every: Figures) -> Mentions:
    read = Mentions(text)
    names = place_names(every)
    if names:
        pattern = "|".join(re.escape(n).replace(r"\ ", r"\s+") for n in sorted(names, key=lambda n: (-len(n), n)) if n)
        for m in re.finditer(rf"(?<!\w)(?:{pattern})(?:['’]s?)?(?!\w)", text, re.IGNORECASE):
            if m[0][:1].isupper():
                form = " ".join(re.sub(r"['’]s?$", "", m[0]).casefold().split())
                read.places.append(Place(m.start(), m.end(), names.get(form, frozenset())))
                read.taken.append(m.span())
    persons = any(s.counts_persons for s in every.stated)
    units = frozenset[str]().union(*(s.counted for s in every.stated))
    units |= PERSONS if persons else frozenset()
    years = {y for s in every.stated for y in s.years}
    for number in read_numbers(text):
        if any(a <= number.start < b for a, b in read.taken):
            continue
        read.taken.append((_bound_start(text, number), number.end))
        _place_number(number, read, units, years)
    return read


def _place_number(number: Number, read: Mentions, units: frozenset[str], years: set[int]) -> None:
    before, after = _word(_BEFORE, read.text[: number.start]), _word(AFTER, read.text[number.end :], match=True)
    if number.may_be_year and after not in units and (int(number.value) in years or before in TIME_WORDS):
        earlier = _word(_BEFORE, read.text[: number.start].rstrip()[: -len(before)]) if before else ""
        if (
            before in TIME_WORDS - {"of"}
            or (before == "of" and earlier not in units)
            or not before
            or read.text[number.end :].lstrip()[:1] == ":"
        ):
            read.years.append(number)
            return
        if int(number.value) in years and before not in {"was", "is", "were", "had", "reached", "of", "at"}:
            read.years.append(number)
            return
    if (
        number.share
        or number.signed
        or before in _GAPS
        or (before == "of" and _word(_BEFORE, read.text[: number.start].rstrip()[:-2]) in _GAPS)
    ) or number.ordinal:
        read.gaps.append(number)
    else:
        read.values.append(number)


def _word(pattern: re.Pattern[str], text: str, *, match: bool = False) -> str:
    found = pattern.match(text) if match else pattern.search(text)
    return fold(found[1]) if found else ""


def _bound_start(text: str, number: Number) -> int:
    """Where the words before a number begin that belong to it: `more than`, `about`."""
    words = list(WORD.finditer(text[: number.start]))
    folded = tuple(fold(w[0]) for w in words[-4:])
    for bound, _ in BOUNDS:
        if folded[-len(bound) :] == bound:
            return words[-len(bound)].start()
    return words[-1].start() if folded and folded[-1] in APPROXIMATELY else number.start


def bound_values(read: Mentions) -> Iterator[tuple[Number, Place | None, Number | None]]:
    """Each value with its place and year: the one there is, or turn by turn where there are as many. Where neither
    fits, the value has none of them and cannot be checked."""
    count = len(read.values)
    for n, value in enumerate(read.values):
        yield value, _partner(read.places, n, count), _partner(read.years, n, count)


def _partner(found: Sequence[T], n: int, count: int) -> T | None:
    if not found:
        return None
    if len(found) == 1:
        return found[0]
    return found[n] if len(found) == count else None


def words_left(read: Mentions) -> Iterator[re.Match[str]]:
    for match in WORD.finditer(read.text):
        if not any(a <= match.start() < b for a, b in read.taken) and not match[0][0].isdigit():
            yield match
