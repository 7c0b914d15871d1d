"""The inputs of a plan, read from the facts of a scope: candidates with their figures and shapes, and centres."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from retrieval.algebra.plan import (
    AnyOf,
    Area,
    Bordering,
    Condition,
    Density,
    Figure,
    Figures,
    Foremost,
    Gap,
    Growth,
    Inside,
    OneOf,
    Part,
    Places,
    Plan,
    Rank,
    Select,
    Shown,
    Tally,
    Test,
    Than,
    Total,
    Value,
    Weigh,
    Where,
)
from retrieval.algebra.wording import listed, plural
from retrieval.model import Limitation
from retrieval.spatial import geometry
from retrieval.spatial.computing.evaluate import centres_in, conditions_figures, figures_of, simple
from retrieval.spatial.facts import Box, Fact, FactSource, figures_at, per_place, undrawn

_CHANNEL = "postgis"


@dataclass(slots=True)
class Inputs:
    """The inputs of a plan; `plan` has its open years filled in."""

    plan: Plan
    facts: dict[str, Fact] = field(default_factory=dict)
    inside: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    limitations: list[Limitation] = field(default_factory=list)

    def add(self, facts: Iterable[Fact]) -> None:
        """More facts, each once."""
        self.facts |= {fact.record_id: fact for fact in facts}


def inputs_of(plan: Plan, facts: FactSource, placed: FactSource) -> Inputs:
    """The inputs of a plan. `placed` holds the shapes of the time that is asked for."""
    plan = _dated(plan, facts)
    given = Inputs(plan)
    kind, ids, conditions = _subjects(plan, facts)
    for place_id in _centres(conditions, figures_of(plan)):
        centre = per_place(placed.shapes(place_ids=(place_id,)))[0]
        if not centre:
            given.limitations.append(_no_shape(place_id, facts))
        given.add(centre)
    candidates = _figures(given, kind, ids, facts)
    box = _reach(conditions, given) if candidates is None and not isinstance(plan, Test) else None
    if candidates is None:
        shapes = per_place(placed.shapes(place_ids=ids or (), place_type=kind, box=box))[0]
        candidates = {fact.place.entity_id for fact in shapes}
        if not shapes and box is None:
            candidates = _known(kind, ids, facts, given)
        given.add(shapes)
        if box is None and kind is not None and not ids:
            candidates |= _elsewhere(kind, conditions, candidates, facts, given)
    alone = () if isinstance(plan, Test) else conditions  # a place that is tested is looked at wherever it lies
    centres = set(_centres(conditions, figures_of(plan))) | set(_areas(conditions))
    centres |= {c.place_id for c in simple(conditions) if isinstance(c, Than)}
    kept = _related(given, conditions, candidates, facts, placed, alone=alone, beside=centres)
    _beside(given, conditions, facts, placed)
    if isinstance(plan, Part):
        _whole(plan, given, facts, placed)
    elif _shaped(plan, conditions, given):
        given.add(per_place(placed.shapes(place_ids=kept, place_type=kind))[0] if kept else ())
    given.facts = {
        record_id: fact
        for record_id, fact in given.facts.items()
        if fact.place.entity_id in kept or fact.place.entity_id in centres
    }
    _name(given, conditions, facts)
    return given


def _beside(given: Inputs, conditions: Iterable[Condition], facts: FactSource, placed: FactSource) -> None:
    """Adds the figures and shapes of the places that others are compared with."""
    for condition in simple(tuple(conditions)):
        if not isinstance(condition, Than):
            continue
        place = (condition.place_id,)
        for measure, year in _cells(condition.figure):
            found = figures_at(measure, year, facts, place_ids=place)
            if not found:
                given.limitations.append(_no_figures(measure, None, place, facts))
            given.add(_kept(found, measure, year, given))
        if isinstance(condition.figure, Area | Density | Gap):
            given.add(per_place(placed.shapes(place_ids=place))[0])


def yearly(plan: Plan, measure: str, place_id: str, facts: FactSource) -> Inputs:
    """The inputs of a plan over the years of a place: one figure for each year on record."""
    given = Inputs(plan)
    for year in facts.years(measure, place_ids=(place_id,)):
        of_year = facts.observations(measure, place_ids=(place_id,), year=year)
        kept, conflict = per_place([f for f in of_year if f.start and f.end and f.start.year == f.end.year])
        given.add(kept)
        if conflict:
            given.limitations.append(_conflict(measure, year))
    if not given.facts:
        given.limitations.append(_no_figures(measure, None, (place_id,), facts))
    return given


def _subjects(plan: Plan, facts: FactSource) -> tuple[str | None, tuple[str, ...], tuple[Condition, ...]]:
    """The kind that is asked for, the ids where these are named, and the conditions."""
    match plan:
        case Select(places, _) | Tally(places) | Rank(places, _, _, _, _) | Total(_, places, _):
            named = [c.place_ids for c in places.conditions if isinstance(c, OneOf) and c.holds]
            return places.kind, named[0] if named else (), places.conditions
        case Figures(_, ids) | Weigh(_, ids, _):
            return None, ids, ()
        case Part(_, place_id, part_ids, _):
            return None, (place_id, *part_ids), ()
        case Test(place, kind, conditions):
            return kind, (place,), conditions
        case _:
            raise ValueError("what rows state is not evaluated over facts")


def _dated(plan: Plan, facts: FactSource) -> Plan:
    """The plan with the latest year on record where it names none; without one where no figure has a time."""
    kind, ids, _ = _subjects(plan, facts)

    def dated(value: Any) -> Any:
        match value:
            case Value(measure, None) | Density(measure, None):
                years = facts.years(measure, place_ids=ids, place_type=kind if not ids else None)
                return replace(value, year=max(years, default=None))
            case Where(figure) | Than(figure) | Foremost(figure):
                return replace(value, figure=dated(figure))
            case AnyOf(conditions):
                return replace(value, conditions=tuple(dated(c) for c in conditions))
            case Places(_, conditions, _):
                return replace(value, conditions=tuple(dated(c) for c in conditions))
            case _:
                return value

    match plan:
        case Select(places, figure):
            return Select(dated(places), dated(figure))
        case Tally(places):
            return Tally(dated(places))
        case Rank(places, figure) | Total(_, places, figure):
            return replace(plan, places=dated(places), figure=dated(figure))
        case Figures(figure, _) | Weigh(figure, _, _) | Part(figure, _, _, _):
            return replace(plan, figure=dated(figure))
        case Test(_, _, conditions):
            return replace(plan, conditions=tuple(dated(c) for c in conditions))
        case _:
            return plan


def _figures(given: Inputs, kind: str | None, ids: tuple[str, ...], facts: FactSource) -> set[str] | None:
    """Adds the figures; gives the places that have all that the plan needs, None where it needs none. A figure of one
    of several conditions need not be known."""
    common: set[str] | None = None
    conditions = _subjects(given.plan, facts)[2]
    foremost = [c for c in conditions if isinstance(c, Foremost)]
    deciding = conditions_figures(conditions) if foremost else figures_of(given.plan, whole=True)
    needed = set(_cells(*deciding))  # a rank is among all that have it, whatever else is told of these
    for measure, year in dict.fromkeys(_cells(*figures_of(given.plan))):
        found = figures_at(measure, year, facts, place_ids=ids, place_type=None if ids else kind)
        kept = _kept(found, measure, year, given)
        if not kept:
            given.limitations.append(_no_figures(measure, kind, ids, facts))
        given.add(kept)
        having = {fact.place.entity_id for fact in kept}
        if (measure, year) not in needed:
            continue
        common = having if common is None else common & having
    return common


def _kept(found: list[Fact], measure: str, year: int | None, given: Inputs) -> list[Fact]:
    """One figure for each place. Where several are stated one is taken and that is said; of those without a time nobody
    knows which holds, so none is."""
    kept, conflict = per_place(found)
    if conflict:
        given.limitations.append(_conflict(measure, year))
    return [] if conflict and year is None else kept


def _cells(*figures: Figure) -> Iterable[tuple[str, int | None]]:
    for figure in figures:
        match figure:
            case Value(measure, year) | Density(measure, year):
                yield measure, year
            case Growth(measure, from_year, to_year, _):
                yield from ((measure, from_year), (measure, to_year))
            case _:
                continue


def _known(kind: str | None, ids: tuple[str, ...], facts: FactSource, given: Inputs) -> set[str]:
    """Places without a shape, by any figure of theirs; of what only tables without times list, by the first that each
    has."""
    known: set[str] = set()
    for measure in facts.measures(kind) if kind is not None else ():
        found = per_place(facts.observations(measure, place_ids=ids, place_type=kind))[0]
        given.add(fact for fact in found if fact.place.entity_id not in known)
        known |= {fact.place.entity_id for fact in found}
        if any(not fact.place.listed for fact in found):
            break
    return known


def _elsewhere(
    kind: str, conditions: Iterable[Condition], drawn: set[str], facts: FactSource, given: Inputs
) -> set[str]:
    """The places inside those of the conditions that are drawn nowhere, by a figure of theirs."""
    found: list[Fact] = []
    for condition in conditions:
        if isinstance(condition, Inside) and condition.holds:
            found += undrawn(kind, condition.place_id, drawn, facts)
    given.add(found)
    return {fact.place.entity_id for fact in found}


def _reach(conditions: Iterable[Condition], given: Inputs) -> Box | None:
    """The box outside which no place can be: around a centre whose neighbours or surroundings are asked for."""
    shapes = {fact.place.entity_id: fact.geometry for fact in given.facts.values() if fact.geometry is not None}
    for condition in conditions:
        match condition:
            case Shown((west, south, east, north), True):
                return float(west), float(south), float(east), float(north)
            case Bordering(place_id, True) if place_id in shapes:
                return geometry.box_around(shapes[place_id], geometry.BORDER_TOLERANCE_M)
            case Where(Gap(place_id), _, str(high), _, _, True) if place_id in shapes:
                return geometry.box_around(shapes[place_id], min(int(float(high)) + 1, 20_100_000))
            case _:
                continue
    return None


def _related(
    given: Inputs,
    conditions: tuple[Condition, ...],
    candidates: set[str],
    facts: FactSource,
    placed: FactSource,
    *,
    alone: tuple[Condition, ...],
    beside: set[str],
) -> set[str]:
    """The candidates that are looked at: under the conditions `alone` those outside a place that they must lie in are
    left away at once. Where relations say nothing of the candidates the outline of the place is an input. Those
    `beside` are inputs all the same, as what others are held against, so where they lie stays known."""
    kept = set(candidates)
    for inside in simple(conditions):
        if not isinstance(inside, Inside):
            continue
        narrows = inside in alone
        members = set(facts.members(inside.place_id))
        related = sorted(candidates & members)
        area = per_place(placed.shapes(place_ids=(inside.place_id,)))[0] if not related else []
        outlined = [fact for fact in area if fact.geometry is not None and len(fact.geometry) > _POINT_BYTES]
        if outlined:
            given.add(outlined)
            near = placed.shapes(place_ids=kept, box=geometry.bounds(outlined[0].geometry or b"")) if kept else []
            if inside.holds and narrows:
                kept &= {fact.place.entity_id for fact in near}
        else:
            given.inside[inside.place_id] = sorted((candidates | beside) & members)
            if narrows:
                kept = {p for p in kept if (p in set(related)) is inside.holds}
            if not related:
                given.limitations.append(_nothing_inside(inside.place_id, facts))
    for condition in alone:
        if isinstance(condition, OneOf) and condition.holds:
            kept &= set(condition.place_ids)
    looked_at = kept | beside
    given.inside = {area: [m for m in members if m in looked_at] for area, members in given.inside.items()}
    return kept


def _whole(plan: Part, given: Inputs, facts: FactSource, placed: FactSource) -> None:
    """Adds what says that the parts lie in the whole: relations, else outlines."""
    related = sorted(set(plan.part_ids) & set(facts.members(plan.place_id)))
    if len(related) == len(set(plan.part_ids)):
        given.inside[plan.place_id] = related
    else:
        given.add(per_place(placed.shapes(place_ids=(plan.place_id, *plan.part_ids)))[0])


_POINT_BYTES = 21


def _shaped(plan: Plan, conditions: Iterable[Condition], given: Inputs) -> bool:
    """True if the candidates' shapes are inputs."""
    figures = any(isinstance(figure, Area | Density | Gap) for figure in figures_of(plan))
    parts = list(simple(tuple(conditions)))
    outlined = any(isinstance(c, Inside) and c.place_id not in given.inside for c in parts)
    return figures or outlined or any(isinstance(c, Bordering | Shown) for c in parts)


