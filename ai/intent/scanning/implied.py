"""Questions of figures that have no time: words for how things are (`taller`, `cheapest`, `earn`) say the measure that
they compare, and `built before 1850` is a condition on a figure that is itself a year.

A word says a measure only where one alone of the kind that is asked for is called so; else the question is read as if
there were no such figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from ai.intent.lexicon import Lexicon, Role
from ai.intent.scanning.groups import in_groups, is_group
from ai.intent.scanning.having import with_equals, with_noughts
from ai.intent.scanning.plainer import plainer
from ai.intent.times import TimeSpan
from ai.intent.tokens import Item
from ai.intent.words import BEFORE_TIMES, ORIGINS, QUALITIES, QUANTIFIED, SAME_MEASURE, Quality
from retrieval.algebra.domain import FigureKind
from retrieval.algebra.wording import CALENDAR_YEAR, plural
from retrieval.english.collectives import is_person
from retrieval.english.stems import IRREGULAR, stem
from retrieval.model import EntityRef


def with_measures(items: Sequence[Item], lexicon: Lexicon) -> tuple[Item, ...]:
    """The items with the measures that they imply, and years as bounds; none where that is not certain."""
    if _asks_otherwise(items):
        return ()
    items = with_noughts(in_groups(plainer(items, lexicon), lexicon), lexicon)
    read = _Reader(lexicon, _kinds(items, lexicon), bool(_measured(items))).read(items)
    named = () if read is None else _without_times(with_equals(read, lexicon), lexicon)
    sized = any(_scale(item) == "size" for item in named)  # the size of a kind is a measure too
    who, kinded = any(one.text == "who" for one in named), any(one.has(Role.KIND) for one in named)
    grouped = any(is_group(one, lexicon) for one in named)
    counted = kinded and any(one.has(Role.MANY) for one in named)
    chosen = (kinded or who) and (grouped or (kinded and any(one.text in ("all", "every", "who") for one in named)))
    return _of_one_kind(named, lexicon) if _measured(named) or sized or counted or chosen else ()


def _asks_otherwise(items: Sequence[Item]) -> bool:
    """True for `the planets by number of moons`, which asks for each and for no sum, and for `the value of the stock`,
    which is no count of it."""
    by = any(one.text == "by" and other.has(Role.MANY) for one, other in pairwise(items))
    return by or any(item.text in ("value", "values") and not item.has(Role.MEASURE) for item in items)


@dataclass(slots=True)
class _Reader:
    """Reads the words for qualities of a question about `kinds`; `named` where it names a measure."""

    lexicon: Lexicon
    kinds: frozenset[str]
    named: bool

    def read(self, items: Sequence[Item]) -> list[Item] | None:
        found, implied = list[Item](), list[Item]()
        at = 0
        who = any(item.has(Role.WHO) for item in items)
        while at < len(items):
            item = items[at]
            taken = _quality(items, at)
            if taken is None or (taken.generic and self.named) or _is_own(item):
                found.append(replace(item, roles={Role.WHICH: True}) if item.has(Role.WHO) else item)
                at += 1
                continue
            end = at + taken.size
            told = end < len(items) and items[end].has(Role.MEASURE) and taken.degree == "most"
            figure = None if told else self._meant(taken.quality, who=who)
            if figure is None and not told:
                return None
            turned = figure is not None and figure.unit == CALENDAR_YEAR
            if figure is not None and turned and taken.degree == "":
                return None
            found += _said(items[at], taken, more=taken.more is not (turned and taken.quality.ages))
            if figure is not None:
                implied.append(_item(items[at], figure.measure, Role.MEASURE, (figure.measure,)))
            at = end
        return found + implied

    def _meant(self, quality: Quality, *, who: bool) -> FigureKind | None:
        """The one figure that is called so, of the kind that is asked for; of none a person's where somebody is."""
        if not self.kinds and not who:
            return None
        held = [f for f in self.lexicon.domain.figures if (f.kind in self.kinds if self.kinds else is_person(f.kind))]
        called = [f for f in held if f.unit != CALENDAR_YEAR and _is_called(f.measure, quality)]
        if not called and quality.ages:
            called = [f for f in held if f.unit == CALENDAR_YEAR and _is_origin(f.measure)]
        return called[0] if len(called) == 1 else None


