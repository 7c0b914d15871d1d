"""Exact nearest rows by inner product: an int8 pass over everything, float arithmetic for what can still win."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import simsimd
from numpy.typing import NDArray

from retrieval.vector.segment import Codes, Segment

CHUNK_ROWS = 16_384  # about half a millisecond between two looks at the stop signal
SCORE_DECIMALS = 6
_BLOCK = 64


def nearest(
    segments: Sequence[Segment],
    query: NDArray[np.float32],
    top_k: int,
    *,
    check: Callable[[], None],
    documents: frozenset[str] | None = None,
) -> list[tuple[float, str]]:
    """The `top_k` best (score, record id) of all segments, by score to six decimals and then record id.

    Equal, whatever the division into segments, to sorting the float64 inner products of all rows. `query` is a unit
    vector. `check` is called between chunks and may raise. With `documents`, only their rows count.
    """
    coded = Codes.of(query[None, :])
    rough = [_rough(segment, coded, check) for segment in segments]
    if documents is not None:
        for segment, scores in zip(segments, rough, strict=True):
            scores[~segment.among(documents)] = -np.inf
    error = max((s.codes.error for s in segments), default=0.0)
    margin = 2 * (error + (1 + error) * coded.error) + 10.0**-SCORE_DECIMALS
    cut = _lower_bound(rough, top_k) - margin
    kept = [np.flatnonzero((scores >= cut) & (scores > -np.inf)) for scores in rough]
    finer = [scores[rows] for scores, rows in zip(rough, kept, strict=True)]
    cut = _kth_best(np.concatenate(finer) if finer else np.zeros(0, np.float32), top_k) - margin
    found: list[tuple[float, str]] = []
    for segment, rows, scores in zip(segments, kept, finer, strict=True):
        check()
        found += _exact(segment, rows[scores >= cut], query)
    return sorted(found, key=lambda hit: (-hit[0], hit[1]))[:top_k]


def _rough(segment: Segment, query: Codes, check: Callable[[], None]) -> NDArray[np.float32]:
    """Coded scores of all rows, within the bound of the true ones."""
    values, scales = segment.codes.values, segment.codes.scales * query.scales[0]
    scores = np.empty(len(values), np.float32)
    for start in range(0, len(values), CHUNK_ROWS):
        check()
        part = slice(start, start + CHUNK_ROWS)
        scores[part] = np.asarray(simsimd.dot(query.values[0], values[part])).reshape(-1)
    scores *= scales
    return scores


def _lower_bound(rough: Sequence[NDArray[np.float32]], k: int) -> float:
    """Not above the k-th best of all rough scores. Block maxima are distinct rows, so the k-th best of them will do."""
    maxima = [np.maximum.reduceat(scores, np.arange(0, len(scores), _BLOCK)) for scores in rough if len(scores)]
    return _kth_best(np.concatenate(maxima) if maxima else np.zeros(0, np.float32), k)


def _kth_best(scores: NDArray[np.float32], k: int) -> float:
    if len(scores) < k or k < 1:
        return -np.inf
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _exact(segment: Segment, rows: NDArray[np.intp], query: NDArray[np.float32]) -> list[tuple[float, str]]:
    """Float64 sums row by row: a row's score does not depend on which other rows are scored with it."""
    products = segment.vectors[rows].astype(np.float64) * query.astype(np.float64)
    scores = np.round(products.sum(axis=1), SCORE_DECIMALS) + 0.0
    return [(float(score), segment.record_ids[row]) for score, row in zip(scores, rows, strict=True)]
