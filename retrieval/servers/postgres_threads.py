"""PostgreSQL for code that is written for a thread: jobs in bounded workers, each one transaction, cancelled in the
server when their caller goes."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg import Connection as PsycopgConnection
from psycopg import Copy
from psycopg_pool import ConnectionPool, PoolTimeout

from retrieval.scope import Scope
from retrieval.servers.postgres import CONNECTING, INGEST_PATIENCE_S, SCHEMA, SESSION_SETTINGS, path_statement, quoted
from retrieval.servers.row_security import WHOLE, changes, differing, opened_for

T = TypeVar("T")
Connection = PsycopgConnection[tuple[Any, ...]]
CANCEL_S = 1.0
"""How long the server may take to end a job that is not wanted any more; then its connection is cut."""


class _Ticket:
    """One job: lets the caller stop it before or while it runs, and never a later job on the same connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = threading.Event()
        self.cancelled = False
        self._connection: Connection | None = None

    @contextmanager
    def holding(self, connection: Connection) -> Iterator[None]:
        """While the job uses the connection, its caller can stop it."""
        with self._lock:
            if self.cancelled:
                raise psycopg.errors.QueryCanceled("cancelled before it began")
            self._connection = connection
            self._left.clear()
        try:
            yield
        finally:
            with self._lock:
                self._connection = None
                self._left.set()

    def cancel(self) -> None:
        """Asks the server to end the job, and cuts the connection of one that does not. Takes up to twice
        `CANCEL_S`."""
        with self._lock:
            self.cancelled = True
            if self._connection is None:
                return
            with suppress(psycopg.Error):
                self._connection.cancel_safe(timeout=CANCEL_S)
        if not self._left.wait(CANCEL_S):
            with self._lock:
                if self._connection is not None:
                    _cut(self._connection)


def _cut(connection: Connection) -> None:
    """Ends the conversation under whoever waits for the server: a paused server would hold the thread for ever. The
    descriptor is a copy, so that the connection's own cannot be another file's by then."""
    with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(connection.pgconn.socket)) as copy:
        copy.shutdown(socket.SHUT_RDWR)


