"""Bytes sealed under a key: AES-256-GCM over chunks, so that a file of any length is under one key of its own.

    exhibit-sealed/1\\n | 16 random bytes | chunk ...

The file's key is HKDF-SHA-256 of the key, salted with those random bytes; the nonce of a chunk is its place (11 bytes)
and whether it is the last one (1 byte): chunks that were moved, left out or taken from another file do not open. The
construction is STREAM (Hoang, Reyhanitabar, Rogaway and Vizár 2015).
"""

from __future__ import annotations

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MAGIC = b"exhibit-sealed/1\n"
KEY_BYTES = 32
_SALT_BYTES = 16
_CHUNK = 16 * 1024 * 1024
_TAG_BYTES = 16


class FileSeal:
    """See `retrieval.files.seal.Seal`, over a key of 32 bytes."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __repr__(self) -> str:
        return "FileSeal(...)"

    def sealed(self, data: bytes) -> bytes:
        """The bytes, encrypted."""
        salt = os.urandom(_SALT_BYTES)
        cipher, view = self._cipher(salt), memoryview(data)
        starts = range(0, max(len(data), 1), _CHUNK)
        made = [
            cipher.encrypt(_nonce(n, start + _CHUNK >= len(data)), view[start : start + _CHUNK], None)
            for n, start in enumerate(starts)
        ]
        return b"".join((MAGIC, salt, *made))

    def opened(self, data: bytes) -> bytes:
        """The data that was sealed. Raises ValueError."""
        begin = len(MAGIC) + _SALT_BYTES
        if not data.startswith(MAGIC) or len(data) < begin + _TAG_BYTES:
            raise ValueError("the bytes are not sealed")
        cipher, view, step = self._cipher(data[len(MAGIC) : begin]), memoryview(data), _CHUNK + _TAG_BYTES
        try:
            made = [
                cipher.decrypt(_nonce(n, start + step >= len(data)), view[start : start + step], None)
                for n, start in enumerate(range(begin, len(data), step))
            ]
        except InvalidTag:
            raise ValueError("the bytes were sealed under another key, or changed since") from None
        return b"".join(made)

    def _cipher(self, salt: bytes) -> AESGCM:
        return AESGCM(derived(self._key, b"file", salt=salt))


def derived(key: bytes, purpose: bytes, *, salt: bytes | None = None) -> bytes:
    """A key of 32 bytes for one purpose (HKDF, RFC 5869)."""
    return HKDF(SHA256(), KEY_BYTES, salt, b"exhibit/1 " + purpose).derive(key)


def _nonce(place: int, last: bool) -> bytes:
    return place.to_bytes(11, "big") + bytes([last])
