"""The reader's look at a shortlist of passages: by meaning, together with the order that fusion gave."""

from __future__ import annotations

from collections.abc import Sequence

from ai.models.reader.lazy import LazyReader
from retrieval.model import Query
from retrieval.ranking.reranker import Passage

NAME = "reader"


class ReaderReranker:
    """A `Reranker`: half the closeness of question and passage, half the score from fusion. Raises `ReaderUnavailable`
    where the reader cannot be run."""

    name = NAME

    def __init__(self, reader: LazyReader) -> None:
        self._reader = reader

    async def score(self, query: Query, passages: Sequence[Passage]) -> list[int]:
        """See `Reranker`."""
        texts = [f"{each.heading}. {each.text}" if each.heading else each.text for each in passages]
        close = await self._reader.closeness(query.text, texts)
        return [(near + each.prior_milli) // 2 for near, each in zip(close, passages, strict=True)]
