"""The embedded store: one SQLite file, one worker thread, WAL with synchronous=FULL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from ledger.errors import LedgerUnavailable
from ledger.merkle.tree import Frontier, Node, frontier_nodes, hash_leaf
from ledger.model import Checkpoint, Kind, SealedPart
from ledger.stores.sqlite import checkpoints as sqlite_checkpoints
from ledger.stores.sqlite.copier import LogCopier
from ledger.stores.sqlite.schema import connect, schema_faults
from ledger.stores.store import (
    CHANGES,
    AppendedBatch,
    Clash,
    LogIdentity,
    NewEntry,
    PartAt,
    RefusedBatch,
    StoredLeaf,
    overtaken,
)

T = TypeVar("T")

_LEAF = "SELECT idx, id, leaf, hash FROM leaves"
# Rows are found by their columns, so a column that differs from the leaf would hide an entry.
_OTHERWISE = (
    "SELECT idx FROM leaves WHERE json_valid(CAST(leaf AS TEXT)) AND json_extract(CAST(leaf AS TEXT),"
    " '$.id', '$.kind', '$.tenant', '$.req', '$.replica', '$.rseq')"
    " IS NOT json_array(id, kind, tenant, req, replica, rseq) ORDER BY idx LIMIT 100"
)
_UNPAIRED = (
    "SELECT b.idx, b.name, 'salt and key' FROM blobs b WHERE NOT EXISTS"
    " (SELECT 1 FROM secrets s WHERE s.idx = b.idx AND s.name = b.name)"
    " UNION ALL SELECT s.idx, s.name, 'content' FROM secrets s WHERE NOT EXISTS"
    " (SELECT 1 FROM blobs b WHERE b.idx = s.idx AND b.name = s.name) LIMIT 100"
)
_DANGLING = (
    "SELECT idx, id, leaf, hash FROM leaves WHERE kind = 'intent' AND (?1 IS NULL OR replica = ?1)"
    " AND (?3 IS NULL OR tenant = ?3)"
    " AND NOT EXISTS (SELECT 1 FROM leaves o WHERE o.req = leaves.req AND o.kind = 'outcome') ORDER BY idx LIMIT ?2"
)


class SqliteLedgerStore:
    """A LedgerStore in one file. Open it with `SqliteLedgerStore.open`. Another process may have the same file open: a
    write waits for the other's transaction, and the replica's number is checked inside it."""

    def __init__(self, connection: apsw.Connection, executor: ThreadPoolExecutor, copier: LogCopier) -> None:
        self._connection = connection
        self._executor = executor
        self._frontier = Frontier()
        self._closed = False
        self._copier = copier
        connection.set_wal_hook(copier.grew)  # in the place of SQLite's own, which copies before a commit returns

    @classmethod
    async def open(cls, path: Path) -> SqliteLedgerStore:
        """The store at `path`, made if it is not there. Raises LedgerUnavailable if the file cannot be written or is
        no ledger."""
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ledger-sqlite")
        try:
            connection = await asyncio.get_running_loop().run_in_executor(executor, connect, path)
        except BaseException:
            executor.shutdown(wait=False)
            raise
        return cls(connection, executor, LogCopier(path))

    async def bind(self, identity: LogIdentity) -> LogIdentity:
        """See LedgerStore."""

        def work() -> LogIdentity:
            if not _all(self._connection, "SELECT 1 FROM log"):
                with self._transaction() as db:
                    values = (identity.origin, identity.vkey, identity.pseudonym_check)
                    db.execute("INSERT INTO log SELECT 1, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM log)", values)
            return LogIdentity(*_one(self._connection, "SELECT origin, vkey, pseudonym_check FROM log"))

        return await self._run(work)

    async def append(self, batch: Sequence[NewEntry], *, erase: Sequence[PartAt] = ()) -> AppendedBatch | RefusedBatch:
        """See LedgerStore."""
        return await self._run(lambda: self._append(batch, erase))

    async def shrink(self) -> None:
        """See LedgerStore: what was deleted is overwritten already (secure_delete); the write-ahead log and the file's
        free pages go now."""

        def work() -> None:
            with self._copier.paused():
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

    async def dangling(
        self, *, limit: int, replica: str | None = None, tenant: str | None = None
    ) -> tuple[StoredLeaf, ...]:
        """See LedgerStore."""
        return await self._leaves(_DANGLING, (replica, limit, tenant))

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
        """See LedgerStore: SQLite's own checks, pairs of salt and content, and that the schema is the version's."""

        def work() -> tuple[str, ...]:
            found = [str(row[0]) for row in self._connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            found += [f"foreign key: {row}" for row in self._connection.execute("PRAGMA foreign_key_check")]
            found += [f"row {row[0]} does not match its leaf" for row in self._connection.execute(_OTHERWISE)]
            unpaired = self._connection.execute(_UNPAIRED)
            found += [f"part {name} of row {index} lacks its {what}" for index, name, what in unpaired]
            found += schema_faults(self._connection)
            return tuple(found)

        return await self._run(work)

    async def aclose(self) -> None:
        """Close the file; what was acknowledged stays. A second call does nothing."""
        if self._closed:
            return
        self._closed = True

        def work() -> None:
            self._copier.close()
            self._connection.close()

        await asyncio.get_running_loop().run_in_executor(self._executor, work)
        self._executor.shutdown(wait=False)

    async def _leaves(self, sql: str, bindings: Sequence[Any]) -> tuple[StoredLeaf, ...]:
        rows = await self._run(lambda: _all(self._connection, sql, bindings))
        return tuple(StoredLeaf(*row) for row in rows)

    async def _run(self, work: Callable[[], T]) -> T:
        def guarded() -> T:
            try:
                return work()
            except apsw.ReadOnlyError as exc:
                raise LedgerUnavailable(
                    "the ledger's file may not be written here: it can be read, and nothing is recorded or signed"
                ) from exc
            except apsw.Error as exc:
                raise LedgerUnavailable(f"the ledger's file does not answer: {exc}") from exc

        if self._closed:
            raise LedgerUnavailable("the ledger is closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, guarded)
        finally:
            if self._copier.behind and not self._closed:
                self._executor.submit(self._copier.catch_up, self._connection)

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

    def _append(self, batch: Sequence[NewEntry], erase: Sequence[PartAt]) -> AppendedBatch | RefusedBatch:
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
        return AppendedBatch(first.size)

    def _current_frontier(self, db: apsw.Connection) -> Frontier:
        size = _size(db)
        if self._frontier.size == size:
            return self._frontier
        wanted = frontier_nodes(size)
        found = _nodes(db, wanted)
        if len(found) != len(wanted):
            raise apsw.CorruptError("tree nodes of the head are missing")
        return Frontier(size, tuple(found[node] for node in wanted))


def _refusal(db: apsw.Connection, batch: Sequence[NewEntry]) -> RefusedBatch | None:
    for position, entry in enumerate(batch):
        row = db.execute(
            f"{_LEAF} WHERE req = ? AND kind = ?", (entry.leaf.request_id, str(entry.leaf.kind))
        ).fetchone()
        if row:
            return RefusedBatch(Clash.REQUEST, position, existing=StoredLeaf(*row))
    expected = _next_rseq(db, batch[0].leaf.replica)
    for position, entry in enumerate(batch):
        if entry.leaf.rseq != expected + position:
            return RefusedBatch(Clash.SEQUENCE, position, next_rseq=expected)

    def changed(tenant: str, since: int) -> bool:
        sql = "SELECT 1 FROM leaves WHERE idx >= ? AND tenant = ? AND kind IN (?, ?) LIMIT 1"
        return bool(_all(db, sql, (since, tenant, *map(str, CHANGES))))

    return overtaken(batch, changed)


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
            f"DELETE FROM {table} WHERE name = ? AND idx = (SELECT idx FROM leaves WHERE id = ?)",  # noqa: S608
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
    for first, last in _runs(wanted):
        sql = "SELECT n, hash FROM nodes WHERE level = ? AND n BETWEEN ? AND ?"
        for n, value in db.execute(sql, (first.level, first.n, last.n)):
            found[Node(first.level, n)] = value
    return found


def _runs(nodes: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    """First and last of neighbours of one level that stand one after the other."""
    first = last = None
    for node in nodes:
        if first and last and node == (last.level, last.n + 1):
            last = node
            continue
        if first and last:
            yield first, last
        first = last = node
    if first and last:
        yield first, last
