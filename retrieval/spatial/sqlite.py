"""The spatial and statistical channel on SQLite with an R*Tree: facts of the admitted classes, operations answered
over them."""

from __future__ import annotations

from collections.abc import Awaitable, Collection
from pathlib import Path
from typing import Self, TypeVar

import apsw

from retrieval.errors import ChannelFault, ChannelUnavailable
from retrieval.index import IndexBatch
from retrieval.model import ChannelName, Query, Run
from retrieval.spatial.rows import SCHEMA, FactRows
from retrieval.spatial.search import search
from retrieval.spatial.writes import clear, delete, put
from retrieval.sqlite_file import SqliteFile

T = TypeVar("T")


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
            return await self._file.read(
                lambda connection: search(FactRows(connection, query.scope), query, self.store)
            )
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
        await self._guarded(self._file.write(lambda connection: put(connection, batch)))

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.write(lambda connection: delete(connection, document_ids)))

    async def commit(self) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.commit())

    async def documents(self) -> frozenset[str]:
        """See `ChannelIndex`."""
        sql = "SELECT document_id FROM document"
        return await self._guarded(self._file.read(lambda c: frozenset(row[0] for row in c.execute(sql))))

    async def clear(self) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.write(clear))

    async def aclose(self) -> None:
        """See `ChannelIndex`. What was not committed is dropped."""
        await self._file.aclose()

    async def _guarded(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except apsw.Error as exc:
            raise ChannelUnavailable(self.name, "the spatial index cannot be written") from exc
