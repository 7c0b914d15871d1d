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
    segments = [segment for segment in segments if segment.record_ids]
    if not segments:
        return []
    coded = Codes.of(query[None, :])
    starts = np.cumsum([0, *(len(segment.record_ids) for segment in segments)])
    scores = _rough(segments, starts, coded, check)
    if documents is not None:
        scores[~np.concatenate([segment.among(documents) for segment in segments])] = -np.inf
    error = max(segment.codes.error for segment in segments)
    margin = 2 * (error + (1 + error) * coded.error) + 10.0**-SCORE_DECIMALS
    rows = np.flatnonzero(scores >= _lower_bound(scores, top_k) - margin)
    finer = scores[rows]
    rows = rows[(finer >= _kth_best(finer, top_k) - margin) & (finer > -np.inf)]
    check()
    return sorted(_exact(segments, starts, rows, query), key=lambda hit: (-hit[0], hit[1]))[:top_k]


def _rough(
    segments: Sequence[Segment], starts: NDArray[np.intp], query: Codes, check: Callable[[], None]
) -> NDArray[np.float32]:
    """Coded scores of all rows, one segment after the other, within the bound of the true ones. One array for all: a
    segment has a few thousand rows, and each step over an array of its own would cost as much as the arithmetic."""
    scores = np.empty(starts[-1], np.float32)
    for segment, first in zip(segments, starts[:-1], strict=True):
        values = segment.codes.values
        for start in range(0, len(values), CHUNK_ROWS):
            check()
            part = values[start : start + CHUNK_ROWS]
            at = first + start
            scores[at : at + len(part)] = np.asarray(simsimd.dot(query.values[0], part)).reshape(-1)
    scores *= np.concatenate([segment.codes.scales for segment in segments])
    scores *= query.scales[0]
    return scores


def _lower_bound(scores: NDArray[np.float32], k: int) -> float:
    """Not above the k-th best of all rough scores. Block maxima are distinct rows, so the k-th best of them will do."""
    return _kth_best(np.maximum.reduceat(scores, np.arange(0, len(scores), _BLOCK)), k)


def _kth_best(scores: NDArray[np.float32], k: int) -> float:
    if len(scores) < k or k < 1:
        return -np.inf
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _exact(
    segments: Sequence[Segment], starts: NDArray[np.intp], rows: NDArray[np.intp], query: NDArray[np.float32]
) -> list[tuple[float, str]]:
    """Float64 sums row by row: a row's score does not depend on which other rows are scored with it."""
    cuts = np.searchsorted(rows, starts).tolist()
    vectors, record_ids = [], []
    for segment, first, begin, end in zip(segments, starts[:-1].tolist(), cuts, cuts[1:], strict=False):
        if begin < end:
            own = rows[begin:end] - first
            vectors.append(segment.vectors[own])
            record_ids += [segment.record_ids[row] for row in own.tolist()]
    if not vectors:
        return []
    products = np.concatenate(vectors).astype(np.float64) * query.astype(np.float64)
    scores = np.round(products.sum(axis=1), SCORE_DECIMALS) + 0.0
    return list(zip(scores.tolist(), record_ids, strict=True))
