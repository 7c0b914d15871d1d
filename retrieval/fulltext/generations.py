"""The generations of a full-text folder: what holds the entries of one visibility class, under a name.

On the disk as Tantivy's own folder, which it maps into memory; or, in an encrypted home, as one sealed file of entries
and an index that this process makes of them in its own memory. Tantivy has no encryption, and what it maps is plain.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import orjson
import tantivy

from retrieval.files.durable import sync_folder, write_atomically
from retrieval.files.seal import PLAIN, Seal
from retrieval.fulltext.tantivy_folder import (
    ANALYSIS,
    Entry,
    Manifest,
    append,
    document_ids,
    fill,
    kept_entries,
    open_index,
    schema,
    stemmer,
)


class Generations(Protocol):
    """The generations of one root. `open` returns a Tantivy index with our analysis, `made` the name of a new one,
    `grown` the name of one with the entries of another and more, `entries` what one holds less some documents, `swept`
    deletes what the manifest does not name. They raise OSError, or ValueError for what is not there or not ours."""

    def open(self, name: str) -> Any: ...
    def documents(self, name: str) -> frozenset[str]: ...
    def entries(self, name: str, *, without: Collection[str]) -> Iterator[Entry]: ...
    def made(self, entries: Iterable[Entry]) -> str: ...
    def grown(self, name: str, entries: Iterable[Entry]) -> str: ...
    def swept(self, manifest: Manifest) -> None: ...


def generations(root: Path, seal: Seal) -> Generations:
    """Those of the root, as its files are kept."""
    return FolderGenerations(root) if seal is PLAIN else SealedGenerations(root, seal)


class FolderGenerations:
    """A folder for each; it grows in place."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def open(self, name: str) -> Any:
        """See Generations."""
        return open_index(self._root / name)

    def documents(self, name: str) -> frozenset[str]:
        """See Generations."""
        return document_ids(self.open(name).searcher())

    def entries(self, name: str, *, without: Collection[str]) -> Iterator[Entry]:
        """See Generations."""
        return kept_entries(self._root / name, without=without)

    def made(self, entries: Iterable[Entry]) -> str:
        """See Generations."""
        name = _new_name()
        folder = self._root / name
        folder.mkdir(parents=True)
        tantivy.Index(schema(), str(folder))
        append(folder, entries)
        sync_folder(self._root)
        return name

    def grown(self, name: str, entries: Iterable[Entry]) -> str:
        """See Generations."""
        append(self._root / name, entries)
        return name

    def swept(self, manifest: Manifest) -> None:
        """See Generations."""
        _sweep(self._root, manifest)


class SealedGenerations:
    """A sealed file for each, of all its entries; one that grows is written anew under another name."""

    def __init__(self, root: Path, seal: Seal) -> None:
        self._root = root
        self._seal = seal

    def open(self, name: str) -> Any:
        """See Generations. Takes the time that indexing the class takes, and its memory."""
        index = tantivy.Index(schema())
        index.register_tokenizer(ANALYSIS, stemmer())
        fill(index, self._read(name))
        index.config_reader("manual", 0)
        index.reload()
        return index

    def documents(self, name: str) -> frozenset[str]:
        """See Generations."""
        return frozenset(entry.document_id for entry in self._read(name))

    def entries(self, name: str, *, without: Collection[str]) -> Iterator[Entry]:
        """See Generations."""
        return (entry for entry in self._read(name) if entry.document_id not in without)

    def made(self, entries: Iterable[Entry]) -> str:
        """See Generations."""
        name = _new_name()
        rows = [(entry.record_id, entry.document_id, entry.text) for entry in entries]
        write_atomically(self._root / name, self._seal.sealed(orjson.dumps(rows)))
        return name

    def grown(self, name: str, entries: Iterable[Entry]) -> str:
        """See Generations."""
        return self.made([*self._read(name), *entries])

    def swept(self, manifest: Manifest) -> None:
        """See Generations."""
        _sweep(self._root, manifest)

    def _read(self, name: str) -> list[Entry]:
        try:
            data = (self._root / name).read_bytes()
        except FileNotFoundError:
            raise ValueError("the generation was replaced") from None
        return [Entry(*row) for row in orjson.loads(self._seal.opened(data))]


def _new_name() -> str:
    return f"class-{uuid.uuid4().hex}"


def _sweep(root: Path, manifest: Manifest) -> None:
    """Deletes what no manifest names: replaced generations, and what a crash left behind."""
    for path in (*root.glob("class-*"), *root.glob(".class-*")):
        if path.name in manifest.folders.values():
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
