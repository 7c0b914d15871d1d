"""The write side of a channel whose index is one SQLite file."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Self, TypeVar

import apsw

from retrieval.errors import ChannelFault, ChannelUnavailable
from retrieval.files.sqlite_file import SqliteFile
from retrieval.index import IndexBatch
from retrieval.model import ChannelName

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tables:
    """The contents of the file: `put` takes whole documents in, in place of earlier versions, `delete` takes them out,
    `clear` everything. The tables include `document(document_id)`. `stated` are statements of what answers rest on: the
    id of a document, then its rows in an order of their own, without numbers that the file gave them."""

    schema: str
    put: Callable[[apsw.Connection, IndexBatch], None]
    delete: Callable[[apsw.Connection, Collection[str]], None]
    clear: Callable[[apsw.Connection], None]
    stated: Sequence[str] = ()


class SqliteIndex:
    """Everything since the last `commit` is one transaction. A `ChannelIndex`; a subclass says of which channel, and
    over which tables."""

    name: ChannelName
    tables: Tables

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    @classmethod
    def open(cls, path: Path) -> Self:
        """The index over a file, which is made when it does not exist."""
        return cls(SqliteFile(path, schema=cls.tables.schema, readers=1))

    async def add(self, batch: IndexBatch) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.write(lambda connection: self.tables.put(connection, batch)))

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.write(lambda connection: self.tables.delete(connection, document_ids)))

    async def commit(self) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.commit())

    async def documents(self) -> frozenset[str]:
        """See `ChannelIndex`."""
        sql = "SELECT document_id FROM document"
        return await self._guarded(self._file.read(lambda c: frozenset(row[0] for row in c.execute(sql))))

    async def clear(self) -> None:
        """See `ChannelIndex`."""
        await self._guarded(self._file.write(self.tables.clear))

    async def differing(self, batches: AsyncIterable[IndexBatch]) -> frozenset[str]:
        """The documents of which the file states something else than these batches, which are of all that it holds."""
        anew = apsw.Connection("")  # a file of its own, which nobody else sees
        try:
            anew.execute(f"{self.tables.schema}; BEGIN")
            async for batch in batches:
                await asyncio.to_thread(self.tables.put, anew, batch)
            wanted = await asyncio.to_thread(self._sums, anew)
            held = await self._guarded(self._file.read(self._sums))
        except UnicodeDecodeError as exc:
            raise ChannelFault(self.name, "a text in it is not UTF-8") from exc
        finally:
            anew.close()
        return frozenset(each for each in wanted.keys() | held.keys() if wanted.get(each) != held.get(each))

    def _sums(self, connection: apsw.Connection) -> dict[str, list[str]]:
        """The digests of what is stated, by document."""
        found: dict[str, list[str]] = {}
        for number, statement in enumerate(self.tables.stated):
            for document_id, rows in groupby(connection.execute(statement), key=lambda row: str(row[0])):
                whole = hashlib.sha256(f"{number}".encode())
                for row in rows:
                    whole.update(repr(row).encode())
                found.setdefault(document_id, []).append(whole.hexdigest())
        return found

    async def aclose(self) -> None:
        """See `ChannelIndex`. What was not committed is dropped."""
        await self._file.aclose()

    async def _guarded(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except apsw.Error as exc:
            raise ChannelUnavailable(
                self.name, f"the {self.name.name.lower()} index cannot be read or written"
            ) from exc
