"""The file of idempotency records: which keys were used, with which body, and the entry that answered. No text."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from api.home.kept_file import KeptSchema, kept_connection

REQUESTS_FILE = "requests.sqlite"
KEPT_MS = 86_400_000
# A first use that has not ended after this long was cut off; the next one takes its place.
ABANDONED_MS = 120_000
# Threads of one process queue here: SQLite's own waiting polls, and whom it passes over waits until the time is up.
_TURN = threading.Lock()
_TABLE = """
CREATE TABLE repeat (
    tenant TEXT, principal TEXT, route TEXT, key TEXT, body TEXT NOT NULL, started_ms INTEGER NOT NULL,
    entry_id TEXT, timings TEXT, PRIMARY KEY (tenant, principal, route, key)
) STRICT, WITHOUT ROWID
"""
SCHEMA = KeptSchema("idempotency records", version=1, steps={0: ()}, create=(_TABLE,))
_FIND = "SELECT body, entry_id, timings FROM repeat WHERE tenant = ? AND principal = ? AND route = ? AND key = ?"
_KEEP = "UPDATE repeat SET entry_id = ?, timings = ? WHERE tenant = ? AND principal = ? AND route = ? AND key = ?"
_FORGET = "DELETE FROM repeat WHERE tenant = ? AND principal = ? AND route = ? AND key = ?"
_ERASE = "DELETE FROM repeat WHERE (tenant = ? AND principal = ?) OR entry_id IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class FirstUse:
    """The first use of a key: the digest of its body and, once it has ended, its entry and timings (JSON)."""

    body: str
    entry_id: str | None
    timings: str | None


@dataclass(frozen=True, slots=True)
class RequestRecords:
    """The records of one home. An identity is (tenant, principal, route, key). Every call raises HomeUnusable."""

    home: Path

    def claim(self, identity: tuple[str, ...], body: str, *, now_ms: int) -> FirstUse | None:
        """Take the key, or return its first use."""
        with self._transaction() as db:
            db.execute(
                "DELETE FROM repeat WHERE started_ms < ? OR (entry_id IS NULL AND started_ms < ?)",
                (now_ms - KEPT_MS, now_ms - ABANDONED_MS),
            )
            row = db.execute(_FIND, identity).fetchone()
            if row is not None:
                return FirstUse(*row)
            db.execute("INSERT INTO repeat VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)", (*identity, body, now_ms))
        return None

    def find(self, identity: tuple[str, ...]) -> FirstUse | None:
        """The first use of a key, if there was one."""
        with self._transaction() as db:
            row = db.execute(_FIND, identity).fetchone()
        return None if row is None else FirstUse(*row)

    def note(self, identity: tuple[str, ...], body: str, *, now_ms: int, entry_id: str, timings: str) -> None:
        """Record a first use that has ended, in one write."""
        with self._transaction() as db:
            db.execute("DELETE FROM repeat WHERE started_ms < ?", (now_ms - KEPT_MS,))
            db.execute(
                "INSERT INTO repeat VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*identity, body, now_ms, entry_id, timings)
            )

    def keep(self, identity: tuple[str, ...], *, entry_id: str, timings: str) -> None:
        """Record what the first use came to."""
        with self._transaction() as db:
            db.execute(_KEEP, (entry_id, timings, *identity))

    def forget(self, identity: tuple[str, ...]) -> None:
        """Release a key whose first use failed."""
        with self._transaction() as db:
            db.execute(_FORGET, identity)

    def erase(self, *, tenant: str, subject: str | None, entry_ids: Collection[str]) -> int:
        """Delete the records of the subject and of the entries; returns how many went."""
        if not (self.home / REQUESTS_FILE).exists():
            return 0
        with self._transaction() as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute(_ERASE, (tenant, subject, json.dumps(sorted(entry_ids))))
            erased = db.changes()
        with _TURN, self._connection() as db:
            db.execute("VACUUM")
        return erased

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        with _TURN, self._connection() as db, db:
            yield db

    def _connection(self) -> AbstractContextManager[apsw.Connection]:
        return kept_connection(self.home / REQUESTS_FILE, SCHEMA, busy_ms=5_000)
