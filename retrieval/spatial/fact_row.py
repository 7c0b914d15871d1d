"""Facts and containments as rows: the form in which the file and PostGIS hold them, so that both give the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from retrieval.model import EntityRef, Record, Relationship
from retrieval.spatial.facts import Box, Fact

COLUMNS = "record_id, source_id, place_id, place_name, place_type, measure, value, unit, start_day, end_day, geometry"
"""The columns that `read_fact` takes, in its order. Days are ordinals of the proleptic Gregorian calendar, geometries
WKB."""
CONTAINMENT = "located_in"
"""The predicate of a relation that puts its subject inside its object."""
DEPTH = 3
"""How many containments lead from a member to a place."""


def fact_row(tenant: str, record: Record, fact: Fact) -> tuple[object, ...]:
    """Record, document, source, tenant, class; place (id, name, type), measure, value, unit; days; geometry."""
    days = (fact.start.toordinal() if fact.start else None, fact.end.toordinal() if fact.end else None)
    about = (fact.place.entity_id, fact.place.name, fact.place.type, fact.measure, fact.value, fact.unit)
    return (fact.record_id, record.document_id, fact.source_id, tenant, record.class_id, *about, *days, fact.geometry)


def read_fact(row: Sequence[Any]) -> Fact:
    """The fact in a row of `COLUMNS`."""
    record_id, source_id, place_id, name, kind, measure, value, unit, start, end, shape = row
    return Fact(
        record_id=record_id,
        source_id=source_id,
        place=EntityRef(place_id, name, kind),
        measure=measure,
        value=value,
        unit=unit,
        start=None if start is None else date.fromordinal(start),
        end=None if end is None else date.fromordinal(end),
        geometry=shape,
    )


def inside_row(tenant: str, relation: Relationship) -> tuple[str, ...]:
    """Inner and outer place, class, tenant, record, document; name and type of both places."""
    one, other = relation.subject, relation.object
    identity = (one.entity_id, other.entity_id, relation.class_id, tenant, relation.record_id, relation.document_id)
    return (*identity, one.name, one.type, other.name, other.type)


def edges(box: Box) -> list[dict[str, float]]:
    """`west`, `south`, `east`, `north` of the box; of its two halves where it crosses the antimeridian."""
    west, south, east, north = box
    parts = [(west, east)] if west <= east else [(west, 180.0), (-180.0, east)]
    return [{"west": one, "south": south, "east": other, "north": north} for one, other in parts]
