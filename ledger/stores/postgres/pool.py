"""Connections of the log's database, lent for one piece of work at a time, each within a deadline of ours: a server
that stands still closes no connection and would be waited for without end."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from ledger.errors import LedgerNotResponding, LedgerUnavailable
from ledger.stores.postgres.schema import WRITER
from ledger.stores.postgres.writes import Connection

T = TypeVar("T")
Guard = Callable[[float], AbstractContextManager[object]]
"""Around one piece of work of at most so many seconds; may raise LedgerUnavailable instead of entering."""

DEADLINE_S = 5.0
ACQUIRE_S = 2.0
"""How long a call waits for a connection."""
CONNECTIONS = 4
_FAREWELL_S = 0.1
# A machine that goes without a word is noticed within half a minute; one that stands still by our deadline alone.
_CONNECTING = {
    "autocommit": True,
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# A replica that stops while it holds the head is thrown out after 5 s, so that the others go on.
_SESSION = {
    "application_name": "exhibit-ledger",
    "synchronous_commit": "on",
    "statement_timeout": "60s",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "5s",
}


class LedgerConnections:
    """At most `CONNECTIONS` connections, as the role that may SELECT and INSERT, in one schema. Open them with
    `LedgerConnections.open`. `run` raises only LedgerUnavailable; LedgerNotResponding where the server is silent."""

    def __init__(self, pool: AsyncConnectionPool[Connection], *, deadline_s: float, guard: Guard) -> None:
        self._pool = pool
        self._deadline_s = deadline_s
        self._guard = guard
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False

    @classmethod
    async def open(cls, dsn: str, *, search_path: str, deadline_s: float, guard: Guard) -> Self:
        """The connections, none of which is made before it is needed."""

        async def configure(connection: Connection) -> None:
            async with asyncio.timeout(deadline_s):
                await connection.execute(f"SET ROLE {WRITER}")
                await connection.execute("SELECT set_config('search_path', %s, false)", (search_path,))
                for name, value in _SESSION.items():
                    await connection.execute("SELECT set_config(%s, %s, false)", (name, value))

        pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            dsn,
            min_size=0,
            max_size=CONNECTIONS,
            open=False,
            timeout=ACQUIRE_S,
            reconnect_timeout=ACQUIRE_S,
            check=AsyncConnectionPool.check_connection,
            configure=configure,
            kwargs=dict(_CONNECTING),
            name="exhibit-ledger",
        )
        await pool.open()
        return cls(pool, deadline_s=deadline_s, guard=guard)

    async def run(self, work: Callable[[Connection], Awaitable[T]], *, whole: bool = False, timely: bool = True) -> T:
        """The result of `work` on a connection; within the deadline, unless it is not `timely`. When its caller is
        cancelled the server is told to stop; with `whole` it goes on to its end, which the caller waits for."""
        if self._closed:
            raise LedgerUnavailable("the ledger is closed")
        if not timely:
            return await self._awaited(work, whole=whole, deadline_s=None)
        with self._guard(self._deadline_s):
            return await self._awaited(work, whole=whole, deadline_s=self._deadline_s)

    async def aclose(self) -> None:
        """Wait for what runs, then close every connection. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._running:
            await asyncio.wait(self._running, timeout=ACQUIRE_S)
        await self._pool.close(timeout=ACQUIRE_S)

    async def _awaited(self, work: Callable[[Connection], Awaitable[T]], *, whole: bool, deadline_s: float | None) -> T:
        """A task that is left behind ends when psycopg gives the server up, ten seconds later; it holds a connection
        as long, and nobody who waits."""
        task = asyncio.create_task(self._lent(work))
        self._running.add(task)
        task.add_done_callback(self._ended)
        try:
            async with asyncio.timeout(deadline_s):
                return await asyncio.shield(task)
        except TimeoutError as exc:
            task.cancel()
            raise LedgerNotResponding(f"the ledger's database did not answer within {deadline_s:g} s") from exc
        except asyncio.CancelledError:
            if not whole:
                task.cancel()
            await asyncio.wait({task}, timeout=self._deadline_s if whole else _FAREWELL_S)
            raise

    async def _lent(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        try:
            async with self._pool.connection() as connection:
                return await work(connection)
        except (PoolTimeout, PoolClosed) as exc:
            raise LedgerNotResponding("the ledger's database cannot be reached") from exc
        except (psycopg.OperationalError, psycopg.InterfaceError, OSError) as exc:
            raise LedgerNotResponding(f"the ledger's database does not answer: {said_by(exc)}") from exc
        except psycopg.Error as exc:
            raise LedgerUnavailable(f"the ledger's database refuses: {said_by(exc)}") from exc

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # its caller may have gone


async def asked_once(dsn: str, sql: str, bindings: tuple[Any, ...], *, deadline_s: float) -> tuple[Any, ...]:
    """The first row that the statement finds, on a connection of its own. Raises LedgerNotResponding."""
    patience_s = max(2, math.ceil(deadline_s))
    try:
        async with await AsyncConnection.connect(dsn, autocommit=True, connect_timeout=patience_s) as connection:
            async with asyncio.timeout(deadline_s):
                return await (await connection.execute(sql.encode(), bindings)).fetchone() or ()
    except (psycopg.Error, OSError) as exc:
        raise LedgerNotResponding(f"the ledger's database cannot be reached: {said_by(exc)}") from exc


def said_by(exc: Exception) -> str:
    """The server's message, without the statement and its values."""
    said = exc.diag.message_primary if isinstance(exc, psycopg.Error) else None
    return said or type(exc).__name__
