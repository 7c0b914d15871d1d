"""The store of record on PostgreSQL: the same statements as on SQLite, each job one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from time import monotonic, sleep
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg import errors
from psycopg_pool import PoolTimeout

from retrieval.errors import SchemaUnsupported, StoreNotResponding, StoreUnavailable
from retrieval.registry import sums
from retrieval.registry.jobs import SqlJobs
from retrieval.registry.sql.engine import EARLIER, LATER, Row
from retrieval.registry.sql.guarded_engine import GuardedEngine
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.scope import Scope
from retrieval.servers.breaker import Breaker
from retrieval.servers.postgres import CONNECTING, INGEST_PATIENCE_S, SCHEMA, patience_of, quoted
from retrieval.servers.postgres_threads import Connection, PostgresThreads, exists, secure

T = TypeVar("T")
SCHEMA_VERSION = 1
# What takes version n to n + 1; `upgrade_postgres_store` runs them.
STEPS: Mapping[int, Sequence[str]] = {}
# A statement trigger, so that a change behind the store's back is noticed too, as SQLite notices it.
_GENERATION = """
CREATE TABLE store_generation (schema_version integer PRIMARY KEY, generation bigint NOT NULL);
INSERT INTO store_generation VALUES ({version}, 0);
CREATE FUNCTION next_generation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('exhibit.grown', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
    EXECUTE format('UPDATE %I.store_generation SET generation = generation + 1', TG_TABLE_SCHEMA);
    PERFORM set_config('exhibit.grown', pg_current_xact_id()::text, true);
  END IF;
  RETURN NULL;
END $$
"""
_TRIGGER = (
    "CREATE TRIGGER {table}_generation AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table}"
    " FOR EACH STATEMENT EXECUTE FUNCTION next_generation()"
)
_OF_RECORDS = ("record", "gazetteer_entry", "relationship")
_HOLDING_TEXT = ("document", "record", "gazetteer_entry", "relationship", "document_field", "ingest_file")
_HELD_ONCE = "ingest"
_PING_S = 2.0
_UNSEEN_S = 60
_NEXT = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
"""The transaction after all that have deleted something by now."""
_SEEN = b"""
SELECT EXISTS (
    SELECT FROM pg_stat_activity
    WHERE coalesce(datname, current_database()) = current_database() AND pid <> pg_backend_pid()
        AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
        AND greatest(age(backend_xid), age(backend_xmin)) > age(%(next)s::xid8::xid)
    UNION ALL
    SELECT FROM pg_prepared_xacts
    WHERE database = current_database() AND age(transaction) > age(%(next)s::xid8::xid)
    UNION ALL
    SELECT FROM pg_replication_slots WHERE age(xmin) > age(%(next)s::xid8::xid)
)
"""
_NOTICED = ("corpus", "document", "visibility_class", "record", "gazetteer_entry", "document_field")


class PostgresSession:
    """One connection; its cache lives until anyone changes the store."""

    def __init__(self, connection: Connection) -> None:
        self.cache: dict[object, Any] = {}
        self._connection = connection
        self._seen = -1

    def rows(self, statement: str, parameters: Sequence[object] = ()) -> list[Row]:
        return self._connection.execute(_marked(statement), tuple(parameters)).fetchall()

    def run(self, statement: str, parameters: Sequence[object] = ()) -> None:
        self._connection.execute(_marked(statement), tuple(parameters))

    def run_many(self, statement: str, parameters: Iterable[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_marked(statement), [tuple(values) for values in parameters])

    def refresh(self, schema: str) -> None:
        """Drops the cache when the store is no longer what it was. Raises `StoreUnavailable` for another schema."""
        statement = f"SELECT schema_version, generation FROM {quoted(schema)}.store_generation"  # noqa: S608
        (version, generation) = self.rows(statement)[0]
        if version != SCHEMA_VERSION:
            raise _unsupported(version, SCHEMA_VERSION)
        if generation != self._seen:
            self.cache.clear()
            self._seen = generation


class PostgresEngine:
    """Jobs on PostgreSQL: reads see one moment, writes follow one another. `writable` False never changes it. The
    server gives up a reading statement after `statement_timeout_ms`; None is for ingest, which takes as long as it
    takes. An `Engine`; raises `StoreNotResponding` where the server does not answer."""

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = SCHEMA,
        readers: int = 4,
        writable: bool = True,
        statement_timeout_ms: int | None = None,
        row_security: bool = True,
    ) -> None:
        self._row_security = row_security
        self._dsn = dsn
        self._schema = schema
        settings, patience_s = dict[str, str](), INGEST_PATIENCE_S
        if statement_timeout_ms is not None:
            settings, patience_s = {"statement_timeout": str(statement_timeout_ms)}, patience_of(statement_timeout_ms)
        self._readers = PostgresThreads(dsn, schema=schema, size=readers, settings=settings, patience_s=patience_s)
        self._writer = PostgresThreads(dsn, schema=schema, size=1) if writable else None
        self._sessions: WeakKeyDictionary[Connection, PostgresSession] = WeakKeyDictionary()

    async def read(self, job: Callable[[PostgresSession], T], *, scope: Scope | None) -> T:
        def work(connection: Connection) -> T:
            session = self._sessions.setdefault(connection, PostgresSession(connection))
            session.refresh(self._schema)
            return job(session)

        try:
            return await self._readers.read(work, scope=scope)
        except (errors.UndefinedTable, errors.InvalidSchemaName) as exc:
            if any(name in (exc.diag.message_primary or "") for name in LATER):
                raise StoreUnavailable(EARLIER) from exc
            raise StoreUnavailable("there is no store of record yet: nothing has been ingested") from exc
        except psycopg.Error as exc:
            raise _unavailable(exc) from exc

    async def write(self, job: Callable[[PostgresSession], T]) -> T:
        if self._writer is None:
            raise StoreUnavailable("the store of record was opened for reading")

        def work(connection: Connection) -> T:
            session = PostgresSession(connection)
            if not exists(connection, "store_generation"):
                _create(session)
            else:
                _upgrade(session, [name for name in LATER if not exists(connection, name)])
            secure(connection, _OF_RECORDS, wanted=self._row_security)
            session.refresh(self._schema)
            return job(session)

        try:
            return await self._writer.write(work, lock="record")
        except psycopg.Error as exc:
            raise _unavailable(exc) from exc

    async def compact(self) -> None:
        def work() -> None:
            with psycopg.connect(self._dsn, autocommit=True) as connection:
                _until_unseen(connection)
                for table in _HOLDING_TEXT:
                    connection.execute(f"VACUUM (FULL) {quoted(self._schema)}.{table}".encode())

        try:
            await asyncio.to_thread(work)
        except psycopg.Error as exc:
            raise _unavailable(exc) from exc

    async def aclose(self) -> None:
        await self._readers.aclose()
        if self._writer is not None:
            await self._writer.aclose()


def _until_unseen(connection: Connection) -> None:
    """A table that is rewritten keeps each deleted row that a transaction can still see: waits for those, and for later
    ones that began while an earlier one was writing. Raises StoreNotResponding where one still sees them after a
    minute."""
    after, until = connection.execute(_NEXT).fetchone(), monotonic() + _UNSEEN_S
    while connection.execute(_SEEN, {"next": after[0] if after else None}).fetchone() == (True,):
        if monotonic() > until:
            raise StoreNotResponding(f"a transaction has been open for {_UNSEEN_S} s and sees what was erased")
        sleep(0.02)


def open_postgres_jobs(dsn: str, *, schema: str = SCHEMA, row_security: bool = True) -> SqlJobs:
    """The jobs of ingest beside the store of record on a server. Opening does no I/O."""
    return SqlJobs(engine=PostgresEngine(dsn, schema=schema, readers=2, row_security=row_security))


@asynccontextmanager
async def only_ingest(dsn: str, *, schema: str = SCHEMA) -> AsyncIterator[bool]:
    """Holds the corpus for one run of ingest, whatever machine it is on; False where another one holds it. The server
    gives it back when the connection ends, however that ends; then the block is cancelled. Raises StoreUnavailable."""
    lost = asyncio.Event()
    holder = asyncio.current_task()
    try:
        async with await psycopg.AsyncConnection.connect(dsn, **CONNECTING) as connection:
            asked = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
            row = await (await connection.execute(asked, (f"{schema}/{_HELD_ONCE}",))).fetchone()

            async def watch() -> None:
                try:
                    while True:
                        await asyncio.sleep(_PING_S)
                        await connection.execute("SELECT 1")
                except psycopg.Error:
                    lost.set()
                    if holder is not None:
                        holder.cancel()

            watching = asyncio.create_task(watch())
            try:
                yield row == (True,)
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
    except psycopg.Error as exc:
        raise _unavailable(exc) from exc
    except asyncio.CancelledError:
        if lost.is_set():
            raise StoreNotResponding("the store of record was lost while documents were being ingested") from None
        raise


def open_postgres_store(
    dsn: str, *, schema: str = SCHEMA, readers: int = 4, writable: bool = True, row_security: bool = True
) -> SqlRecordStore:
    """The store of record on a server, made at the first write, with row-level security or without. Opening does no
    I/O."""
    engine = PostgresEngine(dsn, schema=schema, readers=readers, writable=writable, row_security=row_security)
    return SqlRecordStore(engine=engine)


def open_guarded_store(
    dsn: str, *, breaker: Breaker, deadline_ms: int, schema: str = SCHEMA, readers: int = 4
) -> SqlRecordStore:
    """The store of record on a server, for reading: each read within the deadline, which the server is told, and behind
    `breaker`, whose silence is `StoreNotResponding`. Opening does no I/O."""
    engine = PostgresEngine(dsn, schema=schema, readers=readers, writable=False, statement_timeout_ms=deadline_ms)
    return SqlRecordStore(engine=GuardedEngine(engine, breaker=breaker, deadline_s=deadline_ms / 1000))


async def upgrade_postgres_store(
    dsn: str, *, schema: str = SCHEMA, version: int = SCHEMA_VERSION, steps: Mapping[int, Sequence[str]] = STEPS
) -> int:
    """Take the tables to `version` in one transaction; returns the version that they had. Of two at once the second
    waits. Raises SchemaUnsupported for tables of a later version, StoreUnavailable where there are none."""

    def work(connection: Connection) -> int:
        if not exists(connection, "store_generation"):
            raise StoreUnavailable("there is no store of record yet: nothing has been ingested")
        session = PostgresSession(connection)
        found = int(session.rows("SELECT schema_version FROM store_generation")[0][0])
        if found > version or any(n not in steps for n in range(found, version)):
            raise _unsupported(found, version)
        for statement in (each for n in range(found, version) for each in steps[n]):
            session.run(statement)
        session.run("UPDATE store_generation SET schema_version = ?", (version,))
        return found

    threads = PostgresThreads(dsn, schema=schema, size=1)
    try:
        return await threads.write(work, lock="record")
    except psycopg.Error as exc:
        raise _unavailable(exc) from exc
    finally:
        await threads.aclose()


def _unsupported(found: int, known: int) -> SchemaUnsupported:
    way = (
        "back the database up, then `exhibit index upgrade --backed-up` brings it up to date"
        if found < known
        else "use the release that wrote it or a later one"
    )
    return SchemaUnsupported(f"the store of record has schema {found}, this program uses schema {known}: {way}")


def _create(session: PostgresSession) -> None:
    session.run(_GENERATION.format(version=SCHEMA_VERSION))
    _make(session)
    for table in _NOTICED:
        session.run(_TRIGGER.format(table=table))


def _upgrade(session: PostgresSession, missing: Sequence[str]) -> None:
    """Makes the tables that stores of an earlier version lack; their documents have no metadata fields yet."""
    for table in missing:
        _make(session, only=table)
        if table in _NOTICED:
            session.run(_TRIGGER.format(table=table))
    if "kept_sum" in missing:
        sums.begin(session)


def _make(session: PostgresSession, *, only: str | None = None) -> None:
    from retrieval.registry.sql.tables import ddl  # noqa: PLC0415  the import takes a second, and few stores need it

    for statement in ddl("postgresql", only=only):
        # Text orders by its bytes, as in SQLite, whatever the database's locale.
        session.run(statement.replace(" VARCHAR", ' VARCHAR COLLATE "C"'))


@lru_cache(maxsize=256)
def _marked(statement: str) -> bytes:
    """The statement with psycopg's marks for `?`; no statement of ours has a question mark of another meaning."""
    return statement.replace("%", "%%").replace("?", "%s").encode()


def _unavailable(error: psycopg.Error) -> StoreUnavailable:
    """Names the kind of the server's error, not its words: they may carry addresses and data."""
    if isinstance(error, PoolTimeout):
        return StoreNotResponding("the store of record cannot be reached: no connection to PostgreSQL")
    kind = error.sqlstate or type(error).__name__
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreNotResponding(f"the store of record does not answer: PostgreSQL says {kind}")
    return StoreUnavailable(f"the store of record cannot be used: PostgreSQL says {kind}")