def _centres(conditions: Iterable[Condition], figures: Iterable[object]) -> list[str]:
    found = [c.place_id for c in simple(tuple(conditions)) if isinstance(c, Bordering)]
    return list(dict.fromkeys(found + [figure.place_id for figure in figures if isinstance(figure, Gap)]))


def _areas(conditions: Iterable[Condition]) -> list[str]:
    return [c.place_id for c in simple(tuple(conditions)) if isinstance(c, Inside)]


def _name(given: Inputs, conditions: Iterable[Condition], facts: FactSource) -> None:
    """The names that a statement says of places that are no result."""
    ids = [*_centres(conditions, figures_of(given.plan)), *_areas(conditions)]
    ids += [p for c in simple(tuple(conditions)) if isinstance(c, OneOf) for p in c.place_ids]
    ids += [p for c in conditions for p in centres_in(c)]
    for place_id in dict.fromkeys(ids):
        place = facts.place(place_id)
        if place is not None:
            given.names[place_id] = place.name


def _no_shape(place_id: str, facts: FactSource) -> Limitation:
    place = facts.place(place_id)
    return Limitation(
        "NO_GEOMETRY", f"No position or outline is recorded for {place.name if place else 'that place'}.", _CHANNEL
    )


def _nothing_inside(place_id: str, facts: FactSource) -> Limitation:
    place = facts.place(place_id)
    name = place.name if place else "that place"
    return Limitation("NO_GEOMETRY", f"What lies in {name} is neither stated nor drawn for what was asked.", _CHANNEL)


def _no_figures(measure: str, kind: str | None, ids: tuple[str, ...], facts: FactSource) -> Limitation:
    years = facts.years(measure, place_ids=ids, place_type=None if ids else kind)
    covered = f"is recorded for {listed([str(y) for y in years])}" if years else "is not recorded"
    words = measure.replace("_", " ")
    of = f" of {plural(kind)}" if kind is not None and not ids else ""
    return Limitation("NO_OBSERVATION", f"{words[:1].upper()}{words[1:]}{of} {covered}.", _CHANNEL)


def _conflict(measure: str, year: int | None) -> Limitation:
    words, when = measure.replace("_", " "), "" if year is None else f" in {year}"
    return Limitation(
        "CONFLICTING_OBSERVATIONS", f"Records state different figures of {words} for one place{when}.", _CHANNEL
    )
