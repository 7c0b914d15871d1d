"""The spatial and statistical channel on SQLite with an R*Tree: facts of the admitted classes, operations answered
over them."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import apsw

from retrieval.errors import UNREADABLE, ChannelFault, ChannelUnavailable
from retrieval.files.sqlite_file import SqliteFile
from retrieval.files.sqlite_index import SqliteIndex, Tables
from retrieval.model import ChannelName, Query, Run
from retrieval.spatial.rows import SCHEMA, STATED, FactRows
from retrieval.spatial.search import search
from retrieval.spatial.writes import clear, delete, put


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
        if not query.scope.with_aggregated.class_ids:
            return Run(self.name, self.store)
        try:
            return await self._file.read(
                lambda connection: search(FactRows(connection, query.scope), query, self.store)
            )
        except apsw.Error as exc:
            raise ChannelUnavailable(self.name, "the spatial index cannot be read") from exc
        except UNREADABLE as exc:
            raise ChannelFault(self.name, "the spatial index holds a record that cannot be computed with") from exc

    async def aclose(self) -> None:
        """See `Channel`."""
        await self._file.aclose()


class SpatialIndex(SqliteIndex):
    """The write side."""

    name = ChannelName.SPATIAL
    tables = Tables(SCHEMA, put, delete, clear, STATED)