def _is_own(item: Item) -> bool:
    """True for a word that is itself the name of a measure: `paid`, of which `earn` says nothing."""
    measures = item.roles.get(Role.MEASURE)
    return isinstance(measures, tuple) and item.text in {measure.removeprefix("year ") for measure in measures}


@dataclass(frozen=True, slots=True)
class _Taken:
    """A quality in some items: of which degree (`most` of all, `more` than another, none), and in which direction."""

    quality: Quality
    size: int
    degree: str
    more: bool
    generic: bool = False


def _quality(items: Sequence[Item], at: int) -> _Taken | None:
    """`taller than`, `older` and `than`, `tallest`, `most expensive`, `less heavy`, `how old`, `earn`; and `how much
    is`: what does it cost."""
    said, following = items[at].text.split(), items[at + 1].text if at + 1 < len(items) else ""
    if items[at].text == "how much" and following in ("is", "are"):
        return _Taken(QUALITIES["costs"], 1, "", more=True, generic=True)
    quality = QUALITIES.get(said[0]) if said and not items[at].has(Role.PLACE) else None
    if said and len(said) == 1 and following in QUALITIES and said[0] in QUANTIFIED:
        degree, more = QUANTIFIED[said[0]]
        base = QUALITIES[following]
        than = degree == "more" and at + 2 < len(items) and items[at + 2].text == "than"
        return (
            _Taken(base, 3 if than else 2, "than" if than else degree, more is base.more) if not base.degree else None
        )
    if quality is None or (len(said) > 1 and said[1:] != ["than"]):
        return None
    if quality.degree == "more" and (len(said) > 1 or following == "than"):
        return _Taken(quality, 1 if len(said) > 1 else 2, "than", quality.more, quality.generic)
    return _Taken(quality, 1, quality.degree, quality.more, quality.generic)


def _said(item: Item, taken: _Taken, *, more: bool) -> list[Item]:
    """The words of the grammar for the degree."""
    word = "larger" if more else "smaller"
    match taken.degree:
        case "most":
            return [_item(item, "highest" if more else "lowest", Role.SUPERLATIVE, (_ORDER[more], "amount"))]
        case "than":
            return [_item(item, f"{word} than", Role.COMPARATOR, ">" if more else "<")]
        case "more":
            return [_item(item, word, Role.COMPARATIVE, True)]
        case _:
            return []


_ORDER = {True: "largest", False: "smallest"}


def _item(at: Item, text: str, role: Role, value: object) -> Item:
    return Item(at.start_char, at.end_char, text, {role: value}, None, text)


def _kinds(items: Sequence[Item], lexicon: Lexicon) -> frozenset[str]:
    """The kinds that are said, else those of what is named, but for groups that things are in."""
    said = {str(item.roles[Role.KIND]) for item in items if item.has(Role.KIND)}
    refs = [ref for item in items if isinstance(ref := item.roles.get(Role.PLACE), EntityRef)]
    of = {ref.type for ref in refs if not (ref.listed and ref.type not in _measured_kinds(lexicon))}
    return frozenset(said or of)


def _measured_kinds(lexicon: Lexicon) -> set[str]:
    return {figure.kind for figure in lexicon.domain.figures}


def _measured(items: Sequence[Item]) -> list[tuple[str, ...]]:
    found = (item.roles.get(Role.MEASURE) for item in items)
    return [measures for measures in found if isinstance(measures, tuple)]


