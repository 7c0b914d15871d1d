"""The home's content-addressed archive, as the pipeline sees it: what shaped an answer, kept by the digest that the
record names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ai.canonical import digest_of


class Archive(Protocol):
    """Bytes by their SHA-256. Nothing in it ever changes."""

    async def keep(self, contents: Iterable[bytes]) -> None:
        """Make the contents durable, unless they are there. Raises `ArchiveUnavailable`."""
        ...

    def load(self, digest: str) -> bytes | None:
        """The bytes of `sha256:<hex>`; None where there are none that have this digest."""
        ...


class MemoryArchive:
    """An archive for the life of the process."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    async def keep(self, contents: Iterable[bytes]) -> None:
        """See Archive."""
        self._kept |= {digest_of(data): data for data in contents}

    def load(self, digest: str) -> bytes | None:
        """See Archive."""
        return self._kept.get(digest)
