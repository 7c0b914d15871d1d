"""A cache of what need not be read again: the digests of files whose status is what it was, and of rows that were
stored once.

The cache is derived and may be lost: one that is missing, damaged or of another version is empty. It never says that a
file is taken in, only what its bytes are; the store of record says the rest, so a cache of another time harms nothing.
"""

from __future__ import annotations

import hashlib
import stat
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from retrieval.files.durable import write_atomically
from retrieval.files.seal import PLAIN, Seal

CACHE_VERSION = 1
_SETTLED_NS = 2_000_000_000
"""A file that was changed so shortly before it was read may change again within one tick of its file system's clock."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """The status of a plain file: whatever writes to it changes one of these. Times are nanoseconds."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, path: Path, *, follow: bool = True) -> FileStatus | None:
        """The status of the file, None where there is no plain file that can be read, or where it is one of several
        that are read together: its status says nothing of the others."""
        try:
            found = path.stat(follow_symlinks=follow)
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode) or path.suffix.lower() == ".shp":
            return None
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


@dataclass(slots=True)
class KnownDigests:
    """The digests of one tenant: of files by place, and of rows as `CorpusManifest` names them."""

    files: dict[str, tuple[FileStatus, str]] = field(default_factory=dict)
    rows: Mapping[str, str] = field(default_factory=dict)

    def sha256_of(self, place: str, status: FileStatus | None) -> str | None:
        """The digest of the file at a place, if it was read with that status."""
        known = self.files.get(place)
        return known[1] if known and known[0] == status else None


class DigestCache:
    """The cache in a file; without a path nothing outlives the process. One user at a time. `clock_ns` is the time of
    the file systems."""

    def __init__(
        self, path: Path | None = None, *, clock_ns: Callable[[], int] = time.time_ns, seal: Seal = PLAIN
    ) -> None:
        self._path = path
        self._seal = seal
        self._clock_ns = clock_ns
        self._tenants: dict[str, KnownDigests] | None = None

    def of(self, tenant: str) -> KnownDigests:
        """The digests of a tenant, to be read and added to."""
        if self._tenants is None:
            self._tenants = _read(self._path, self._seal) if self._path else {}
        return self._tenants.setdefault(tenant, KnownDigests())

    def keep(self, tenant: str, place: str, status: FileStatus | None, sha256: str) -> None:
        """Keeps the digest of a file that had this status before and after it was read; not of one that was changed
        just now."""
        self.of(tenant).files.pop(place, None)
        if status and max(status.mtime_ns, status.ctime_ns) + _SETTLED_NS < self._clock_ns():
            self.of(tenant).files[place] = (status, sha256)

    def save(self, tenant: str, *, places: Collection[str]) -> None:
        """Writes the cache with those places of the tenant alone. What cannot be written is read again next time."""
        known = self.of(tenant)
        known.files = {place: known.files[place] for place in places if place in known.files}
        if self._path is not None:
            with suppress(OSError):
                write_atomically(self._path, self._seal.sealed(_summed(self._tenants or {})))

    def forget(self) -> None:
        """Empties the cache, with its file. Raises OSError where that cannot be removed."""
        self._tenants = {}
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _summed(tenants: Mapping[str, KnownDigests]) -> bytes:
    told = {
        name: {
            "files": {
                place: [status.size, status.mtime_ns, status.ctime_ns, status.inode, sha256]
                for place, (status, sha256) in known.files.items()
            },
            "rows": known.rows,
        }
        for name, known in tenants.items()
    }
    body = orjson.dumps({"version": CACHE_VERSION, "tenants": told})
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _read(path: Path, seal: Seal) -> dict[str, KnownDigests]:
    """The cache in a file; nothing where it is not exactly what was written."""
    try:
        digest, _, body = seal.opened(path.read_bytes()).partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != digest:
            return {}
        told = orjson.loads(body)
        return {name: _known(each) for name, each in told["tenants"].items()} if _is_ours(told) else {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _is_ours(told: Mapping[str, object]) -> bool:
    return told["version"] == CACHE_VERSION


def _known(told: Mapping[str, Mapping[str, list[object]]]) -> KnownDigests:
    files = {place: (FileStatus(*status), sha256) for place, (*status, sha256) in told["files"].items()}  # type: ignore[arg-type]
    return KnownDigests(files, dict(told["rows"]))  # type: ignore[arg-type]
