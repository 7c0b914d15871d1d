"""Figures that may only be told in aggregates: whole groups of enough places, or nothing.

Two figures that a caller may have must not differ by a few records, or subtracting tells these. So a class enters into
a figure with every place of the kind for which it has one, or not at all: not narrowed to an area or to named places,
not beside open figures of the same places, not with fewer places than the class asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from retrieval.algebra.aggregates import AGGREGATES
from retrieval.algebra.operations import Aggregate, Operation
from retrieval.model import EntityRef
from retrieval.spatial.facts import Box, Fact, FactSource, per_place


@dataclass(frozen=True, slots=True)
class ClosedFacts:
    """The facts of one class that is open in aggregates over at least `least` places."""

    facts: FactSource
    least: int

    def group(self, measure: str, place_type: str, year: int) -> list[Fact]:
        """One figure for each place; none where there are too few."""
        found, _ = per_place(self.facts.observations(measure, place_type=place_type, year=year))
        return found if len(found) >= self.least else []


def over_groups(operation: Operation) -> bool:
    """True if the operation tells a figure over all places of a kind, from which no single one can be read."""
    return isinstance(operation, Aggregate) and operation.within is None and AGGREGATES[operation.function].hides


class WithGroups:
    """Open facts and the groups of closed ones. A `FactSource` for operations over whole groups."""

    def __init__(self, open_facts: FactSource, closed: Sequence[ClosedFacts]) -> None:
        self._open, self._closed = open_facts, tuple(closed)
        self.grouped: frozenset[str] = frozenset()

    def observations(
        self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None, year: int | None = None
    ) -> list[Fact]:
        """See `FactSource`. `grouped` are the ids of the closed ones among those that were given last."""
        found = self._open.observations(measure, place_ids=place_ids, place_type=place_type, year=year)
        self.grouped = frozenset()
        if place_ids or place_type is None or year is None:
            return found
        for closed in self._closed:
            group = closed.group(measure, place_type, year)
            if {fact.place.entity_id for fact in found}.isdisjoint(fact.place.entity_id for fact in group):
                found = found + group
                self.grouped |= {fact.record_id for fact in group}
        return sorted(found, key=lambda fact: fact.record_id)

    def years(self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None) -> tuple[int, ...]:
        """See `FactSource`."""
        found = set(self._open.years(measure, place_ids=place_ids, place_type=place_type))
        if not place_ids and place_type is not None:
            for closed in self._closed:
                years = closed.facts.years(measure, place_type=place_type)
                found |= {year for year in years if closed.group(measure, place_type, year)}
        return tuple(sorted(found))

    def shapes(
        self, *, place_ids: Collection[str] = (), place_type: str | None = None, box: Box | None = None
    ) -> list[Fact]:
        """See `FactSource`."""
        return self._open.shapes(place_ids=place_ids, place_type=place_type, box=box)

    def members(self, place_id: str) -> Mapping[str, str]:
        """See `FactSource`."""
        return self._open.members(place_id)

    def measures(self, place_type: str) -> tuple[str, ...]:
        """See `FactSource`."""
        return self._open.measures(place_type)

    def place(self, place_id: str) -> EntityRef | None:
        """See `FactSource`."""
        return self._open.place(place_id)
