"""One folder of Tantivy indexes: a generation per visibility class, named by one manifest that is replaced atomically.

Generations only ever grow. Tantivy counts deleted documents in its ranking statistics until segments merge, and keeps
their words on disk; so a removal writes a new generation without them instead, and the old folder goes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import tantivy

from retrieval.files.durable import stamp, sync_folder, write_json
from retrieval.files.seal import PLAIN, Seal

FORMAT = "exhibit.fulltext/1"
ANALYSIS = "exhibit_en"
MAX_WORD_BYTES = 80
WRITER_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """The contribution of one record: the unit that Tantivy stores."""

    record_id: str
    document_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which folder holds which class, and the documents that contributed no text."""

    folders: Mapping[str, str] = field(default_factory=dict)
    empty: frozenset[str] = frozenset()


def splitter() -> Any:
    """Words in lower case without accents, unstemmed."""
    return _plain().build()


def stemmer() -> Any:
    """The analysis of the index: as `splitter`, then the English Snowball stemmer."""
    return _plain().filter(tantivy.Filter.stemmer("english")).build()


def _plain() -> Any:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for each in (tantivy.Filter.remove_long(MAX_WORD_BYTES), tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold()):
        builder = builder.filter(each)
    return builder


@lru_cache(maxsize=1)
def schema() -> Any:
    """Ids as they are, the text with positions (for phrases) and stored (so that a new generation needs no other
    source)."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("record_id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("document_id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", stored=True, tokenizer_name=ANALYSIS, index_option="position")
    return builder.build()


def read_manifest(root: Path, seal: Seal = PLAIN) -> Manifest:
    """An absent manifest is an empty index. Raises OSError, or ValueError where the file is not ours."""
    try:
        body = json.loads(seal.opened((root / "manifest.json").read_bytes()))
    except FileNotFoundError:
        return Manifest()
    if body.get("format") != FORMAT:
        raise ValueError(f"not a full-text index of this version: {body.get('format')!r}")
    return Manifest(dict(body["classes"]), frozenset(body["empty"]))


def write_manifest(root: Path, manifest: Manifest, seal: Seal = PLAIN) -> None:
    """Commits: what the manifest names is what a search sees."""
    body = {"format": FORMAT, "classes": dict(manifest.folders), "empty": sorted(manifest.empty)}
    write_json(root / "manifest.json", body, seal)


def manifest_stamp(root: Path) -> tuple[int, int, int] | None:
    """Changes with every commit."""
    return stamp(root / "manifest.json")


def open_index(folder: Path) -> Any:
    """A Tantivy index with our analysis; it shows what was committed when it was opened or last reloaded."""
    index = tantivy.Index.open(str(folder))
    index.register_tokenizer(ANALYSIS, stemmer())
    index.config_reader("manual", 0)
    index.reload()
    return index


def document_ids(searcher: Any) -> frozenset[str]:
    """The documents of one generation."""
    return frozenset(term for term, _ in searcher.terms_with_prefix("document_id", ""))


def append(folder: Path, entries: Iterable[Entry]) -> None:
    """Adds entries to a generation and commits them, all or none."""
    fill(open_index(folder), entries)
    sync_folder(folder)


def fill(index: Any, entries: Iterable[Entry]) -> None:
    """Adds entries to an index that knows our analysis and commits them, all or none."""
    writer = index.writer(WRITER_BYTES, 1)
    for entry in entries:
        writer.add_document(tantivy.Document(record_id=entry.record_id, document_id=entry.document_id, text=entry.text))
    writer.commit()
    writer.wait_merging_threads()


def kept_entries(folder: Path, *, without: Collection[str]) -> Iterator[Entry]:
    """The contents of a generation, less the documents in `without`."""
    searcher = open_index(folder).searcher()
    if not searcher.num_docs:
        return
    for _, address in searcher.search(tantivy.Query.all_query(), searcher.num_docs, count=False).hits:
        stored = searcher.doc(address).to_dict()
        if stored["document_id"][0] not in without:
            yield Entry(stored["record_id"][0], stored["document_id"][0], stored["text"][0])
