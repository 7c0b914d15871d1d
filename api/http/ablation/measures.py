"""Measures of ranked lists and of judges, with bootstrap intervals. Pure."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over `n` questions with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    n: int


def ndcg(ranked: Sequence[str], relevant: AbstractSet[str], k: int) -> float:
    """Normalised discounted cumulative gain at `k`, binary relevance (Jaervelin and Kekaelaeinen 2002)."""
    gained = sum(1 / math.log2(place + 2) for place, each in enumerate(ranked[:k]) if each in relevant)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(relevant))))
    return gained / ideal if ideal else 0.0


def recall(ranked: Sequence[str], relevant: AbstractSet[str], k: int) -> float:
    """The share of the relevant ones among the first `k`."""
    return len(set(ranked[:k]) & relevant) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], relevant: AbstractSet[str]) -> float:
    """One over the place of the first relevant one; 0 without any."""
    return next((1 / place for place, each in enumerate(ranked, start=1) if each in relevant), 0.0)


def auc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Area under the ROC curve by ranks (Mann and Whitney), ties by half. Raises ValueError with one class only."""
    positive = [s for s, label in zip(scores, labels, strict=True) if label]
    negative = [s for s, label in zip(scores, labels, strict=True) if not label]
    if not positive or not negative:
        raise ValueError("both classes are needed")
    wins = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    return wins / (len(positive) * len(negative))


def figure(values: Sequence[float], *, seed: int = 7) -> Figure:
    """The mean and the percentile bootstrap over questions. Raises ValueError without a value."""
    if not values:
        raise ValueError("no values")
    chance = random.Random(seed)  # noqa: S311 - a resample, no secret
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES))
    low, high = means[RESAMPLES * 25 // 1000], means[RESAMPLES * 975 // 1000 - 1]
    return Figure(round(sum(values) / len(values), 4), round(low, 4), round(high, 4), len(values))


def difference(one: Sequence[float], other: Sequence[float], *, seed: int = 7) -> Figure:
    """The mean of the paired differences, with its interval."""
    return figure([a - b for a, b in zip(one, other, strict=True)], seed=seed)
