"""Facts that the structured channel reasons over: one per observation or feature, and where facts come from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from retrieval.model import EntityRef, Record

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Fact:
    """A record reduced to what operations use: a figure at a place and time, a shape, or both. `geometry` is WKB in
    WGS 84."""

    record_id: str
    source_id: str
    place: EntityRef
    measure: str | None = None
    value: str | None = None
    unit: str | None = None
    start: date | None = None
    end: date | None = None
    geometry: bytes | None = None

    @classmethod
    def of(cls, record: Record) -> Fact | None:
        """The fact in a record; None when it has neither figure nor shape, or is about no entity.

        A feature is about the first entity that it declares.
        """
        seen = record.measurement or record.attribute
        place = seen.place if seen else next(iter(record.entities), None)
        if place is None or (seen is None and record.geometry is None):
            return None
        time = record.measurement.time if record.measurement else None if seen else record.time
        return cls(
            record_id=record.record_id,
            source_id=record.source_id,
            place=place,
            measure=seen.measure if seen else None,
            value=seen.value if seen else None,
            unit=seen.unit if seen else None,
            start=time.start if time else None,
            end=time.end if time else None,
            geometry=record.geometry,
        )

    def canonical(self) -> dict[str, object]:
        """The fact as JSON values, its geometry by digest: what an input digest commits to."""
        shape = None if self.geometry is None else "sha256:" + hashlib.sha256(self.geometry).hexdigest()
        return {
            "record_id": self.record_id,
            "place": [self.place.entity_id, self.place.name, self.place.type],
            "measure": self.measure,
            "value": self.value,
            "unit": self.unit,
            "time": [self.start.isoformat(), self.end.isoformat()] if self.start and self.end else None,
            "geometry": shape,
        }

    def covers_year(self, year: int) -> bool:
        """True if the fact is dated and its time shares a day with the year."""
        return self.start is not None and self.end is not None and self.start.year <= year <= self.end.year


def digest_of_facts(inputs: Sequence[Fact]) -> str:
    """The digest of what the inputs of a computation state, in order of record id. As `retrieval.scope.digest`, which
    takes ten times as long: for text, null and lists RFC 8785 is what `json` writes when the keys are sorted."""
    facts = [f.canonical() for f in sorted(inputs, key=lambda fact: fact.record_id)]
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class FactSource(Protocol):
    """Facts of the admitted classes only, each list in order of record id. Raises `ChannelError` only."""

    def observations(
        self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None, year: int | None = None
    ) -> list[Fact]:
        """Figures of a measure; `year` keeps those whose time shares a day with it."""
        ...

    def years(self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None) -> tuple[int, ...]:
        """The years for which there is any such figure, ascending."""
        ...

    def shapes(
        self, *, place_ids: Collection[str] = (), place_type: str | None = None, box: Box | None = None
    ) -> list[Fact]:
        """Facts with a geometry whose bounds meet the box; west > east means across the antimeridian."""
        ...

    def members(self, place_id: str) -> Mapping[str, str]:
        """Places that admitted relations put inside a place, at any depth up to three, with the record that states
        it."""
        ...

    def measures(self, place_type: str) -> tuple[str, ...]:
        """The measures at places of a type, in alphabetical order."""
        ...

    def place(self, place_id: str) -> EntityRef | None:
        """The place as an admitted fact or relation names it."""
        ...


def figures_at(
    measure: str, year: int | None, facts: FactSource, *, place_ids: Collection[str] = (), place_type: str | None = None
) -> list[Fact]:
    """The figures of a measure in a year; where it is None those without a time, and none of any year beside them."""
    found = facts.observations(measure, place_ids=place_ids, place_type=place_type, year=year)
    return found if year is not None else [fact for fact in found if fact.start is None]


def per_place(facts: Sequence[Fact]) -> tuple[list[Fact], bool]:
    """One fact for each place, in order of record id, and whether others of the same place state another value.

    Of several the current one is kept (no end, or the latest), then the first by source and record id.
    """
    kept: dict[str, Fact] = {}
    conflict = False
    for fact in sorted(facts, key=_preference):
        first = kept.setdefault(fact.place.entity_id, fact)
        conflict = conflict or (fact.value is not None and first.value != fact.value)
    return sorted(kept.values(), key=lambda f: f.record_id), conflict


def undrawn(kind: str, within: str, drawn: Collection[str], facts: FactSource) -> list[Fact]:
    """One figure for each place of a kind that relations put inside a place and that is drawn nowhere: it is there all
    the same."""
    missing = set(facts.members(within)) - set(drawn)
    found = [
        fact
        for measure in (facts.measures(kind) if missing else ())
        for fact in facts.observations(measure, place_ids=missing)
        if fact.place.type == kind
    ]
    return per_place(found)[0]


def _preference(fact: Fact) -> tuple[int, str, str]:
    latest = date.max.toordinal() if fact.end is None else fact.end.toordinal()
    return -latest, fact.source_id, fact.record_id
