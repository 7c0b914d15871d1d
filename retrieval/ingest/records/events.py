"""Events that headings declare: `Black Sunday (April 14, 1935)` names an event and its day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from retrieval.index import GazetteerEntry
from retrieval.ingest.records.link import times_in
from retrieval.ingest.records.rows import date_entity
from retrieval.ingest.records.templates import slug
from retrieval.ingest.values import Parts
from retrieval.model import EntityRef, Record, Relationship, headings_above

_DATED = re.compile(r"(?P<name>[^()]{3,80}?)\s*\((?=[^()]*?\d{4})(?P<when>[^()]*+)\)")


def with_events(records: Sequence[Record]) -> Parts:
    """The passages, those under a dated heading with its event as entity (and its time, where their words name none),
    and the event's name and day, stated by the first passage under the heading."""
    told: list[Record] = []
    entries: dict[str, GazetteerEntry] = {}
    edges: list[Relationship] = []
    for record in records:
        path = headings_above(record.heading)
        match = _DATED.fullmatch(path[-1]) if path else None
        when = next(times_in(match["when"]), None) if match else None
        if match is None or when is None:
            told.append(record)
            continue
        event = EntityRef(f"event:{slug(match['name'])}", match["name"].strip(), "event")
        told.append(replace(record, entities=(event,), time=record.time or when[1]))
        if event.entity_id not in entries:
            entries[event.entity_id] = GazetteerEntry(event, (event.name,), record.class_id, record.document_id)
            edges.append(
                Relationship(
                    subject=event,
                    predicate="occurred_on",
                    object=date_entity(when[0]),
                    class_id=record.class_id,
                    document_id=record.document_id,
                    record_id=record.record_id,
                    time=when[1],
                )
            )
    return Parts(tuple(told), tuple(entries.values()), tuple(edges))
