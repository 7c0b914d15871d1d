"""The spatial and statistical channel on PostGIS: facts of the admitted classes, operations answered over them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Self, TypeVar

from psycopg import errors

from retrieval.errors import ChannelFault
from retrieval.files.pending import Pending
from retrieval.index import IndexBatch
from retrieval.model import ChannelName, Query, Run
from retrieval.servers.postgres import SCHEMA, patience_of
from retrieval.servers.postgres_errors import as_channel_errors
from retrieval.servers.postgres_threads import Connection, PostgresThreads
from retrieval.servers.statement import Statement
from retrieval.spatial.postgis_rows import PostgisFacts
from retrieval.spatial.postgis_writes import DocumentRows, drop, replace, rows_of
from retrieval.spatial.search import search

T = TypeVar("T")


class PostgisChannel:
    """Answers the operations of the intent; without one, gives the observations and features of the places, the
    region and the time.

    Computed hits come first, then the records that they rest on. One search sees one moment of the store; the server
    gives up a statement after `statement_timeout_ms`. A `Channel`.
    """

    name = ChannelName.SPATIAL
    store = "postgis"

    def __init__(self, postgres: PostgresThreads) -> None:
        self._postgres = postgres

    @classmethod
    def open(cls, dsn: str, *, statement_timeout_ms: int, schema: str = SCHEMA) -> Self:
        """The channel over a server, which is reached with the first search."""
        settings = {"statement_timeout": str(statement_timeout_ms)}
        patience_s = patience_of(statement_timeout_ms)
        return cls(PostgresThreads(dsn, schema=schema, settings=settings, patience_s=patience_s))

    def asks(self, query: Query) -> bool:
        """True if a search needs the server."""
        return bool(query.scope.with_aggregated.class_ids)

    async def search(self, query: Query) -> Run:
        """See `Channel`."""
        return (await self._read(query))[0]

    async def statements_of(self, query: Query) -> Sequence[Statement]:
        """See `ServerChannel`."""
        return (await self._read(query))[1]

    async def _read(self, query: Query) -> tuple[Run, Sequence[Statement]]:
        def read(connection: Connection) -> tuple[Run, Sequence[Statement]]:
            facts = PostgisFacts(connection, query.scope)
            return search(facts, query, self.store), facts.sent

        if not self.asks(query):
            return Run(self.name, self.store), ()
        with as_channel_errors(self.name):
            try:
                return await self._postgres.read(read, scope=query.scope.with_aggregated)
            except errors.UndefinedTable:  # nothing was ever written
                return Run(self.name, self.store), ()
            except (ValueError, ArithmeticError) as exc:
                raise ChannelFault(self.name, "the spatial store holds a record that cannot be computed with") from exc

    async def aclose(self) -> None:
        """See `Channel`."""
        await self._postgres.aclose()


class PostgisIndex:
    """The write side; `commit` is one transaction, and writers of one schema wait for each other. A `ChannelIndex`."""

    name = ChannelName.SPATIAL

    def __init__(self, postgres: PostgresThreads, *, row_security: bool = True) -> None:
        self._postgres = postgres
        self._row_security = row_security
        self._pending = Pending[DocumentRows]()

    @classmethod
    def open(cls, dsn: str, *, schema: str = SCHEMA, row_security: bool = True) -> Self:
        """The index over a server, which is reached with the first commit."""
        return cls(PostgresThreads(dsn, schema=schema, size=1), row_security=row_security)

    async def add(self, batch: IndexBatch) -> None:
        """See `ChannelIndex`."""
        await self._pending.add(await asyncio.to_thread(rows_of, batch))

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `ChannelIndex`."""
        await self._pending.remove(document_ids)

    async def commit(self) -> None:
        """See `ChannelIndex`. On an error nothing is visible, and everything stays pending."""
        async with self._pending.written() as anything:
            if anything:
                await self._write(self._replace)

    async def documents(self) -> frozenset[str]:
        """See `ChannelIndex`."""
        statement = "SELECT document_id FROM spatial_document"
        with as_channel_errors(self.name):
            try:
                rows = await self._postgres.read(lambda c: c.execute(statement).fetchall(), scope=None)
            except errors.UndefinedTable:
                return frozenset()
        return frozenset(row[0] for row in rows)

    async def clear(self) -> None:
        """See `ChannelIndex`."""
        async with self._pending.forgotten():
            await self._write(drop)

    async def aclose(self) -> None:
        """See `ChannelIndex`. What was not committed is dropped."""
        await self._postgres.aclose()

    def _replace(self, connection: Connection) -> None:
        replace(connection, self._pending.removed, self._pending.added, row_security=self._row_security)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        with as_channel_errors(self.name):
            return await self._postgres.write(work, lock="spatial")
