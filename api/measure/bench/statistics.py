"""Percentiles, the same for every figure of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Percentiles of one measure, in its unit; `n` samples."""

    n: int
    p50: float
    p95: float
    p99: float


def percentile(samples: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile: the smallest sample that at least `percent` of all do not exceed. Always a sample
    that was measured, never one made up between two. Raises ValueError for no samples or a percent outside (0, 100]."""
    if not samples or not 0 < percent <= 100:
        raise ValueError(f"no {percent} percentile of {len(samples)} samples")
    return sorted(samples)[max(0, math.ceil(len(samples) * percent / 100) - 1)]


def spread(samples: Sequence[float]) -> Percentiles:
    """Its percentiles. Raises ValueError for no samples."""
    return Percentiles(len(samples), percentile(samples, 50), percentile(samples, 95), percentile(samples, 99))


def settled(rounds: Sequence[Sequence[float]]) -> Percentiles:
    """The median over rounds of each percentile: one disturbed round does not move it."""
    each = [spread(samples) for samples in rounds]
    return Percentiles(
        sum(one.n for one in each),
        *(round(median(getattr(one, name) for one in each), 3) for name in ("p50", "p95", "p99")),
    )


def settled_by_name(rounds: Sequence[Iterable[Mapping[str, float]]]) -> dict[str, Percentiles]:
    """The spread of every name, over the samples that have it; in order of first appearance."""
    listed = [list(samples) for samples in rounds]
    names = dict.fromkeys(name for samples in listed for sample in samples for name in sample)
    columns = {name: [[s[name] for s in samples if name in s] for samples in listed] for name in names}
    return {name: settled([column for column in found if column]) for name, found in columns.items()}
