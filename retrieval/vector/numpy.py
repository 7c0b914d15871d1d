"""Vectors in memory-mapped files, searched exactly: one set of segments per visibility class."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding.embedder import Embedder, EmbedModel
from retrieval.errors import ChannelUnavailable
from retrieval.files.durable import stamp, sync_folder, write_json
from retrieval.files.pending import Pending
from retrieval.files.seal import PLAIN, Seal
from retrieval.index import IndexBatch
from retrieval.model import ChannelName, Hit, Query, Run
from retrieval.vector.embedded import embedded, question_vector, require_same
from retrieval.vector.exact import nearest
from retrieval.vector.segment import Rows, Segment, write_segment
from retrieval.worker import Stop, Workers

FORMAT = "exhibit.vectors/1"
MANIFEST, NEXT_MANIFEST = "manifest.json", "next.json"
STORE = "numpy"
MAX_SEGMENTS = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which segments hold which class, under which model; and the documents that contributed no text. `model` is None
    where nothing was ever written."""

    model: EmbedModel | None = None
    segments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    empty: frozenset[str] = frozenset()


class NumpyVectorChannel:
    """Cosine similarity of the question's vector to every row of the admitted classes, and of no other.

    `minimum_milli` is the similarity below which a row is no hit. A cancelled search ends within one chunk of 16,384
    rows. A stored model or dimension other than the embedder's raises `EmbedModelMismatch` at the first search.
    """

    name = ChannelName.VECTOR
    store = STORE

    def __init__(
        self, root: Path, *, embedder: Embedder, workers: int = 2, minimum_milli: int = 1, seal: Seal = PLAIN
    ) -> None:
        self._root = root
        self._seal = seal
        self._embedder = embedder
        self._minimum = minimum_milli / 1000
        self._workers = Workers("vector", size=workers)
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._manifest = Manifest()
        self._open: dict[str, Segment] = {}

    async def search(self, query: Query) -> Run:
        """See `retrieval.channels.channel.Channel`. A question without a word that the model knows finds nothing."""
        if query.top_k < 1 or not query.scope.class_ids:
            return Run(self.name, self.store)
        vector = await question_vector(query, self._embedder)
        if not vector.any():
            return Run(self.name, self.store)
        model = await self._embedder.identity()
        found = await _as_channel(self._workers, lambda stop: self._search(vector, model, query, stop))
        hits = [(score, record_id) for score, record_id in found if score >= self._minimum]
        return Run(self.name, self.store, tuple(Hit(i, r, s) for i, (s, r) in enumerate(hits, start=1)))

    async def aclose(self) -> None:
        """Waits for running searches. The embedder is its owner's to close."""
        await self._workers.aclose()

    def _search(
        self, vector: NDArray[np.float32], model: EmbedModel, query: Query, stop: Stop
    ) -> list[tuple[float, str]]:
        try:
            segments = self._segments(query.scope.class_ids, model)
        except FileNotFoundError:  # a writer replaced a segment between our look at the manifest and at its files
            self._stamp = None
            segments = self._segments(query.scope.class_ids, model)
        return nearest(segments, vector, query.top_k, check=stop.check, documents=query.documents)

    def _segments(self, class_ids: Collection[str], model: EmbedModel) -> list[Segment]:
        with self._lock:
            current = stamp(self._root / MANIFEST)
            if current != self._stamp:
                self._manifest = read_manifest(self._root, seal=self._seal)
                named = {name for names in self._manifest.segments.values() for name in names}
                self._open = {name: segment for name, segment in self._open.items() if name in named}
                self._stamp = current
            require_same(self._manifest.model, model)
            names = [name for c in sorted(class_ids) for name in self._manifest.segments.get(c, ())]
            for name in names:
                if name not in self._open:
                    self._open[name] = Segment(self._root / name, self._seal)
            return [self._open[name] for name in names]


