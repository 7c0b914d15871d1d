"""Random plans over the made-up region, and what they come to by plain Python over its literals."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import mean, median

from pyproj import Geod

from retrieval.algebra.plan import (
    AnyOf,
    Bordering,
    Condition,
    Figure,
    Foremost,
    Gap,
    Growth,
    Inside,
    OneOf,
    Part,
    Peak,
    Places,
    Plan,
    Rank,
    Select,
    Shown,
    Simple,
    Tally,
    Test,
    Than,
    Total,
    Value,
    Weigh,
    Where,
)
from retrieval.model import EntityRef
from tests.structured import CITIES, COUNTIES, FIGURES, NORTHEAST, NORTHWEST, POP, SOUTHEAST, SOUTHWEST, STATE

_GEOD = Geod(ellps="WGS84")
_BY_ID = {place.entity_id: place for place in (*COUNTIES, *CITIES, STATE)}
_EDGES = [{NORTHWEST, NORTHEAST}, {NORTHWEST, SOUTHWEST}, {NORTHEAST, SOUTHEAST}, {SOUTHWEST, SOUTHEAST}]
_KINDS = {"county": tuple(COUNTIES), "city": tuple(CITIES)}
_YEARS = (1900, 1930)
_BOXES = (("-96.8", "39.2", "-96.2", "39.8"), ("-95.7", "38.2", "-95.2", "39.7"), ("-95.2", "38.1", "-96.6", "38.4"))
"""Of a map; the last is across the antimeridian."""


def plans(seed: int, number: int) -> Iterator[Plan]:
    """Plans of every form; a function of the seed."""
    chance = random.Random(seed)
    for _ in range(number):
        kind = chance.choice(("county", "county", "city"))
        places, year = _places(chance, kind), chance.choice(_YEARS)
        value: Figure = chance.choice((Value(POP, year), Growth(POP, *_YEARS)))
        one, other = (p.entity_id for p in chance.sample(_KINDS[kind], 2))
        yield chance.choice(
            (
                Select(places),
                Select(places, Value(POP, year)),
                Tally(places),
                Rank(places, value, chance.choice(("largest", "smallest")), chance.randint(1, 2), chance.randint(1, 2)),
                Total(chance.choice(("sum", "mean", "median")), places, Value(POP, year)),
                Weigh(Value(POP, year), (one, other), chance.choice(("difference", "ratio"))),
                Test(one, kind, _conditions(chance, kind)),
                Peak(POP, one, chance.choice(("largest", "smallest"))),
                Part(Value(POP, 1930), chance.choice(list(COUNTIES)).entity_id, (_city(chance),), chance.choice(("share", "rest"))),
            )
        )  # fmt: skip


def _city(chance: random.Random) -> str:
    return chance.choice(list(CITIES)).entity_id


def _places(chance: random.Random, kind: str) -> Places:
    conditions = _conditions(chance, kind)[: chance.randint(0, 2)]
    if chance.random() < 0.2:
        figure = chance.choice((Value(POP, chance.choice(_YEARS)), Growth(POP, *_YEARS)))
        order = chance.choice(("largest", "smallest"))
        conditions = (*conditions, Foremost(figure, order, chance.randint(1, 2), chance.randint(1, 2)))
    return Places(kind, conditions)


def _conditions(chance: random.Random, kind: str) -> tuple[Condition, ...]:
    made: list[Condition] = []
    for _ in range(2):
        one: Condition = _condition(chance, kind)
        if chance.random() < 0.25:
            one = AnyOf((_condition(chance, kind), _condition(chance, kind)))
        made.append(replace(one, holds=chance.random() < 0.7))
    return tuple(made)


def _condition(chance: random.Random, kind: str) -> Simple:
    year, limit = chance.choice(_YEARS), str(chance.choice((450, 1000, 1500, 1800)))
    centre = chance.choice(_KINDS[kind]).entity_id
    forms: list[Simple] = [
        Where(Value(POP, year), low=limit, low_open=chance.random() < 0.5),
        Where(Value(POP, year), high=limit, high_open=chance.random() < 0.5),
        Where(Growth(POP, *_YEARS), low="0", low_open=True),
        OneOf(tuple(p.entity_id for p in chance.sample(_KINDS[kind], 2))),
        Than(Value(POP, year), centre, more=chance.random() < 0.5),
        Shown(chance.choice(_BOXES)),
    ]
    if kind == "county":
        forms += [Bordering(centre), Bordering(centre), Inside(STATE.entity_id)]
    else:
        area = chance.choice(list(COUNTIES)).entity_id
        forms += [Inside(area), Inside(area), Where(Gap(centre), high=str(chance.choice((90_000, 120_000, 200_000))))]
    return chance.choice(forms)


def expected(plan: Plan) -> tuple[list[str], float | None, bool | None]:  # noqa: PLR0911 - one branch for each form
    """The places in order, the one value, and whether it holds."""
    match plan:
        case Select(places, figure):
            chosen = _chosen(places)
            found = [(0.0 if figure is None else _figure(figure, p), p) for p in chosen]
            ranked_before = any(isinstance(c, Foremost) for c in places.conditions)
            # one without the figure is not told, but for those that have the rank
            keyed = [(value or 0.0, p) for value, p in found if value is not None or ranked_before]
            return [p.entity_id for _, p in sorted(keyed, key=lambda pair: (-pair[0], pair[1].name))], None, None
        case Tally(places):
            return [p.entity_id for p in sorted(_chosen(places), key=lambda p: p.name)], None, None
        case Rank(places, figure, order, first, limit):
            sign = -1 if order == "largest" else 1
            ranked = sorted((sign * v, p.entity_id) for p in _chosen(places) if (v := _figure(figure, p)) is not None)
            kept = {value for value, _ in ranked[first - 1 : first - 1 + limit]}
            return [p for value, p in ranked if value in kept], None, None
        case Total(function, places, figure):
            found = [(v, p.entity_id) for p in _chosen(places) if (v := _figure(figure, p)) is not None]
            if len(found) < len(_chosen(places)) and any(
                isinstance(c, Foremost) or (isinstance(c, OneOf) and c.holds and len(places.conditions) == 1)
                for c in places.conditions
            ):
                return [], None, None
            value = _total(function, [v for v, _ in found]) if found else None
            return [p for _, p in sorted(found, key=lambda pair: (-pair[0], pair[1]))], value, None
        case Weigh(figure, ids, way):
            one, other = (_figure(figure, _BY_ID[p]) for p in ids)
            if one is None or other is None:
                return [], None, None
            return list(ids), one - other if way == "difference" else one / other, None
        case Test(place, _, conditions):
            held = [_holds(c, _BY_ID[place]) for c in conditions]
            return ([], None, None) if None in held else ([place], None, all(held))
        case Peak(_, place_id, order):
            years = FIGURES.get(_BY_ID[place_id], {})
            best = (max if order == "largest" else min)(map(int, years.values())) if len(years) > 1 else None
            return ([], None, None) if best is None else ([place_id], float(best), None)
        case Part(figure, whole, parts, way):
            value, part = _figure(figure, _BY_ID[whole]), _figure(figure, _BY_ID[parts[0]])
            if value is None or part is None or not _inside(_BY_ID[parts[0]], _BY_ID[whole]):
                return [], None, None
            return [whole, *parts], part * 100 / value if way == "share" else value - part, None
        case _:
            raise AssertionError(plan)


def _total(function: str, values: Sequence[float]) -> float:
    return sum(values) if function == "sum" else mean(values) if function == "mean" else median(values)


def _chosen(places: Places) -> list[EntityRef]:
    centres = {c.place_id for c in places.conditions if isinstance(c, Bordering | Than)}
    centres |= {c.figure.place_id for c in places.conditions if isinstance(c, Where) and isinstance(c.figure, Gap)}
    own = [p for p in _KINDS[places.kind] if p.entity_id not in centres]
    found = [p for p in own if all(_holds(c, p) for c in places.conditions if not isinstance(c, Foremost))]
    for foremost in (c for c in places.conditions if isinstance(c, Foremost)):
        values = {p: v for p in found if (v := _figure(foremost.figure, p)) is not None}
        ranked = sorted(values.values(), reverse=foremost.order == "largest")
        kept = set(ranked[foremost.first - 1 : foremost.first - 1 + foremost.limit])
        found = [p for p, v in values.items() if v in kept]
    return found


def _holds(condition: Simple | AnyOf, place: EntityRef) -> bool | None:
    known = _known(condition, place)
    return None if known is None else known is condition.holds


def _known(  # noqa: PLR0911 - one branch for each condition
    condition: Simple | AnyOf, place: EntityRef
) -> bool | None:
    match condition:
        case AnyOf(conditions):
            held = [_centre(c) != place.entity_id and _holds(c, place) for c in conditions]
            return True if True in held else None if None in held else False
        case Inside(area):
            return _inside(place, _BY_ID[area])
        case Bordering(centre):
            return {place, _BY_ID[centre]} in _EDGES
        case OneOf(ids):
            return place.entity_id in ids
        case Shown(box):
            return _shown(place, *map(float, box))
        case Than(figure, other, more):
            one, limit = _figure(figure, place), _figure(figure, _BY_ID[other])
            return None if one is None or limit is None else (one > limit if more else one < limit)
        case Where(figure, low, high, low_open, high_open):
            value = _figure(figure, place)
            if value is None:
                return None
            above = low is None or value > float(low) or (value == float(low) and not low_open)
            return above and (high is None or value < float(high) or (value == float(high) and not high_open))


def _shown(place: EntityRef, west: float, south: float, east: float, north: float) -> bool:
    """True if a place meets a box; none of this region is on the far side of the antimeridian but what is beyond `west`
    or before `east`."""
    left, bottom, right, top = COUNTIES[place] if place in COUNTIES else (*CITIES[place], *CITIES[place])
    across = right >= west or left <= east if west > east else right >= west and left <= east
    return across and top >= south and bottom <= north


def _centre(condition: Condition) -> str | None:
    match condition:
        case Bordering(centre) | Than(_, centre) | Where(Gap(centre)):
            return centre
        case _:
            return None


def _inside(place: EntityRef, area: EntityRef) -> bool:
    if area == STATE:
        return True
    (west, south, east, north), (x, y) = COUNTIES[area], CITIES[place]
    return west < x < east and south < y < north


def _figure(figure: Figure, place: EntityRef) -> float | None:
    match figure:
        case Value(_, year):
            said = FIGURES.get(place, {}).get(year or 0)
            return None if said is None else float(said)
        case Growth(_, first, last):
            old, new = _figure(Value(POP, first), place), _figure(Value(POP, last), place)
            return None if old is None or new is None else new - old
        case Gap(centre):
            return float(_GEOD.inv(*CITIES[place], *CITIES[_BY_ID[centre]])[2])
        case _:
            raise AssertionError(figure)


def ids_in(result: Sequence[dict[str, str]]) -> list[str]:
    """The places of a result, in order."""
    return [place["entity_id"] for place in result]
