"""Doubles of retrieval's Protocols. They run through the same contracts as the backends that they stand for."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.channels.channel import Channel
from retrieval.embedding.embedder import Embedder, EmbedModel
from retrieval.english.words import content_beginnings, occurs
from retrieval.errors import ChannelError
from retrieval.index import ChannelIndex, IndexBatch
from retrieval.index_text import index_text
from retrieval.model import ChannelName, Hit, Query, Record, Run, SourcedRecord
from retrieval.scope import Scope


class ScanIndex(ChannelIndex):
    """Everything in memory; a commit replaces what a search sees."""

    name = ChannelName.FULLTEXT

    def __init__(self) -> None:
        self.visible: dict[str, tuple[Record, ...]] = {}
        self._next: dict[str, tuple[Record, ...]] = {}

    async def add(self, batch: IndexBatch) -> None:
        for document_id in {r.document_id for r in batch.records}:
            self._next[document_id] = tuple(r for r in batch.records if r.document_id == document_id)

    async def remove(self, document_ids: Collection[str]) -> None:
        for document_id in document_ids:
            self._next.pop(document_id, None)

    async def commit(self) -> None:
        self.visible = dict(self._next)

    async def documents(self) -> frozenset[str]:
        return frozenset(self.visible)

    async def clear(self) -> None:
        self._next = {}
        self.visible = {}

    async def aclose(self) -> None:
        """Nothing to close."""


class ScanChannel(Channel):
    """Counts the question's words in each admitted record, one by one."""

    name = ChannelName.FULLTEXT
    store = "scan"

    def __init__(self, index: ScanIndex) -> None:
        self._index = index

    async def search(self, query: Query) -> Run:
        await asyncio.sleep(0)
        stems = content_beginnings(query.text)
        scored: list[tuple[int, str]] = []
        for records in self._index.visible.values():
            for record in records:
                text = index_text(record) if record.class_id in query.scope.class_ids else None
                if text is not None and (count := sum(occurs(s, text.casefold()) for s in stems)):
                    scored.append((-count, record.record_id))
        best = sorted(scored)[: max(query.top_k, 0)]
        return Run(self.name, self.store, tuple(Hit(n, r, float(-s)) for n, (s, r) in enumerate(best, start=1)))

    async def aclose(self) -> None:
        """Nothing to close."""


class ScriptedChannel(Channel):
    """Answers as told: `hits` after `delay_s`, or raises `fault`. Counts the searches that began, ended and were
    cancelled."""

    store = "scripted"

    def __init__(
        self,
        name: ChannelName,
        hits: Sequence[Hit] = (),
        *,
        delay_s: float = 0.0,
        fault: Exception | None = None,
    ) -> None:
        self._name, self._hits, self._delay_s, self._fault = name, tuple(hits), delay_s, fault
        self.begun = self.ended = self.cancelled = self.most_at_once = 0
        self._now = 0

    @property
    def name(self) -> ChannelName:
        return self._name

    async def search(self, query: Query) -> Run:
        self.begun += 1
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            await asyncio.sleep(self._delay_s)
            if self._fault is not None:
                raise self._fault
            self.ended += 1
            return Run(self._name, self.store, self._hits[: query.top_k])
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self._now -= 1

    async def aclose(self) -> None:
        """Nothing to close."""


def broken(name: ChannelName, error: type[ChannelError], message: str = "it is out of order") -> ScriptedChannel:
    """A channel that always raises `error`."""
    return ScriptedChannel(name, fault=error(name, message))


class HashEmbedder(Embedder):
    """A bag of hashed words: cheap, deterministic, and equal words give near vectors."""

    def __init__(self, model: str = "hash/1", dimension: int = 32) -> None:
        self._model, self._dimension = model, dimension

    async def identity(self) -> EmbedModel:
        return EmbedModel(self._model, self._dimension)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in enumerate(texts):
            for stem in content_beginnings(text):
                word = hashlib.sha256(stem.encode("utf-8", "replace")).digest()
                vectors[row, word[0] % self._dimension] += 1 + word[1] / 255
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(norms > 0, norms, 1)).astype(np.float32)

    async def aclose(self) -> None:
        """Nothing to close."""


class MemoryRecords:
    """The `fetch` of a record store over a mapping; counts its calls."""

    def __init__(self, records: Mapping[str, SourcedRecord]) -> None:
        self._records = records
        self.fetches = 0

    async def fetch(self, record_ids: Collection[str], *, scope: Scope) -> Mapping[str, SourcedRecord]:
        self.fetches += 1
        found = {i: self._records[i] for i in record_ids if i in self._records}
        return {i: s for i, s in found.items() if s.record.class_id in scope.class_ids}
