"""Signatures of text: what an entry's text holds, for a search that reads only the entries that can match.

A signature is a Bloom filter (Bloom 1970, with one hash function) of the text's groups of three characters, as an index
of trigrams is (Zobel and Moffat 2006), hashed under a key. Whoever has no key learns from it how alike two texts of a
tenant are, and no word of them.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

SIGNATURE_BYTES = 1_024
PIECES = 8
PIECE_BYTES = SIGNATURE_BYTES // PIECES
_BITS = SIGNATURE_BYTES * 8
_GRAM = 3
_ASKED_BITS = 16
"""A text of 2,000 different groups sets a fifth of the bits: sixteen that match by chance are one in 10^11."""


def folded(text: str) -> str:
    """The text as it is compared: compatibility forms and case do not count."""
    return unicodedata.normalize("NFKC", text).casefold()


def signature_of(text: str, key: bytes) -> bytes:
    """The signature of folded text, `SIGNATURE_BYTES` long; empty for text that is shorter than a group."""
    bits = bytearray(SIGNATURE_BYTES)
    for gram in set(_grams(text)):
        bit = _bit(gram, key)
        bits[bit >> 3] |= 1 << (bit & 7)
    return bytes(bits) if any(bits) else b""


def bits_of(text: str, key: bytes) -> tuple[int, ...]:
    """Numbers of bits that the signature of every text has that holds this folded one: at most 16, spread over it, and
    none for one that is shorter than a group. Bit 0 is the least significant of the first byte."""
    bits = list(dict.fromkeys(_bit(gram, key) for gram in _grams(text)))
    step = -(-len(bits) // _ASKED_BITS) or 1
    return tuple(bits[::step])


def pieces_of(signature: bytes) -> tuple[bytes, ...]:
    """The signature in `PIECES` parts of `PIECE_BYTES`; none of an empty one."""
    return tuple(signature[start : start + PIECE_BYTES] for start in range(0, len(signature), PIECE_BYTES))


def by_piece(bits: Iterable[int]) -> list[tuple[int, list[int]]]:
    """Bits by the piece that holds them, each with their places in it: the piece of the most bits first, which rules
    out most."""
    found: dict[int, list[int]] = {}
    for bit in bits:
        found.setdefault(bit // (PIECE_BYTES * 8), []).append(bit % (PIECE_BYTES * 8))
    return sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))


@lru_cache(8)
def bytes_with(bit: int) -> bytes:
    """All bytes that have this bit, 0 to 7 from the least significant."""
    return bytes(byte for byte in range(256) if byte >> bit & 1)


def _grams(text: str) -> Iterator[str]:
    return (text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1))


@lru_cache(65_536)
def _bit(gram: str, key: bytes) -> int:
    digest = hashlib.blake2b(gram.encode("utf-8", "surrogatepass"), key=key, digest_size=4).digest()
    return int.from_bytes(digest) % _BITS
