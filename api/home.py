"""The home folder: made for its owner alone, written by one ingest at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.configuration import Configuration
from api.errors import HomeBusy, HomeUnusable

KEYS_FILE = "api-keys.sqlite"


def prepare_home(configuration: Configuration) -> None:
    """Make the home folder, for its owner alone. Raises HomeUnusable."""
    try:
        configuration.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise HomeUnusable(f"the folder {configuration.home} cannot be made: {exc.strerror}") from exc


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock of a file; it ends with the process, however that ends. Raises HomeBusy, HomeUnusable."""
    try:
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HomeBusy(f"another process takes documents into {path.parent}") from None
            yield
    except OSError as exc:
        raise HomeUnusable(f"{path} cannot be written: {exc.strerror}") from exc
