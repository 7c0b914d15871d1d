"""The reader's look at a shortlist of passages: by meaning, together with the order that fusion gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ai.models.reader.lazy import LazyReader
from retrieval.model import Query
from retrieval.ranking.links import LINKED_MILLI, SHARED_MILLI, lifted
from retrieval.ranking.reranker import HeuristicReranker, Passage

NAME = "reader"


@dataclass(frozen=True, slots=True)
class _Numbered:
    record_id: str
    heading: str
    words: str


class ReaderReranker:
    """A `Reranker`: what the heuristic one weighs, half as much again for the closeness of question and passage, and
    then the links between passages, as in lists of passages without a reranker. Raises `ReaderUnavailable` where the
    reader cannot be run."""

    name = NAME

    def __init__(self, reader: LazyReader) -> None:
        self._reader, self._words = reader, HeuristicReranker()

    async def score(self, query: Query, passages: Sequence[Passage]) -> list[int]:
        """See `Reranker`."""
        texts = [f"{each.heading}. {each.text}" if each.heading else each.text for each in passages]
        close = await self._reader.closeness(query.text, texts)
        by_words = await self._words.score(query, passages)
        numbered = [_Numbered(str(at), each.heading, each.text) for at, each in enumerate(passages)]
        scores = {str(at): said + near // 2 for at, (said, near) in enumerate(zip(by_words, close, strict=True))}
        told = lifted(numbered, scores, query.text, linked=LINKED_MILLI, shared=SHARED_MILLI)
        return [told[each.record_id] for each in numbered]
