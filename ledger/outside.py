"""The highest checkpoint, held where the database is not: who puts an old copy of the database back is found out.

`CheckpointFile` keeps it as a file, replaced whole and durably. Keep that file on another disk or machine than the
database, and never restore it from a backup.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Protocol

from ledger.errors import LedgerUnavailable
from ledger.keys import sync_folder


class OutsideCheckpoint(Protocol):
    """Holds one checkpoint. `read` returns the note that was last written, None before the first; `write` makes it
    durable. Both raise only LedgerUnavailable. Safe to call concurrently."""

    async def read(self) -> str | None: ...
    async def write(self, note: str) -> None: ...


class CheckpointFile:
    """An OutsideCheckpoint in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = asyncio.Lock()

    async def read(self) -> str | None:
        """See OutsideCheckpoint."""
        return await asyncio.to_thread(_read, self._path)

    async def write(self, note: str) -> None:
        """See OutsideCheckpoint."""
        async with self._lock:
            await asyncio.to_thread(_write, self._path, note)


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as exc:
        raise LedgerUnavailable(f"the checkpoint held outside, {path}, cannot be read") from exc


def _write(path: Path, note: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(note)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
        sync_folder(path.parent)
    except OSError as exc:
        raise LedgerUnavailable(f"the checkpoint held outside, {path}, cannot be written: {exc.strerror}") from exc
