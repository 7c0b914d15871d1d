"""The home folder: for its owner alone, written by one ingest at a time."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.errors import HomeBusy, HomeUnusable
from api.home.configuration import Configuration

DIGEST_CACHE = "ingest-digests.json"
KEYS_FILE = "api-keys.sqlite"
TENANTS_FILE = "tenants.sqlite"
ENDED_SESSIONS_FILE = "ended-sessions.sqlite"
PAGE_SESSIONS_FILE = "page-sessions.sqlite"
UPLOADS = "uploads"
_PROBE_BYTES = 65_536  # more than one entry of the ledger takes


def prepare_home(configuration: Configuration) -> None:
    """Make the home folder, for its owner alone (`close_home`). Raises HomeUnusable."""
    try:
        configuration.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise HomeUnusable(f"the folder {configuration.home} cannot be made: {exc.strerror}") from exc
    close_home(configuration)


def close_home(configuration: Configuration) -> None:
    """Close the home to other users, with everything in it, whoever made it; what this process writes from now on is
    for its owner alone. Raises HomeUnusable where others may read it and that cannot be changed."""
    home = configuration.home
    os.umask(0o077)
    try:
        if home.is_dir() and is_open(home):
            for path in (*home.rglob("*"), home):
                _close(path)
    except OSError as exc:
        raise HomeUnusable(f"the folder {home} cannot be closed to other users: {exc.strerror}") from exc


def is_open(path: Path) -> bool:
    """True if others than the owner have any right to it."""
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _close(path: Path) -> None:
    if path.is_symlink():
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    try:
        path.chmod(mode & 0o700)
    except PermissionError:
        # A folder of a volume whose owner is another may be ours through its group; never through everybody.
        if mode & 0o007:
            raise


def prove_writable(home: Path) -> None:
    """Write, sync and remove a small file: a disk that is full or read-only fails here. Raises OSError."""
    path = home / f".probe-{secrets.token_hex(4)}"
    try:
        with path.open("xb", buffering=0) as file:
            if file.write(bytes(_PROBE_BYTES)) < _PROBE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock of a file; it ends with the process, however that ends. Raises HomeBusy, HomeUnusable."""
    try:
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HomeBusy(f"another process is ingesting documents into {path.parent}") from None
            yield
    except OSError as exc:
        raise HomeUnusable(f"{path} cannot be written: {exc.strerror}") from exc
