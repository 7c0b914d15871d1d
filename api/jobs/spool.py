"""The bytes of one sent file while they arrive and wait: as they are, or in an encrypted home as sealed pieces.

    piece: 4 bytes, the length of what is sealed | 4 bytes, the length of the data | sealed: 8 bytes place, name, data

Each piece is sealed by itself, with the place of its first byte and the name of its source inside: pieces that were
changed, moved, left out or taken from another file do not open. A piece that a crash cut off goes when the file is
continued. The two lengths can be read without the key; the file's own size tells as much.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from api.errors import KeyReused, NoSuchThing, PayloadTooLarge
from retrieval.files.seal import PLAIN, Seal

_HEAD = struct.Struct(">II")
_PLACE = struct.Struct(">Q")
_PIECE = 4 * 1024 * 1024
"""Bytes of data in one piece at most."""


@dataclass(frozen=True, slots=True)
class Spool:
    """One file; `name` is bound to every sealed piece. Methods block; OSError is raised as it comes."""

    path: Path
    seal: Seal = PLAIN
    name: str = ""

    def create(self) -> None:
        """Makes an empty file for its owner alone; it must not be there."""
        os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))

    def size(self) -> int:
        """How many bytes of data are here."""
        if self.seal is PLAIN:
            return self.path.stat().st_size
        with self.path.open("rb") as file:
            return sum(length for _, length in _pieces(file))

    def read(self) -> bytes:
        """All of them. Raises ValueError where a sealed piece is not the one that was written there."""
        if self.seal is PLAIN:
            return self.path.read_bytes()
        parts: list[bytes] = []
        at = 0
        with self.path.open("rb") as file:
            for sealed, length in _pieces(file):
                head = _PLACE.pack(at) + self._bound
                data = self.seal.opened(os.pread(file.fileno(), sealed[1], sealed[0]))
                if not data.startswith(head) or len(data) != len(head) + length:
                    raise ValueError("a piece is not the one that was written there")
                parts.append(data[len(head) :])
                at += length
        return b"".join(parts)

    def sha256(self) -> str:
        """Their digest. Raises ValueError as `read`."""
        if self.seal is PLAIN:
            with self.path.open("rb") as file:
                return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
        return "sha256:" + hashlib.sha256(self.read()).hexdigest()

    @contextmanager
    def appending(self, *, offset: int, length: int) -> Iterator[Appending]:
        """The file, open to be continued at `offset`, which must be where it ends, and held until the block ends.
        Raises KeyReused where it is not, or while another request holds it; NoSuchThing where there is no such file, or
        no longer once it is held."""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            raise NoSuchThing("There is no such upload.") from None
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise KeyReused("Another request continues this upload.") from None
            if not self._stays(file):  # whoever held it before has completed it
                raise NoSuchThing("There is no such upload.")
            size = self._whole(file)
            if size != offset:
                raise KeyReused(f"The upload continues at {size}.")
            try:
                yield Appending(file, size, length, self)
            finally:
                os.fsync(file.fileno())

    def _stays(self, file: BinaryIO) -> bool:
        try:
            return self.path.stat().st_ino == os.fstat(file.fileno()).st_ino
        except FileNotFoundError:
            return False

    def _whole(self, file: BinaryIO) -> int:
        """The size of the data, without a piece that was cut off: that one goes."""
        if self.seal is PLAIN:
            return os.fstat(file.fileno()).st_size
        end = size = 0
        for (start, stored), length in _pieces(file):
            end, size = start + stored, size + length
        os.ftruncate(file.fileno(), end)
        return size

    def pieces_of(self, data: bytes, at: int) -> Iterator[tuple[bytes, int]]:
        """The pieces that are written for these bytes, which begin at that place, and how many of them each piece
        holds."""
        if self.seal is PLAIN:
            yield data, len(data)
            return
        for start in range(0, len(data), _PIECE):
            part = data[start : start + _PIECE]
            sealed = self.seal.sealed(_PLACE.pack(at + start) + self._bound + part)
            yield _HEAD.pack(len(sealed), len(part)) + sealed, len(part)

    @property
    def _bound(self) -> bytes:
        return hashlib.sha256(self.name.encode()).digest()


class Appending:
    """A file that is being continued; `size` is how much of it is here."""

    def __init__(self, file: BinaryIO, size: int, length: int, spool: Spool) -> None:
        self._file = file
        self._length = length
        self._spool = spool
        self.size = size

    def write(self, data: bytes) -> None:
        """Adds bytes. Raises PayloadTooLarge where they are more than were announced; then none of them is kept."""
        if self.size + len(data) > self._length:
            raise PayloadTooLarge("The upload is longer than it was announced.")
        for piece, length in self._spool.pieces_of(data, self.size):
            view = memoryview(piece)
            while view:
                view = view[self._file.write(view) :]
            self.size += length


def _pieces(file: BinaryIO) -> Iterator[tuple[tuple[int, int], int]]:
    """The whole pieces of a sealed file: where what is sealed begins, how long it is, and how much data it holds."""
    at, end = 0, os.fstat(file.fileno()).st_size
    while at + _HEAD.size <= end:
        stored, length = _HEAD.unpack(os.pread(file.fileno(), _HEAD.size, at))
        if at + _HEAD.size + stored > end:
            return
        yield (at + _HEAD.size, stored), length
        at += _HEAD.size + stored
