"""One SQLite database file of an index: a thread that writes, a few that read, and reads that a cancelled caller
interrupts. A file of another schema is not read, and the first write makes it anew: an index can be filled again.

apsw carries its own SQLite (WAL with several connections is safe from 3.51.3 on). Every thread has its own connection.
"""

from __future__ import annotations

import asyncio
import threading
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import apsw

from retrieval.errors import IndexNotReady

T = TypeVar("T")
_BUSY_MS = 2_000
_CACHE_KIB = 65_536
_STEPS_BETWEEN_STOPS = 5_000


class _Ticket:
    """One read: lets the caller stop it before or while it runs, and never a later read on the same connection.

    Asked during each statement, because `interrupt()` is lost when it comes between two of them.
    """

    def __init__(self) -> None:
        self._cancelled = threading.Event()

    def run(self, connection: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
        if self._cancelled.is_set():
            raise apsw.InterruptError("cancelled before it began")
        connection.set_progress_handler(self._cancelled.is_set, _STEPS_BETWEEN_STOPS)
        try:
            return work(connection)
        finally:
            connection.set_progress_handler(None)

    def cancel(self) -> None:
        self._cancelled.set()


class SqliteFile:
    """Reads and writes of one file, off the event loop. Raises `apsw.Error` as the work does, and `IndexNotReady` for a
    read of another schema; `aclose` drops what is not committed."""

    def __init__(self, path: Path, *, schema: str, readers: int = 2) -> None:
        self._path = path
        self._schema = schema
        self._version = zlib.crc32(schema.encode()) & 0x7FFF_FFFF  # so that no change of the schema can be forgotten
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: list[apsw.Connection] = []
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix=f"{path.stem}-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix=f"{path.stem}-write")

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        """Runs `work` on a reader's connection; when the caller is cancelled, the statement in progress is
        interrupted."""
        ticket = _Ticket()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._readers, lambda: ticket.run(self._connection(write=False), work))
        except asyncio.CancelledError:
            ticket.cancel()
            raise

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        """Runs `work` on the writer's connection, one at a time, in order. What it changes stands after `commit`;
        work that raises leaves nothing of itself."""
        return await self.inspect(lambda connection: _in_transaction(connection, work))

    async def inspect(self, work: Callable[[apsw.Connection], T]) -> T:
        """Runs `work` where it sees what is written and not yet committed."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, lambda: work(self._connection(write=True)))

    async def commit(self) -> None:
        """Makes everything written since the last time visible to reads, at once and durably."""
        await self.inspect(_commit)

    async def aclose(self) -> None:
        """Waits for the work in progress and closes every connection. Safe to call twice."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        for pool in (self._readers, self._writer):
            pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            while self._open:
                self._open.pop().close()

    def _connection(self, *, write: bool) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect(write=write)
            self._local.connection = connection
            with self._lock:
                self._open.append(connection)
        return connection

    def _connect(self, *, write: bool) -> apsw.Connection:
        with self._lock:  # whoever comes first makes the file
            try:
                return self._opened(str(self._path), write=write)
            except (apsw.CantOpenError, apsw.ReadOnlyError):
                if write or not self._path.exists():
                    raise
                # a folder that may not be written has nobody who writes: what is there can be read as it stands
                return self._opened(f"file:{quote(str(self._path))}?immutable=1", write=False)

    def _opened(self, name: str, *, write: bool) -> apsw.Connection:
        fixed = name.startswith("file:")
        flags = apsw.SQLITE_OPEN_READONLY if fixed else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_URI)
        try:
            connection.set_busy_timeout(_BUSY_MS)
            connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}; PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA secure_delete=ON")  # what is erased is overwritten
            if not fixed:
                connection.execute("PRAGMA journal_mode=WAL")
            self._ensure_schema(connection, write=write)
            if not write:
                connection.execute("PRAGMA query_only=1")
        except BaseException:
            connection.close()
            raise
        return connection

    def _ensure_schema(self, connection: apsw.Connection, *, write: bool) -> None:
        # A virtual table first: the tables behind it go with it.
        found = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'"
        )
        tables = [str(name) for (name,) in found]
        if tables and connection.pragma("user_version") == self._version:
            return
        if tables and not write:
            raise IndexNotReady("the index was written by another version; `exhibit index rebuild` fills it again")
        connection.execute("BEGIN IMMEDIATE")
        for name in tables:
            connection.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
        connection.execute(f"{self._schema}; PRAGMA user_version = {self._version}; COMMIT")


def quoted(name: str) -> str:
    """The name of a table as SQL reads it."""
    return '"' + name.replace('"', '""') + '"'


def _in_transaction(connection: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
    if not connection.in_transaction:
        connection.execute("BEGIN IMMEDIATE")
    connection.execute("SAVEPOINT work")
    try:
        done = work(connection)
    except BaseException:
        connection.execute("ROLLBACK TO work; RELEASE work")
        raise
    connection.execute("RELEASE work")
    return done


def _commit(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute("COMMIT")
