"""The archive of the home: `archive/<hex of SHA-256>`, written once, checked when it is read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path

from ai.canonical import digest_of
from ai.errors import ArchiveUnavailable
from retrieval.files.durable import write_atomically
from retrieval.files.seal import PLAIN, Seal

FOLDER = "archive"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


class FolderArchive:
    """See `ai.case.archive.Archive`. The folder need not exist yet."""

    def __init__(self, folder: Path, seal: Seal = PLAIN) -> None:
        self._folder = folder
        self._seal = seal
        self._known: set[bytes] = set()

    async def keep(self, contents: Iterable[bytes]) -> None:
        """See Archive."""
        new = [data for data in contents if data not in self._known]
        if new:
            await asyncio.to_thread(self._write, new)
            self._known |= set(new)

    def load(self, digest: str) -> bytes | None:
        """See Archive."""
        named = _DIGEST.fullmatch(digest)
        try:
            data = self._seal.opened((self._folder / named[1]).read_bytes()) if named else None
        except (OSError, ValueError):
            return None
        return data if data is not None and digest_of(data) == digest else None

    def damaged(self) -> tuple[str, ...]:
        """The digests of files whose bytes have another one, or cannot be read."""
        files = sorted(self._folder.iterdir()) if self._folder.is_dir() else []
        digests = [f"sha256:{file.name}" for file in files if _DIGEST.fullmatch(f"sha256:{file.name}")]
        return tuple(digest for digest in digests if self.load(digest) is None)

    def _write(self, contents: Iterable[bytes]) -> None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for data in contents:
                if self.load(digest_of(data)) is None:
                    name = digest_of(data).removeprefix("sha256:")
                    write_atomically(self._folder / name, self._seal.sealed(data))
        except OSError as exc:
            raise ArchiveUnavailable(f"{self._folder} cannot be written: {exc.strerror}") from exc
