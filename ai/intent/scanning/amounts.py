"""Phrases of numbers: bounds, distances, comparisons with a place, superlatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import cast

from ai.intent.lexicon import Role
from ai.intent.phrases import Bound, Moved, Top
from ai.intent.scanning.scanner import Scanner
from ai.intent.times import TimeSpan
from ai.intent.tokens import Item
from ai.intent.words import OR_MORE, SPARSE
from ai.text.tables.conversion import factor, is_currency, is_unit
from retrieval.model import TimeRange


@dataclass(frozen=True, slots=True)
class _Unit:
    """The unit of a number: a role and its value, and its words."""

    role: Role
    value: object
    said: str


def bounded(s: Scanner) -> bool:
    """`more than 5,000 people`, `between 20 and 30 km from Topeka`, `within 50 km of Topeka`, `5,000 or more`."""
    read = _range(s) or _compared_number(s) or _number_or_more(s)
    if read is None:
        return False
    bound, before, ahead = read
    unit, ahead = (before, ahead) if before is not None else _unit(s, ahead)
    if s.has(Role.MEASURE, s.skip(ahead)) and unit is not None and unit.role in _OF and s.text(ahead) == "of":
        ahead += 1  # `50,000 tonnes of cargo`
    unit = unit or _unit_before(s)
    if unit is not None:
        bound = replace(bound, unit=(unit.role, unit.value), said=unit.said)
    if unit is not None and unit.role is Role.LENGTH:
        near = s.listed(ahead + 1, Role.PLACE) if s.text(ahead) in _FROM else None
        if near is not None and len(near[0].refs) == 1:
            s.found.gaps.append((replace(bound, holds=s.take_denial()), near[0].refs[0]))
            s.at += near[1]
            return True
    s.mark("bound", len(s.found.bounds))
    s.found.bounds.append(replace(bound, holds=s.take_denial()))
    s.at += ahead
    return True


def _unit_before(s: Scanner) -> _Unit | None:
    """The unit of the bound that this one is joined to: `more than 5,000 people but fewer than 9,000`."""
    if not s.found.bounds or s.text(-1) not in ("and", "but"):
        return None
    bound = s.found.bounds[-1]
    return None if bound.unit is None else _Unit(*bound.unit, bound.said)


_OF = (Role.MEASURE, Role.UNIT)
_FROM = frozenset({"of", "from", "to", "around", "away from"})
_WITHIN = frozenset({"within", "in", "inside"})
_Amount = tuple[Decimal, _Unit | None, int]
"""A number, the currency before it, and the distance of what stands behind it."""
_Read = tuple[Bound, _Unit | None, int]


def _amount(s: Scanner, ahead: int) -> _Amount | None:
    sign = is_currency(s.text(ahead))
    unit = _Unit(Role.UNIT, True, s.text(ahead)) if sign else None
    ahead += sign
    if not s.has(Role.NUMBER, ahead):
        return None
    value = Decimal(str(s.item(ahead).roles[Role.NUMBER]))
    ahead += 1
    while s.has(Role.SCALE, ahead):
        value *= Decimal(str(s.item(ahead).roles[Role.SCALE]))
        ahead += 1
    return value, unit, ahead


def _range(s: Scanner) -> _Read | None:
    """`between 20 and 30 km`: both ends have one unit, which one of them may leave out."""
    opened = s.has(Role.BETWEEN) or s.text() == "from"
    low = _amount(s, 1 if opened else 0)
    if low is None:
        return None
    behind, ahead = _unit(s, low[2])
    if s.text(ahead) not in (("and", "to") if opened else ("to",)):
        return None
    high = _amount(s, ahead + 1)
    if high is None or high[0] < low[0]:
        return None
    after, end = _unit(s, high[2])
    units = {unit.said: unit for unit in (low[1], behind, high[1], after) if unit is not None}
    if len(units) > 1:
        return None
    return Bound(low[0], high[0]), next(iter(units.values()), None), end


def _compared_number(s: Scanner) -> _Read | None:
    close = s.item().text in _WITHIN
    if not (s.has(Role.COMPARATOR) or close):
        return None
    amount = _amount(s, s.skip(1))
    if amount is None or (close and not _is_length(s, amount[2])):
        return None
    return _held("<=" if close else str(s.item().roles[Role.COMPARATOR]), amount[0]), amount[1], amount[2]


def _is_length(s: Scanner, ahead: int) -> bool:
    unit, _ = _unit(s, ahead)
    return unit is not None and unit.role is Role.LENGTH


def _number_or_more(s: Scanner) -> _Read | None:
    amount = _amount(s, 0)
    if amount is None:
        return None
    unit, after = _unit(s, amount[2])
    for own, ahead in ((None, amount[2]), (unit, after)):
        if s.has(Role.OR_MORE, ahead):
            bound = _held(OR_MORE[s.item(ahead).text], amount[0])
            return bound, own or amount[1], ahead + 1
    return None


def _held(sign: str, value: Decimal) -> Bound:
    match sign:
        case ">":
            return Bound(low=value, low_open=True)
        case ">=":
            return Bound(low=value)
        case "<":
            return Bound(high=value, high_open=True)
        case "<=":
            return Bound(high=value)
        case _:
            return Bound(low=value, high=value)


def _unit(s: Scanner, ahead: int) -> tuple[_Unit | None, int]:
    """The unit that stands there, by the longest words, and the distance of what stands behind it."""
    for size in range(_LONGEST_UNIT, 0, -1):
        said = " ".join(s.text(ahead + at).casefold() for at in range(size))
        if not said.endswith(" ") and is_unit(said):
            unit = _of_numbers(s, ahead, said)
            named = size == 1 and unit.role is Role.UNIT and _names_measure(s, ahead)
            return (_Unit(Role.MEASURE, s.item(ahead).roles[Role.MEASURE], "") if named else unit), ahead + size
    role = next((role for role in (Role.MEASURE, Role.TYPE) if s.has(role, ahead)), None)
    if role is None:
        return None, ahead
    unit = _Unit(role, s.item(ahead).roles[role], s.item(ahead).text)
    if role is Role.MEASURE and s.has(Role.PER_AREA, ahead + 1):
        density = (unit.value, s.item(ahead + 1).roles[Role.PER_AREA])
        return _Unit(Role.DENSITY, density, unit.said), ahead + 2
    return unit, ahead + 1


def _names_measure(s: Scanner, ahead: int) -> bool:
    """True for a unit that a measure is called by: `hours`, of `hours per week` and of `weekly hours`."""
    measures = s.item(ahead).roles.get(Role.MEASURE)
    heads = {each.partition(" per ")[0].split()[-1] for each in measures} if isinstance(measures, tuple) else set[str]()
    return heads == {s.text(ahead)}


def _of_numbers(s: Scanner, ahead: int, said: str) -> _Unit:
    """A unit by its words: of length with its metres, of area with its square kilometres, a share, or another."""
    metres, square = factor(said, "m"), factor(said, "km²")
    if metres is not None:
        return _Unit(Role.LENGTH, format(metres, "f"), said)
    if square is not None:
        return _Unit(Role.SQUARE, format(square, "f"), said)
    role = Role.RELATIVE if s.has(Role.RELATIVE, ahead) else Role.UNIT
    return _Unit(role, True, said)


_LONGEST_UNIT = 3


def than(s: Scanner) -> bool:
    """`larger than Topeka`: held against another place, not against a number."""
    if not (s.has(Role.COMPARATOR) and s.item().text.endswith(" than")):
        return False
    listed = s.listed(1, Role.PLACE)
    if listed is None or s.item().text.startswith(("no ", "not ", "closer", "nearer", "farther", "further")):
        return False
    s.found.compared.append(s.item().text.split()[0])
    s.found.than.append(bool(s.found.named or s.found.inside))
    s.found.named.append(listed[0])
    s.at += listed[1]
    return True


def superlative(s: Scanner) -> bool:
    """`second largest`, `five largest`, `the top five`, `most sparsely populated`."""
    ahead = 0
    limit = None
    first = 1
    if s.has(Role.ORDINAL):
        first, ahead = int(str(s.item().roles[Role.ORDINAL])), 1
    elif s.has(Role.NUMBER) and s.has(Role.SUPERLATIVE, 1):
        limit, ahead = _count(s.item()), 1
        if limit is None:
            return False
    if not s.has(Role.SUPERLATIVE, ahead):
        return False
    value = s.item(ahead).roles[Role.SUPERLATIVE]
    assert isinstance(value, tuple)  # noqa: S101 - the role's value
    ahead += 1
    order = _OPPOSITE[value[0]] if s.text(ahead) in SPARSE else value[0]
    if first == 1 and limit is None and s.has(Role.NUMBER, ahead) and not s.has(Role.TIME, ahead):
        limit = _count(s.item(ahead))
        ahead += 1 if limit is not None else 0
    s.mark("top")
    s.found.tops.append(Top(order, value[1], first, limit))
    s.at += ahead
    return True


_OPPOSITE = {"largest": "smallest", "smallest": "largest"}


def ranked(s: Scanner) -> bool:
    """`came second by population`, `was third in population`: the rank of a measure."""
    ahead = 1 if s.has(Role.OCCURRING) or s.text() in ("ranked", "ranks") else 0
    if not s.has(Role.ORDINAL, ahead) or s.text(ahead) == "next":
        return False
    if s.text(ahead + 1) not in ("by", "in") or not s.has(Role.MEASURE, ahead + 2):
        return False
    s.mark("top")
    s.found.tops.append(Top("largest", "amount", int(str(s.item(ahead).roles[Role.ORDINAL]))))
    s.at += ahead + 2
    return True


def sparser(s: Scanner) -> bool:
    """`more sparsely populated`: less dense."""
    if not s.has(Role.COMPARATIVE) or s.text(1) not in SPARSE or s.text() not in ("more", "less"):
        return False
    s.found.compared.append("less" if s.text() == "more" else "more")
    s.at += 1
    return True


def than_before(s: Scanner) -> bool:
    """`fewer people in 2020 than in 1990`: a change between the years."""
    if not s.has(Role.COMPARATIVE) or s.text() not in _MORE or (s.at and s.has(Role.NUMBER, -1)):
        return False
    measure = s.skip(1)
    one = measure + (2 if s.text(measure + 1) == "in" else 1)
    other = one + (3 if s.text(one + 2) == "in" else 2)
    if not (s.has(Role.MEASURE, measure) and s.has(Role.TIME, one) and s.has(Role.TIME, other)):
        return False
    later, earlier = s.item(one).value, s.item(other).value
    if s.text(one + 1) != "than" or not isinstance(later, TimeSpan) or not isinstance(earlier, TimeSpan):
        return False
    first, last = sorted((earlier.time, later.time), key=lambda time: time.start)
    if any(time != TimeRange.year(time.start.year) for time in (first, last)) or first == last:
        return False
    direction = _MORE[s.text()] * (1 if last == later.time else -1)
    s.mark("figure")
    s.mark("change", len(s.found.changes))
    s.mark("time", len(s.found.times))
    s.found.measures.append(cast("tuple[str, ...]", s.item(measure).roles[Role.MEASURE]))
    s.found.changes.append(Moved(direction, s.take_denial()))
    years = first.start.year, last.start.year
    s.found.times.append(TimeSpan(later.start_char, earlier.end_char, TimeRange(first.start, last.end), years))
    s.at += other + 1
    return True


_MORE = {"more": 1, "larger": 1, "greater": 1, "higher": 1, "fewer": -1, "less": -1, "smaller": -1, "lower": -1}


def _count(item: Item) -> int | None:
    value = Decimal(str(item.roles[Role.NUMBER]))
    return int(value) if value == value.to_integral_value() and 1 <= value <= 100 else None


def number_of_places(s: Scanner) -> bool:
    """`which five counties`, `which five of the counties`."""
    ahead = s.skip(2) if s.text(1) == "of" else 1
    if not (s.has(Role.NUMBER) and (s.has(Role.KIND, ahead) or s.has(Role.TYPE, ahead))):
        return False
    count = _count(s.item())
    if count is None:
        return False
    s.found.counts.append(count)
    s.at += ahead
    return True
