"""Reciprocal rank fusion (Cormack, Clarke, Buettcher 2009) of runs, in integers so that it is the same on every
machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.model import ChannelName, ChannelRank, Computed, Hit, Run

# A weight of one (1000 milli) at k + rank = 1 is this many nano-units.
NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """`k` dampens the lead of the first ranks; a channel without a weight counts 1000 thousandths, one with 0 adds only
    provenance."""

    k: int = 60
    weights_milli: Mapping[ChannelName, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.k < 0 or any(weight < 0 for weight in self.weights_milli.values()):
            raise ValueError("k and the weights of fusion must not be negative")

    def nano(self, channel: ChannelName, rank: int) -> int:
        """weight / (k + rank) in units of 1e-9, rounded down."""
        return self.weights_milli.get(channel, 1000) * (NANO // 1000) // (self.k + rank)


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
    for run in runs:
        for hit in _first_of_each(run.hits):
            places.setdefault(hit.record_id, []).append((run, hit))
    fused = (_sum(record_id, found, weights) for record_id, found in places.items())
    return tuple(sorted(fused, key=lambda item: (-item.score_nano, item.record_id)))


def _first_of_each(hits: Iterable[Hit]) -> Iterable[Hit]:
    best: dict[str, Hit] = {}
    for hit in hits:
        if hit.record_id not in best or hit.rank < best[hit.record_id].rank:
            best[hit.record_id] = hit
    return best.values()


def _sum(record_id: str, places: Sequence[tuple[Run, Hit]], weights: FusionWeights) -> Fused:
    ranks = sorted(
        (ChannelRank(run.channel, run.store, hit.rank, hit.score, hit.path) for run, hit in places),
        key=lambda r: (r.channel, r.store, r.rank, r.score, r.path),
    )
    computed = next((hit.computed for _, hit in places if hit.computed is not None), None)
    return Fused(record_id, sum(weights.nano(r.channel, r.rank) for r in ranks), tuple(ranks), computed)
