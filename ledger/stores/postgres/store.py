"""The store on PostgreSQL: many replicas, one log.

An append inserts salts, keys and contents first, then locks the head row, and only then learns its index; so what is
large is written while other replicas hold the head. Up to 64 entries are one transaction: whoever comes while one is
being written shares the next, so a batch waits for the one before it and never for a clock (ADR 0019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import psycopg
from psycopg import AsyncConnection

from ledger.errors import LedgerTablesMissing, LedgerUnavailable, SchemaUnsupported
from ledger.merkle.tree import Frontier, Node
from ledger.model import Checkpoint, Kind, SealedPart, TreeHead
from ledger.stores.postgres.checks import faults_of
from ledger.stores.postgres.horizon import until_unseen
from ledger.stores.postgres.pool import DEADLINE_S, Guard, LedgerConnections, asked_once, said_by
from ledger.stores.postgres.schema import (
    AS_ONESELF,
    REDACTOR,
    SCHEMA,
    SCHEMA_VERSION,
    STEPS,
    WRITER,
    as_owner,
    installation,
    memberships,
)
from ledger.stores.postgres.writes import (
    LEAF,
    Connection,
    Refusal,
    erase_parts,
    insert_leaves,
    insert_parts,
    locked_frontier,
    rows_of,
)
from ledger.stores.store import AppendedBatch, LogIdentity, NewEntry, PartAt, RefusedBatch, StoredLeaf

_UNSEEN_S = 60


async def install(
    dsn: str,
    *,
    schema: str = SCHEMA,
    writers: Sequence[str] = (),
    redactors: Sequence[str] = (),
    version: int = SCHEMA_VERSION,
    steps: Mapping[int, Sequence[str]] = STEPS,
) -> None:
    """Make the roles and tables where they are not there, bring them to `version` where they are, and let the login
    roles use them, in one transaction. `dsn` is of a role that may create roles and schemas. Raises
    LedgerTablesMissing, SchemaUnsupported."""
    granted = {"writers": [_quoted(role) for role in writers], "redactors": [_quoted(role) for role in redactors]}
    try:
        async with await AsyncConnection.connect(dsn, autocommit=True) as connection, connection.transaction():
            # Roles belong to all databases of a server: one installation at a time.
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('exhibit_ledger', 0))")
            found = await connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (_quoted(schema),))
            (there,) = await found.fetchone() or (False,)
            script = memberships(**granted) if there else installation(_quoted(schema), **granted)
            if script:
                await connection.execute(script.encode())
            if there:
                await _bring_up(connection, schema, version, steps)
    except psycopg.Error as exc:
        raise LedgerTablesMissing(f"the ledger's tables cannot be made: {said_by(exc)}") from exc


async def _bring_up(
    connection: AsyncConnection[Any], schema: str, version: int, steps: Mapping[int, Sequence[str]]
) -> None:
    """The tables' steps to `version`, as their owner. A log that has no identity yet has the newest tables."""
    for statement in as_owner(_quoted(schema)):
        await connection.execute(statement.encode())
    row = await (await connection.execute("SELECT version FROM log")).fetchone()
    found = version if row is None else int(row[0])
    if found > version or any(n not in steps for n in range(found, version)):
        raise unsupported(found, version)
    for statement in (each for n in range(found, version) for each in steps[n]):
        await connection.execute(statement.encode())
    if found < version:
        await connection.execute("ALTER TABLE log DISABLE TRIGGER log_no_update")  # nobody else changes its row
        await connection.execute("UPDATE log SET version = %s", (version,))
        await connection.execute("ALTER TABLE log ENABLE ALWAYS TRIGGER log_no_update")
    for statement in AS_ONESELF:
        await connection.execute(statement.encode())


def unsupported(found: int, known: int) -> SchemaUnsupported:
    """The refusal of a log whose tables are of another version."""
    way = (
        "back the database up, then `exhibit ledger prepare --dsn ADMIN` brings it up to date"
        if found < known
        else "use the release that wrote it or a later one"
    )
    return SchemaUnsupported(f"the ledger has schema {found}, this program uses schema {known}: {way}")


def shard_schema(shard: int) -> str:
    """The schema of a database's first log, or of one that goes on beside another that was put back."""
    return SCHEMA if shard == 1 else f"{SCHEMA}_{shard}"


async def last_shard(dsn: str, *, deadline_s: float = DEADLINE_S) -> int:
    """The number of the last log of the database; 1 if there is none. Raises LedgerNotResponding."""
    sql = "SELECT coalesce(max(substring(nspname from %s)::int), 1) FROM pg_namespace"
    (number,) = await asked_once(dsn, sql, (f"^{SCHEMA}_([1-9][0-9]{{0,5}})$",), deadline_s=deadline_s)
    return int(number)


