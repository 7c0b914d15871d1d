"""Plans of the algebra over facts, pure: the same plan and inputs give the same result, wherever and whenever they run.

Figures are exact fractions until they are told. A place for which a condition or a figure is not known is not
considered, and a centre is not among the places around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from retrieval.algebra.aggregates import AGGREGATES
from retrieval.algebra.describe import SQUARES
from retrieval.algebra.json import plan_of
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
from retrieval.spatial import geometry
from retrieval.spatial.facts import Fact

Ranked = tuple[Fraction, EntityRef]


@dataclass(frozen=True, slots=True)
class Table:
    """The inputs by place: shapes, and figures by measure and year. `inside` is what relations state."""

    places: Mapping[str, EntityRef]
    shapes: Mapping[str, bytes]
    values: Mapping[tuple[str, str], Sequence[Fact]]
    inside: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, facts: Sequence[Fact], inside: Mapping[str, Sequence[str]]) -> Table:
        """The table of some facts."""
        values: dict[tuple[str, str], list[Fact]] = {}
        for fact in facts:
            if fact.measure is not None:
                values.setdefault((fact.place.entity_id, fact.measure), []).append(fact)
        return cls(
            places={fact.place.entity_id: fact.place for fact in facts},
            shapes={fact.place.entity_id: fact.geometry for fact in facts if fact.geometry is not None},
            values=values,
            inside={place: frozenset(members) for place, members in inside.items()},
        )

    def value(self, place_id: str, measure: str, year: int | None) -> Fraction | None:
        """The figure of a place in a year, or that without a time."""
        found = self.values.get((place_id, measure), ())
        fact = next((f for f in found if (f.start is None if year is None else f.covers_year(year))), None)
        return None if fact is None or fact.value is None else Fraction(Decimal(fact.value))

    def figure(self, figure: Figure, place_id: str) -> Fraction | None:
        """The figure of a place; None where an input is missing."""
        match figure:
            case Value(measure, year):
                return self.value(place_id, measure, year)
            case Growth(measure, from_year, to_year, relative):
                old, new = self.value(place_id, measure, from_year), self.value(place_id, measure, to_year)
                if old is None or new is None or (relative and not old):
                    return None
                return (new - old) * 100 / old if relative else new - old
            case Area():
                shape = self.shapes.get(place_id)
                return None if shape is None else geometry.area_km2(shape)
            case Density(measure, year, unit):
                value, area = self.value(place_id, measure, year), self.figure(Area(), place_id)
                return None if value is None or not area else value / area * SQUARES[unit]
            case Gap(centre):
                one, other = self.shapes.get(centre), self.shapes.get(place_id)
                return None if one is None or other is None else Fraction(geometry.gap_m(one, other))

    def holds(self, condition: Condition, place_id: str) -> bool | None:
        """True if a condition holds of a place; None where that is not known. Whether it is foremost its figure alone
        does not say: that holds wherever the figure is known."""
        if isinstance(condition, Foremost):
            return None if self.figure(condition.figure, place_id) is None else True
        known = self._known(condition, place_id)
        return None if known is None else known is condition.holds

    def _known(  # noqa: PLR0911 - one branch for each condition
        self, condition: Simple | AnyOf, place_id: str
    ) -> bool | None:
        match condition:
            case AnyOf(conditions, _):
                held = [place_id not in centres_in(c) and self.holds(c, place_id) for c in conditions]
                return True if True in held else None if None in held else False
            case Than(figure, other, more, _):
                value, limit = self.figure(figure, place_id), self.figure(figure, other)
                return None if value is None or limit is None else (value > limit if more else value < limit)
            case OneOf(place_ids, _):
                return place_id in place_ids
            case Inside(area, _):
                if area in self.inside:
                    return place_id in self.inside[area]
                return self._shapes_meet(area, place_id, contains=True)
            case Shown(box, _):
                shape = self.shapes.get(place_id)
                region = geometry.boxed(*(float(edge) for edge in box))
                return None if shape is None else geometry.intersects(region, shape)
            case Bordering(centre, _):
                return centre != place_id and self._shapes_meet(centre, place_id, contains=False)
            case Where():
                value = self.figure(condition.figure, place_id)
                return None if value is None else _between(value, condition)

    def _shapes_meet(self, one: str, other: str, *, contains: bool) -> bool | None:
        first, second = self.shapes.get(one), self.shapes.get(other)
        if first is None or second is None:
            return None
        return geometry.contains(first, second) if contains else geometry.share_border(first, second)

    def chosen(self, places: Places) -> tuple[list[EntityRef], int]:
        """The places for which every condition holds, by id, and how many were considered."""
        centres = set() if places.centred else set(centres_of(places))
        candidates = [p for p in self.places.values() if p.type == places.kind and p.entity_id not in centres]
        found, considered = list[EntityRef](), 0
        for place in sorted(candidates, key=lambda p: p.entity_id):
            held = [self.holds(condition, place.entity_id) for condition in places.conditions]
            considered += None not in held
            if all(held):
                found.append(place)
        for condition in places.conditions:
            if isinstance(condition, Foremost):
                found = self._foremost(condition, found)
        return found, considered

    def _foremost(self, condition: Foremost, among: Sequence[EntityRef]) -> list[EntityRef]:
        """Those with the rank, in the order in which they came."""
        values = {
            p.entity_id: value for p in among if (value := self.figure(condition.figure, p.entity_id)) is not None
        }
        ranked = sorted(values.values(), reverse=condition.order == "largest")
        wanted = set(ranked[condition.first - 1 : condition.first - 1 + condition.limit])
        return [p for p in among if values.get(p.entity_id) in wanted]

    def ranked(self, places: Places, figure: Figure) -> list[Ranked]:
        """The chosen places that have the figure, by id."""
        own = figure.place_id if isinstance(figure, Gap) and not places.centred else None
        pairs = [(self.figure(figure, p.entity_id), p) for p in self.chosen(places)[0] if p.entity_id != own]
        return [(value, place) for value, place in pairs if value is not None]


def _between(value: Fraction, where: Where) -> bool:
    low = None if where.low is None else Fraction(Decimal(where.low))
    high = None if where.high is None else Fraction(Decimal(where.high))
    above = low is None or value > low or (value == low and not where.low_open)
    below = high is None or value < high or (value == high and not where.high_open)
    return above and below


def centres_of(places: Places) -> Iterator[str]:
    """The places that others are held against, each under a condition of its own: none of them is a result."""
    for condition in places.conditions:
        if not isinstance(condition, AnyOf):
            yield from centres_in(condition)


def centres_in(condition: Condition) -> Iterator[str]:
    """The places that one condition holds others against."""
    match condition:
        case Bordering(place_id, _) | Where(Gap(place_id)) | Than(_, place_id):
            yield place_id
        case AnyOf(conditions):
            for one in conditions:
                yield from centres_in(one)
        case _:
            return


def simple(conditions: Sequence[Condition]) -> Iterator[Simple]:
    """The conditions of one place at a time, with those of which one must hold taken apart."""
    for condition in conditions:
        if isinstance(condition, AnyOf):
            yield from condition.conditions
        elif not isinstance(condition, Foremost):
            yield condition


def figures_of(plan: Plan, *, whole: bool = False) -> Iterator[Figure]:
    """Every figure of a plan, conditions' included; `whole`: without those of conditions of which one must hold."""
    match plan:
        case Select(places, figure):
            yield from () if figure is None else (figure,)
            yield from conditions_figures(places.conditions, whole=whole)
        case Tally(places):
            yield from conditions_figures(places.conditions, whole=whole)
        case Rank(places, figure) | Total(_, places, figure):
            yield figure
            yield from conditions_figures(places.conditions, whole=whole)
        case Figures(figure, _) | Weigh(figure, _, _) | Part(figure, _, _, _):
            yield figure
        case Test(_, _, conditions):
            yield from conditions_figures(conditions, whole=whole)
        case _:
            return


