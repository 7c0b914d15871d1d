"""The spatial and statistical channel on SQLite with an R*Tree: facts of the admitted classes, operations answered
over them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

import apsw

from retrieval.errors import ChannelFault, ChannelUnavailable
from retrieval.index import IndexBatch
from retrieval.model import ChannelName, Hit, Query, Record, Relationship, Run
from retrieval.spatial import geometry
from retrieval.spatial.answer import Answer, answer
from retrieval.spatial.facts import Fact
from retrieval.spatial.rows import SCHEMA, FactRows
from retrieval.sqlite_file import SqliteFile

_PUT_FACT = (
    "INSERT INTO fact(record_id, document_id, source_id, tenant, class_id, place_id, place_name, place_type, measure,"
    " value, unit, start_day, end_day, geometry) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
T = TypeVar("T")
_AROUND_LIMIT = 200
CONTAINMENT = "located_in"
"""The predicate of a relation that puts its subject inside its object."""


class SpatialChannel:
    """Answers the operations of the intent; without one, gives the observations and features of the places, the
    region and the time.

    Computed hits come first, then the records that they rest on. A `Channel`.
    """

    name = ChannelName.SPATIAL
    store = "sqlite"

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    @classmethod
    def open(cls, path: Path, *, readers: int = 2) -> Self:
        """The channel over a file, which is made when it does not exist."""
        return cls(SqliteFile(path, schema=SCHEMA, readers=readers))

    async def search(self, query: Query) -> Run:
        """See `Channel`."""
        if not query.scope.class_ids:
            return Run(self.name, self.store)
        try:
            return await self._file.read(lambda connection: _search(FactRows(connection, query.scope), query))
        except apsw.Error as exc:
            raise ChannelUnavailable(self.name, "the spatial index cannot be read") from exc
        except (ValueError, ArithmeticError) as exc:
            raise ChannelFault(self.name, "the spatial index holds a record that cannot be computed with") from exc

    async def aclose(self) -> None:
        """See `Channel`."""
        await self._file.aclose()


class SpatialIndex:
    """The write side. Everything since the last `commit` is one transaction. A `ChannelIndex`."""

    name = ChannelName.SPATIAL

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    @classmethod
    def open(cls, path: Path) -> Self:
        """The index over a file, which is made when it does not exist."""
        return cls(SqliteFile(path, schema=SCHEMA, readers=1))

    async def add(self, batch: IndexBatch) -> None:
        """See `ChannelIndex`."""
        await self._write(lambda connection: _add(connection, batch))

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `ChannelIndex`."""
        await self._write(lambda connection: _remove(connection, document_ids))

    async def commit(self) -> None:
        """See `ChannelIndex`."""
        await self._write(_commit)

    async def documents(self) -> frozenset[str]:
        """See `ChannelIndex`."""
        return await self._write(lambda c: frozenset(row[0] for row in c.execute("SELECT document_id FROM document")))

    async def clear(self) -> None:
        """See `ChannelIndex`."""
        await self._write(_clear)

    async def aclose(self) -> None:
        """See `ChannelIndex`. What was not committed is dropped."""
        await self._file.aclose()

    async def _write(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            return await self._file.write(work)
        except apsw.Error as exc:
            raise ChannelUnavailable(self.name, "the spatial index cannot be written") from exc


def _search(rows: FactRows, query: Query) -> Run:
    answers = [answer(operation, rows, times=query.intent.times) for operation in query.intent.operations]
    if not answers:
        answers = [_evidence_around(rows, query)]
    hits: dict[str, Hit] = {}
    for given in answers:
        for computed in given.computed:
            hits.setdefault(computed.record_id, Hit(0, computed.record_id, 0.0, computed))
    for given in answers:
        for record_id in given.records:
            hits.setdefault(record_id, Hit(0, record_id, 0.0))
    best = list(hits.values())[: query.top_k]
    ranked = tuple(replace(hit, rank=i, score=1.0 / i) for i, hit in enumerate(best, start=1))
    limitations = tuple(dict.fromkeys(limitation for given in answers for limitation in given.limitations))
    return Run(SpatialChannel.name, SpatialChannel.store, ranked, limitations)


def _evidence_around(rows: FactRows, query: Query) -> Answer:
    """Without an operation: what is observed or drawn at the places, in the region and at the time that question and
    map name."""
    if query.intent.unknown_names and not query.intent.entities:
        return Answer()  # the place that was asked about is not known here; the map is no substitute for it
    found = rows.around(query, limit=_AROUND_LIMIT)
    if query.geometry is not None and not query.intent.entities:
        region = geometry.from_geojson(query.geometry)
        found = found or rows.shapes(box=geometry.bounds(region))
        found = [f for f in found if f.geometry is None or geometry.intersects(region, f.geometry)]
    return Answer(records=tuple(f.record_id for f in found))


def _add(connection: apsw.Connection, batch: IndexBatch) -> None:
    _begin(connection)
    with connection:  # a savepoint: a batch that fails leaves nothing of itself
        documents = sorted({r.document_id for r in batch.records} | {r.document_id for r in batch.relationships})
        _delete(connection, documents)
        connection.executemany("INSERT INTO document VALUES (?)", [(d,) for d in documents])
        for record in batch.records:
            fact = Fact.of(record)
            if fact is not None:
                _put(connection, batch.tenant, record, fact)
        inside = [_inside_row(batch.tenant, r) for r in batch.relationships if r.predicate == CONTAINMENT]
        connection.executemany("INSERT INTO inside VALUES (?,?,?,?,?,?,?,?,?,?)", inside)


def _put(connection: apsw.Connection, tenant: str, record: Record, fact: Fact) -> None:
    days = (fact.start.toordinal() if fact.start else None, fact.end.toordinal() if fact.end else None)
    about = (fact.place.entity_id, fact.place.name, fact.place.type, fact.measure, fact.value, fact.unit)
    identity = (fact.record_id, record.document_id, fact.source_id, tenant, record.class_id)
    connection.execute(_PUT_FACT, (*identity, *about, *days, fact.geometry))
    if fact.geometry is not None:
        west, south, east, north = geometry.bounds(fact.geometry)
        rid = connection.last_insert_rowid()
        connection.execute("INSERT INTO box VALUES (?,?,?,?,?)", (rid, west, east, south, north))


def _inside_row(tenant: str, relation: Relationship) -> tuple[str, ...]:
    one, other = relation.subject, relation.object
    identity = (one.entity_id, other.entity_id, relation.class_id, tenant, relation.record_id, relation.document_id)
    return (*identity, one.name, one.type, other.name, other.type)


def _remove(connection: apsw.Connection, document_ids: Collection[str]) -> None:
    _begin(connection)
    with connection:
        _delete(connection, document_ids)


def _delete(connection: apsw.Connection, document_ids: Collection[str]) -> None:
    for document_id in document_ids:
        connection.execute("DELETE FROM box WHERE rid IN (SELECT rid FROM fact WHERE document_id = ?)", (document_id,))
        for table in ("fact", "inside", "document"):
            connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))  # noqa: S608


def _clear(connection: apsw.Connection) -> None:
    _begin(connection)
    for table in ("box", "fact", "inside", "document"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608


def _begin(connection: apsw.Connection) -> None:
    if not connection.in_transaction:
        connection.execute("BEGIN IMMEDIATE")


def _commit(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute("COMMIT")
