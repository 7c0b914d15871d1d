"""`read_phrases`: every phrase of a question, and what is left over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ai.intent.lexicon import Role
from ai.intent.phrases import Moved, Phrases
from ai.intent.scanning.amounts import bounded, number_of_places, ranked, sparser, superlative, than, than_before
from ai.intent.scanning.scanner import Scanner
from ai.intent.scanning.sets import (
    attributive,
    between,
    border,
    denied_place,
    exception,
    inside,
    outside,
    towards,
)
from ai.intent.times import TimeSpan
from ai.intent.tokens import Item
from ai.intent.words import BEFORE_TIMES, PEOPLE
from retrieval.algebra.aggregates import AggregateName
from retrieval.english.collectives import is_collective
from retrieval.english.stems import may_be_many


def read_phrases(items: Sequence[Item]) -> Phrases:
    """The phrases of a question: each item is consumed by one phrase, changes nothing by the closed list, or is left
    over."""
    return Scanner(items).read(_PHRASES)


def _time(s: Scanner) -> bool:
    """A time with the words before it that it was read with. A denied one is not the time of a figure; `in both 1865
    and 1867` is each."""
    ahead = 0
    if _time_denied(s):
        return True
    if s.text() == "in" and s.text(1) == "both" and s.has(Role.TIME, 2):
        s.found.both_times.append(True)
        s.at += 2
    while s.at + ahead < len(s.items) and s.item(ahead).text in BEFORE_TIMES and ahead < _LEAD:
        ahead += 1
    if not s.has(Role.TIME, ahead):
        return False
    value = s.item(ahead).value
    assert isinstance(value, TimeSpan)  # noqa: S101 - the role's value
    s.mark("time", len(s.found.times))
    s.found.times.append(value)
    s.at += ahead + 1
    return True


_LEAD = 4


def _time_denied(s: Scanner) -> bool:
    """`in 1867 but not in 1865`."""
    ahead = 1 if s.text() == "in" else 0
    beside = s.at > 1 and s.items[s.at - 1] is s.denied and s.text(-2) in ("but", "and", ",")
    if not beside or s.text(-1) != "not" or not s.has(Role.TIME, ahead):
        return False
    value = s.item(ahead).value
    assert isinstance(value, TimeSpan)  # noqa: S101 - the role's value
    s.found.times_denied.append(value)
    s.denied = None
    s.at += ahead + 1
    return True


def _negation(s: Scanner) -> bool:
    if not s.has(Role.NEGATION):
        return False
    s.deny(s.item())
    s.at += 1
    return True


def _named(s: Scanner) -> bool:
    for role, slot in ((Role.PLACE, s.found.named), (Role.THING, s.found.things)):
        listed = s.listed(0, role)
        if listed is not None:
            slot.append(listed[0])
            s.at += listed[1]
            return True
    return False


def _change(s: Scanner) -> bool:
    """`lost people`, `did not grow`; `gain or lose` is a change of either kind."""
    if not s.has(Role.CHANGE):
        return False
    direction = int(str(s.item().roles[Role.CHANGE]))
    ahead = 1
    if s.text(1) == "or" and s.has(Role.CHANGE, 2):
        direction, ahead = 0, 3
    s.mark("change", len(s.found.changes))
    s.found.changes.append(Moved(direction, s.take_denial()))
    s.at += ahead
    return True


def _per_area(s: Scanner) -> bool:
    """`per square mile`; `the density, in people per square mile`."""
    told = bool(s.found.densities) and s.text() == "in" and s.has(Role.MEASURE, 1) and s.text(1) in PEOPLE
    ahead = 2 if told else 0
    if not s.has(Role.PER_AREA, ahead):
        return False
    if not s.found.densities:
        s.mark("figure")
        s.found.densities.append(True)
    s.found.per.append(str(s.item(ahead).roles[Role.PER_AREA]))
    if told:
        s.found.measures.append(cast("tuple[str, ...]", s.item(1).roles[Role.MEASURE]))
    s.at += ahead + 1
    return True


def _both(s: Scanner) -> bool:
    """`both more than 600 km² and more than 30,000 people`: each condition holds anyway."""
    if s.text() != "both" or not s.has(Role.COMPARATOR, 1):
        return False
    s.at += 1
    return True


def _unit(s: Scanner) -> bool:
    """`in miles`, `how many square miles`."""
    ahead = 1 if s.text() == "in" else 0
    for role in (Role.LENGTH, Role.SQUARE):
        if s.has(role, ahead):
            s.found.units.append((role, s.item(ahead).roles[role]))
            s.at += ahead + 1
            return True
    return False


def _held_place(s: Scanner) -> bool:
    """`contains Topeka`: which place holds it."""
    if not s.has(Role.HOLDS):
        return False
    s.found.holds.append(s.take_denial())
    s.at += 1
    return True


def _single(
    role: Role, slot: str, value: Callable[[Item], object], *, figure: bool = False
) -> Callable[[Scanner], bool]:
    def phrase(s: Scanner) -> bool:
        if not s.has(role):
            return False
        if figure:
            s.mark("figure")
        getattr(s.found, slot).append(value(s.item()))
        s.at += 1
        return True

    return phrase


def _of(role: Role) -> Callable[[Item], object]:
    return lambda item: item.roles[role]


def _true(_: Item) -> object:
    return True


def _bare_than(s: Scanner) -> bool:
    """`than` alone: `five times larger than Topeka`."""
    if not s.has(Role.THAN):
        return False
    s.found.than.append(bool(s.found.named or s.found.inside))
    s.at += 1
    return True


def _conjunction(s: Scanner) -> bool:
    if s.has(Role.AND) and s.item().text in ("and", ","):
        s.at += 1
        return True
    return False


def _aggregate(s: Scanner) -> bool:
    """`average population`; the `median county` is a county, and no operation finds it."""
    if not s.has(Role.AGGREGATE) or s.has(Role.KIND, 1):
        return False
    s.found.aggregates.append(cast("AggregateName", s.item().roles[Role.AGGREGATE]))
    s.at += 1
    return True


def _noun(s: Scanner) -> bool:
    """A kind of place, or a type of thing."""
    for role, slot in ((Role.KIND, s.found.kinds), (Role.TYPE, s.found.types)):
        if s.has(role):
            slot.append(str(s.item().roles[role]))
            s.found.order.append(slot[-1])
            last = s.text().rpartition(" ")[2]
            if not (may_be_many(last) or is_collective(last)):
                s.found.singular.append(slot[-1])
            s.at += 1
            return True
    return False


def _exceeds(s: Scanner) -> bool:
    """`by how much did it exceed that`: a difference, and no bound."""
    if "much" not in s.found.asked or s.text() not in ("exceed", "exceeds", "exceeded"):
        return False
    s.found.differences.append(True)
    s.at += 1
    return True


def _by_share(s: Scanner) -> bool:
    """`by what percentage did it grow`: the change is wanted in per cent."""
    ahead = 1 if s.text() == "by" else 0
    if not ahead or not s.has(Role.SHARE, ahead) or s.item(ahead).text.endswith(" of"):
        return False
    s.found.relative.append(True)
    s.at += ahead + 1
    return True


def _multiple(s: Scanner) -> bool:
    """`how many times as many people as Topeka`: what the multiple is of."""
    listed = s.listed(1, Role.PLACE) if s.has(Role.AS) and s.found.ratios else None
    if listed is None or len(listed[0].refs) > 1:
        return False
    s.found.bases += listed[0].refs
    s.at += listed[1]
    return True


def _many(s: Scanner) -> bool:
    if not s.has(Role.MANY):
        return False
    nouns = ((Role.MEASURE, "measure"), (Role.KIND, "kind"), (Role.TYPE, "type"))
    s.found.counted += [noun for role, noun in nouns if s.has(role, s.skip(1))]
    s.found.asked.append("many")
    s.at += 1
    return True


def _jointly(s: Scanner) -> bool:
    """`together with the Cheyenne`."""
    listed = s.listed(1, Role.THING) if s.has(Role.JOINTLY) else None
    if listed is None or s.denied is not None:
        return False
    s.found.joint.append(listed[0])
    s.at += listed[1]
    return True


def _by(s: Scanner) -> bool:
    """`by population`, `by more than 5 %`; before a year it would be another time."""
    nothing = s.item().text == "by" and s.at + 1 < len(s.items) and not s.has(Role.TIME, 1)
    s.at += nothing
    return nothing


def _nothing(s: Scanner) -> bool:
    if s.has(Role.NOTHING):
        s.at += 1
        return True
    return False


_PHRASES: Sequence[Callable[[Scanner], bool]] = (
    _time,
    exception,
    bounded,
    than_before,
    than,
    outside,
    border,
    towards,
    between,
    superlative,
    ranked,
    sparser,
    number_of_places,
    _single(Role.DISTANCE, "asked", lambda _: "distance"),
    _many,
    _single(Role.MUCH, "asked", lambda _: "much"),
    _single(Role.WHEN, "asked", lambda _: "when"),
    _single(Role.WHO, "asked", lambda _: "who"),
    _single(Role.WHERE, "asked", lambda _: "where"),
    _single(Role.DENSITY, "densities", _true, figure=True),
    _per_area,
    _single(Role.AREA, "areas", _true),
    _noun,
    _single(Role.MEASURE, "measures", _of(Role.MEASURE), figure=True),
    _change,
    _single(Role.RELATIVE, "relative", _true),
    _single(Role.DIFFERENCE, "differences", _true),
    _single(Role.RATIO, "ratios", _true),
    _by_share,
    _single(Role.SHARE, "shares", _true),
    _single(Role.SERIES, "series", _true),
    _unit,
    _aggregate,
    _single(Role.COMPARATIVE, "compared", lambda item: item.text),
    _bare_than,
    _single(Role.RELATION, "relations", _of(Role.RELATION)),
    _single(Role.DWELLING, "dwelling", _true),
    _exceeds,
    _multiple,
    _jointly,
    _single(Role.OCCURRING, "occurring", _true),
    _held_place,
    inside,
    denied_place,
    attributive,
    _named,
    _single(Role.WHICH, "asked", lambda _: "which"),
    _single(Role.HERE, "here", lambda item: item.text not in ("it", "its")),
    _negation,
    _conjunction,
    _both,
    _by,
    _nothing,
)
