"""The contents of every graph store: edges with the record that states each, the keys that records carry, and the
reads that `retrieval.graph.rank` asks of a store.

Keys are `surface_key`s of names, `=` and an entity id for declared entities, and `#1854`, `#1854-05`, `#1854-05-30` for
times.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.index import IndexBatch
from retrieval.model import Record, RecordKind, TimeRange

_MAX_YEARS = 60
_LONGEST_KEY = 1_000
Postings = NDArray[np.unsignedinteger[Any]] | NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation as its record states it; `start_day` and `end_day` are proleptic ordinals."""

    subject: str
    subject_type: str
    predicate: str
    object: str
    object_type: str
    record_id: str
    start_day: int | None
    end_day: int | None

    @property
    def path(self) -> str:
        """`nation:apache -signed-> treaty:10-stat-979`."""
        return f"{self.subject} -{self.predicate}-> {self.object}"

    def time_match(self, times: Sequence[TimeRange]) -> int:
        """2 when the relation is dated inside one of the times, 1 when it shares a day with one, else 0."""
        if self.start_day is None or self.end_day is None:
            return 0
        spans = [(t.start.toordinal(), t.end.toordinal()) for t in times]
        if any(first <= self.start_day and self.end_day <= last for first, last in spans):
            return 2
        return int(any(first <= self.end_day and self.start_day <= last for first, last in spans))


@dataclass(frozen=True, slots=True)
class EdgeKind:
    """A predicate between two types of entity."""

    subject_type: str
    predicate: str
    object_type: str


def time_keys(time: TimeRange) -> list[str]:
    """The keys under which a question looks for a time, as fine as the time is; none for a span of more than sixty
    years."""
    start, end = time.start, time.end
    if start == end:
        return [f"#{start.isoformat()}"]
    if (start.year, start.month) == (end.year, end.month):
        return [f"#{start.isoformat()[:7]}"]
    if end.year - start.year > _MAX_YEARS:
        return []
    return [f"#{year:04d}" for year in range(start.year, end.year + 1)]


def indexed_time_keys(time: TimeRange) -> list[str]:
    """The keys under which a time is found: its years, and its month and day when it is as fine as that."""
    keys = [f"#{year:04d}" for year in range(time.start.year, min(time.end.year, time.start.year + _MAX_YEARS) + 1)]
    if (time.start.year, time.start.month) == (time.end.year, time.end.month):
        keys.append(f"#{time.start.isoformat()[:7]}")
    if time.start == time.end:
        keys.append(f"#{time.start.isoformat()}")
    return keys


class GraphReads(Protocol):
    """The part of a graph that one scope admits, at one moment. Nothing outside the scope is counted, followed or
    returned."""

    async def kinds(self) -> list[EdgeKind]:
        """Every admitted kind of edge, once, in alphabetical order."""
        ...

    async def edges_at(
        self, entity_ids: Collection[str], *, predicates: Collection[str] | None, times: Sequence[TimeRange], limit: int
    ) -> list[Edge]:
        """Edges that begin or end at the entities, in order of record id, at most `limit` from either end.
        `predicates` narrows; with `times` an edge of another time is left out, an undated one is kept."""
        ...

    async def edges_of(self, predicates: Collection[str], *, times: Sequence[TimeRange], limit: int) -> list[Edge]:
        """Dated edges with one of the predicates in one of the times, in order of record id, at most `limit`; without
        times undated ones too."""
        ...

    async def postings(self, groups: Sequence[Collection[str]]) -> list[Postings]:
        """For each group of keys the numbers of the records that carry any of them; some may stand twice."""
        ...

    async def first_record_ids(self, rids: Postings, limit: int) -> list[str]:
        """The ids of the records with these numbers, in order, at most `limit`."""
        ...


def carried(batch: IndexBatch) -> Iterator[tuple[str, str, str, list[str]]]:
    """(record, class, document, keys): what prose mentions, and what a row declares. A figure is the spatial
    channel's."""
    for mention in batch.mentions:
        keys = [mention.key] if mention.time is None else indexed_time_keys(mention.time)
        yield mention.record_id, mention.class_id, mention.document_id, keys
    for record in batch.records:
        keys = _declared_keys(record)
        if keys:
            yield record.record_id, record.class_id, record.document_id, keys


def _declared_keys(record: Record) -> list[str]:
    if record.kind is not RecordKind.PASSAGE:
        return []
    keys = [f"={entity.entity_id}" for entity in record.entities]
    return keys + (indexed_time_keys(record.time) if record.time else [])


def store_key(text: str) -> str:
    """The text as a key that any server takes: itself, or its digest where it is longer than an index allows or no
    Unicode text."""
    try:
        if len(text.encode()) <= _LONGEST_KEY:
            return text
    except UnicodeEncodeError:
        pass
    return f"~{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
