"""Copies a write-ahead log into its SQLite file beside the appends, on a connection and a thread of its own: no append
waits for the two syncs that it takes. (SQLite is safe with that from 3.51.3 on; apsw carries its own.)"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

import apsw

COPY_PAGES = 1_000
"""How long the log grows before it is copied: 4 MiB, SQLite's own default."""
WAIT_PAGES = 4 * COPY_PAGES
"""From here on the appends wait: they come faster than the copies, and the log starts again at its beginning only when
it has been copied to its end."""


class LogCopier:
    """Of one file. `grew` and `catch_up` are called by the thread that writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pages = 0
        self._copying = Lock()
        self._connection: apsw.Connection | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ledger-copier")
        self._last: Future[None] | None = None

    def grew(self, _connection: apsw.Connection, _database: str, pages: int) -> int:
        """SQLite's hook behind a commit: the log has so many pages."""
        self._pages = pages
        if pages >= COPY_PAGES and (self._last is None or self._last.done()):
            with suppress(RuntimeError):  # it is being closed
                self._last = self._executor.submit(self._copy)
        return apsw.SQLITE_OK

    @property
    def behind(self) -> bool:
        """True if `catch_up` is due."""
        return self._pages >= WAIT_PAGES

    def catch_up(self, connection: apsw.Connection) -> None:
        """Copy to the end of the log, on the connection that writes it. What fails here is tried again later."""
        self._pages = 0
        with self._copying, suppress(apsw.Error):
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing is copied meanwhile."""
        with self._copying:
            yield

    def close(self) -> None:
        """Wait for the copy in work, then close the connection."""
        self._executor.submit(self._close)
        self._executor.shutdown(wait=True)

    def _copy(self) -> None:
        """Nobody waits for it: an entry is durable in the log. What fails here is tried again after the next one."""
        with self._copying, suppress(apsw.Error):
            if self._connection is None:
                self._connection = apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READWRITE)
                self._connection.pragma("journal_mode")  # a connection that has read nothing knows of no log
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
