"""The findings of the comparison with a shadow bundle, in a SQLite file of the home.

It is a working record, not evidence: it is written without waiting for the disk, holds at most MAX_KEPT differences per
candidate, and goes with its file. The inputs themselves are in the ledger; here they go by their digest.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from policy.errors import PolicyUnavailable
from policy.shadow import Difference

MAX_KEPT = 10_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tally (
    candidate TEXT, entrypoint TEXT, compared INTEGER NOT NULL DEFAULT 0, differing INTEGER NOT NULL DEFAULT 0,
    skipped INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (candidate, entrypoint)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS difference (
    seq INTEGER PRIMARY KEY, candidate TEXT NOT NULL, entrypoint TEXT NOT NULL, t_ms INTEGER NOT NULL,
    document TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS by_candidate ON difference (candidate, seq);
"""
_COUNT = """
INSERT INTO tally (candidate, entrypoint, compared, differing, skipped) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET compared = compared + excluded.compared, differing = differing + excluded.differing,
    skipped = skipped + excluded.skipped
"""
_KEEP = """
INSERT INTO difference (candidate, entrypoint, t_ms, document)
SELECT ?1, ?2, ?3, ?4 WHERE (SELECT count(*) FROM difference WHERE candidate = ?1) < ?5
"""


class SqliteShadowLog:
    """ShadowLog in the file at `path`, made when something is written."""

    def __init__(self, path: Path, *, clock_ms: Callable[[], int]) -> None:
        self._path = path
        self._clock_ms = clock_ms
        self._lock = threading.Lock()

    async def compared(self, candidate: str, entrypoint: str, *, difference: Difference | None) -> None:
        """See ShadowLog."""
        await asyncio.to_thread(self._compared, candidate, entrypoint, difference)

    async def skipped(self, candidate: str, entrypoint: str) -> None:
        """See ShadowLog."""
        await asyncio.to_thread(self._count, candidate, entrypoint, 0, 0, 1)

    def report(self, candidate: str, *, limit: int) -> dict[str, Any]:
        """Counts by entry point, and the latest `limit` differences, newest first."""
        if not self._path.exists():
            return {"counts": {}, "differences": []}
        with self._lock, self._open() as file:
            counts = {
                str(name): {"compared": compared, "differing": differing, "skipped": skipped}
                for name, compared, differing, skipped in file.execute(
                    "SELECT entrypoint, compared, differing, skipped FROM tally WHERE candidate = ?", (candidate,)
                )
            }
            found = file.execute(
                "SELECT entrypoint, t_ms, document FROM difference WHERE candidate = ? ORDER BY seq DESC LIMIT ?",
                (candidate, limit),
            )
            listed = [{"entrypoint": name, "t_ms": t_ms} | json.loads(str(document)) for name, t_ms, document in found]
        return {"counts": counts, "differences": listed}

    def _compared(self, candidate: str, entrypoint: str, difference: Difference | None) -> None:
        self._count(candidate, entrypoint, 1, int(difference is not None), 0)
        if difference is not None:
            text = json.dumps(difference.document(), ensure_ascii=False, sort_keys=True)
            with self._lock, self._open() as file:
                file.execute(_KEEP, (candidate, entrypoint, self._clock_ms(), text, MAX_KEPT))

    def _count(self, candidate: str, entrypoint: str, compared: int, differing: int, skipped: int) -> None:
        with self._lock, self._open() as file:
            file.execute(_COUNT, (candidate, entrypoint, compared, differing, skipped))

    def _open(self) -> _ClosingConnection:
        return _ClosingConnection(self._path)


class _ClosingConnection:
    """A connection for one use; several processes may write."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> apsw.Connection:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = apsw.Connection(str(self._path))
            self._file.set_busy_timeout(2_000)
            self._file.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + _SCHEMA).fetchall()
        except (OSError, apsw.Error) as exc:
            raise PolicyUnavailable(f"the shadow's record cannot be opened: {exc}") from exc
        return self._file

    def __exit__(self, *_: object) -> None:
        self._file.close()
