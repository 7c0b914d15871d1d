"""The Reranker Protocol, and the heuristic one that needs no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.english.words import content_beginnings, words
from retrieval.model import Query

HEURISTIC = "heuristic/1"
_TITLE, _NAMES = 200, 150


@dataclass(frozen=True, slots=True)
class Passage:
    """The fields of a result that a reranker reads. `prior_milli` is its score from fusion, as a share of the best."""

    heading: str
    text: str
    prior_milli: int


class Reranker(Protocol):
    """A second look at a shortlist. `score` gives one number per passage in thousandths, higher is better, a function
    of query and passages. One that asks a model raises the model's errors; then the heuristic order stands in."""

    @property
    def name(self) -> str: ...

    async def score(self, query: Query, passages: Sequence[Passage]) -> list[int]: ...


class HeuristicReranker:
    """The features of a result: its score from fusion, whether the heading is asked for, how many of the question's
    names are written out. Weights set on MuSiQue (docs/benchmarks.md)."""

    name = HEURISTIC

    async def score(self, query: Query, passages: Sequence[Passage]) -> list[int]:
        """See `Reranker`; no I/O."""
        asked = set(content_beginnings(query.text))
        named = [f" {' '.join(words(mention.surface))} " for mention in query.intent.mentions]
        return [self._score(passage, asked, named) for passage in passages]

    @staticmethod
    def _score(passage: Passage, asked: set[str], named: Sequence[str]) -> int:
        title = _TITLE if passage.heading and set(content_beginnings(passage.heading)) <= asked else 0
        written = f" {' '.join(words(f'{passage.heading} {passage.text}'))} "
        names = _NAMES * sum(each in written for each in named) // len(named) if named else 0
        return passage.prior_milli + title + names
