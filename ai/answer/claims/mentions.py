"""A sentence's mentions of places, years and values, and which belong together."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ai.answer.claims.facts import Figures
from ai.answer.claims.lexicon import APPROXIMATELY, bound_of
from ai.answer.claims.numbers import Number, read_numbers
from ai.text.support import WORD, fold
from retrieval.english.lists import word_list

T = TypeVar("T")
AFTER = re.compile(r"[\s(]*([^\W\d_]+)")
_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]++)[\s(]*+$")
TIME_WORDS = word_list("in for by since from to until till during year census and or through between of")
"""Words before a number that make a year of it."""
_OWNING = re.compile(r"['’]s?$")
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


def read_mentions(text: str, every: Figures) -> Mentions:
    read, words = Mentions(text), every.vocabulary
    for m in words.named.finditer(text) if words.named is not None else ():
        if m[0][:1].isupper():
            form = " ".join(_OWNING.sub("", m[0]).casefold().split())
            read.places.append(Place(m.start(), m.end(), words.names.get(form, frozenset())))
            read.taken.append(m.span())
    spoken = [(m.end(), m.start(), m[0]) for m in WORD.finditer(text)]
    for number in read_numbers(text):
        if any(a <= number.start < b for a, b in read.taken):
            continue
        read.taken.append((_bound_start(spoken, number), number.end))
        _place_number(number, read, words.units, words.years)
    return read


def _place_number(number: Number, read: Mentions, units: frozenset[str], years: frozenset[int]) -> None:
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


def _bound_start(words: Sequence[tuple[int, int, str]], number: Number) -> int:
    """Where the words before a number begin that belong to it: `more than`, `about`. `words` are those of the text:
    end, start and word of each."""
    before = words[: bisect_right(words, (number.start, number.start, ""))][-4:]
    folded = tuple(fold(word) for _, _, word in before)
    found = bound_of(folded)
    if found is not None:
        return before[-found[0]][1]
    return before[-1][1] if folded and folded[-1] in APPROXIMATELY else number.start


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
