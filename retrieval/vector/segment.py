"""One immutable file set of vectors: float32 rows, their int8 codes with a proven error bound, and the ids.

A row x is kept as x' = scale * codes with codes in -127..127, and `error` >= |x - x'|. For a query q kept as q' the
same way, |x.q - x'.q'| <= |x - x'| |q| + |x'| |q - q'|  (Cauchy-Schwarz), so the rows whose coded score lies within
twice that bound of the k-th best hold the exact top k. The bound is computed from the codes, not assumed.
"""

from __future__ import annotations

import io
import json
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.files.durable import sync_file, sync_folder
from retrieval.files.seal import PLAIN, Seal

# Float32 rounding of scores, scales and norms near 1: two orders above what it can be at 4,096 dimensions or fewer.
_SLACK = 1e-5


@dataclass(frozen=True, slots=True)
class Rows:
    """Vectors of shape (n, dimension) and the record and document of each."""

    record_ids: list[str]
    document_ids: list[str]
    vectors: NDArray[np.float32]

    @classmethod
    def joined(cls, parts: Sequence[Rows], *, dimension: int) -> Rows:
        """All rows of the parts, in order."""
        vectors = [part.vectors for part in parts]
        return cls(
            [r for part in parts for r in part.record_ids],
            [d for part in parts for d in part.document_ids],
            np.concatenate(vectors) if vectors else np.zeros((0, dimension), np.float32),
        )

    def without(self, document_ids: frozenset[str]) -> Rows:
        """The rows of other documents."""
        keep = [i for i, d in enumerate(self.document_ids) if d not in document_ids]
        return Rows([self.record_ids[i] for i in keep], [self.document_ids[i] for i in keep], self.vectors[keep])


@dataclass(frozen=True, slots=True)
class Codes:
    """Rows in int8: `scales` of shape (n,), and one `error` that bounds |x - x'| of every row."""

    values: NDArray[np.int8]
    scales: NDArray[np.float32]
    error: float

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> Codes:
        """Nearest code per component, scaled so that the row's largest component is 127."""
        largest = np.abs(vectors).max(axis=1, initial=0.0)
        scales = np.where(largest > 0, largest / np.float32(127), np.float32(1)).astype(np.float32)
        values = np.rint(vectors / scales[:, None]).astype(np.int8)
        off = np.linalg.norm(vectors - values * scales[:, None], axis=1)
        return cls(values, scales, float(off.max(initial=0.0)) + _SLACK)


class Segment:
    """A segment opened from its folder; arrays are memory-mapped, so only what a search touches is in memory. Sealed
    ones are in memory whole."""

    def __init__(self, folder: Path, seal: Seal = PLAIN) -> None:
        self.vectors: NDArray[np.float32] = _array(folder / "vectors.npy", seal)
        header = json.loads(seal.opened((folder / "ids.json").read_bytes()))
        self.record_ids: list[str] = header["record_ids"]
        self.document_ids: list[str] = header["document_ids"]
        self.codes = Codes(
            _array(folder / "codes.npy", seal),
            _array(folder / "scales.npy", seal),
            float(header["error"]),
        )
        lengths = {len(self.vectors), len(self.codes.values), len(self.codes.scales), len(self.record_ids)}
        if lengths != {len(self.document_ids)}:
            raise ValueError(f"segment {folder.name} is damaged: its files differ in length")

    @cached_property
    def documents(self) -> frozenset[str]:
        """The documents that have a row here."""
        return frozenset(self.document_ids)

    def among(self, documents: frozenset[str]) -> NDArray[np.bool_]:
        """Which rows are of these documents, shape (n,)."""
        return np.fromiter((d in documents for d in self.document_ids), np.bool_, len(self.document_ids))

    @property
    def rows(self) -> Rows:
        """Everything in it, for rewriting."""
        return Rows(self.record_ids, self.document_ids, self.vectors)


def _array(file: Path, seal: Seal) -> NDArray[Any]:
    """The file's array in mapped memory, as a plain array: slices of `numpy.memmap` cost ten times as much."""
    if seal is not PLAIN:
        opened: NDArray[Any] = np.load(io.BytesIO(seal.opened(file.read_bytes())), allow_pickle=False)
        return opened
    return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))


def _bytes(array: NDArray[Any]) -> bytes:
    """The array as a file of NumPy's holds it."""
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def write_segment(root: Path, rows: Rows, seal: Seal = PLAIN) -> str:
    """Writes a segment and makes it durable; nobody sees it until a manifest names it. Returns its name."""
    name = f"segment-{uuid.uuid4().hex}"
    folder = root / name
    folder.mkdir(parents=True)
    try:
        codes = Codes.of(rows.vectors)
        arrays: dict[str, NDArray[Any]] = {
            "vectors": np.ascontiguousarray(rows.vectors, np.float32),
            "codes": codes.values,
            "scales": codes.scales,
        }
        for kind, array in arrays.items():
            (folder / f"{kind}.npy").write_bytes(seal.sealed(_bytes(array)))
        ids = {"record_ids": rows.record_ids, "document_ids": rows.document_ids, "error": codes.error}
        (folder / "ids.json").write_bytes(seal.sealed(json.dumps(ids).encode()))
        for file in folder.iterdir():
            sync_file(file)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    sync_folder(folder)
    sync_folder(root)
    return name
