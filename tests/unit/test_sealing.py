"""Sealed bytes come back whole or not at all, and say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.home.encryption import sealing
from api.home.encryption.sealing import MAGIC, FileSeal

SEAL, OTHER = FileSeal(bytes(32)), FileSeal(bytes([1]) * 32)
WORDS = b"Esther Long wrote the diary of the flood in 1903."


@given(st.binary(max_size=4_000))
def test_what_is_sealed_is_opened(data: bytes) -> None:
    assert SEAL.opened(SEAL.sealed(data)) == data


@given(st.binary(min_size=1, max_size=400), st.data())
def test_a_changed_bit_opens_nothing(data: bytes, drawn: st.DataObject) -> None:
    sealed = bytearray(SEAL.sealed(data))
    place = drawn.draw(st.integers(0, len(sealed) * 8 - 1))
    sealed[place // 8] ^= 1 << place % 8
    with pytest.raises(ValueError, match="sealed"):
        SEAL.opened(bytes(sealed))


@given(st.binary(max_size=400), st.data())
def test_a_part_opens_nothing(data: bytes, drawn: st.DataObject) -> None:
    sealed = SEAL.sealed(data)
    with pytest.raises(ValueError, match="sealed"):
        SEAL.opened(sealed[: drawn.draw(st.integers(0, len(sealed) - 1))])
    with pytest.raises(ValueError, match="sealed"):
        SEAL.opened(sealed + drawn.draw(st.binary(min_size=1, max_size=40)))


def test_another_key_opens_nothing() -> None:
    with pytest.raises(ValueError, match="another key"):
        OTHER.opened(SEAL.sealed(WORDS))
    with pytest.raises(ValueError, match="not sealed"):
        SEAL.opened(WORDS)


def test_sealing_twice_gives_different_bytes_without_the_words() -> None:
    one, two = SEAL.sealed(WORDS), SEAL.sealed(WORDS)
    assert one[len(MAGIC) :] != two[len(MAGIC) :]
    assert WORDS not in one


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 128, 200])
def test_chunks_cannot_be_moved_or_left_out(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "_CHUNK", 64)
    data = bytes(range(length))
    sealed = SEAL.sealed(data)
    assert SEAL.opened(sealed) == data
    begin, step = len(MAGIC) + 16, 64 + 16
    chunks = [sealed[n : n + step] for n in range(begin, len(sealed), step)]
    for n in range(len(chunks) - 1):
        swapped = [*chunks[:n], chunks[n + 1], chunks[n], *chunks[n + 2 :]]
        for wrong in (swapped, chunks[: n + 1], chunks[n + 1 :]):
            with pytest.raises(ValueError, match="another key"):
                SEAL.opened(sealed[:begin] + b"".join(wrong))