class PostgresThreads:
    """At most `size` jobs at a time; one whose caller has gone ends within twice `CANCEL_S`, also where the server
    stands still. Reading ones see one moment (REPEATABLE READ, READ ONLY); writing ones wait for
    each other, without a statement timeout, in the schema, which they make when it does not exist.

    `read` and `write` raise what psycopg raises; PoolTimeout where no connection can be had for `patience_s`:
    one that is refused is tried again until then.
    """

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = SCHEMA,
        size: int = 4,
        settings: Mapping[str, str] | None = None,
        patience_s: float = INGEST_PATIENCE_S,
    ) -> None:
        self.schema = schema
        self._settings = {**SESSION_SETTINGS, **(settings or {})}
        self._patience_s = patience_s
        self._jobs = threading.local()
        self._workers = ThreadPoolExecutor(size, thread_name_prefix="postgres")
        self._cancellers = ThreadPoolExecutor(size, thread_name_prefix="postgres-cancel")
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            dsn,
            min_size=0,
            max_size=size,
            open=False,
            timeout=patience_s,
            reconnect_timeout=patience_s,
            check=self._check,
            configure=self._configure,
            kwargs=dict(CONNECTING),
            name="exhibit-threads",
        )

    async def read(self, work: Callable[[Connection], T], *, scope: Scope | None) -> T:
        """The result of `work` on the scope's rows; None for the owner of the tables, who reads all."""
        opened = WHOLE if scope is None else opened_for(scope)

        def reading(connection: Connection) -> T:
            with connection.pipeline():  # one message; the pool ends what was begun
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                connection.execute(opened.text.encode(), opened.parameters)
            return work(connection)

        return await self._run(reading)

    async def write(self, work: Callable[[Connection], T], *, lock: str) -> T:
        """The result of `work` once it is committed; writers of one schema and `lock` wait for each other."""

        def writing(connection: Connection) -> T:
            with connection.transaction():
                connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
                connection.execute(WHOLE.text.encode(), WHOLE.parameters)
                connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{self.schema}/{lock}",))
                row = connection.execute("SELECT to_regnamespace(%s)", (quoted(self.schema),)).fetchone()
                if row is None or row[0] is None:
                    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(self.schema)}".encode())
                return work(connection)

        return await self._run(writing)

    async def aclose(self) -> None:
        """Waits for running jobs and closes every connection. Safe to call twice."""
        self._workers.shutdown(wait=False, cancel_futures=True)
        for end in (self._workers.shutdown, self._cancellers.shutdown, self._pool.close):
            await asyncio.to_thread(end)

    async def _run(self, work: Callable[[Connection], T]) -> T:
        ticket, loop = _Ticket(), asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._workers, self._job, ticket, work)
        except asyncio.CancelledError:
            loop.run_in_executor(self._cancellers, ticket.cancel)
            raise

    def _job(self, ticket: _Ticket, work: Callable[[Connection], T]) -> T:
        self._pool.open()
        self._jobs.ticket = ticket
        with self._lent(ticket) as connection, ticket.holding(connection):
            return work(connection)

    @contextmanager
    def _lent(self, ticket: _Ticket) -> Iterator[Connection]:
        connection = self._acquired(ticket)
        try:
            with connection:
                yield connection
        finally:
            self._pool.putconn(connection)

    def _acquired(self, ticket: _Ticket) -> Connection:
        """A connection of the pool; the wait for one ends soon after its caller has gone."""
        ends_s = time.monotonic() + self._patience_s
        while True:
            left_s = ends_s - time.monotonic()
            try:
                return self._pool.getconn(min(CANCEL_S, left_s))
            except PoolTimeout:
                if ticket.cancelled or left_s <= CANCEL_S:
                    raise

    def _check(self, connection: Connection) -> None:
        """True if the connection still lives, asked for the job of this thread: it can be stopped meanwhile."""
        ticket: _Ticket = self._jobs.ticket
        with ticket.holding(connection):
            ConnectionPool.check_connection(connection)

    def _configure(self, connection: Connection) -> None:
        connection.execute(*path_statement(self.schema))
        for name, value in self._settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))


def secure(connection: Connection, tables: Sequence[str], *, wanted: bool) -> None:
    """Puts the second wall around the tables of the schema that is being written, or takes it down."""
    standing = differing(tables, wanted=wanted)
    found = [row[0] for row in connection.execute(standing.text.encode(), standing.parameters)]
    for statement in changes(found, wanted=wanted):
        connection.execute(statement)


@contextmanager
def copying(connection: Connection, table: str) -> Iterator[Copy]:
    """A COPY into the table. One that binds its owner takes no COPY: rows go to a table of the transaction first."""
    active = connection.execute("SELECT row_security_active(%s)", (table,)).fetchone()
    if active != (True,):
        with connection.cursor() as cursor, cursor.copy(f"COPY {quoted(table)} FROM STDIN".encode()) as copy:
            yield copy
        return
    staged = quoted(f"{table}_staged")
    connection.execute(f"CREATE TEMPORARY TABLE {staged} (LIKE {quoted(table)}) ON COMMIT DROP".encode())
    with connection.cursor() as cursor, cursor.copy(f"COPY {staged} FROM STDIN".encode()) as copy:
        yield copy
    connection.execute(f"INSERT INTO {quoted(table)} SELECT * FROM {staged}".encode())  # noqa: S608
    connection.execute(f"DROP TABLE {staged}".encode())


def exists(connection: Connection, table: str) -> bool:
    """True if the schema that is being written holds the table."""
    row = connection.execute("SELECT to_regclass(format('%%I.%%I', current_schema(), %s::text))", (table,)).fetchone()
    return row is not None and row[0] is not None
