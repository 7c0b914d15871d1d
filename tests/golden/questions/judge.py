"""The judge: an answer against the gold of its question.

| verdict | |
|---|---|
| right | all that is due is said, and no other figure or name of the kind that was asked |
| abstained | no answer where there is none, or where a careful person may refuse (`may_abstain`) |
| missed | no answer where there is one |
| partial | part of a list, and the answer or a limitation says how many there are |
| false | everything else: a wrong figure or name, an answer to another question, an answer where none is due |

The judge reads the released sentences alone; a limitation counts only as the word that a list is cut. Where the gold is an
abstention every ANSWER is false, also one that quotes a text. Years, the subject of the question, and figures that the
gold was computed from may be said beside the answer; nothing else may.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from tests.golden.questions.gold import Figure, Gold
from tests.golden.questions.world import World, plain


class Verdict(StrEnum):
    RIGHT = "right"
    ABSTAINED = "abstained"
    MISSED = "missed"
    PARTIAL = "partial"
    FALSE = "false"


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    reason: str = ""

    @property
    def good(self) -> bool:
        return self.verdict in {Verdict.RIGHT, Verdict.ABSTAINED}


LONG_LIST = 20
"""A list longer than this may be cut, if the answer says exactly how long it is."""

_RANK = (Verdict.RIGHT, Verdict.PARTIAL, Verdict.FALSE)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(
    rf"\b({_MONTHS}) (\d{{1,2}}), (\d{{4}})\b|\b(\d{{1,2}}) ({_MONTHS}) (\d{{4}})\b|\b(\d{{4}})-(\d\d)-(\d\d)\b"
)
_CITATION = re.compile(r"\b\d+ [A-Z][a-z]+\.? \d+\b(?: \d+ Stat\. \d+)?")
_NUMBER = re.compile(r"(?<![\w.,])[-−–]?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?:\s?(million|thousand|%))?(?!\w)")
_OF = re.compile(r"\b(?:of|among|all)(?: the)? ([\d,]+) (?!km|mile|people|inhab|per)[a-z]")
_MORE_OF_THEM = re.compile(r"\b([\d,]+) (?:others?|more)\b")
_COUNTS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
]
_YEAR_BY_YEAR = re.compile(r"(?:\b\d{4}:? \d[\d,]*(?:[,;] |\b)){3,}")
_DOWN = re.compile(r"\b(?:fell|fall|lost|loss|decreas\w*|declin\w*|drop\w*|shr[aiu]nk|less|fewer|down|lower)\b|[−-]\d")
_UP = re.compile(r"\b(?:rose|rise|grew|grow\w*|gain\w*|increas\w*|more|added|up|higher)\b")
_MORE = re.compile(r"\b(?:larger|more|greater|bigger|higher|farther|further|farthest|largest|most)\b")
_LESS = re.compile(r"\b(?:smaller|fewer|less|lower|closer|nearer|nearest|closest|smallest|fewest)\b")
_YES = re.compile(r"^\s*yes\b", re.I)
_NO = re.compile(r"^\s*no\b", re.I)


def judge(
    body: Mapping[str, Any], golds: Sequence[Gold], *, world: World, question: str, may_abstain: bool = False
) -> Judgement:
    """The verdict over a wire body. `golds` are all right answers; the first is the plainest."""
    due = [g for g in golds if not g.is_abstention]
    if body["outcome"] != "ANSWER":
        free = may_abstain or len(due) < len(golds)
        return Judgement(Verdict.ABSTAINED if free else Verdict.MISSED, ", ".join(body.get("reason_codes", ())))
    if not due:
        return Judgement(Verdict.FALSE, "an answer where none is due")
    said = Said.of(body, world, question)
    found = [_against(said, gold) for gold in due]
    return min(found, key=lambda j: _RANK.index(j.verdict))


@dataclass(frozen=True)
class Number:
    """A number as it is written, with the places behind its point."""

    value: float
    decimals: int
    start: int
    grouped: bool

    def shows(self, value: float, slack: float = 0.0) -> bool:
        """Whether it is this value, rounded as it is written."""
        off = abs(self.value - abs(value))
        return off <= 0.5 * 10**-self.decimals + 1e-6 or off <= slack * abs(value)

    @property
    def is_year(self) -> bool:
        return not self.grouped and not self.decimals and 1500 <= self.value <= 2100


@dataclass(frozen=True)
class Said:
    """An answer taken apart: text, names with their offsets, numbers, days."""

    text: str
    notes: str
    world: World
    names: tuple[tuple[int, int, frozenset[str]], ...]
    numbers: tuple[Number, ...]
    days: frozenset[date]
    asked: frozenset[float]
    asked_names: frozenset[str]

    @classmethod
    def of(cls, body: Mapping[str, Any], world: World, question: str) -> Said:
        text = " ".join(s["text"] for s in body["sentences"])
        notes = " ".join(str(note["message"]) for note in body.get("limitations", ()))
        names, rest = _names(text, world)
        rest, days = _without_days(text, rest)
        asked = {n.value for n in _numbers(_without_days(question, question)[0])}
        asked_names = {i for _, _, ids in _names(question, world, any_case=True)[0] for i in ids}
        return cls(text, notes, world, names, tuple(_numbers(rest)), days, frozenset(asked), frozenset(asked_names))

    def names_of(self, kinds: Iterable[str]) -> list[tuple[int, frozenset[str]]]:
        """The names said of some kinds, in order: a name that several bear is each of them."""
        kinds = set(kinds)
        found = []
        for start, _, ids in self.names:
            of_kind = frozenset(i for i in ids if self.world.kinds[i] in kinds)
            if of_kind:
                found.append((start, ids))
        return found


def _against(said: Said, gold: Gold) -> Judgement:
    if gold.truth is not None:
        return _yes_or_no(said, gold)
    checks = (_wording, _days) if gold.words or gold.days else _CHECKS
    for check in checks:
        if reason := check(said, gold):
            return Judgement(Verdict.FALSE, reason)
    return Judgement(Verdict.RIGHT) if gold.names is None else _members(said, gold)


def _wording(said: Said, gold: Gold) -> str:
    if gold.said is not None and plain(gold.said) not in plain(said.text):
        return f"does not say {gold.said!r}"
    missing = gold.words and not any(plain(w) in plain(said.text) for w in gold.words)
    return f"says none of {gold.words}" if missing else ""


def _days(said: Said, gold: Gold) -> str:
    return f"says the days {sorted(map(str, said.days))[:3]}" if gold.days and set(gold.days) != said.days else ""


def _yes_or_no(said: Said, gold: Gold) -> Judgement:
    yes, no = bool(_YES.search(said.text)), bool(_NO.search(said.text))
    if yes or no:
        right = yes is gold.truth
        return Judgement(Verdict.RIGHT if right else Verdict.FALSE, "" if right else "the wrong way round")
    whole = (
        replace(each, may=gold.may, may_names=each.may_names | gold.may_names, years=gold.years, own=gold.own)
        for each in gold.instead
    )
    return min((_against(said, each) for each in whole), key=lambda j: _RANK.index(j.verdict))


def _figures(said: Said, gold: Gold) -> str:
    """The first figure that is due and not said, or that is said and neither due nor allowed."""
    for figure in gold.figures:
        if not any(_is(n, figure) for n in said.numbers) and not _spelled(said.text, figure):
            return f"{figure.forms[0]:,.10g} is not said"
    context = {float(m[1].replace(",", "")) for m in _OF.finditer(said.text)}
    if gold.names is not None:
        context |= {float(m[1].replace(",", "")) for m in _MORE_OF_THEM.finditer(said.text)}
    allowed = gold.may | said.asked | gold.years | gold.by_year.keys() | context
    quoted = _row(said, gold)
    for number in said.numbers:
        if number.start in quoted:
            continue
        due = any(_is(number, f) for f in gold.figures)
        if not due and not any(number.shows(v, 0.005 if v != round(v) else 0) for v in allowed):
            return f"says {number.value:,.10g}"
    return ""


def _row(said: Said, gold: Gold) -> set[int]:
    """Where the numbers of a quoted table row begin: three or more years, each with the figure that is its own."""
    starts: set[int] = set()
    for run in _YEAR_BY_YEAR.finditer(said.text):
        pairs = re.findall(r"(\d{4}):? ([\d,]*\d)", run[0])
        if all(gold.row.get(int(year)) == float(figure.replace(",", "")) for year, figure in pairs):
            starts |= set(range(run.start(), run.end()))
    return starts


def _is(number: Number, figure: Figure) -> bool:
    return any(number.shows(form, figure.slack) for form in figure.forms)


def _spelled(text: str, figure: Figure) -> bool:
    value = figure.forms[0]
    if value not in range(len(_COUNTS)):
        return False
    words = [_COUNTS[int(value)]] + (["no", "none", "the same"] if value == 0 else [])
    return any(re.search(rf"\b{w}\b", text, re.I) for w in words)


def _first(said: Said, gold: Gold) -> str:
    if gold.first is None:
        return ""
    named = said.names_of({said.world.kinds[gold.first]})
    more, less = bool(_MORE.search(said.text)), bool(_LESS.search(said.text))
    turned = len({ids for _, ids in named}) == 2 and (
        (more and not less and not gold.most) or (less and not more and gold.most)
    )
    chosen = named[0][1] if named and not turned else named[1][1] if turned else frozenset()
    return "" if gold.first in chosen else f"{said.world.places[gold.first].name} is not the one that it names"


def _foreign_names(said: Said, gold: Gold) -> str:
    """A name of the asked kind that is neither due nor part of the matter. In a list the subject is no member."""
    allowed = (gold.names or frozenset()) | gold.may_names | said.asked_names | ({gold.first} if gold.first else set())
    for _, ids in said.names_of(gold.kinds):
        if not ids & allowed:
            return f"names {sorted(ids)[0]}"
    return ""


def _own_figures(said: Said, gold: Gold) -> str:
    """A figure beside a name or year whose figure it is not."""
    for start, end, ids in said.names:
        own = frozenset(n for i in ids for n in gold.own.get(i, frozenset()))
        if not own:
            continue
        follow = re.match(
            r"(?:, [A-Z][a-z]+,?)? ?(?:\(|: |, |,? with |,? had )(?:a \w+ of )?([\d,]*\d(?:\.\d+)?)", said.text[end:]
        )
        if follow:
            number = next(_numbers(follow[1]))
            foreign = any(number.shows(v) for i, vs in gold.own.items() if i not in ids for v in vs)
            if foreign and not any(number.shows(v, 0.005) for v in own | said.asked | gold.years):
                return f"{number.value:,.10g} is not the figure of {said.text[start:end]}"
    for match in re.finditer(r"([\d,]*\d)(?: \w+)? in (\d{4})\b|\b(\d{4})(?:: | \(|, )([\d,]*\d)", said.text):
        figure, year = (match[1], match[2]) if match[1] else (match[4], match[3])
        known = gold.by_year.get(int(year))
        number = next(_numbers(figure))
        if known is not None and not number.is_year and not number.shows(known):
            return f"{figure} is not the figure of {year}"
    return ""


def _direction(said: Said, gold: Gold) -> str:
    if gold.rising is None:
        return ""
    up, down = bool(_UP.search(said.text)), bool(_DOWN.search(said.text))
    return "says the opposite direction" if (down and not up if gold.rising else up and not down) else ""


_CHECKS: tuple[Callable[[Said, Gold], str], ...] = (
    _wording,
    _figures,
    _first,
    _foreign_names,
    _own_figures,
    _direction,
)


def _members(said: Said, gold: Gold) -> Judgement:
    assert gold.names is not None
    kinds = {said.world.kinds[i] for i in gold.names} or gold.kinds
    named = said.names_of(kinds)
    seen = {i for _, ids in named for i in ids}
    outside = [ids for _, ids in named if not ids & gold.names]
    subject = outside and all(ids & (gold.may_names | said.asked_names) for ids in outside)
    if outside and not subject:
        return Judgement(Verdict.FALSE, f"names {sorted(outside[0])[0]}")
    if not gold.names:
        nothing = re.search(r"\b(?:no|none|not|0)\b", said.text, re.I)
        return Judgement(Verdict.RIGHT if nothing else Verdict.FALSE, "" if nothing else "there are none")
    missing = gold.names - seen
    if missing:
        everything = f"{said.text} {said.notes}"
        whole = any(n.value == len(gold.names) for n in _numbers(everything))
        rest = any(int(m[1].replace(",", "")) == len(missing) for m in _MORE_OF_THEM.finditer(everything))
        if (whole or rest) and len(missing) < len(gold.names):
            verdict = Verdict.RIGHT if whole and len(gold.names) > LONG_LIST else Verdict.PARTIAL
            return Judgement(verdict, f"{len(missing)} of {len(gold.names)} not named, and it says so")
        return Judgement(Verdict.FALSE, f"{len(missing)} of {len(gold.names)} not named: {sorted(missing)[:3]}")
    if gold.order:
        firsts = [next(start for start, ids in named if i in ids) for i in gold.order]
        if firsts != sorted(firsts):
            return Judgement(Verdict.FALSE, "not in the order that was asked")
    return Judgement(Verdict.RIGHT)


def _without_days(text: str, rest: str) -> tuple[str, frozenset[date]]:
    """`rest` with the full dates of the text blanked out, and the dates."""
    days = set()
    for match in _DATE.finditer(text):
        month, day, year, day2, month2, year2, y, m, d = match.groups()
        try:
            if y:
                days.add(date(int(y), int(m), int(d)))
            else:
                parts = (year or year2, month or month2, day or day2)
                days.add(datetime.strptime(" ".join(parts), "%Y %B %d").date())  # noqa: DTZ007  a day
        except ValueError:
            continue
        rest = rest[: match.start()] + " " * len(match[0]) + rest[match.end() :]
    return rest, frozenset(days)


def _names(
    text: str, world: World, *, any_case: bool = False
) -> tuple[tuple[tuple[int, int, frozenset[str]], ...], str]:
    """Known names in the text (written with a capital unless `any_case`), and the text with the digits of names and
    citations blanked out. A date names an event only where no citation does."""
    found, rest = [], text
    for start, end, ids in world.named(text):
        if text[start].islower() and not any_case:
            continue
        if _DATE.fullmatch(text[start:end]) and _CITATION.search(text[max(0, start - 80) : start]):
            continue
        found.append((start, end, ids))
        rest = rest[:start] + re.sub(r"\d", " ", rest[start:end]) + rest[end:]
    return tuple(found), _CITATION.sub(lambda m: " " * len(m[0]), rest)


def _numbers(text: str) -> Iterable[Number]:
    for match in _NUMBER.finditer(text):
        whole, fraction, scale = match.groups()
        value = float(whole.replace(",", "") + (fraction or ""))
        decimals = len(fraction) - 1 if fraction else 0
        if scale in {"million", "thousand"}:
            power = 6 if scale == "million" else 3
            value, decimals = value * 10**power, decimals - power
        yield Number(value, decimals, match.start(), "," in whole)
