"""Full text on Tantivy: BM25 over one index per visibility class."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import tantivy

from retrieval.errors import ChannelUnavailable
from retrieval.files.pending import Pending
from retrieval.files.seal import PLAIN, Seal
from retrieval.fulltext import tantivy_folder as folders
from retrieval.fulltext.generations import generations
from retrieval.fulltext.tantivy_folder import Entry, Manifest
from retrieval.fulltext.terms import PHRASE_BOOST, Terms, read_terms
from retrieval.index import IndexBatch
from retrieval.index_text import index_text
from retrieval.model import ChannelName, Hit, Query, Run
from retrieval.worker import Stop, Workers

STORE = "tantivy"
K1 = 1.2  # Tantivy's; a word in a very short passage scores at most (k1 + 1) times its idf
SCORE_DECIMALS = 4  # float32 sums differ in the last bits with the order of addition; equal texts must tie

T = TypeVar("T")
Scored = TypeVar("Scored", tuple[float, Any], tuple[float, Any, Any])


@dataclass(frozen=True, slots=True)
class _Generation:
    folder: str
    index: Any


class TantivyChannel:
    """Searches the admitted classes' indexes and merges by score, ties by record id.

    A class's index is opened on its first admitted search and kept open. Term weights (idf) are those of the admitted
    classes taken together, so that a word is as telling in a small class as in a large one and no other class has a
    say. One class is searched between two looks at the stop signal, so a cancelled search ends within one class's
    search (about a millisecond per 100,000 passages).
    """

    name = ChannelName.FULLTEXT
    store = STORE

    def __init__(self, root: Path, *, workers: int = 2, seal: Seal = PLAIN) -> None:
        self._root = root
        self._seal = seal
        self._generations = generations(root, seal)
        self._workers = Workers("fulltext", size=workers)
        self._lock = threading.Lock()
        self._manifest = Manifest()
        self._stamp: tuple[int, int, int] | None = None
        self._open: dict[str, _Generation] = {}
        self._split, self._stem = folders.splitter(), folders.stemmer()

    async def search(self, query: Query) -> Run:
        """See `retrieval.channels.channel.Channel`. A question without a word finds nothing."""
        terms = read_terms(query.text, split=self._split.analyze, stem=self._stem.analyze)
        if not terms.words or query.top_k < 1 or not query.scope.class_ids:
            return Run(self.name, self.store)
        found, ceiling = await _as_channel(self._workers, lambda stop: self._search(terms, query, stop))
        hits = tuple(Hit(rank, record_id, score) for rank, (score, record_id) in enumerate(found, start=1))
        return Run(self.name, self.store, hits, ceiling=ceiling)

    async def aclose(self) -> None:
        """Waits for running searches; open indexes go with the object."""
        await self._workers.aclose()

    def _search(self, terms: Terms, query: Query, stop: Stop) -> tuple[list[tuple[float, str]], float]:
        try:
            searchers = self._searchers(query.scope.class_ids)
        except ValueError:  # a writer replaced the generation between our look at the manifest and at its folder
            self._stamp = None
            searchers = self._searchers(query.scope.class_ids)
        weights = _Weights.of(terms, searchers)
        merged: list[tuple[float, Any, Any]] = []
        for place, searcher in enumerate(searchers):
            stop.check()
            found = _top(searcher, _compile(terms, weights.factors[place], query.documents), query.top_k)
            merged += [(score, searcher, address) for score, address in found]
        stop.check()
        kept = _with_ties(sorted(merged, key=lambda hit: -hit[0]), query.top_k)
        named = [(score, searcher.doc(address).get_first("record_id")) for score, searcher, address in kept]
        ceiling = round(weights.total * (K1 + 1), SCORE_DECIMALS)
        return sorted(named, key=lambda hit: (-hit[0], hit[1]))[: query.top_k], ceiling

    def _searchers(self, class_ids: Collection[str]) -> list[Any]:
        with self._lock:
            current = folders.manifest_stamp(self._root)
            if current != self._stamp:
                self._manifest = folders.read_manifest(self._root, self._seal)
                self._open = {c: g for c, g in self._open.items() if self._manifest.folders.get(c) == g.folder}
                for generation in self._open.values():
                    generation.index.reload()
                self._stamp = current
            return [self._generation(c).index.searcher() for c in sorted(class_ids) if c in self._manifest.folders]

    def _generation(self, class_id: str) -> _Generation:
        if class_id not in self._open:
            folder = self._manifest.folders[class_id]
            self._open[class_id] = _Generation(folder, self._generations.open(folder))
        return self._open[class_id]


class TantivyIndex:
    """The write side. Entries wait in memory until `commit`; a commit appends to a class's index, or writes a new
    generation of it where documents were removed or replaced (cost: the size of that class). One writer process at a
    time."""

    name = ChannelName.FULLTEXT

    def __init__(self, root: Path, *, seal: Seal = PLAIN) -> None:
        self._root = root
        self._seal = seal
        self._generations = generations(root, seal)
        self._workers = Workers("fulltext-index", size=1)
        self._pending = Pending[tuple[str, list[Entry]]]()

    async def add(self, batch: IndexBatch) -> None:
        """See `retrieval.index.ChannelIndex`."""
        await self._pending.add(_entries(batch))

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `retrieval.index.ChannelIndex`."""
        await self._pending.remove(document_ids)

    async def commit(self) -> None:
        """Makes additions and removals visible and durable. On an error they stay pending and what was visible stays as
        it was, except that classes already appended to may show their new documents."""
        async with self._pending.written() as anything:
            if anything:
                await _as_channel(self._workers, lambda _: self._commit())

    async def documents(self) -> frozenset[str]:
        """The committed documents, with those that contributed no text."""
        return await _as_channel(self._workers, lambda _: self._documents())

    async def clear(self) -> None:
        """Forgets everything, committed or not."""
        async with self._pending.forgotten():
            await _as_channel(self._workers, lambda _: self._replace(Manifest()))

    async def aclose(self) -> None:
        """Drops what was not committed."""
        await self._workers.aclose()

    def _commit(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        manifest = folders.read_manifest(self._root, self._seal)
        by_class: dict[str, list[Entry]] = {}
        for class_id, entries in self._pending.added.values():
            by_class.setdefault(class_id, []).extend(entries)
        new_folders = dict(manifest.folders)
        for class_id in sorted({*manifest.folders, *by_class}):
            folder = self._write_class(manifest.folders.get(class_id), by_class.get(class_id, []))
            if folder is None:
                new_folders.pop(class_id, None)
            else:
                new_folders[class_id] = folder
        empty = {d for d, (_, entries) in self._pending.added.items() if not entries}
        self._replace(Manifest(new_folders, (manifest.empty - self._pending.removed) | empty))

    def _write_class(self, folder: str | None, added: Sequence[Entry]) -> str | None:
        """The folder that holds the class after this commit; None where nothing is left of it."""
        if folder is None:
            return self._generations.made(added) if added else None
        here = self._generations.documents(folder)
        if here.isdisjoint(self._pending.removed):
            return self._generations.grown(folder, added) if added else folder
        if here <= self._pending.removed and not added:
            return None
        kept = list(self._generations.entries(folder, without=self._pending.removed))
        return self._generations.made([*kept, *added])

    def _replace(self, manifest: Manifest) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        folders.write_manifest(self._root, manifest, self._seal)
        self._generations.swept(manifest)

    def _documents(self) -> frozenset[str]:
        manifest = folders.read_manifest(self._root, self._seal)
        return manifest.empty.union(*(self._generations.documents(name) for name in manifest.folders.values()))


def _entries(batch: IndexBatch) -> dict[str, tuple[str, list[Entry]]]:
    """Class and entries of each document of the batch, also of those that contribute no text. Raises `ValueError` for a
    document in two classes."""
    found: dict[str, tuple[str, list[Entry]]] = {}
    for record in batch.records:
        class_id, entries = found.setdefault(record.document_id, (record.class_id, []))
        if record.class_id != class_id:
            raise ValueError(f"document {record.document_id} has records in two classes")
        text = index_text(record)
        if text is not None:
            entries.append(Entry(record.record_id, record.document_id, _encodable(text)))
    return found


async def _as_channel(workers: Workers, work: Callable[[Stop], T]) -> T:
    """Runs `work` in a thread; what Tantivy or the file system raises becomes `ChannelUnavailable`, with no store text
    in it."""
    try:
        return await workers.run(work)
    except (OSError, ValueError) as error:
        raise ChannelUnavailable(ChannelName.FULLTEXT, "the full-text index cannot be read or written") from error


@dataclass(frozen=True, slots=True)
class _Weights:
    """The weights of words: `total` is the sum over the words, `factors` of each class by how much its own weight of
    each word must be corrected."""

    total: float
    factors: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, terms: Terms, searchers: Sequence[Any]) -> _Weights:
        """Those over the classes taken together. Each class is asked once for each word."""
        sizes = [searcher.num_docs for searcher in searchers]
        having = [[searcher.doc_freq("text", word) for searcher in searchers] for word in terms.words]
        together = [_idf(sum(sizes), sum(of_word)) for of_word in having]
        if len(searchers) == 1:
            return cls(sum(together), (tuple(1.0 for _ in together),))
        factors = (
            tuple(idf / _idf(size, of_word[place]) for idf, of_word in zip(together, having, strict=True))
            for place, size in enumerate(sizes)
        )
        return cls(sum(together), tuple(factors))


