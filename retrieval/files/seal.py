"""How the bytes of files are kept on the disk: as they are, or sealed under the key of an encrypted home."""

from __future__ import annotations

from typing import Final, Protocol


class Seal(Protocol):
    """`opened` gives back what `sealed` was given. `opened` raises ValueError for bytes that were not sealed under this
    key, or were changed, cut or joined since."""

    def sealed(self, data: bytes) -> bytes: ...
    def opened(self, data: bytes) -> bytes: ...


class _Plain:
    def sealed(self, data: bytes) -> bytes:
        return data

    def opened(self, data: bytes) -> bytes:
        return data


PLAIN: Final[Seal] = _Plain()
"""The bytes as they are: a home that is not encrypted."""
