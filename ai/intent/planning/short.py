"""The short form of an operation of the algebra, where there is one: what a map or a table answers in one step."""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal

from retrieval.algebra.operations import (
    Aggregate,
    ContainedIn,
    Count,
    Nearest,
    Neighbours,
    Operation,
    Superlative,
    WithinDistance,
)
from retrieval.algebra.plan import Bordering, Gap, Inside, Places, Rank, Select, Tally, Total, Value, Where


def shortened(operation: Operation, whole: Collection[str]) -> Operation:  # noqa: PLR0911 - one branch for each form
    """The operation in its short form; itself where it has none. `whole`: the measures that count people, of which more
    than 20,000 are at least 20,001."""
    match operation:
        case Rank(places, Value(measure, year), order, 1, limit) if _simple(places):
            return Superlative(measure, places.kind, year, order, _within(places), limit)
        case Rank(Places(kind, ()), Gap(place_id), "smallest", 1, limit):
            return Nearest(place_id, kind, limit)
        case Total(function, places, Value(measure, year)) if _simple(places):
            return Aggregate(function, measure, places.kind, year, _within(places))
        case Select(Places(_, (Bordering(place_id, True),)), None):
            return Neighbours(place_id)
        case Select(Places(kind, (Inside(place_id, True),)), None):
            return ContainedIn(place_id, kind)
        case Select(Places(kind, (Where(Gap(place_id), None, str(high), _, False, True),)), _):
            return WithinDistance(place_id, kind, float(Decimal(high)) / 1000)
        case Tally(places) if _simple(places):
            return Count(places.kind, _within(places))
        case Tally(Places(kind, (*inside, Where(Value(measure, year), str(low), None, open_, _, True)))) if (
            _simple(Places(kind, tuple(inside)))
            and Decimal(low) == Decimal(low).to_integral_value()
            and (not open_ or measure in whole)
        ):
            return Count(kind, _within(Places(kind, tuple(inside))), year, measure, int(Decimal(low)) + open_)
        case _:
            return operation


def _simple(places: Places) -> bool:
    """True if the only condition, if any, is that they lie in a place."""
    return not places.conditions or (
        len(places.conditions) == 1 and isinstance(places.conditions[0], Inside) and places.conditions[0].holds
    )


def _within(places: Places) -> str | None:
    inside = places.conditions[0] if places.conditions else None
    return inside.place_id if isinstance(inside, Inside) else None
