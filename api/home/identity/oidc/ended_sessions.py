"""Sessions that the identity provider has ended before their tokens expire."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from api.home.kept_file import KeptSchema, kept_connection

_TABLE = """
CREATE TABLE ended_session (
    subject TEXT, session TEXT, issued_s INTEGER NOT NULL, until_s INTEGER NOT NULL,
    CHECK (subject IS NOT NULL OR session IS NOT NULL)
) STRICT
"""
SCHEMA = KeptSchema("ended sessions", version=1, create=(_TABLE,))
_COVERS = """
SELECT 1 FROM ended_session
WHERE until_s > :now AND (session = :session OR (session IS NULL AND subject = :subject AND issued_s >= :issued))
LIMIT 1
"""


class EndedSessions:
    """The ended sessions of one home, in one SQLite file; a row goes when no token of its session can be valid any
    more. The methods block for well under a millisecond. Raise HomeUnusable."""

    def __init__(self, path: Path, *, now_ms: Callable[[], int]) -> None:
        self._path, self._now_ms = path, now_ms

    def add(self, *, subject: str | None, session: str | None, issued_s: int, until_s: int) -> None:
        """End a session, or without one all sessions of the subject that began no later than `issued_s`."""
        with kept_connection(self._path, SCHEMA) as db:
            db.execute("DELETE FROM ended_session WHERE until_s <= ?", (self._now_ms() // 1000,))
            db.execute("INSERT INTO ended_session VALUES (?, ?, ?, ?)", (subject, session, issued_s, until_s))

    def covers(self, *, subject: str, session: str | None, issued_s: int) -> bool:
        """True if a token of that subject and session, issued then, belongs to a session that has ended."""
        if not self._path.exists():
            return False
        with kept_connection(self._path, SCHEMA) as db:
            bound = {"now": self._now_ms() // 1000, "session": session, "subject": subject, "issued": issued_s}
            return db.execute(_COVERS, bound).fetchone() is not None
