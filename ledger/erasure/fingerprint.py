"""Keyed fingerprints of what was erased, by which copies and fragments of it are found in other bytes.

A text is cut into windows of 32 bytes that begin at every 8th, so every fragment of 39 bytes holds a whole one. Letters
of ASCII are compared without case, line breaks and tabs as spaces. A fingerprint is 12 bytes: the upper 4 of a
polynomial over the window with a secret base, which is computed at every offset of a file at once, and 8 of an
HMAC-SHA-256, which decides. Without the key they say nothing about the text.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

WINDOW = 32
STEP = 8
SIZE = 12
_ROLL = 4
_LEAST_DIFFERENT = 8  # bytes of a window: rulers, padding and zeros are everywhere
_TABLE_BITS = 22
_CHUNK = 1 << 20
_FOLDED = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ\t\n\r\v\f", b"abcdefghijklmnopqrstuvwxyz     ")


@dataclass(frozen=True, slots=True)
class Fingerprinter:
    """Makes fingerprints under one secret key."""

    key: bytes
    _base: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        digest = hmac.digest(self.key, b"exhibit-fingerprint/1\x00base", "sha256")
        object.__setattr__(self, "_base", int.from_bytes(digest[:8], "big") | 1)

    def of(self, text: bytes, *, step: int = STEP) -> frozenset[bytes]:
        """The fingerprints of a text; none for one that is shorter than a window. `step` is the number of bytes from
        one window to the next."""
        return frozenset(self._made(text.translate(_FOLDED), step))

    def found(self, data: bytes, wanted: Wanted) -> frozenset[bytes]:
        """Those of the wanted fingerprints whose text stands in the data, at whatever offset."""
        hits: set[bytes] = set()
        for start in range(0, max(len(data) - WINDOW + 1, 0), _CHUNK):
            hits |= self._in_chunk(data[start : start + _CHUNK + WINDOW - 1].translate(_FOLDED), wanted)
        return frozenset(hits)

    def _made(self, folded: bytes, step: int) -> Iterator[bytes]:
        last = len(folded) - WINDOW
        if last < 0:
            return
        rolled = _upper(_rolling(folded, self._base))
        for start in sorted({*range(0, last + 1, step), last}):  # the last one, or the end would be found late
            window = folded[start : start + WINDOW]
            if len(set(window)) >= _LEAST_DIFFERENT:
                yield int(rolled[start]).to_bytes(_ROLL, "big") + self._mac(window)

    def _in_chunk(self, folded: bytes, wanted: Wanted) -> set[bytes]:
        rolled = _upper(_rolling(folded, self._base))
        hits = set()
        for start in wanted.candidates(rolled):
            window = folded[start : start + WINDOW]
            each = int(rolled[start]).to_bytes(_ROLL, "big") + self._mac(window)
            if each in wanted.values:
                hits.add(each)
        return hits

    def _mac(self, window: bytes) -> bytes:
        return hmac.digest(self.key, b"exhibit-fingerprint/1\x00" + window, "sha256")[: SIZE - _ROLL]


class Wanted:
    """Fingerprints that are looked for, with a table that says for almost every offset of a file that none begins
    there."""

    def __init__(self, values: Iterable[bytes]) -> None:
        self.values = frozenset(values)
        rolls = sorted({int.from_bytes(each[:_ROLL], "big") for each in self.values})
        self._rolls = np.array(rolls, dtype=np.uint32)
        self._table = np.zeros(1 << _TABLE_BITS, dtype=np.bool_)
        self._table[self._rolls >> np.uint32(32 - _TABLE_BITS)] = True

    def candidates(self, rolled: NDArray[np.uint32]) -> list[int]:
        """The offsets at which a wanted fingerprint may begin."""
        near = np.flatnonzero(self._table[rolled >> np.uint32(32 - _TABLE_BITS)])
        if not len(near):
            return []
        places = np.searchsorted(self._rolls, rolled[near])
        found: list[int] = near[self._rolls[np.minimum(places, len(self._rolls) - 1)] == rolled[near]].tolist()
        return found


def pack(values: Iterable[bytes]) -> bytes:
    """Fingerprints as bytes, one after the other, rising."""
    return b"".join(sorted(values))


def unpack(data: bytes) -> frozenset[bytes]:
    """The fingerprints in packed bytes. Raises ValueError for bytes that `pack` does not write."""
    values = [data[start : start + SIZE] for start in range(0, len(data), SIZE)]
    if len(data) % SIZE or values != sorted(set(values)):
        raise ValueError(f"fingerprints are {SIZE} bytes each and rise")
    return frozenset(values)


def _rolling(data: bytes, base: int) -> NDArray[np.uint64]:
    """The polynomial over the window that begins at each offset, modulo 2^64: widths are doubled until it is whole."""
    sums = np.frombuffer(data, dtype=np.uint8).astype(np.uint64)
    power, width = base, 1
    while width < WINDOW:
        if len(sums) <= width:
            return np.zeros(0, dtype=np.uint64)
        sums = sums[:-width] * np.uint64(power) + sums[width:]
        power, width = power * power % (1 << 64), width * 2
    return sums


def _upper(sums: NDArray[np.uint64]) -> NDArray[np.uint32]:
    return (sums >> np.uint64(32)).astype(np.uint32)