class NumpyVectorIndex:
    """The write side. Texts are embedded on `add`; `commit` writes one new segment per class, rewrites segments that
    lose documents, and joins small segments so that a class has at most eight. One writer process at a time."""

    name = ChannelName.VECTOR

    def __init__(self, root: Path, *, embedder: Embedder, manifest: str = MANIFEST, seal: Seal = PLAIN) -> None:
        self._root = root
        self._seal = seal
        self._name = manifest
        self._embedder = embedder
        self._workers = Workers("vector-index", size=1)
        self._pending = Pending[tuple[str, Rows]]()

    async def add(self, batch: IndexBatch) -> None:
        """See `retrieval.index.ChannelIndex`."""
        await self._pending.add(await embedded(batch, self._embedder))

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `retrieval.index.ChannelIndex`."""
        await self._pending.remove(document_ids)

    async def commit(self) -> None:
        """Makes additions and removals visible and durable, all at once; on an error nothing is, and they stay
        pending."""
        async with self._pending.written() as anything:
            if anything:
                model = await self._embedder.identity()
                await _as_channel(self._workers, lambda _: self._commit(model))

    async def documents(self) -> frozenset[str]:
        """The committed documents, with those that contributed no text."""
        model = await self._embedder.identity()
        return await _as_channel(self._workers, lambda _: self._documents(model))

    async def clear(self) -> None:
        """Forgets everything, committed or not; afterwards another model may be used."""
        async with self._pending.forgotten():
            await _as_channel(self._workers, lambda _: self._replace(Manifest()))

    async def aclose(self) -> None:
        """Drops what was not committed. The embedder is its owner's to close."""
        await self._workers.aclose()

    def _commit(self, model: EmbedModel) -> None:
        manifest = read_manifest(self._root, self._name, self._seal)
        require_same(manifest.model, model)
        added: dict[str, list[Rows]] = {}
        for class_id, rows in self._pending.added.values():
            if rows.record_ids:
                added.setdefault(class_id, []).append(rows)
        segments: dict[str, tuple[str, ...]] = {}
        for class_id in sorted({*manifest.segments, *added}):
            names = self._write_class(manifest.segments.get(class_id, ()), added.get(class_id, []), model.dimension)
            if names:
                segments[class_id] = names
        empty = {d for d, (_, rows) in self._pending.added.items() if not rows.record_ids}
        self._replace(Manifest(model, segments, (manifest.empty - self._pending.removed) | empty))

    def _write_class(self, names: tuple[str, ...], added: list[Rows], dimension: int) -> tuple[str, ...]:
        """The class's segments after this commit. Rewritten are those that lose a document and, once there are too
        many, the smaller half."""
        removed = frozenset(self._pending.removed)
        opened = {name: Segment(self._root / name, self._seal) for name in names}
        touched = [name for name, segment in opened.items() if segment.documents & removed]
        if not touched and not added:
            return names
        kept = sorted((n for n in names if n not in touched), key=lambda n: len(opened[n].record_ids), reverse=True)
        joined = kept[MAX_SEGMENTS // 2 :] if len(kept) + 1 > MAX_SEGMENTS else []
        parts = [opened[name].rows.without(removed) for name in names if name in touched or name in joined]
        rows = Rows.joined([*parts, *added], dimension=dimension)
        rest = tuple(name for name in names if name not in touched and name not in joined)
        return (*rest, write_segment(self._root, rows, self._seal)) if rows.record_ids else rest

    def _replace(self, manifest: Manifest) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        body = {
            "format": FORMAT,
            "model": None if manifest.model is None else manifest.model.name,
            "dimension": None if manifest.model is None else manifest.model.dimension,
            "classes": {c: list(names) for c, names in manifest.segments.items()},
            "empty": sorted(manifest.empty),
        }
        write_json(self._root / self._name, body, self._seal)
        self._sweep()

    def _sweep(self) -> None:
        """Removes segments that no manifest names."""
        manifests = [read_manifest(self._root, name, self._seal) for name in (MANIFEST, NEXT_MANIFEST)]
        named = {name for manifest in manifests for names in manifest.segments.values() for name in names}
        for folder in self._root.glob("segment-*"):
            if folder.name not in named:
                shutil.rmtree(folder, ignore_errors=True)

    def _documents(self, model: EmbedModel) -> frozenset[str]:
        manifest = read_manifest(self._root, self._name, self._seal)
        require_same(manifest.model, model)
        names = [name for names in manifest.segments.values() for name in names]
        return manifest.empty.union(*(Segment(self._root / name, self._seal).documents for name in names))


class NumpyVectorRenewal(NumpyVectorIndex):
    """See `retrieval.index.IndexRenewal`: segments in the same folder, named by a manifest of their own."""

    def __init__(self, root: Path, *, embedder: Embedder, seal: Seal = PLAIN) -> None:
        super().__init__(root, embedder=embedder, manifest=NEXT_MANIFEST, seal=seal)

    async def promote(self) -> None:
        """See `retrieval.index.IndexRenewal`."""
        async with self._pending.kept():
            await _as_channel(self._workers, lambda _: self._promote())

    def _promote(self) -> None:
        if not (self._root / NEXT_MANIFEST).exists():
            self._replace(Manifest())
        (self._root / NEXT_MANIFEST).replace(self._root / MANIFEST)
        sync_folder(self._root)
        self._sweep()


def read_manifest(root: Path, name: str = MANIFEST, seal: Seal = PLAIN) -> Manifest:
    """An absent manifest is an empty index. Raises OSError, or ValueError where the file is not ours."""
    try:
        body = json.loads(seal.opened((root / name).read_bytes()))
    except FileNotFoundError:
        return Manifest()
    if body.get("format") != FORMAT:
        raise ValueError(f"not a vector index of this version: {body.get('format')!r}")
    model = None if body["model"] is None else EmbedModel(body["model"], body["dimension"])
    return Manifest(model, {c: tuple(names) for c, names in body["classes"].items()}, frozenset(body["empty"]))


async def _as_channel(workers: Workers, work: Callable[[Stop], T]) -> T:
    """Runs `work` in a thread; what the file system or a damaged file raises becomes `ChannelUnavailable`, with no path
    in it."""
    try:
        return await workers.run(work)
    except (OSError, ValueError, KeyError) as error:
        raise ChannelUnavailable(ChannelName.VECTOR, "the vector index cannot be read or written") from error
