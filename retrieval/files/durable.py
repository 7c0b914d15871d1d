"""Durable files: what is written stays written, and a small file that is replaced atomically is a commit point."""

from __future__ import annotations

import json
import os
import uuid
from pathlib import Path

from retrieval.files.seal import PLAIN, Seal


def write_atomically(path: Path, data: bytes) -> None:
    """After this returns the file holds `data`, also after a power cut; before, it holds what it held. Raises
    OSError."""
    scratch = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with scratch.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_json(path: Path, value: object, seal: Seal = PLAIN) -> None:
    """`write_atomically` of the value's JSON text."""
    write_atomically(path, seal.sealed(json.dumps(value, sort_keys=True).encode()))


def sync_folder(path: Path) -> None:
    """Makes the folder's entries durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def stamp(path: Path) -> tuple[int, int, int] | None:
    """Changes whenever the file is replaced; None where there is none. One system call, so that each search can afford
    it."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size)


def sync_file(path: Path) -> None:
    """Makes the file's bytes durable."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
