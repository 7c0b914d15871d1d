"""The embedded store of record: one SQLite file, one writer thread, a small pool of readers, rollback journal.

The journal is the rollback one: a copy of the file that is made while nobody writes is whole without a second file.
Durability: `synchronous = FULL`.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import apsw

from retrieval.errors import SchemaUnsupported, StoreDamaged, StoreUnavailable
from retrieval.files.sqlite_rows import WrongType, typed_rows
from retrieval.registry import sums
from retrieval.registry.jobs import SqlJobs
from retrieval.registry.sql.engine import EARLIER, LATER, Row
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.scope import Scope

T = TypeVar("T")
SCHEMA_VERSION = 1
# What takes version n to n + 1; whoever opens the file of an earlier version runs them first.
STEPS: Mapping[int, Sequence[str]] = {}
_BUSY_MS = 30_000
_STEPS_BETWEEN_STOPS = 5_000


class SqliteSession:
    """One connection; its cache lives until another connection changes the file or this one writes."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.cache: dict[object, Any] = {}
        self.connection = connection
        self._seen = -1

    def watch(self, stop: threading.Event) -> None:
        """From now on a statement ends with an error once `stop` is set."""
        # `interrupt()` is lost when it comes between two statements; this is asked during each of them.
        self.connection.set_progress_handler(stop.is_set, _STEPS_BETWEEN_STOPS)

    def rows(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Raises `StoreDamaged` for a value of another type than its column was declared with."""
        try:
            return typed_rows(self.connection.execute(statement, tuple(parameters)))
        except WrongType as exc:
            raise StoreDamaged(f"the store of record is damaged: {exc}") from exc

    def run(self, statement: str, parameters: Sequence[object] = ()) -> None:
        self.connection.execute(statement, tuple(parameters)).fetchall()

    def run_many(self, statement: str, parameters: Iterable[Sequence[object]]) -> None:
        self.connection.executemany(statement, (tuple(each) for each in parameters)).fetchall()

    def back(self) -> None:
        """Ends a transaction without what it changed; does nothing where none is open."""
        with contextlib.suppress(apsw.Error):
            if self.connection.in_transaction:
                self.run("ROLLBACK")

    def refresh(self) -> None:
        """Drops the cache when the file is no longer what it was; called inside the read transaction."""
        seen = int(self.rows("PRAGMA data_version")[0][0])
        if seen != self._seen:
            self.cache.clear()
            self._seen = seen


class SqliteEngine:
    """Jobs on a SQLite file. `writable` False never creates or changes it (a read-only home still answers)."""

    def __init__(self, path: Path, *, readers: int = 2, writable: bool = True) -> None:
        self._path = path
        self._writable = writable
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="record-read")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="record-write")
        self._idle: queue.LifoQueue[SqliteSession] = queue.LifoQueue()
        self._writing: SqliteSession | None = None
        self._opened: list[SqliteSession] = []

    async def read(self, job: Callable[[SqliteSession], T], *, scope: Scope | None) -> T:
        stop = threading.Event()
        return await self._submit(self._readers, lambda: self._read(job, stop), stop)

    async def write(self, job: Callable[[SqliteSession], T]) -> T:
        stop = threading.Event()
        return await self._submit(self._writer, lambda: self._write(job, stop), stop)

    async def compact(self) -> None:
        def work() -> None:
            session = self._writing or self._open_writer()
            self._writing = session
            session.run("VACUUM")

        await self._submit(self._writer, work, threading.Event())

    async def aclose(self) -> None:
        for pool in (self._readers, self._writer):
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)
        for session in self._opened:
            session.connection.close()
        self._opened.clear()

    async def _submit(self, pool: ThreadPoolExecutor, work: Callable[[], T], stop: threading.Event) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work)
        except asyncio.CancelledError:
            stop.set()
            raise
        except (apsw.CorruptError, apsw.NotADBError) as exc:
            raise StoreDamaged("the file of the store of record is damaged") from exc
        except (apsw.Error, OSError) as exc:
            if isinstance(exc, apsw.SQLError) and any(f"no such table: {name}" in str(exc) for name in LATER):
                raise StoreUnavailable(EARLIER) from exc
            reason = exc.strerror if isinstance(exc, OSError) else exc
            raise StoreUnavailable(f"the store of record cannot be used: {reason}") from exc

    def _read(self, job: Callable[[SqliteSession], T], stop: threading.Event) -> T:
        try:
            session = self._idle.get_nowait()
        except queue.Empty:
            session = self._open_reader()
        session.watch(stop)
        try:
            session.run("BEGIN")
            session.rows(
                "SELECT 1 FROM corpus LIMIT 1"
            )  # takes the read lock, so that data_version and the rows are of one moment
            session.refresh()
            return job(session)
        finally:
            session.watch(threading.Event())
            session.back()
            self._idle.put(session)

    def _write(self, job: Callable[[SqliteSession], T], stop: threading.Event) -> T:
        session = self._writing or self._open_writer()
        self._writing = session
        session.watch(stop)
        session.cache.clear()
        try:
            session.run("BEGIN IMMEDIATE")
            result = job(session)
            session.run("COMMIT")
            return result
        except BaseException:
            session.watch(threading.Event())
            session.back()
            raise
        finally:
            session.watch(threading.Event())

    def _open_reader(self) -> SqliteSession:
        if not self._path.exists():
            raise StoreUnavailable("there is no store of record yet: nothing has been ingested")
        try:
            session = self._connect(apsw.SQLITE_OPEN_READWRITE)
        except apsw.Error:
            session = self._connect(apsw.SQLITE_OPEN_READONLY)
        session.run("PRAGMA query_only = ON")
        self._check_version(session)
        return session

    def _open_writer(self) -> SqliteSession:
        if not self._writable:
            raise StoreUnavailable("the store of record was opened for reading")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        session = self._connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        held = _tables(session)
        if held:
            self._check_version(session)
        if not held.issuperset(LATER):
            _make_missing(session)
            self._check_version(session)
        return session

    def _connect(self, flags: int) -> SqliteSession:
        connection = apsw.Connection(str(self._path), flags=flags)
        session = SqliteSession(connection)
        try:
            connection.set_busy_timeout(_BUSY_MS)
            for pragma in ("synchronous = FULL", "foreign_keys = ON", "cache_size = -32768", "temp_store = MEMORY"):
                session.run(f"PRAGMA {pragma}")
            session.rows("SELECT count(*) FROM sqlite_master")
        except apsw.Error:
            connection.close()
            raise
        self._opened.append(session)
        return session

    def _check_version(self, session: SqliteSession) -> None:
        found = session.rows("PRAGMA user_version")[0][0]
        if found != SCHEMA_VERSION:
            raise SchemaUnsupported(
                f"the store of record has schema {found}, this program uses schema {SCHEMA_VERSION}"
            )


def _tables(session: SqliteSession) -> frozenset[str]:
    return frozenset(name for (name,) in session.rows("SELECT name FROM sqlite_master"))


def _make_missing(session: SqliteSession) -> None:
    """Makes what the file has not; another process may be doing so too."""
    from retrieval.registry.sql.tables import ddl  # noqa: PLC0415  the import takes a second, and few stores need it

    session.run("BEGIN IMMEDIATE")
    held = _tables(session)
    for name in sorted({*LATER} - held) if held else (None,):
        for statement in ddl("sqlite", only=name):
            session.run(statement)
    if held and "kept_sum" not in held:
        sums.begin(session)
    if not held:
        session.run(f"PRAGMA user_version = {SCHEMA_VERSION}")
    session.run("COMMIT")


def open_sqlite_jobs(path: Path) -> SqlJobs:
    """The jobs of ingest in the file of the store of record. Opening does no I/O."""
    return SqlJobs(engine=SqliteEngine(path, readers=1))


def open_sqlite_store(path: Path, *, readers: int = 2, writable: bool = True) -> SqlRecordStore:
    """The store of record in a file (`record.sqlite`), made at the first write. Opening does no I/O."""
    return SqlRecordStore(engine=SqliteEngine(path, readers=readers, writable=writable))
