"""A small witness: what it has cosigned of each log, in one SQLite file (c2sp.org/tlog-witness)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import apsw

from ledger.errors import LedgerError, LedgerUnavailable, SchemaUnsupported
from ledger.model import TreeHead
from ledger.notes.cosignature import cosign
from ledger.notes.note import Signer, VerifierKey
from ledger.witnesses.witness import (
    NOTHING,
    AcceptedCheckpoint,
    DeclinedCheckpoint,
    WitnessReply,
    judge,
    malformed,
    origin_of,
    parse_add_checkpoint,
)

T = TypeVar("T")

MAX_EVIDENCE = 1_000
"""Of one log and one status: whoever holds an honest checkpoint can send it with a wrong proof (422) as often as they
like, and must leave room for two trees of one size (409), which only the log can have signed."""
SCHEMA_VERSION = 1
# What takes version n to n + 1; the first files, of the same tables, bear no number.
STEPS: Mapping[int, Sequence[str]] = {0: ()}
_SCHEMA = """
CREATE TABLE IF NOT EXISTS seen (
    origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL CHECK (length(root) = 32), note TEXT NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS seen_grows BEFORE UPDATE ON seen WHEN NEW.size < OLD.size
    BEGIN SELECT RAISE(ABORT, 'a witness never goes back'); END;
CREATE TRIGGER IF NOT EXISTS seen_stays BEFORE DELETE ON seen
    BEGIN SELECT RAISE(ABORT, 'a witness never forgets'); END;
CREATE TABLE IF NOT EXISTS evidence (
    n INTEGER PRIMARY KEY, origin TEXT NOT NULL, t INTEGER NOT NULL, status INTEGER NOT NULL, request TEXT NOT NULL
) STRICT;
"""


class SqliteWitness:
    """A Witness over one file. Open it with `SqliteWitness.open`; the file belongs to one process at a time or to
    several, the check and the record of a checkpoint are one transaction."""

    def __init__(
        self,
        connection: apsw.Connection,
        executor: ThreadPoolExecutor,
        *,
        key: Signer,
        logs: Mapping[str, Sequence[VerifierKey]],
        clock_s: Callable[[], int],
    ) -> None:
        self._connection = connection
        self._executor = executor
        self._key = key
        self._logs = logs
        self._clock_s = clock_s

    @classmethod
    async def open(
        cls, path: Path, *, key: Signer, logs: Mapping[str, Sequence[VerifierKey]], clock_s: Callable[[], int]
    ) -> SqliteWitness:
        """The witness whose state is at `path`, made if it is not there; `key` is of type 04, `logs` are the keys of
        each known log by origin, `clock_s` gives seconds since 1970. Raises LedgerUnavailable."""
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="witness-sqlite")
        try:
            connection = await asyncio.get_running_loop().run_in_executor(executor, _connect, path)
        except BaseException:
            executor.shutdown(wait=False)
            raise
        return cls(connection, executor, key=key, logs=logs, clock_s=clock_s)

    async def add_checkpoint(self, request: str) -> WitnessReply:
        """See Witness: the new head is durable before it is cosigned. What a log signed against itself is kept as
        evidence. Raises LedgerUnavailable if the file fails."""
        try:
            parsed = parse_add_checkpoint(request)
            origin = origin_of(parsed)
        except LedgerError as exc:
            return malformed(exc)

        def work() -> AcceptedCheckpoint | DeclinedCheckpoint:
            with self._connection:
                verdict = judge(parsed, keys=self._logs, seen=_seen(self._connection, origin))
                self._keep(verdict, origin, request, parsed.checkpoint)
            return verdict

        verdict = await self._run(work)
        if isinstance(verdict, DeclinedCheckpoint):
            return verdict.reply
        line = await cosign(verdict.text, self._key, timestamp_s=self._clock_s())
        return WitnessReply(200, f"{line}\n")

    async def seen(self, origin: str) -> TreeHead:
        """The latest head that was cosigned of a log; of size 0 if none was."""
        return await self._run(lambda: _seen(self._connection, origin))

    async def evidence(self, origin: str) -> tuple[str, ...]:
        """The requests that show a log to have signed against itself (409), or that a checkpoint came with a proof that
        does not hold (422), oldest first."""
        sql = "SELECT request FROM evidence WHERE origin = ? ORDER BY n"
        rows = await self._run(lambda: self._connection.execute(sql, (origin,)).fetchall())
        return tuple(str(row[0]) for row in rows)

    async def aclose(self) -> None:
        """Close the file."""
        await asyncio.get_running_loop().run_in_executor(self._executor, self._connection.close)
        self._executor.shutdown(wait=False)

    def _keep(self, verdict: AcceptedCheckpoint | DeclinedCheckpoint, origin: str, request: str, note: str) -> None:
        db = self._connection
        if isinstance(verdict, AcceptedCheckpoint):
            row = (origin, verdict.head.size, verdict.head.root, note)
            db.execute(
                "INSERT INTO seen VALUES (?, ?, ?, ?) ON CONFLICT (origin)"
                " DO UPDATE SET size = excluded.size, root = excluded.root, note = excluded.note",
                row,
            )
        elif verdict.evidence:
            db.execute(
                "INSERT INTO evidence (origin, t, status, request) SELECT ?1, ?2, ?3, ?4"
                " WHERE (SELECT count(*) FROM evidence WHERE origin = ?1 AND status = ?3) < ?5",
                (origin, self._clock_s(), verdict.reply.status, request, MAX_EVIDENCE),
            )

    async def _run(self, work: Callable[[], T]) -> T:
        def guarded() -> T:
            try:
                return work()
            except apsw.Error as exc:
                raise LedgerUnavailable(f"the witness's file does not answer: {exc}") from exc

        return await asyncio.get_running_loop().run_in_executor(self._executor, guarded)


def _connect(path: Path) -> apsw.Connection:
    try:
        db = apsw.Connection(str(path))
        db.set_busy_timeout(5_000)
        db.transaction_mode = "IMMEDIATE"
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "trusted_schema = OFF"):
            db.execute(f"PRAGMA {pragma}")
        version = db.pragma("user_version")
        if version not in (0, SCHEMA_VERSION):
            db.close()
            raise SchemaUnsupported(f"the witness has schema {version}, this program uses schema {SCHEMA_VERSION}")
        if version == 0:
            db.execute(f"BEGIN IMMEDIATE; {_SCHEMA}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT")
    except apsw.Error as exc:
        raise LedgerUnavailable(f"the witness's file {path} cannot be used: {exc}") from exc
    return db


def _seen(db: apsw.Connection, origin: str) -> TreeHead:
    rows: list[tuple[Any, ...]] = db.execute("SELECT size, root FROM seen WHERE origin = ?", (origin,)).fetchall()
    return TreeHead(rows[0][0], rows[0][1]) if rows else NOTHING
