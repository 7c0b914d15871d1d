"""PostgreSQL: a pool that opens with its first use, one schema per corpus, and work that a cancelled caller stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, LiteralString, TypeVar

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from retrieval.scope import Scope
from retrieval.servers.row_security import WHOLE, opened_for
from retrieval.servers.statement import Statement

T = TypeVar("T")
Connection = AsyncConnection[tuple[Any, ...]]

SCHEMA = "exhibit"
INGEST_PATIENCE_S = 10.0
"""How long ingest waits for a connection: a busy server, or one that is being started again, is no reason to end."""
_FAREWELL_S = 0.1
_CLOSING_S = 1.0
SESSION_SETTINGS = {"application_name": "exhibit", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "60s"}
CONNECTING: Mapping[str, Any] = {"autocommit": True, "prepare_threshold": None, "connect_timeout": 2}


def patience_of(deadline_ms: int) -> float:
    """How long a question with this deadline waits for a connection: half of it, so that a server that cannot be
    reached is told from one that takes too long."""
    return deadline_ms / 2000


class Postgres:
    """Connections in autocommit whose search path begins with `schema`, at most `size`; every connection is asked
    whether it lives before it is lent, so that a restarted server is used again at once.

    A cancelled caller has its query cancelled in the server, and goes after 0.1 s even if the server does not answer.
    `run` and `write` raise what psycopg raises; PoolTimeout where no connection can be had for `patience_s`: one that
    is refused is tried again until then.
    """

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = SCHEMA,
        size: int = 8,
        settings: Mapping[str, str],
        patience_s: float = INGEST_PATIENCE_S,
    ) -> None:
        self.schema = schema
        self._settings = {**SESSION_SETTINGS, **settings}
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            dsn,
            min_size=0,
            max_size=size,
            open=False,
            timeout=patience_s,
            reconnect_timeout=patience_s,
            check=AsyncConnectionPool.check_connection,
            configure=self._configure,
            kwargs=dict(CONNECTING),
            name="exhibit",
        )
        self._leaving: set[asyncio.Task[Any]] = set()

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """The result of `work` on a connection, each statement by itself."""
        task = asyncio.create_task(self._lent(work))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            self._leaving.add(task)
            task.add_done_callback(self._left)
            await asyncio.wait({task}, timeout=_FAREWELL_S)
            raise

    async def read(self, *statements: Statement, scope: Scope) -> list[list[tuple[Any, ...]]]:
        """The rows of each statement inside the scope, all of one moment: one message there and one back."""

        async def reading(connection: Connection) -> list[list[tuple[Any, ...]]]:
            opened = opened_for(scope)
            async with connection.pipeline():
                await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                await connection.execute(opened.text.encode(), opened.parameters)
                given = [await connection.execute(each.text.encode(), each.parameters) for each in statements]
                await connection.execute("COMMIT")
            return [await cursor.fetchall() for cursor in given]

        return await self.run(reading)

    async def write(self, work: Callable[[Connection], Awaitable[T]], *, lock: str) -> T:
        """One transaction, without a statement timeout; writers of one schema and `lock` wait for each other. The
        schema is made when it does not exist."""

        async def locked(connection: Connection) -> T:
            async with connection.transaction():
                await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
                await connection.execute(WHOLE.text.encode(), WHOLE.parameters)
                key = f"{self.schema}/{lock}"
                await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
                if await _first(connection, "SELECT to_regnamespace(%s)", quoted(self.schema)) is None:
                    await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(self.schema)}".encode())
                return await work(connection)

        return await self.run(locked)

    async def aclose(self) -> None:
        """Closes every connection. Safe to call twice."""
        if self._leaving:
            await asyncio.wait(self._leaving, timeout=_CLOSING_S)
        await self._pool.close(timeout=_CLOSING_S)

    async def _lent(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        async with self._connection() as connection:
            return await work(connection)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        await self._pool.open()
        async with self._pool.connection() as connection:
            yield connection

    async def _configure(self, connection: Connection) -> None:
        await connection.execute(*path_statement(self.schema))
        for name, value in self._settings.items():
            await connection.execute("SELECT set_config(%s, %s, false)", (name, value))

    def _left(self, task: asyncio.Task[Any]) -> None:
        self._leaving.discard(task)
        if not task.cancelled():
            task.exception()  # its caller has gone


def quoted(name: str) -> str:
    """The name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def path_statement(schema: str) -> tuple[LiteralString, tuple[str]]:
    """Puts the schema before those where the server's extensions are found."""
    return "SELECT set_config('search_path', %s || ', ' || current_setting('search_path'), false)", (quoted(schema),)


async def _first(connection: Connection, statement: str, *parameters: object) -> object:
    row = await (await connection.execute(statement.encode(), parameters)).fetchone()
    return None if row is None else row[0]
