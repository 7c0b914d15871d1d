"""The map as it was drawn at a time: shapes of other times are left out, undated ones stand at any time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from retrieval.model import Computation, EntityRef, TimeRange
from retrieval.spatial.computing.compute import compute
from retrieval.spatial.facts import Box, Fact, FactSource


@dataclass(frozen=True, slots=True)
class AsOf:
    """A `FactSource` whose shapes share a day with one of the times; everything else is that of `facts`."""

    facts: FactSource
    times: Sequence[TimeRange]

    @property
    def label(self) -> str:
        """The times in words: years where they are whole ones."""
        return ", ".join(_label(time) for time in self.times)

    def shapes(
        self, *, place_ids: Collection[str] = (), place_type: str | None = None, box: Box | None = None
    ) -> list[Fact]:
        """See `FactSource`."""
        found = self.facts.shapes(place_ids=place_ids, place_type=place_type, box=box)
        return [fact for fact in found if self._stands(fact)]

    def _stands(self, fact: Fact) -> bool:
        if fact.start is None or fact.end is None:
            return True
        drawn = TimeRange(fact.start, fact.end)
        return any(drawn.overlaps(time) for time in self.times)

    def observations(
        self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None, year: int | None = None
    ) -> list[Fact]:
        """See `FactSource`."""
        return self.facts.observations(measure, place_ids=place_ids, place_type=place_type, year=year)

    def years(self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None) -> tuple[int, ...]:
        """See `FactSource`."""
        return self.facts.years(measure, place_ids=place_ids, place_type=place_type)

    def members(self, place_id: str) -> Mapping[str, str]:
        """See `FactSource`."""
        return self.facts.members(place_id)

    def measures(self, place_type: str) -> tuple[str, ...]:
        """See `FactSource`."""
        return self.facts.measures(place_type)

    def place(self, place_id: str) -> EntityRef | None:
        """See `FactSource`."""
        return self.facts.place(place_id)


def drawn(operation: str, parameters: Mapping[str, object], inputs: Sequence[Fact], facts: FactSource) -> Computation:
    """The operation over shapes; where dated ones stand for a time that was asked for, the result says so."""
    if isinstance(facts, AsOf) and any(fact.start is not None and fact.geometry is not None for fact in inputs):
        return compute(operation, {**parameters, "as_of": facts.label}, inputs)
    return compute(operation, parameters, inputs)


def _label(time: TimeRange) -> str:
    if time == TimeRange.year(time.start.year):
        return str(time.start.year)
    return f"{time.start.isoformat()}/{time.end.isoformat()}" if time.start != time.end else time.start.isoformat()