def _top(item: Item) -> tuple[str, str]:
    """The order and the scale of a superlative; empty for anything else."""
    value = item.roles.get(Role.SUPERLATIVE)
    return (str(value[0]), str(value[1])) if isinstance(value, tuple) else ("", "")


def _scale(item: Item) -> str:
    return _top(item)[1]


def _is_called(measure: str, quality: Quality) -> bool:
    """True for `price` and `unit price`; a `shipping cost` is that of something else."""
    *before, head = measure.casefold().partition(" per ")[0].split()
    return head in quality.measures and set(before) <= SAME_MEASURE


def _is_origin(measure: str) -> bool:
    """True for the year in which a thing came to be: `year built`, `year of birth`."""
    return any(stem(IRREGULAR.get(word, word)) in ORIGINS for word in measure.casefold().split())


def _without_times(items: Sequence[Item], lexicon: Lexicon) -> Sequence[Item]:
    """The items with each time behind a figure that is a year as a bound of it, and what comes first or last by such a
    figure; none where another time is named."""
    found: list[Item] = []
    yearly = [item for item in items if _is_yearly(item, lexicon)]
    for item in items:
        if _scale(item) == "time":
            if len(yearly) != 1:
                return ()
            found.append(_item(item, item.text, Role.SUPERLATIVE, (_top(item)[0], "amount")))
        elif item.has(Role.TIME):
            lead = list[Item]()
            while found and found[-1].text in BEFORE_TIMES:
                lead.append(found.pop())
            since = not any(word.text == "after" for word in lead)
            bound = _bound(item, since=since) if found and found[-1] in yearly else ()
            if not bound:
                return ()
            measure = found.pop()  # behind the number it is what this bound alone is of
            found += (*bound, measure)
        else:
            found.append(item)
    return found


def _is_yearly(item: Item, lexicon: Lexicon) -> bool:
    measures = item.roles.get(Role.MEASURE)
    held = {f.unit for f in lexicon.domain.figures if isinstance(measures, tuple) and f.measure in measures}
    return held == {CALENDAR_YEAR}


def _bound(item: Item, *, since: bool) -> Sequence[Item]:
    """A time of whole years as the numbers between which a year lies; `since` its first year, else after the one before
    that."""
    span = item.value
    if not isinstance(span, TimeSpan):
        return ()
    first, last = span.time.start, span.time.end
    if (first.month, first.day, last.month, last.day) != (1, 1, 12, 31):
        return ()

    def number(year: int) -> Item:
        return _item(item, str(year), Role.NUMBER, year)

    if first == date.min:
        return _item(item, "less than", Role.COMPARATOR, "<"), number(last.year + 1)
    if last == date.max:
        word, sign = ("at least", ">=") if since else ("more than", ">")
        return _item(item, word, Role.COMPARATOR, sign), number(first.year - (not since))
    if first.year == last.year:
        return _item(item, "exactly", Role.COMPARATOR, "="), number(first.year)
    between = _item(item, "between", Role.BETWEEN, True)
    return between, number(first.year), _item(item, "and", Role.AND, True), number(last.year)


def _of_one_kind(items: Sequence[Item], lexicon: Lexicon) -> tuple[Item, ...]:
    """The items with the one kind that has the measures, where none is said; a person's where somebody is asked for."""
    who = any(item.text in ("who", "whose") for item in items)
    kinds = _kinds(items, lexicon)
    having = [set[str]().union(*map(lexicon.domain.kinds_with, measures)) for measures in _measured(items)]
    meant = kinds or (set.intersection(*having) if having else _measured_kinds(lexicon))
    if who and not kinds:
        meant = {kind for kind in meant if is_person(kind)}
    if who and not all(map(is_person, meant)):
        return ()
    if kinds and (not who or any(item.has(Role.KIND) for item in items)):
        return tuple(items)
    return (*items, *(_item(items[-1], plural(kind), Role.KIND, kind) for kind in meant)) if len(meant) == 1 else ()
