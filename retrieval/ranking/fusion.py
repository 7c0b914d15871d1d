"""Fusion of runs in integers, so that it is the same on every machine: by reciprocal ranks (Cormack, Clarke, Buettcher
2009), or by scores as shares of each run's best (a convex combination; Bruch, Gai, Ingber 2023)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.model import ChannelName, ChannelRank, Computation, Hit, Run

# A weight of one (1000 milli) at k + rank = 1 is this many nano-units.
NANO = 1_000_000_000
_MICRO = 1_000_000
_FULL = 1_000
_BELOW_KNEE = 100
_GRADED = (ChannelName.FULLTEXT, ChannelName.VECTOR)
"""Channels whose scores say how well a record fits; the others' only count places."""


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """`k` dampens the lead of the first ranks; a channel without a weight counts 1000 thousandths, one with 0 adds only
    provenance. `by_score` adds scores as shares of the run's best instead of reciprocal ranks; a share of text or
    vectors under `knee_milli` counts a hundredth, because nearly every record reaches that much (ADR 0026)."""

    k: int = 60
    weights_milli: Mapping[ChannelName, int] = field(default_factory=dict)
    by_score: bool = False
    knee_milli: int = 0

    def __post_init__(self) -> None:
        if self.k < 0 or any(weight < 0 for weight in self.weights_milli.values()):
            raise ValueError("k and the weights of fusion must not be negative")
        if not 0 <= self.knee_milli < _FULL:
            raise ValueError("the knee of fusion is a share under one, in thousandths")

    def nano(self, channel: ChannelName, rank: int) -> int:
        """weight / (k + rank) in units of 1e-9, rounded down."""
        return self.weights_milli.get(channel, 1000) * (NANO // 1000) // (self.k + rank)

    def share_nano(self, channel: ChannelName, score: float, best: float) -> int:
        """weight x score / best, bent at the knee, in units of 1e-9, from scores in millionths; a run without a
        positive score counts by its reciprocal ranks elsewhere."""
        micro, best_micro = max(0, round(score * _MICRO)), max(1, round(best * _MICRO))
        weight = self.weights_milli.get(channel, 1000) * (NANO // 1000)
        share = min(micro, best_micro)
        if not self.knee_milli or channel not in _GRADED:
            return weight * share // best_micro
        return weight * self._bent(share * NANO // best_micro) // NANO

    def _bent(self, share_nano: int) -> int:
        """The share with a slope of a hundredth under the knee, and a straight line to one above it."""
        knee = self.knee_milli * (NANO // 1000)
        low = knee // _BELOW_KNEE
        if share_nano <= knee:
            return share_nano // _BELOW_KNEE
        return low + (NANO - low) * (share_nano - knee) // (NANO - knee)


@dataclass(frozen=True, slots=True)
class FusedRecord:
    """A record with all its places in the runs; `score_nano` is the sum of their contributions."""

    record_id: str
    score_nano: int
    ranks: tuple[ChannelRank, ...]
    computed: Computation | None = None


def fuse(runs: Sequence[Run], weights: FusionWeights) -> tuple[FusedRecord, ...]:
    """All records of the runs, best sum first, ties by record id. The order of the runs has no effect; a record that
    stands twice in one run counts with its better rank."""
    places: dict[str, list[tuple[Run, Hit]]] = {}
    best = {id(run): max((hit.score for hit in run.hits), default=0.0) for run in runs}
    for run in runs:
        for hit in _first_of_each(run.hits):
            places.setdefault(hit.record_id, []).append((run, hit))
    fused = (_sum(record_id, found, weights, best) for record_id, found in places.items())
    return tuple(sorted(fused, key=lambda item: (-item.score_nano, item.record_id)))


def _first_of_each(hits: Iterable[Hit]) -> Iterable[Hit]:
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.record_id not in best or hit.rank < best[hit.record_id].rank:
            best[hit.record_id] = hit
    return best.values()


def _sum(
    record_id: str, places: Sequence[tuple[Run, Hit]], weights: FusionWeights, best: Mapping[int, float]
) -> FusedRecord:
    ranks = [ChannelRank(run.channel, run.store, hit.rank, hit.score, hit.path) for run, hit in places]
    if len(ranks) > 1:
        ranks.sort(key=lambda r: (r.channel, r.store, r.rank, r.score, r.path))
    score, computed = 0, None
    for run, hit in places:
        if weights.by_score:
            part = weights.share_nano(run.channel, hit.score, best[id(run)])
        else:
            part = weights.nano(run.channel, hit.rank)
        score += part if run.weight_milli == _FULL else part * run.weight_milli // _FULL
        computed = computed or hit.computed
    return FusedRecord(record_id, score, tuple(ranks), computed)
