"""The last use of each API key, so that one that nobody uses any more is seen and can be revoked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from api.errors import HomeFileBusy, HomeUnusable
from api.home.kept_file import KeptSchema, kept_connection

STEP_MS = 60_000
"""A use is written if the one on file is this much older, so that a busy key costs a write a minute."""
_BUSY_MS = 50
_TABLE = "CREATE TABLE key_use (id TEXT PRIMARY KEY, used_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID"
SCHEMA = KeptSchema("uses of API keys", version=1, create=(_TABLE,))
_NOTE = """
INSERT INTO key_use VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET used_ms = max(used_ms, excluded.used_ms)
"""


class KeyUses:
    """The last uses of the keys of one home folder, to the minute."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._noted: dict[str, int] = {}

    def note(self, key_id: str, now_ms: int) -> None:
        """A use of a key. Nobody is refused because it could not be written; the next use tries again."""
        if now_ms - self._noted.get(key_id, -STEP_MS) < STEP_MS:
            return
        try:
            with kept_connection(self._path, SCHEMA, busy_ms=_BUSY_MS) as db:
                db.execute(_NOTE, (key_id, now_ms))
        except (HomeFileBusy, HomeUnusable):
            return
        self._noted[key_id] = now_ms

    def all(self) -> Mapping[str, int]:
        """The last use of each key that was used, in UTC milliseconds. Raises HomeUnusable, HomeFileBusy."""
        if not self._path.exists():
            return {}
        with kept_connection(self._path, SCHEMA, create=False) as db:
            return dict(db.execute("SELECT id, used_ms FROM key_use"))