class PostgresLedgerStore:
    """A LedgerStore in one schema of a database. Open it with `PostgresLedgerStore.open`. Every statement runs as the
    role that may SELECT and INSERT, whoever logged in.

    No call but `faults` and `shrink` takes longer than `deadline_s`, also where the server stands still: then it raises
    LedgerNotResponding, and an append may yet become durable, whole, later. `guard` wraps each call."""

    def __init__(self, connections: LedgerConnections) -> None:
        self._connections = connections
        self._run = connections.run
        self._frontier = Frontier()

    @classmethod
    async def open(
        cls, dsn: str, *, schema: str = SCHEMA, deadline_s: float = DEADLINE_S, guard: Guard = nullcontext
    ) -> PostgresLedgerStore:
        """The store in that schema, made if it is not there and the role may make it. Raises LedgerUnavailable."""
        named = _quoted(schema)
        if not all(await asked_once(dsn, "SELECT to_regnamespace(%s) IS NOT NULL", (named,), deadline_s=deadline_s)):
            await install(dsn, schema=schema)
        return cls(
            await LedgerConnections.open(dsn, search_path=f"{named}, pg_temp", deadline_s=deadline_s, guard=guard)
        )

    async def bind(self, identity: LogIdentity) -> LogIdentity:
        """See LedgerStore."""

        async def work(db: Connection) -> LogIdentity:
            values = (SCHEMA_VERSION, identity.origin, identity.vkey, identity.pseudonym_check)
            await db.execute("INSERT INTO log VALUES (1, %s, %s, %s, %s) ON CONFLICT DO NOTHING", values)
            version, *kept = (await rows_of(db, "SELECT version, origin, vkey, pseudonym_check FROM log"))[0]
            if version != SCHEMA_VERSION:
                raise unsupported(int(version), SCHEMA_VERSION)
            return LogIdentity(*kept)

        return await self._run(work)

    async def append(self, batch: Sequence[NewEntry], *, erase: Sequence[PartAt] = ()) -> AppendedBatch | RefusedBatch:
        """See LedgerStore."""
        return await self._run(lambda db: self._append(db, batch, erase), whole=True)

    async def size(self) -> int:
        """See LedgerStore."""
        rows = await self._run(lambda db: rows_of(db, "SELECT coalesce(max(idx) + 1, 0) FROM leaves"))
        return int(rows[0][0])

    async def next_rseq(self, replica: str) -> int:
        """See LedgerStore."""
        sql = "SELECT coalesce(max(rseq) + 1, 1) FROM leaves WHERE replica = %s"
        return int((await self._run(lambda db: rows_of(db, sql, (replica,))))[0][0])

    async def leaf(self, entry_id: str) -> StoredLeaf | None:
        """See LedgerStore."""
        found = await self._leaves(f"{LEAF} WHERE id = %s::uuid", (entry_id,))
        return found[0] if found else None

    async def find(self, request_id: str) -> tuple[StoredLeaf, ...]:
        """See LedgerStore."""
        return await self._leaves(f"{LEAF} WHERE req = %s ORDER BY idx", (request_id,))

    async def scan(
        self, *, after: int, limit: int, kind: Kind | None = None, tenant: str | None = None
    ) -> tuple[StoredLeaf, ...]:
        """See LedgerStore."""
        where, bindings = "idx > %s", list[Any]([after])
        for column, value in (("kind", kind), ("tenant", tenant)):
            if value is not None:
                where += f" AND {column} = %s"
                bindings.append(str(value))
        return await self._leaves(f"{LEAF} WHERE {where} ORDER BY idx LIMIT %s", (*bindings, limit))

    async def dangling(
        self, *, limit: int, replica: str | None = None, tenant: str | None = None
    ) -> tuple[StoredLeaf, ...]:
        """See LedgerStore."""
        sql = (
            f"{LEAF} WHERE kind = 'intent' AND (%s::text IS NULL OR replica = %s)"
            " AND (%s::text IS NULL OR tenant = %s) AND NOT EXISTS"
            " (SELECT FROM leaves o WHERE o.req = leaves.req AND o.kind = 'outcome') ORDER BY idx LIMIT %s"
        )
        return await self._leaves(sql, (replica, replica, tenant, tenant, limit))

    async def nodes(self, wanted: Sequence[Node]) -> Mapping[Node, bytes]:
        """See LedgerStore."""
        sql = "SELECT level, n, hash FROM nodes JOIN unnest(%b::int4[], %b::int8[]) w (level, n) USING (level, n)"
        named = ([node.level for node in wanted], [node.n for node in wanted])
        rows = await self._run(lambda db: rows_of(db, sql, named))
        return {Node(level, n): value for level, n, value in rows}

    async def parts(self, entry_id: str, names: Sequence[str] | None = None) -> tuple[SealedPart, ...]:
        """See LedgerStore."""
        sql = (
            "SELECT name, s.salt, s.key, b.blob FROM secrets s JOIN blobs b USING (entry, name)"
            ' WHERE entry = %s::uuid AND (%s::text[] IS NULL OR name = ANY (%s::text[])) ORDER BY name COLLATE "C"'
        )
        chosen = None if names is None else list(names)
        rows = await self._run(lambda db: rows_of(db, sql, (entry_id, chosen, chosen)))
        return tuple(SealedPart(*row) for row in rows)

    async def add_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        """See LedgerStore."""

        async def work(db: Connection) -> None:
            values = (checkpoint.head.size, checkpoint.head.root, checkpoint.note)
            await db.execute("INSERT INTO checkpoints VALUES (%s, %s, %s) ON CONFLICT (size) DO NOTHING", values)

        await self._run(work)
        return (await self._signed("WHERE size = %s", (checkpoint.head.size,)))[0]

    async def add_cosignatures(self, size: int, lines: Sequence[str]) -> None:
        """See LedgerStore."""
        sql = b"INSERT INTO cosignatures VALUES (%s, %s) ON CONFLICT (size) DO NOTHING"
        if lines:
            await self._run(lambda db: db.execute(sql, (size, list(lines))))

    async def latest_checkpoint(self) -> Checkpoint | None:
        """See LedgerStore."""
        return next(iter(await self._signed("ORDER BY size DESC LIMIT 1")), None)

    async def covering(self, size: int, *, cosigned: bool = False) -> Checkpoint | None:
        """See LedgerStore."""
        wanted = "WHERE size >= %s" + (" AND c.lines IS NOT NULL" if cosigned else "")
        return next(iter(await self._signed(f"{wanted} ORDER BY size LIMIT 1", (size,))), None)

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """See LedgerStore."""
        return await self._signed("ORDER BY size")

    async def faults(self) -> tuple[str, ...]:
        """See LedgerStore: guards that are gone or switched off, a head that is not where the leaves end, contents
        without a leaf."""
        return await self._run(faults_of, timely=False)

    async def shrink(self) -> None:
        """See LedgerStore: the tables that lost rows are rewritten. Raises LedgerUnavailable where the login role is no
        redactor, or a transaction that can see the rows stays open for a minute; the server's write-ahead log and
        backups keep what they hold until they are recycled."""

        async def work(db: Connection) -> None:
            await until_unseen(db)
            said: list[str] = []
            db.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
            await db.execute(f"SET ROLE {REDACTOR}")
            try:
                for table in ("secrets", "blobs"):
                    await db.execute(f"VACUUM (FULL) {table}".encode())
            finally:
                await db.execute(f"SET ROLE {WRITER}")
            if said:  # a table that may not be rewritten is skipped with a warning
                raise LedgerUnavailable(f"an administrator must run VACUUM (FULL) on secrets and blobs: {said[0]}")

        await self._run(work, timely=False)

    async def aclose(self) -> None:
        """Close the connections; what was acknowledged stays. A second call does nothing."""
        await self._connections.aclose()

    async def _append(
        self, db: Connection, batch: Sequence[NewEntry], erase: Sequence[PartAt]
    ) -> AppendedBatch | RefusedBatch:
        try:
            async with db.pipeline(), db.transaction():
                if erase:
                    await db.execute(f"SET LOCAL ROLE {REDACTOR}")
                await insert_parts(db, batch)
                frontier = await insert_leaves(db, batch, await locked_frontier(db, batch, self._frontier))
                await erase_parts(db, erase)
        except Refusal as refusal:
            return refusal.refused
        self._frontier = frontier
        return AppendedBatch(frontier.size - len(batch))

    async def _signed(self, which: str, bindings: Sequence[Any] = ()) -> tuple[Checkpoint, ...]:
        sql = f"SELECT size, root, note, c.lines FROM checkpoints LEFT JOIN cosignatures c USING (size) {which}"  # noqa: S608
        rows = await self._run(lambda db: rows_of(db, sql, bindings))
        return tuple(Checkpoint(TreeHead(size, root), note, tuple(lines or ())) for size, root, note, lines in rows)

    async def _leaves(self, sql: str, bindings: Sequence[Any]) -> tuple[StoredLeaf, ...]:
        rows = await self._run(lambda db: rows_of(db, sql, bindings))
        return tuple(StoredLeaf(*row) for row in rows)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
