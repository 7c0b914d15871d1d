"""Sessions of the pages: a person signs in once, and the browser holds a cookie that no script can read.

The file keeps the digest of the cookie and the credential, sealed under a key that only the cookie gives. So a stolen
file signs nobody in, and every request with the cookie goes through all checks of the credential itself: a key that is
revoked or has expired, and a token whose session the identity provider ended, end the sessions of the pages too.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from api.home.encryption.sealing import FileSeal, derived
from api.home.kept_file import KeptSchema, kept_connection

SESSION_MS = 12 * 3_600_000
"""The longest time for which somebody stays signed in."""
_SECRET_BYTES = 32
_COOKIE = re.compile(r"[A-Za-z0-9_-]{43}")
_TABLE = """
CREATE TABLE page_session (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 32), credential BLOB NOT NULL, expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID
"""
SCHEMA = KeptSchema("page sessions", version=1, create=(_TABLE,))


@dataclass(frozen=True, slots=True)
class PageSession:
    """Somebody who is signed in. `csrf_token` goes with every request that is not a plain reading."""

    cookie: str
    credential: str
    expires_ms: int

    @property
    def csrf_token(self) -> str:
        """Follows from the cookie, which a page of another origin cannot read."""
        return derived(self.cookie.encode(), b"csrf").hex()


class PageSessions:
    """The sessions of one home folder. The methods block for about a millisecond. Raises HomeUnusable, HomeFileBusy."""

    def __init__(self, path: Path, *, clock_ms: Callable[[], int]) -> None:
        self._path = path
        self._clock_ms = clock_ms

    def begin(self, credential: str, *, ends_ms: int | None) -> PageSession:
        """A session for a credential that was checked, until that ends or `SESSION_MS` have passed."""
        now_ms = self._clock_ms()
        expires_ms = min(now_ms + SESSION_MS, ends_ms or now_ms + SESSION_MS)
        session = PageSession(secrets.token_urlsafe(_SECRET_BYTES), credential, expires_ms)
        sealed = _seal(session.cookie).sealed(credential.encode())
        with kept_connection(self._path, SCHEMA) as db:
            db.execute("DELETE FROM page_session WHERE expires_ms <= ?", (now_ms,))
            db.execute("INSERT INTO page_session VALUES (?, ?, ?)", (_digest(session.cookie), sealed, expires_ms))
        return session

    def find(self, cookie: str) -> PageSession | None:
        """The session of a cookie; None if there is none, or no longer."""
        if not _COOKIE.fullmatch(cookie) or not self._path.exists():
            return None
        with kept_connection(self._path, SCHEMA, create=False) as db:
            row = db.execute(
                "SELECT credential, expires_ms FROM page_session WHERE digest = ? AND expires_ms > ?",
                (_digest(cookie), self._clock_ms()),
            ).fetchone()
        return None if row is None else PageSession(cookie, _seal(cookie).opened(row[0]).decode(), row[1])

    def end(self, cookie: str) -> None:
        """Sign out; of no effect for a cookie without a session."""
        if self._path.exists():
            with kept_connection(self._path, SCHEMA, create=False) as db:
                db.execute("DELETE FROM page_session WHERE digest = ?", (_digest(cookie),))


def _seal(cookie: str) -> FileSeal:
    return FileSeal(derived(cookie.encode(), b"page session"))


def _digest(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode()).digest()
