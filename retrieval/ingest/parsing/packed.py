"""Zip files that hold a document: what is in them, with a limit, and nothing of it written anywhere."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from retrieval.errors import LoadError
from retrieval.media_types import SHAPEFILE_PARTS

_TEXTS = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx")
_MOST_ENTRIES = 10_000
_FAULTS = (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError, OSError)
"""The errors that `zipfile` raises for a damaged, encrypted or unknown file."""


class Packed:
    """The entries of a zip file."""

    def __init__(self, name: str, kind: str, file: zipfile.ZipFile) -> None:
        self._name = name
        self._kind = kind
        self._file = file
        self.names = tuple(file.namelist())

    def size(self, entries: Iterable[str]) -> int:
        """Bytes of these entries, by what the file says itself."""
        return sum(self._file.getinfo(entry).file_size for entry in entries)

    def read(self, entry: str) -> bytes:
        """The bytes of an entry. Raises `LoadError` where there is none, or it is damaged."""
        try:
            return self._file.read(entry)
        except KeyError as exc:
            raise LoadError(f"{self._name}: not a readable {self._kind} ({entry[:80]!r} is missing)") from exc
        except _FAULTS as exc:
            raise LoadError(f"{self._name}: not a readable {self._kind} (truncated, damaged or encrypted)") from exc


def unpacked(name: str, data: bytes, kind: str, *, largest: int) -> Packed:
    """A zip file of at most so many bytes of markup, by what it says itself; more is never unpacked. Raises
    `LoadError`."""
    try:
        file = zipfile.ZipFile(io.BytesIO(data))
        entries = file.infolist()
    except _FAULTS as exc:
        raise LoadError(f"{name}: not a readable {kind} (truncated, damaged or encrypted)") from exc
    size = sum(each.file_size for each in entries if each.filename.lower().endswith(_TEXTS))
    if size > largest:
        raise LoadError(f"{name}: it unpacks to more than {largest // 2**20} MiB of XML")
    if len(entries) > _MOST_ENTRIES:
        raise LoadError(f"{name}: it holds more than {_MOST_ENTRIES} files")
    return Packed(name, kind, file)


def stored_zip(content: Mapping[str, bytes]) -> bytes:
    """A zip file that holds these bytes as they are; the same content makes the same bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for name, data in content.items():
            file.writestr(zipfile.ZipInfo(name), data)
    return made.getvalue()


def sidecars_of(path: Path) -> tuple[Path, ...]:
    """The other files of a Shapefile: those beside it that have its name. None for any other file, and no links."""
    if path.suffix.lower() != ".shp":
        return ()
    return tuple(
        sorted(
            each
            for each in path.parent.iterdir()
            if each.stem == path.stem
            and each.suffix.lower() in SHAPEFILE_PARTS[1:]
            and each.is_file()
            and not each.is_symlink()
        )
    )
