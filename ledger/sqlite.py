"""The embedded store: one SQLite file, one worker thread, WAL with synchronous=FULL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from ledger import sqlite_checkpoints
from ledger.errors import LedgerUnavailable
from ledger.model import Checkpoint, Kind, SealedPart
from ledger.store import Appended, Clash, LogIdentity, NewEntry, PartAt, Refused, StoredLeaf
from ledger.tree import Frontier, Node, frontier_nodes, hash_leaf

T = TypeVar("T")

APPLICATION_ID = 0x45584C47  # "EXLG"
SCHEMA_VERSION = 2
BUSY_TIMEOUT_MS = 5_000

_SCHEMA = """
CREATE TABLE log (
    id INTEGER PRIMARY KEY CHECK (id = 1), origin TEXT NOT NULL, vkey TEXT NOT NULL, pseudonym_check TEXT NOT NULL
) STRICT;
CREATE TABLE leaves (
    idx INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, tenant TEXT NOT NULL, req TEXT NOT NULL,
    replica TEXT NOT NULL, rseq INTEGER NOT NULL, hash BLOB NOT NULL CHECK (length(hash) = 32),
    leaf BLOB NOT NULL CHECK (length(leaf) <= 4096), UNIQUE (req, kind), UNIQUE (replica, rseq)
) STRICT;
CREATE TABLE nodes (
    level INTEGER NOT NULL, n INTEGER NOT NULL, hash BLOB NOT NULL CHECK (length(hash) = 32), PRIMARY KEY (level, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoints (size INTEGER PRIMARY KEY, root BLOB NOT NULL CHECK (length(root) = 32), note TEXT NOT NULL)
STRICT; CREATE TABLE secrets (
    idx INTEGER NOT NULL REFERENCES leaves (idx), name TEXT NOT NULL, salt BLOB NOT NULL, key BLOB NOT NULL, PRIMARY
    KEY (idx, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (idx INTEGER NOT NULL REFERENCES leaves (idx), name TEXT NOT NULL, blob BLOB NOT NULL, UNIQUE (idx,
name)) STRICT;
"""
# Of each table, when an inserted row would take the place of one that is there: REPLACE fires no other trigger.
_INSERT_ONLY = {
    "log": "EXISTS (SELECT 1 FROM log)",
    "leaves": "NEW.idx <> (SELECT coalesce(max(idx) + 1, 0) FROM leaves)"
    " OR EXISTS (SELECT 1 FROM leaves WHERE id = NEW.id)"
    " OR EXISTS (SELECT 1 FROM leaves WHERE req = NEW.req AND kind = NEW.kind)"
    " OR EXISTS (SELECT 1 FROM leaves WHERE replica = NEW.replica AND rseq = NEW.rseq)",
    "nodes": "EXISTS (SELECT 1 FROM nodes WHERE level = NEW.level AND n = NEW.n)",
    "checkpoints": "EXISTS (SELECT 1 FROM checkpoints WHERE size = NEW.size)",
}
_LEAF = "SELECT idx, id, leaf, hash FROM leaves"
_DANGLING = (
    "SELECT idx, id, leaf, hash FROM leaves WHERE kind = 'intent' AND (?1 IS NULL OR replica = ?1) AND NOT EXISTS"
    " (SELECT 1 FROM leaves o WHERE o.req = leaves.req AND o.kind = 'outcome') ORDER BY idx LIMIT ?2"
)


class SqliteLedgerStore:
    """A LedgerStore in one file. Open it with `SqliteLedgerStore.open`. Another process may have the same file open: a
    write waits for the other's transaction, and the replica's number is checked inside it."""

    def __init__(self, connection: apsw.Connection, executor: ThreadPoolExecutor) -> None:
        self._connection = connection
        self._executor = executor
        self._frontier = Frontier()
        self._closed = False

    @classmethod
    async def open(cls, path: Path) -> SqliteLedgerStore:
        """The store at `path`, made if it is not there. Raises LedgerUnavailable if the file cannot be written or is
        no ledger."""
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ledger-sqlite")
        try:
            connection = await asyncio.get_running_loop().run_in_executor(executor, _connect, path)
        except BaseException:
            executor.shutdown(wait=False)
            raise
        return cls(connection, executor)

    async def bind(self, identity: LogIdentity) -> LogIdentity:
        """See LedgerStore."""

        def work() -> LogIdentity:
            with self._transaction() as db:
                if not _all(db, "SELECT 1 FROM log"):
                    values = (identity.origin, identity.vkey, identity.pseudonym_check)
                    db.execute("INSERT INTO log VALUES (1, ?, ?, ?)", values)
            return LogIdentity(*_one(self._connection, "SELECT origin, vkey, pseudonym_check FROM log"))

        return await self._run(work)

    async def append(self, batch: Sequence[NewEntry], *, erase: Sequence[PartAt] = ()) -> Appended | Refused:
        """See LedgerStore."""
        return await self._run(lambda: self._append(batch, erase))

    async def shrink(self) -> None:
        """See LedgerStore: what was deleted is overwritten already (secure_delete); the write-ahead log and the file's
        free pages go now."""

        def work() -> None:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        await self._run(work)

    async def size(self) -> int:
        """See LedgerStore."""
        return await self._run(lambda: _size(self._connection))

    async def next_rseq(self, replica: str) -> int:
        """See LedgerStore."""
        return await self._run(lambda: _next_rseq(self._connection, replica))

    async def leaf(self, entry_id: str) -> StoredLeaf | None:
        """See LedgerStore."""
        found = await self._leaves(f"{_LEAF} WHERE id = ?", (entry_id,))
        return found[0] if found else None

    async def find(self, request_id: str) -> tuple[StoredLeaf, ...]:
        """See LedgerStore."""
        return await self._leaves(f"{_LEAF} WHERE req = ? ORDER BY idx", (request_id,))

    async def scan(
        self, *, after: int, limit: int, kind: Kind | None = None, tenant: str | None = None
    ) -> tuple[StoredLeaf, ...]:
        """See LedgerStore."""
        where, bindings = "idx > ?", list[Any]([after])
        for column, value in (("kind", kind), ("tenant", tenant)):
            if value is not None:
                where += f" AND {column} = ?"
                bindings.append(str(value))
        return await self._leaves(f"{_LEAF} WHERE {where} ORDER BY idx LIMIT ?", (*bindings, limit))

    async def nodes(self, wanted: Sequence[Node]) -> Mapping[Node, bytes]:
        """See LedgerStore."""
        return await self._run(lambda: _nodes(self._connection, wanted))

    async def parts(self, entry_id: str, names: Sequence[str] | None = None) -> tuple[SealedPart, ...]:
        """See LedgerStore."""
        sql = (
            "SELECT s.name, s.salt, s.key, b.blob FROM leaves l JOIN secrets s ON s.idx = l.idx"
            " JOIN blobs b ON b.idx = s.idx AND b.name = s.name WHERE l.id = ? ORDER BY s.name"
        )
        rows = await self._run(lambda: _all(self._connection, sql, (entry_id,)))
        return tuple(SealedPart(*row) for row in rows if names is None or row[0] in names)

    async def dangling(self, *, limit: int, replica: str | None = None) -> tuple[StoredLeaf, ...]:
        """See LedgerStore."""
        return await self._leaves(_DANGLING, (replica, limit))

    async def add_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        """See LedgerStore."""

        def work() -> Checkpoint:
            with self._transaction() as db:
                sqlite_checkpoints.add(db, checkpoint)
            return sqlite_checkpoints.kept(self._connection, checkpoint.head.size)

        return await self._run(work)

    async def add_cosignatures(self, size: int, lines: Sequence[str]) -> None:
        """See LedgerStore."""

        def work() -> None:
            with self._transaction() as db:
                sqlite_checkpoints.cosign(db, size, lines)

        await self._run(work)

    async def latest_checkpoint(self) -> Checkpoint | None:
        """See LedgerStore."""
        return await self._run(lambda: sqlite_checkpoints.latest(self._connection))

    async def covering(self, size: int, *, cosigned: bool = False) -> Checkpoint | None:
        """See LedgerStore."""
        return await self._run(lambda: sqlite_checkpoints.covering(self._connection, size, cosigned=cosigned))

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """See LedgerStore."""
        return await self._run(lambda: sqlite_checkpoints.every(self._connection))

    async def faults(self) -> tuple[str, ...]:
        """See LedgerStore: SQLite's own integrity and foreign key checks."""

        def work() -> tuple[str, ...]:
            found = [str(row[0]) for row in self._connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            found += [f"foreign key: {row}" for row in self._connection.execute("PRAGMA foreign_key_check")]
            return tuple(found)

        return await self._run(work)

    async def aclose(self) -> None:
        """Close the file; what was acknowledged stays. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._executor, self._connection.close)
        self._executor.shutdown(wait=False)

    async def _leaves(self, sql: str, bindings: Sequence[Any]) -> tuple[StoredLeaf, ...]:
        rows = await self._run(lambda: _all(self._connection, sql, bindings))
        return tuple(StoredLeaf(*row) for row in rows)

    async def _run(self, work: Callable[[], T]) -> T:
        def guarded() -> T:
            try:
                return work()
            except apsw.Error as exc:
                raise LedgerUnavailable(f"the ledger's file does not answer: {exc}") from exc

        if self._closed:
            raise LedgerUnavailable("the ledger is closed")
        return await asyncio.get_running_loop().run_in_executor(self._executor, guarded)

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        db = self._connection
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if not db.get_autocommit():
                db.execute("ROLLBACK")
            raise

    def _append(self, batch: Sequence[NewEntry], erase: Sequence[PartAt]) -> Appended | Refused:
        try:
            with self._transaction() as db:
                refused = _refusal(db, batch)
                if refused is not None:
                    db.execute("ROLLBACK")
                    db.execute("BEGIN")  # closed again, empty, by the context
                    return refused
                frontier = first = self._current_frontier(db)
                for entry in batch:
                    frontier = _insert(db, entry, frontier)
                for part in erase:
                    _erase(db, part)
        except apsw.Error:
            self._frontier = Frontier()
            raise
        self._frontier = frontier
        return Appended(first.size)

    def _current_frontier(self, db: apsw.Connection) -> Frontier:
        size = _size(db)
        if self._frontier.size == size:
            return self._frontier
        wanted = frontier_nodes(size)
        found = _nodes(db, wanted)
        if len(found) != len(wanted):
            raise apsw.CorruptError("tree nodes of the head are missing")
        return Frontier(size, tuple(found[node] for node in wanted))


def _connect(path: Path) -> apsw.Connection:
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    except apsw.Error as exc:
        raise LedgerUnavailable(f"the ledger's file {path} cannot be opened: {exc}") from exc
    try:
        _prepare(db)
    except apsw.Error as exc:
        db.close()
        raise LedgerUnavailable(f"the ledger's file {path} cannot be used: {exc}") from exc
    except LedgerUnavailable:
        db.close()
        raise
    return db


def _prepare(db: apsw.Connection) -> None:
    db.set_busy_timeout(BUSY_TIMEOUT_MS)
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",
        "trusted_schema = OFF",
    ):
        db.execute(f"PRAGMA {pragma}")
    db.execute("BEGIN IMMEDIATE")
    try:
        _migrate(db)
        db.execute("COMMIT")
    except BaseException:
        if not db.get_autocommit():
            db.execute("ROLLBACK")
        raise


def _migrate(db: apsw.Connection) -> None:
    application, version = db.pragma("application_id"), db.pragma("user_version")
    if (application, version) == (APPLICATION_ID, SCHEMA_VERSION):
        return
    if (application, version) == (APPLICATION_ID, 1):
        _finish(db)
        return
    if application or version or _one(db, "SELECT count(*) FROM sqlite_schema")[0]:
        raise LedgerUnavailable("the file is no ledger of this version")
    db.execute(_SCHEMA)
    for table, taken in _INSERT_ONLY.items():
        db.execute(
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {taken}"
            f" BEGIN SELECT RAISE(ABORT, '{table} is insert-only'); END"
        )
        for verb in ("UPDATE", "DELETE"):
            db.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}"
                f" BEGIN SELECT RAISE(ABORT, '{table} is insert-only'); END"
            )
    _finish(db)


def _finish(db: apsw.Connection) -> None:
    """What version 2 has beside version 1, and the mark of this version."""
    db.execute(sqlite_checkpoints.COSIGNATURES)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def _refusal(db: apsw.Connection, batch: Sequence[NewEntry]) -> Refused | None:
    for position, entry in enumerate(batch):
        row = db.execute(
            f"{_LEAF} WHERE req = ? AND kind = ?", (entry.leaf.request_id, str(entry.leaf.kind))
        ).fetchone()
        if row:
            return Refused(Clash.REQUEST, position, existing=StoredLeaf(*row))
    expected = _next_rseq(db, batch[0].leaf.replica)
    for position, entry in enumerate(batch):
        if entry.leaf.rseq != expected + position:
            return Refused(Clash.SEQUENCE, position, next_rseq=expected)
    return None


def _insert(db: apsw.Connection, entry: NewEntry, frontier: Frontier) -> Frontier:
    leaf, index = entry.leaf, frontier.size
    leaf_hash = hash_leaf(entry.leaf_bytes)
    db.execute(
        "INSERT INTO leaves (idx, id, kind, tenant, req, replica, rseq, hash, leaf) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            index,
            leaf.entry_id,
            str(leaf.kind),
            leaf.tenant,
            leaf.request_id,
            leaf.replica,
            leaf.rseq,
            leaf_hash,
            entry.leaf_bytes,
        ),
    )
    frontier, made = frontier.append(leaf_hash)
    db.executemany("INSERT INTO nodes VALUES (?, ?, ?)", [(node.level, node.n, value) for node, value in made])
    db.executemany(
        "INSERT INTO secrets VALUES (?, ?, ?, ?)", [(index, part.name, part.salt, part.key) for part in entry.parts]
    )
    db.executemany("INSERT INTO blobs VALUES (?, ?, ?)", [(index, part.name, part.blob) for part in entry.parts])
    return frontier


def _erase(db: apsw.Connection, part: PartAt) -> None:
    for table in ("secrets", "blobs"):
        db.execute(
            f"DELETE FROM {table} WHERE name = ? AND idx = (SELECT idx FROM leaves WHERE id = ?)",
            (part.name, part.entry_id),
        )


def _all(db: apsw.Connection, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    return db.execute(sql, tuple(bindings)).fetchall()


def _one(db: apsw.Connection, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = db.execute(sql, tuple(bindings)).fetchone()
    if row is None:
        raise apsw.CorruptError("a row is missing")
    return row


def _size(db: apsw.Connection) -> int:
    return int(_one(db, "SELECT coalesce(max(idx) + 1, 0) FROM leaves")[0])


def _next_rseq(db: apsw.Connection, replica: str) -> int:
    return int(_one(db, "SELECT coalesce(max(rseq) + 1, 1) FROM leaves WHERE replica = ?", (replica,))[0])


def _nodes(db: apsw.Connection, wanted: Sequence[Node]) -> dict[Node, bytes]:
    found = {}
    for node in wanted:
        row = db.execute("SELECT hash FROM nodes WHERE level = ? AND n = ?", node).fetchone()
        if row:
            found[node] = row[0]
    return found
