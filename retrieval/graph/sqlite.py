"""The graph channel on SQLite: entities as nodes, typed relations as edges, each with the record that states it."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Coroutine
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import apsw

from retrieval.errors import ChannelUnavailable
from retrieval.graph import rows
from retrieval.graph.rank import rank
from retrieval.index import IndexBatch
from retrieval.model import ChannelName, Hit, Query, Run
from retrieval.sqlite_file import SqliteFile

T = TypeVar("T")


class GraphChannel:
    """Finds records by what they relate: first those that state a relation of the question's entities (at most two
    hops), then passages that name two or more of its names and times together. `Hit.path` names the relations
    followed. A `Channel`."""

    name = ChannelName.GRAPH
    store = "sqlite"

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    @classmethod
    def open(cls, path: Path, *, readers: int = 2) -> Self:
        """The channel over a file, which is made when it does not exist."""
        return cls(SqliteFile(path, schema=rows.SCHEMA, readers=readers))

    async def search(self, query: Query) -> Run:
        """See `Channel`."""
        if not query.scope.class_ids or not (query.intent.mentions or query.intent.times):
            return Run(self.name, self.store)
        try:
            return await self._file.read(lambda connection: _search(connection, query))
        except apsw.Error as exc:
            raise ChannelUnavailable(self.name, "the graph cannot be read") from exc

    async def aclose(self) -> None:
        """See `Channel`."""
        await self._file.aclose()


def _search(connection: apsw.Connection, query: Query) -> Run:
    with connection:  # one snapshot for all reads
        found, limitations = _finished(rank(rows.GraphRows(connection, query.scope), query))
    best = found[: max(0, query.top_k)]
    hits = tuple(Hit(i, f.record_id, float(f.score), path=f.path) for i, f in enumerate(best, start=1))
    return Run(GraphChannel.name, GraphChannel.store, hits, limitations if hits else ())


def _finished(reading: Coroutine[Any, Any, T]) -> T:
    """What `reading` returns. Reads of a file never wait for the event loop, so one step in this thread is all."""
    try:
        reading.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    reading.close()
    raise RuntimeError("a read of a file waited")


class GraphIndex:
    """The write side. Everything since the last `commit` is one transaction. A `ChannelIndex`."""

    name = ChannelName.GRAPH

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    @classmethod
    def open(cls, path: Path) -> Self:
        """The index over a file, which is made when it does not exist."""
        return cls(SqliteFile(path, schema=rows.SCHEMA, readers=1))

    async def add(self, batch: IndexBatch) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.write(lambda connection: rows.put(connection, batch)))

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.write(lambda connection: rows.delete(connection, document_ids)))

    async def commit(self) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.commit())

    async def documents(self) -> frozenset[str]:
        """See `ChannelIndex`."""
        sql = "SELECT document_id FROM document"
        return await self._guarded(self._file.read(lambda c: frozenset(row[0] for row in c.execute(sql))))

    async def clear(self) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.write(rows.clear))

    async def aclose(self) -> None:
        """See `ChannelIndex`. What was not committed is dropped."""
        await self._file.aclose()

    async def _guarded(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except apsw.Error as exc:
            raise ChannelUnavailable(self.name, "the graph cannot be written") from exc
