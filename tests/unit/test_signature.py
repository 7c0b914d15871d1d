"""A signature never rules out what a text holds, rules out most that it does not, and says nothing without its key."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from ledger.search.signature import SIGNATURE_BYTES, bits_of, folded, signature_of

KEY, OTHER = bytes(16), bytes(15) + b"\x01"


def has_bit(signature: bytes, bit: int) -> bool:
    return signature[bit // 8] & 1 << bit % 8 != 0


def may_hold(signature: bytes, text: str, key: bytes = KEY) -> bool:
    bits = bits_of(text, key)
    return not bits or (signature != b"" and all(has_bit(signature, bit) for bit in bits))


@given(before=st.text(max_size=60), text=st.text(max_size=60), after=st.text(max_size=60))
def test_what_a_text_holds_is_never_ruled_out(before: str, text: str, after: str) -> None:
    assert may_hold(signature_of(before + text + after, KEY), text)


@given(st.text())
def test_it_has_one_length_or_none(text: str) -> None:
    assert len(signature_of(text, KEY)) == (SIGNATURE_BYTES if len(text) > 2 else 0)


@given(text=st.text(min_size=3))
def test_bits_are_at_most_sixteen_and_of_the_text_alone(text: str) -> None:
    bits = bits_of(text, KEY)
    assert 1 <= len(bits) <= 16
    assert bits == bits_of(text, KEY)
    assert all(0 <= bit < SIGNATURE_BYTES * 8 for bit in bits)


def test_words_that_a_long_text_does_not_hold_are_ruled_out() -> None:
    """Texts as long as an answer with its quotes; words drawn from another alphabet of syllables."""
    chance = random.Random(3)
    held = ["".join(chance.choices("aeioulmnrst", k=7)) for _ in range(900)]
    signature = signature_of(" ".join(held), KEY)
    absent = ["".join(chance.choices("bcdfghjkpqvwxyz", k=10)) for _ in range(2_000)]
    assert sum(may_hold(signature, word) for word in absent) <= 2
    assert all(may_hold(signature, word) for word in held)


def test_another_key_finds_nothing() -> None:
    signature = signature_of("the ferry at lecompton", KEY)
    assert may_hold(signature, "lecompton")
    assert not may_hold(signature, "lecompton", OTHER)
    assert signature != signature_of("the ferry at lecompton", OTHER)


def test_compatibility_forms_and_case_do_not_count() -> None:
    assert folded("\ufb01rst STRA\u00dfE") == "first strasse"
