"""Scores of stores as calibrated relevance in thousandths, so that one threshold means the same in every mode.

The relevance of a score is the share of records with such a score that hold everything that was asked for, measured on
the shipped corpus (`exhibit eval`, isotonic regression; docs/retrieval.md shows the curve). BM25 has no bound of its
own, so it counts as a share of the most that a record could score for the query. Maps are monotone: they never change
the order within a channel.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from retrieval.model import ChannelName, ChannelRank, Run

FULL_MILLI = 1000


@dataclass(frozen=True, slots=True)
class Calibration:
    """A piecewise linear map; `knots` are (score, relevance) in thousandths, both ascending, from 0 to 1000."""

    name: str
    knots: tuple[tuple[int, int], ...]

    def relevance_milli(self, score_milli: int) -> int:
        """The relevance of a score, in thousandths; scores beyond the ends count as the ends."""
        place = bisect_right(self.knots, (score_milli, FULL_MILLI + 1))
        if place == 0:
            return self.knots[0][1]
        if place == len(self.knots):
            return self.knots[-1][1]
        (x0, y0), (x1, y1) = self.knots[place - 1], self.knots[place]
        return y0 + (y1 - y0) * (score_milli - x0) // (x1 - x0)


BM25 = Calibration(
    "bm25-share/kansas-1",
    (
        *((0, 0), (75, 19), (125, 65), (175, 106), (225, 146), (275, 231), (350, 417)),
        *((450, 701), (525, 816), (575, 925), (650, 988), (1000, 1000)),
    ),
)
WORDLLAMA = Calibration(
    "wordllama-l2_supercat_256/kansas-1",
    (
        *((0, 0), (175, 13), (225, 23), (275, 25), (325, 29), (375, 64), (425, 115)),
        *((475, 133), (525, 133), (575, 317), (625, 437), (775, 657), (1000, 1000)),
    ),
)
COSINE = Calibration("cosine/uncalibrated", ((0, 0), (1000, 1000)))
EXACT = "exact"
"""The score of the structured channels' direct answers: a cell or computation that answers is relevant as such."""


def vector_calibration(model: str) -> Calibration:
    """The map of an embedding model; the bare cosine for one without a map, and the name says so."""
    return WORDLLAMA if "/l2_supercat_256" in model else COSINE


def calibrations(model: str) -> Mapping[str, str]:
    """The name of the map per channel, for the response."""
    maps = {ChannelName.FULLTEXT: BM25.name, ChannelName.VECTOR: vector_calibration(model).name}
    return {name.value: maps.get(name, EXACT) for name in ChannelName}


@dataclass(frozen=True, slots=True)
class Scale:
    """The maps of one search: how the ranks that its runs gave are read."""

    model: str
    ceilings: Mapping[str, float]

    @classmethod
    def of(cls, model: str, runs: tuple[Run, ...]) -> Scale:
        """The scale of these runs. A run of full text without a ceiling is measured by its best hit."""
        tops = ((run, run.ceiling or max((hit.score for hit in run.hits), default=0.0)) for run in runs)
        ceilings: dict[str, float] = {}
        for run, top in tops:
            ceilings[run.channel] = max(top, ceilings.get(run.channel, 0.0))
        return cls(model, ceilings)

    def relevance_milli(self, rank: ChannelRank) -> int:
        """The relevance of one channel's hit. A structured hit has none of its own: what it says decides."""
        match rank.channel:
            case ChannelName.FULLTEXT:
                ceiling = self.ceilings.get(rank.channel, 0.0)
                return BM25.relevance_milli(int(rank.score * 1000 / ceiling) if ceiling > 0 else 0)
            case ChannelName.VECTOR:
                return vector_calibration(self.model).relevance_milli(int(rank.score * 1000))
            case _:
                return 0
