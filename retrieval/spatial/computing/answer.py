"""Operations answered from facts: select the inputs, compute, and say what is not recorded. Independent of the
store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from retrieval.algebra.json import plan_json
from retrieval.algebra.operations import (
    Aggregate,
    Change,
    Compare,
    ContainedIn,
    ContainerOf,
    Count,
    Distance,
    Lookup,
    Nearest,
    Neighbours,
    Operation,
    Superlative,
    WithinDistance,
)
from retrieval.algebra.plan import Part, Plan, Stated, Total
from retrieval.model import Computation, Limitation, TimeRange
from retrieval.spatial import geometry
from retrieval.spatial.computing.as_of import AsOf, drawn
from retrieval.spatial.computing.compute import compute, finely_rounded, units_of
from retrieval.spatial.computing.forms import form_of
from retrieval.spatial.computing.lacking import without_figures
from retrieval.spatial.computing.missing import (
    CHANNEL,
    conflicts,
    day_of,
    no_figures,
    no_places,
    no_shape,
    not_recorded,
    several_units,
)
from retrieval.spatial.facts import Fact, FactSource, figures_at, per_place, undrawn

_REACHES_M = (25_000, 100_000, 400_000, 1_600_000, 6_400_000, 21_000_000)
_SHOWN_INPUTS = 6
_SERIES = 2
"""More figures of one question than these are one computed series, so that none is left out."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The yield of an operation: computed facts, the records that are shown beside or instead of them, and the facts
    that are missing."""

    computed: tuple[Computation, ...] = ()
    records: tuple[str, ...] = ()
    limitations: tuple[Limitation, ...] = ()


def answer(  # noqa: PLR0911, PLR0912 - one branch for each operation
    operation: Operation, facts: FactSource, *, times: Sequence[TimeRange] = ()
) -> Answer:
    """Answers one operation from the facts, or says what is not recorded; never with another place's or another
    year's figure.

    `times` narrow a lookup that names no year, and the shapes of the map to those that stood then.
    """
    placed = AsOf(facts, times) if times else facts
    match operation:
        case Lookup():
            return _lookup(operation, facts, times)
        case Change():
            return _change(operation, facts)
        case Superlative():
            return _superlative(operation, facts)
        case Aggregate():
            return _aggregate(operation, facts)
        case Compare():
            return _compare(operation, facts)
        case Neighbours():
            return _neighbours(operation, placed)
        case Nearest():
            return _nearest(operation, placed)
        case WithinDistance():
            return _within_distance(operation, placed)
        case ContainedIn():
            return _contained_in(operation, placed)
        case ContainerOf():
            return _container_of(operation, placed)
        case Count():
            return _count(operation, facts)
        case Distance():
            return _distance(operation, placed)
        case Stated():
            return Answer()  # what rows state is the graph's
        case _:
            return _planned(operation, facts, placed)


def _planned(plan: Plan, facts: FactSource, placed: FactSource) -> Answer:
    """A plan of the algebra."""
    given = form_of(plan).inputs(plan, facts, placed)
    limitations = tuple(dict.fromkeys(given.limitations))
    if not given.facts:
        return Answer(limitations=limitations)
    if mixed := several_units(given.facts.values()):
        return Answer(limitations=(*limitations, *mixed))
    unrecorded, must = without_figures(given, facts, placed)
    if must and unrecorded:  # no sum of two places is that of one of them
        return Answer(limitations=(*limitations, *unrecorded))
    limitations += tuple(each for each in unrecorded if each not in limitations)
    inputs = list(given.facts.values())
    parameters: Mapping[str, object] = {
        "plan": plan_json(given.plan),
        "names": given.names,
        "inside": given.inside,
        **units_of(inputs),
    }
    try:
        form = type(plan).__name__.lower()
        if isinstance(plan, Total | Part):
            parameters = finely_rounded(form, parameters, inputs)
        done = drawn(form, parameters, inputs, placed)
    except ValueError:  # the inputs answer nothing: what is missing is said
        missing = Limitation("NO_OBSERVATION", "The records do not hold what this needs.", CHANNEL)
        return Answer(limitations=limitations or (missing,))
    return Answer((done,), _records_of(done, inputs), limitations)


def figures(
    operation: Lookup, facts: FactSource, *, place_ids: Collection[str], times: Sequence[TimeRange]
) -> list[Fact]:
    """The figures of these places in the year that is asked for, else in `times`, else in any; none of no place."""
    found = facts.observations(operation.measure, place_ids=place_ids, year=operation.year) if place_ids else []
    found = [f for f in found if operation.unit in (None, f.unit)]
    if operation.year is not None or not times:
        return found
    return [f for f in found if f.start and f.end and any(t.overlaps(TimeRange(f.start, f.end)) for t in times)]


def _lookup(operation: Lookup, facts: FactSource, times: Sequence[TimeRange]) -> Answer:
    found = figures(operation, facts, place_ids=operation.place_ids, times=times)
    order = {place_id: i for i, place_id in enumerate(operation.place_ids)}
    found.sort(key=lambda f: (order[f.place.entity_id], -day_of(f), f.source_id, f.record_id))
    missing = [p for p in operation.place_ids if all(f.place.entity_id != p for f in found)]
    limitations = [not_recorded(operation.measure, p, facts, unit=operation.unit) for p in missing]
    untimed = any(f.start is None for f in found)  # no record of such a figure says by itself that it answers
    if operation.year is None and (untimed or len(found) > _SERIES):  # more than are shown one by one
        parameters = {"measure": operation.measure, "place_ids": list(operation.place_ids), **units_of(found)}
        done = compute("lookup", parameters, found)
        return Answer((done,), (), (*limitations, *conflicts(found, facts)))
    return Answer(records=tuple(f.record_id for f in found), limitations=(*limitations, *conflicts(found, facts)))


def _change(operation: Change, facts: FactSource) -> Answer:
    computed: list[Computation] = []
    limitations: list[Limitation] = []
    for place_id in operation.place_ids:
        ends: list[Fact] = []
        for year in (operation.from_year, operation.to_year):
            found = facts.observations(operation.measure, place_ids=(place_id,), year=year)
            found = [f for f in found if operation.unit in (None, f.unit)]
            limitations += conflicts(found, facts)
            ends += per_place(found)[0]
        if len(ends) < 2:
            limitations.append(not_recorded(operation.measure, place_id, facts, unit=operation.unit))
            continue
        if mixed := several_units(ends):
            limitations += mixed
            continue
        parameters: dict[str, object] = {
            "measure": operation.measure,
            "place_id": place_id,
            "from_year": operation.from_year,
            "to_year": operation.to_year,
            **units_of(ends),
        }
        if any((fact.value or "").startswith("-") for fact in ends):
            parameters["percent"] = False  # of what is below zero it says nothing: from -8.2 to -5.5 is no fall
        computed.append(compute("change", parameters, ends))
    return Answer(tuple(computed), tuple(r for c in computed for r in c.inputs), tuple(dict.fromkeys(limitations)))


def _superlative(operation: Superlative, facts: FactSource) -> Answer:
    year, inputs, limitations = _figures(
        operation.measure, operation.place_type, operation.year, operation.within, facts
    )
    if not inputs:
        return Answer(limitations=limitations)
    parameters = {
        "measure": operation.measure,
        "place_type": operation.place_type,
        "year": year,
        "order": operation.order,
        "limit": operation.limit,
        **_within(operation.within, facts),
        **units_of(inputs),
    }
    done = compute("superlative", parameters, inputs)
    return Answer((done,), _records_of(done, inputs), limitations)


def _aggregate(operation: Aggregate, facts: FactSource) -> Answer:
    year, inputs, limitations = _figures(
        operation.measure, operation.place_type, operation.year, operation.within, facts
    )
    if not inputs:
        return Answer(limitations=limitations)
    parameters = {
        "function": operation.function,
        "measure": operation.measure,
        "place_type": operation.place_type,
        "year": year,
        **_within(operation.within, facts),
        **units_of(inputs),
    }
    done = compute("aggregate", finely_rounded("aggregate", parameters, inputs), inputs)
    return Answer((done,), done.inputs if len(done.inputs) <= _SHOWN_INPUTS else (), limitations)


def _compare(operation: Compare, facts: FactSource) -> Answer:
    year = operation.year
    if year is None:
        common = [set(facts.years(operation.measure, place_ids=(p,))) for p in operation.place_ids]
        shared = set.intersection(*common)
        year = max(shared) if shared else None
    any_dated = year is None and any(facts.years(operation.measure, place_ids=(p,)) for p in operation.place_ids)
    found = [] if any_dated else figures_at(operation.measure, year, facts, place_ids=operation.place_ids)
    inputs, several = per_place(found)
    if several and year is None:
        return Answer(limitations=tuple(conflicts(found, facts)))
    missing = [p for p in operation.place_ids if all(f.place.entity_id != p for f in inputs)]
    if missing or len(inputs) < 2:
        return Answer(limitations=tuple(not_recorded(operation.measure, p, facts) for p in missing))
    if mixed := several_units(inputs):
        return Answer(limitations=mixed)
    parameters = {
        "measure": operation.measure,
        "place_ids": list(operation.place_ids),
        "year": year,
        **units_of(inputs),
    }
    done = compute("compare", parameters, inputs)
    return Answer((done,), _records_of(done, inputs), tuple(conflicts(found, facts)))


def _neighbours(operation: Neighbours, facts: FactSource) -> Answer:
    centre = _shape(operation.place_id, facts)
    if centre is None or centre.geometry is None:
        return Answer(limitations=(no_shape(operation.place_id, facts),))
    if _is_point(centre):
        told = f"No outline is recorded for {centre.place.name}, so what borders it is not known."
        return Answer(limitations=(Limitation("NO_GEOMETRY", told, CHANNEL),))
    box = geometry.box_around(centre.geometry, geometry.BORDER_TOLERANCE_M)
    around, _ = per_place(facts.shapes(place_type=centre.place.type, box=box))
    inputs = [centre, *(f for f in around if f.place.entity_id != operation.place_id)]
    done = drawn("neighbours", {"place_id": operation.place_id}, inputs, facts)
    return Answer((done,), _records_of(done, inputs))


def _nearest(operation: Nearest, facts: FactSource) -> Answer:
    centre = _shape(operation.place_id, facts)
    if centre is None or centre.geometry is None:
        return Answer(limitations=(no_shape(operation.place_id, facts),))
    others: list[Fact] = []
    for reach_m in _REACHES_M:  # everything within the reach is in the box, so a place beyond it cannot be nearer
        others = _others_near(centre, operation.place_type, reach_m, facts)
        if sum(_gap(centre, f) <= reach_m for f in others) >= operation.limit:
            break
    if not others:
        return Answer(limitations=(no_places(operation.place_type),))
    inputs = [centre, *others]
    parameters = {"place_id": operation.place_id, "place_type": operation.place_type, "limit": operation.limit}
    done = drawn("nearest", parameters, inputs, facts)
    return Answer((done,), _records_of(done, inputs))


def _within_distance(operation: WithinDistance, facts: FactSource) -> Answer:
    centre = _shape(operation.place_id, facts)
    if centre is None or centre.geometry is None:
        return Answer(limitations=(no_shape(operation.place_id, facts),))
    reach_m = round(operation.distance_km * 1000)
    inputs = [centre, *_others_near(centre, operation.place_type, reach_m, facts)]
    parameters = {"place_id": operation.place_id, "place_type": operation.place_type, "distance_m": reach_m}
    done = drawn("within_distance", parameters, inputs, facts)
    return Answer((done,), _records_of(done, inputs))


def _contained_in(operation: ContainedIn, facts: FactSource) -> Answer:
    area = _shape(operation.place_id, facts)
    parameters: dict[str, object] = {"place_id": operation.place_id, "place_type": operation.place_type}
    if area is not None and area.geometry is not None and not _is_point(area):
        box = geometry.bounds(area.geometry)
        inputs = [area, *per_place(facts.shapes(place_type=operation.place_type, box=box))[0]]
    else:  # no outline: what relations say
        members = facts.members(operation.place_id)
        inputs = [
            f for f in per_place(facts.shapes(place_type=operation.place_type))[0] if f.place.entity_id in members
        ]
        inputs += undrawn(operation.place_type, operation.place_id, {f.place.entity_id for f in inputs}, facts)
        parameters |= {"basis": "relation", **_within(operation.place_id, facts)}
    if not inputs:
        return Answer(limitations=(no_shape(operation.place_id, facts),))
    done = drawn("contained_in", parameters, inputs, facts)
    return Answer((done,), _records_of(done, inputs))


def _container_of(operation: ContainerOf, facts: FactSource) -> Answer:
    inner = _shape(operation.place_id, facts)
    if inner is None or inner.geometry is None:
        return Answer(limitations=(no_shape(operation.place_id, facts),))
    around, _ = per_place(facts.shapes(place_type=operation.place_type, box=geometry.bounds(inner.geometry)))
    areas = [f for f in around if f.place.entity_id != operation.place_id and not _is_point(f)]
    if not areas:
        return Answer(limitations=(no_places(operation.place_type),))
    parameters = {"place_id": operation.place_id, "place_type": operation.place_type}
    done = drawn("container_of", parameters, [inner, *areas], facts)
    return Answer((done,), _records_of(done, [inner, *areas]))


def _count(operation: Count, facts: FactSource) -> Answer:
    parameters: dict[str, object] = {"place_type": operation.place_type, **_within(operation.within, facts)}
    limitations: tuple[Limitation, ...] = ()
    if operation.minimum is not None and operation.measure is not None:
        year, inputs, limitations = _figures(
            operation.measure, operation.place_type, operation.year, operation.within, facts
        )
        parameters |= {"year": year, "measure": operation.measure, "minimum": operation.minimum, **units_of(inputs)}
    else:
        inputs = _counted_places(operation, facts)
        parameters |= {"year": operation.year}
    if not inputs:
        return Answer(limitations=limitations or (no_places(operation.place_type),))
    done = compute("count", parameters, inputs)
    return Answer((done,), (), limitations)


def _counted_places(operation: Count, facts: FactSource) -> list[Fact]:
    """Places on the map; with a year, only what is dated to it: shapes with a time, else places with a figure for
    the year. Of what only tables without times list, all with a figure."""
    shapes = facts.shapes(place_type=operation.place_type)
    if operation.year is not None:
        year = operation.year
        shapes = [f for f in shapes if f.covers_year(year)]
        for measure in () if shapes else facts.measures(operation.place_type):
            shapes = shapes or facts.observations(measure, place_type=operation.place_type, year=year)
    elif operation.within is not None:
        drawn = {f.place.entity_id for f in shapes}
        shapes = [*shapes, *undrawn(operation.place_type, operation.within, drawn, facts)]
    elif not shapes:
        measures = facts.measures(operation.place_type)
        told = [f for m in measures for f in figures_at(m, None, facts, place_type=operation.place_type)]
        shapes = [fact for fact in told if fact.place.listed]
    return _inside(operation.within, per_place(shapes)[0], facts)


def _distance(operation: Distance, facts: FactSource) -> Answer:
    ends = [_shape(place_id, facts) for place_id in (operation.from_id, operation.to_id)]
    if any(end is None for end in ends):
        missing = [p for p, end in zip((operation.from_id, operation.to_id), ends, strict=True) if end is None]
        return Answer(limitations=tuple(no_shape(p, facts) for p in missing))
    inputs = [end for end in ends if end is not None]
    done = drawn("distance", {"from_id": operation.from_id, "to_id": operation.to_id}, inputs, facts)
    return Answer((done,), tuple(f.record_id for f in inputs))


def _figures(
    measure: str, place_type: str, year: int | None, within: str | None, facts: FactSource
) -> tuple[int | None, list[Fact], tuple[Limitation, ...]]:
    """The year (the latest on record when none is asked for; None where no figure has a time), one figure for each
    place of the type inside `within`, and what is missing. Of figures without a time that differ nobody knows which
    holds."""
    years = facts.years(measure, place_type=place_type)
    chosen = year if year is not None else max(years, default=None)
    found = figures_at(measure, chosen, facts, place_type=place_type)
    inside = _inside(within, found, facts)
    if not inside:
        area = within if found else None
        return chosen, [], (no_figures(measure, place_type, years, year=chosen, within=area, facts=facts),)
    if mixed := several_units(inside):
        return chosen, [], mixed
    kept, several = per_place(inside)
    return chosen, [] if several and chosen is None else kept, tuple(conflicts(inside, facts))


def _inside(within: str | None, found: list[Fact], facts: FactSource) -> list[Fact]:
    """Those of the facts whose place lies in `within`: by relation where relations say so, else by shape."""
    if within is None or not found:
        return found
    members = facts.members(within)
    related = [f for f in found if f.place.entity_id in members]
    area = None if related else _shape(within, facts)
    if area is None or area.geometry is None or _is_point(area):
        return related
    near = facts.shapes(place_ids={f.place.entity_id for f in found}, box=geometry.bounds(area.geometry))
    covered = {f.place.entity_id for f in near if f.geometry and geometry.contains(area.geometry, f.geometry)}
    return [f for f in found if f.place.entity_id in covered]


def _others_near(centre: Fact, place_type: str, reach_m: int, facts: FactSource) -> list[Fact]:
    box = geometry.box_around(centre.geometry or b"", reach_m)
    around, _ = per_place(facts.shapes(place_type=place_type, box=box))
    return [f for f in around if f.place.entity_id != centre.place.entity_id]


def _gap(one: Fact, other: Fact) -> int:
    return geometry.gap_m(one.geometry or b"", other.geometry or b"")


def _shape(place_id: str, facts: FactSource) -> Fact | None:
    found, _ = per_place(facts.shapes(place_ids=(place_id,)))
    return found[0] if found else None


def _records_of(done: Computation, inputs: Sequence[Fact]) -> tuple[str, ...]:
    """The inputs about the places of the result, in its order, after the place that was asked about."""
    named = [done.parameters.get("place_id")]
    places = done.result.get("places")
    if isinstance(places, list):
        named += [place["entity_id"] for place in places[:_SHOWN_INPUTS]]
    by_place = {f.place.entity_id: f.record_id for f in inputs}
    return tuple(dict.fromkeys(by_place[p] for p in named if p in by_place))


def _within(within: str | None, facts: FactSource) -> Mapping[str, object]:
    place = facts.place(within) if within is not None else None
    if within is None:
        return {}
    return {"within": within} if place is None else {"within": within, "within_name": place.name}


def _is_point(fact: Fact) -> bool:
    return fact.geometry is not None and len(fact.geometry) == 21