def _compile(terms: Terms, factors: Sequence[float], documents: frozenset[str] | None) -> Any:
    """Any word may match, each weighed by its idf over the admitted classes; a quoted phrase that occurs counts
    extra. The document must be one of `documents`, if given, which adds nothing to the score."""
    schema = folders.schema()
    clauses = []
    for word, factor in zip(terms.words, factors, strict=True):
        clause = tantivy.Query.term_query(schema, "text", word, "freq")
        clauses.append(clause if factor == 1.0 else tantivy.Query.boost_query(clause, factor))
    for phrase in terms.phrases:
        clauses.append(
            tantivy.Query.boost_query(tantivy.Query.phrase_query(schema, "text", list(phrase)), PHRASE_BOOST)
        )
    words = tantivy.Query.boolean_query([(tantivy.Occur.Should, clause) for clause in clauses])
    if documents is None:
        return words
    among = tantivy.Query.const_score_query(tantivy.Query.term_set_query(schema, "document_id", sorted(documents)), 0.0)
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, words), (tantivy.Occur.Must, among)])


def _idf(count: int, having: int) -> float:
    """Robertson and Sparck Jones's weight as Tantivy computes it."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def _top(searcher: Any, compiled: Any, top_k: int) -> list[tuple[float, Any]]:
    """(score, address) of the best `top_k` of one class, with every hit that ties with the last of them: Tantivy breaks
    ties by its own addresses."""
    limit = top_k + 8
    while True:
        found = searcher.search(compiled, limit, count=False).hits
        hits = [(round(score, SCORE_DECIMALS), address) for score, address in found]
        if len(hits) < limit or hits[-1][0] < hits[top_k - 1][0]:
            return _with_ties(hits, top_k)
        limit *= 4


def _with_ties(hits: Sequence[Scored], top_k: int) -> list[Scored]:
    """The first `top_k` hits, best first, and those that tie with the last of them. Only their ids are read: a stored
    document costs as much as ten hits."""
    cut = hits[top_k - 1][0] if len(hits) > top_k else -math.inf
    return [hit for hit in hits if hit[0] >= cut]


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