def conditions_figures(conditions: Sequence[Condition], *, whole: bool = True) -> Iterator[Figure]:
    """The figures that conditions hold places by; `whole`: without those of which one must hold."""
    parts = conditions if whole else (*simple(conditions), *(c for c in conditions if isinstance(c, Foremost)))
    yield from (condition.figure for condition in parts if isinstance(condition, Where | Than | Foremost))


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The result of a plan: places in order, each with its figure where it has one, and one value, told with so many
    `decimals` where it is rounded."""

    places: tuple[tuple[EntityRef, Fraction | None], ...] = ()
    value: Fraction | None = None
    considered: int = 0
    holds: bool | None = None
    years: tuple[int, ...] = ()
    decimals: int = 1

    def names(self, place: EntityRef) -> bool:
        """True if the place is one of the result."""
        return any(each.entity_id == place.entity_id for each, _ in self.places)


def evaluate(plan: Plan, table: Table) -> Evaluated:  # noqa: PLR0911 - one branch for each operation
    """Runs a plan. Raises `ValueError` when the inputs are not what it needs."""
    match plan:
        case Select(places, figure):
            found, considered = table.chosen(places)
            pairs = [(p, None if figure is None else table.figure(figure, p.entity_id)) for p in found]
            if figure is not None and not any(isinstance(c, Foremost) for c in places.conditions):
                pairs = [(p, value) for p, value in pairs if value is not None]  # one that others are held against
            pairs.sort(key=lambda pair: (-(pair[1] or 0), pair[0].name, pair[0].entity_id))
            return Evaluated(tuple(pairs), Fraction(len(found)), considered)
        case Tally(places):
            found, considered = table.chosen(places)
            named = sorted(found, key=lambda p: (p.name, p.entity_id))
            return Evaluated(tuple((p, None) for p in named), Fraction(len(found)), considered)
        case Rank():
            return _rank(plan, table)
        case Total(function, places, figure):
            ranked = table.ranked(places, figure)
            short = len(ranked) < len(table.chosen(places)[0])
            if not ranked or (short and any(isinstance(c, Foremost) for c in places.conditions)):
                return Evaluated()  # not the total of those that are foremost without one of them
            ordered = sorted(ranked, key=lambda pair: (-pair[0], pair[1].entity_id))
            value = AGGREGATES[function].compute([value for value, _ in ranked])
            return Evaluated(tuple((p, v) for v, p in ordered), value, len(ranked))
        case Figures(figure, place_ids):
            given = [(table.places[p], table.figure(figure, p)) for p in place_ids if p in table.places]
            known = tuple((p, v) for p, v in given if v is not None)
            return Evaluated(known, known[0][1] if len(known) == 1 else None, len(known))
        case Weigh(figure, place_ids, way):
            return _weigh(figure, place_ids, way, table)
        case Part():
            return _part(plan, table)
        case Test(place, _, conditions):
            held = [table.holds(condition, place) for condition in conditions]
            known_all = None if None in held else all(held)
            return (
                Evaluated(((table.places[place], None),), None, 1, known_all) if place in table.places else Evaluated()
            )
        case _:
            raise ValueError("what rows state is not evaluated over facts")


def _rank(plan: Rank, table: Table) -> Evaluated:
    """Those from the `first` on; a tie with one of them counts, a tie with one before them does not."""
    sign = -1 if plan.order == "largest" else 1
    ranked = sorted(table.ranked(plan.places, plan.figure), key=lambda pair: (sign * pair[0], pair[1].entity_id))
    wanted = ranked[plan.first - 1 : plan.first - 1 + plan.limit]
    values = {value for value, _ in wanted}
    kept = tuple((place, value) for value, place in ranked if value in values)
    return Evaluated(kept, kept[0][1] if len(kept) == 1 else None, len(ranked))


def _weigh(figure: Figure, place_ids: tuple[str, str], way: str, table: Table) -> Evaluated:
    pairs = [(table.places[p], table.figure(figure, p)) for p in place_ids if p in table.places]
    known = [(place, value) for place, value in pairs if value is not None]
    if len(known) < 2:
        return Evaluated()
    one, other = known[0][1], known[1][1]
    if way == "ratio" and not other:
        return Evaluated()
    return Evaluated(tuple(known), one - other if way == "difference" else one / other, 2)


def _part(plan: Part, table: Table) -> Evaluated:
    """The share or the rest; nothing where a part is not known to lie in the whole."""
    whole = table.figure(plan.figure, plan.place_id)
    parts = [(table.places[p], table.figure(plan.figure, p)) for p in plan.part_ids if p in table.places]
    known = [(place, value) for place, value in parts if value is not None]
    lying = all(table.holds(Inside(plan.place_id), p) for p in plan.part_ids)
    if whole is None or len(known) < len(plan.part_ids) or not lying or (plan.way == "share" and not whole):
        return Evaluated()
    some = sum((value for _, value in known), Fraction(0))
    value = some * 100 / whole if plan.way == "share" else whole - some
    return Evaluated(((table.places[plan.place_id], whole), *known), value, 1 + len(known))


def plan_in(parameters: Mapping[str, object]) -> Plan:
    """The plan of a computed item. Raises `ValueError`."""
    return plan_of(parameters.get("plan"))
