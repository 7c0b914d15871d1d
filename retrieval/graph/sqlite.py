"""The graph channel on SQLite: entities as nodes, typed relations as edges, each with the record that states it."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import apsw

from retrieval.channels.traversal import Neighbourhood, Walk
from retrieval.errors import UNREADABLE, ChannelFault, ChannelUnavailable
from retrieval.files.sqlite_file import SqliteFile
from retrieval.files.sqlite_index import SqliteIndex, Tables
from retrieval.graph import rows
from retrieval.graph.neighbourhood import neighbourhood
from retrieval.graph.rank import most_hits, needs_graph, rank
from retrieval.model import ChannelName, Hit, Query, Run
from retrieval.scope import Scope

T = TypeVar("T")
_UNREADABLE = "the graph cannot be read"
_DAMAGED = "the graph holds a row that cannot be one"


class GraphChannel:
    """Finds records by what they relate: first those that state a relation of the question's entities (at most two
    hops), then passages that name two or more of its names and times together. `Hit.path` names the relations
    followed. A `Channel` and a `Traversal`."""

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
        if not needs_graph(query):
            return Run(self.name, self.store)
        try:
            return await self._file.read(lambda connection: _search(connection, query))
        except apsw.Error as exc:
            raise ChannelUnavailable(self.name, _UNREADABLE) from exc
        except UNREADABLE as exc:
            raise ChannelFault(self.name, _DAMAGED) from exc

    async def around(self, walk: Walk, *, scope: Scope) -> Neighbourhood:
        """See `Traversal`."""
        try:
            return await self._file.read(lambda connection: _around(connection, walk, scope))
        except apsw.Error as exc:
            raise ChannelUnavailable(self.name, _UNREADABLE) from exc
        except UNREADABLE as exc:
            raise ChannelFault(self.name, _DAMAGED) from exc

    async def aclose(self) -> None:
        """See `Channel`."""
        await self._file.aclose()


def _search(connection: apsw.Connection, query: Query) -> Run:
    with connection:  # one snapshot for all reads
        found, limitations = _finished(rank(rows.GraphRows(connection, query.scope), query))
    best = found[: most_hits(query)]
    hits = tuple(Hit(i, f.record_id, float(f.score), path=f.path) for i, f in enumerate(best, start=1))
    return Run(GraphChannel.name, GraphChannel.store, hits, limitations if hits or most_hits(query) is None else ())


def _around(connection: apsw.Connection, walk: Walk, scope: Scope) -> Neighbourhood:
    with connection:  # one snapshot for all hops
        found = _finished(neighbourhood(rows.GraphRows(connection, scope), walk))
    return found  # noqa: RET504 - to a type checker, the connection may swallow an error


def _finished(reading: Coroutine[Any, Any, T]) -> T:
    """The result of `reading`. Reads of a file never wait for the event loop, so one step in this thread is all."""
    try:
        reading.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    reading.close()
    raise RuntimeError("a read of a file waited")


class GraphIndex(SqliteIndex):
    """The write side."""

    name = ChannelName.GRAPH
    tables = Tables(rows.SCHEMA, rows.put, rows.delete, rows.clear, rows.STATED)
