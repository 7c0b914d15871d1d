"""Fusion of runs in integers, so that it is the same on every machine: by reciprocal ranks (Cormack, Clarke, Buettcher
2009), or by scores as shares of each run's best (a convex combination; Bruch, Gai, Ingber 2023)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.model import ChannelName, ChannelRank, Computed, Hit, Run

# A weight of one (1000 milli) at k + rank = 1 is this many nano-units.
NANO = 1_000_000_000
_MICRO = 1_000_000
_FULL = 1_000


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """`k` dampens the lead of the first ranks; a channel without a weight counts 1000 thousandths, one with 0 adds only
    provenance. `by_score` adds scores as shares of the run's best instead of reciprocal ranks."""

    k: int = 60
    weights_milli: Mapping[ChannelName, int] = field(default_factory=dict)
    by_score: bool = False

    def __post_init__(self) -> None:
        if self.k < 0 or any(weight < 0 for weight in self.weights_milli.values()):
            raise ValueError("k and the weights of fusion must not be negative")

    def nano(self, channel: ChannelName, rank: int) -> int:
        """weight / (k + rank) in units of 1e-9, rounded down."""
        return self.weights_milli.get(channel, 1000) * (NANO // 1000) // (self.k + rank)

    def share_nano(self, channel: ChannelName, score: float, best: float) -> int:
        """weight x score / best in units of 1e-9, from scores in millionths; a run without a positive score counts by
        its reciprocal ranks elsewhere."""
        micro, best_micro = max(0, round(score * _MICRO)), max(1, round(best * _MICRO))
        return self.weights_milli.get(channel, 1000) * (NANO // 1000) * min(micro, best_micro) // best_micro


@dataclass(frozen=True, slots=True)
class Fused:
    """A record with all its places in the runs; `score_nano` is the sum of their contributions."""

    record_id: str
    score_nano: int
    ranks: tuple[ChannelRank, ...]
    computed: Computed | None = None


def fuse(runs: Sequence[Run], weights: FusionWeights) -> tuple[Fused, ...]:
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


def _sum(record_id: str, places: Sequence[tuple[Run, Hit]], weights: FusionWeights, best: Mapping[int, float]) -> Fused:
    ranks = sorted(
        (ChannelRank(run.channel, run.store, hit.rank, hit.score, hit.path) for run, hit in places),
        key=lambda r: (r.channel, r.store, r.rank, r.score, r.path),
    )
    computed = next((hit.computed for _, hit in places if hit.computed is not None), None)
    if weights.by_score:
        parts = ((weights.share_nano(run.channel, hit.score, best[id(run)]), run) for run, hit in places)
    else:
        parts = ((weights.nano(run.channel, hit.rank), run) for run, hit in places)
    score = sum(part if run.weight_milli == _FULL else part * run.weight_milli // _FULL for part, run in parts)
    return Fused(record_id, score, tuple(ranks), computed)
