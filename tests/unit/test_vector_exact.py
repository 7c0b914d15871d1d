"""The int8 pass loses nothing: the result equals sorting all float64 inner products."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from retrieval.vector.exact import CHUNK_ROWS, SCORE_DECIMALS, nearest
from retrieval.vector.segment import Codes, Rows, Segment, write_segment
from retrieval.worker import Stop, WorkStopped

DIMENSION = 16


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(norms > 0, norms, 1)).astype(np.float32)


def segment(folder: Path, vectors: NDArray[np.float32], first: int = 0) -> Segment:
    ids = [f"r{first + n:05d}" for n in range(len(vectors))]
    return Segment(folder / write_segment(folder, Rows(ids, ids, vectors)))


def brute_force(vectors: NDArray[np.float32], query: NDArray[np.float32], top_k: int) -> list[tuple[float, str]]:
    scores = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    found = [(float(np.round(s, SCORE_DECIMALS) + 0.0), f"r{n:05d}") for n, s in enumerate(scores)]
    return sorted(found, key=lambda hit: (-hit[0], hit[1]))[:top_k]


@st.composite
def matrices(draw: st.DrawFn) -> NDArray[np.float32]:
    """Rows spread out, crowded around one direction, repeated, or zero."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = chance.standard_normal((draw(st.integers(0, 300)), DIMENSION))
    rows = rows * draw(st.sampled_from([1.0, 0.1, 0.001])) + draw(st.sampled_from([0.0, 1.0]))
    if len(rows) and draw(st.booleans()):
        rows[chance.integers(0, len(rows), len(rows) // 2)] = rows[0]
    if len(rows) and draw(st.booleans()):
        rows[0] = 0
    return unit(rows)


@given(matrices(), st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 300))
@settings(max_examples=50, deadline=None)
def test_equal_to_brute_force_however_the_rows_are_divided(
    tmp_path_factory: pytest.TempPathFactory, vectors: NDArray[np.float32], seed: int, top_k: int, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("vectors")
    query = unit(np.random.default_rng(seed).standard_normal((1, DIMENSION)) + (seed % 2))[0]
    parts = [(vectors[:cut], 0), (vectors[cut:], min(cut, len(vectors)))]
    segments = [segment(folder, part, first) for part, first in parts if len(part)]
    assert nearest(segments, query, top_k, check=lambda: None) == brute_force(vectors, query, top_k)


@pytest.mark.parametrize("spread", [1.0, 0.05])
def test_equal_to_brute_force_over_several_chunks(tmp_path: Path, spread: float) -> None:
    chance = np.random.default_rng(5)
    vectors = unit(1 + spread * chance.standard_normal((CHUNK_ROWS + 777, 64)))
    opened = segment(tmp_path, vectors)
    for row in (0, CHUNK_ROWS, len(vectors) - 1):
        query = unit(vectors[row : row + 1] + 0.01 * chance.standard_normal((1, 64)))[0]
        assert nearest([opened], query, 20, check=lambda: None) == brute_force(vectors, query, 20)


@given(matrices())
@settings(max_examples=50, deadline=None)
def test_no_row_is_further_from_its_codes_than_the_bound_says(vectors: NDArray[np.float32]) -> None:
    codes = Codes.of(vectors)
    off = vectors.astype(np.float64) - codes.values.astype(np.float64) * codes.scales.astype(np.float64)[:, None]
    assert np.linalg.norm(off, axis=1).max(initial=0.0) <= codes.error
    assert codes.values.min(initial=0) >= -127


def test_nothing_to_search_finds_nothing(tmp_path: Path) -> None:
    query = unit(np.ones((1, DIMENSION)))[0]
    assert nearest([], query, 5, check=lambda: None) == []


def test_it_stops_between_chunks(tmp_path: Path) -> None:
    opened = segment(tmp_path, unit(np.ones((2 * CHUNK_ROWS, 4))))
    stop, looks = Stop(), 0

    def check() -> None:
        nonlocal looks
        looks += 1
        stop.request()
        stop.check()

    with pytest.raises(WorkStopped):
        nearest([opened], unit(np.ones((1, 4)))[0], 5, check=check)
    assert looks == 1


@pytest.mark.parametrize("file", ["vectors.npy", "codes.npy", "scales.npy"])
def test_a_segment_whose_files_disagree_is_refused(tmp_path: Path, file: str) -> None:
    folder = tmp_path / write_segment(tmp_path, Rows(["a", "b"], ["d", "d"], unit(np.eye(2, 4))))
    np.save(folder / file, np.load(folder / file)[:1])
    with pytest.raises(ValueError, match="damaged"):
        Segment(folder)
