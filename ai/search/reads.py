"""The reads of a retrieval surface beside the search: metadata of documents, words around a snippet, the names in the
index. Kept as it was read, so that replay gives the same again and computes the rest.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ai.case.case import Case, Services
from ai.errors import ModelUnavailable, ReplayImpossible
from retrieval.errors import RecordNotFound
from retrieval.filters import EVERYTHING, Metadata
from retrieval.model import Query
from retrieval.ranking.reranker import HEURISTIC, Passage, Reranker
from retrieval.scope import digest


@dataclass(frozen=True, slots=True)
class NearbyText:
    """Text of a document around a place, from `start_char` (which is `start_byte` in UTF-8) on."""

    document_id: str
    text: str
    start_char: int
    start_byte: int


@dataclass(frozen=True, slots=True)
class SurfaceReads:
    """Everything that was read. `metadata` is JSON text per document, `scores` one list per call of a reranker that is
    a model, `filtered` how many documents the filter left, `named` the ids that a list of names came to."""

    embedding_model: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    near: tuple[NearbyText, ...] = ()
    scores: tuple[tuple[int, ...], ...] = ()
    version: str = ""
    documents: int = 0
    filtered: int | None = None
    named: tuple[str, ...] = ()
    expansions: tuple[Mapping[str, str], ...] = ()


class Reads(Protocol):
    """The reads that a surface may make after the search."""

    @property
    def embedding_model(self) -> str: ...

    @property
    def filtered(self) -> int | None: ...

    async def metadata(self, document_ids: Collection[str]) -> Mapping[str, Metadata]: ...

    async def around(self, document_id: str, start: int, end: int, chars: int) -> NearbyText | None:
        """At most `chars` characters before `start`, all to `end`, and as many after; None where the document is
        gone."""
        ...

    async def version(self) -> tuple[str, int]:
        """The index as this caller sees it: a digest over the ids of the admitted documents, and how many they are.
        Hidden documents change neither."""
        ...

    async def expansions(self) -> Sequence[Mapping[str, str]]:
        """Other ways to say the query."""
        ...

    def scored(self, reranker: Reranker) -> Reranker:
        """The reranker, heard."""
        ...


class StoreReads:
    """Reads from the stores, inside the case's scope, and keeps what it read."""

    def __init__(self, case: Case, services: Services) -> None:
        self._case, self._services = case, services
        self._metadata: dict[str, str] = {}
        self._near: list[NearbyText] = []
        self._scores: list[tuple[int, ...]] = []
        self._version: tuple[str, int] = ("", 0)
        self._expansions: tuple[Mapping[str, str], ...] = ()

    @property
    def embedding_model(self) -> str:
        """The model of the index."""
        return self._services.embedding_model

    @property
    def filtered(self) -> int | None:
        """How many documents the request's filter left; None without one."""
        return None if self._case.documents is None else len(self._case.documents)

    async def metadata(self, document_ids: Collection[str]) -> Mapping[str, Metadata]:
        """See `Reads`. Raises `StoreUnavailable`."""
        if not document_ids:
            return {}
        found = await self._services.store.metadata(sorted(document_ids), scope=self._case.scope)
        self._metadata |= {name: json.dumps(dict(told), ensure_ascii=False) for name, told in found.items()}
        return found

    async def around(self, document_id: str, start: int, end: int, chars: int) -> NearbyText | None:
        """See `Reads`. Raises `StoreUnavailable`."""
        try:
            whole = (await self._services.store.document(document_id, scope=self._case.scope)).text
        except RecordNotFound:
            return None
        low = max(0, start - chars)
        near = NearbyText(document_id, whole[low : end + chars], low, len(whole[:low].encode()))
        self._near.append(near)
        return near

    async def version(self) -> tuple[str, int]:
        """See `Reads`. Raises `StoreUnavailable`."""
        ids = await self._services.store.matching(EVERYTHING, scope=self._case.scope)
        self._version = digest(sorted(ids)), len(ids)
        return self._version

    async def expansions(self) -> Sequence[Mapping[str, str]]:
        """See `Reads`. Raises `StoreUnavailable`."""
        from ai.search.expansion import expansions  # noqa: PLC0415 - of one surface only

        self._expansions = tuple(await expansions(self._case, self._services))
        return self._expansions

    def scored(self, reranker: Reranker) -> Reranker:
        """See `Reads`: what a model scores is kept; what a rule scores is computed again."""
        return reranker if reranker.name == HEURISTIC else _RecordingReranker(reranker, self._scores)

    def given(self, named: Sequence[str] = ()) -> SurfaceReads:
        """The content that was read so far."""
        version, documents = self._version
        return SurfaceReads(
            embedding_model=self.embedding_model,
            metadata=self._metadata,
            near=tuple(self._near),
            scores=tuple(self._scores),
            version=version,
            documents=documents,
            filtered=self.filtered,
            named=tuple(named),
            expansions=self._expansions,
        )


class RecordedReads:
    """Gives what was read when the entry was made."""

    def __init__(self, given: SurfaceReads) -> None:
        self._given = given
        self._scores = list(given.scores)

    @property
    def embedding_model(self) -> str:
        """The recorded model."""
        return self._given.embedding_model

    @property
    def filtered(self) -> int | None:
        """The recorded number."""
        return self._given.filtered

    async def metadata(self, document_ids: Collection[str]) -> Mapping[str, Metadata]:
        """See `Reads`; what is not on record is absent, as it was."""
        known = self._given.metadata
        return {name: _metadata(known[name]) for name in sorted(document_ids) if name in known}

    async def around(self, document_id: str, start: int, end: int, chars: int) -> NearbyText | None:
        """See `Reads`: the recorded text that begins there."""
        low = max(0, start - chars)
        return next((n for n in self._given.near if (n.document_id, n.start_char) == (document_id, low)), None)

    async def version(self) -> tuple[str, int]:
        """The recorded one."""
        return self._given.version, self._given.documents

    async def expansions(self) -> Sequence[Mapping[str, str]]:
        """The recorded ones."""
        return self._given.expansions

    def scored(self, reranker: Reranker) -> Reranker:
        """See `Reads`: a model's scores as they were."""
        return reranker if reranker.name == HEURISTIC else _RecordedReranker(reranker.name, self._scores)


class _RecordingReranker:
    """A reranker whose scores are kept."""

    def __init__(self, reranker: Reranker, kept: list[tuple[int, ...]]) -> None:
        self._reranker, self._kept = reranker, kept

    @property
    def name(self) -> str:
        return self._reranker.name

    async def score(self, query: Query, passages: Sequence[Passage]) -> list[int]:
        try:
            scores = await self._reranker.score(query, passages)
        except BaseException:  # a time-out too: that there were no scores is kept as an empty list
            self._kept.append(())
            raise
        self._kept.append(tuple(scores))
        return scores


class _RecordedReranker:
    """A reranker that scores as on record."""

    def __init__(self, name: str, left: list[tuple[int, ...]]) -> None:
        self.name, self._left = name, left

    async def score(self, query: Query, passages: Sequence[Passage]) -> list[int]:
        del query
        if self._left and not self._left[0]:
            self._left.pop(0)
            raise ModelUnavailable("the reranker gave no scores then")
        if not self._left or len(self._left[0]) != len(passages):
            raise ReplayImpossible("the reranker is asked for other passages than on record")
        return list(self._left.pop(0))


def _metadata(told: str) -> dict[str, Any]:
    fields = json.loads(told)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
