"""Receipts: strict to the letter, and each failure named by its step."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.entry.leaf import encode_leaf
from ledger.errors import LedgerError, MalformedNote, VerificationFailed
from ledger.merkle.tree import EMPTY_ROOT, hash_leaf
from ledger.model import TreeHead
from ledger.notes.note import checkpoint_text, sign_note
from ledger.proofs.receipt import Receipt, format_receipt, parse_receipt, verify_receipt
from tests.ledger_long import LOG_KEY, leaf_number
from tests.ledger_vectors import FOLDER, OTHER

GOLDEN = json.loads((FOLDER / "golden.json").read_text())
VKEY = GOLDEN["vkey"]
TEXT = GOLDEN["receipts"]["outcome, answer and source 2"]


@pytest.mark.parametrize("text", GOLDEN["receipts"].values(), ids=GOLDEN["receipts"])
def test_text_goes_both_ways(text: str) -> None:
    assert format_receipt(parse_receipt(text)) == text


def test_another_log_key_is_refused() -> None:
    with pytest.raises(VerificationFailed) as failed:
        verify_receipt(TEXT, vkey=str(OTHER.verifier))
    assert failed.value.step == "signature"


@pytest.mark.parametrize("vkey", ["", "x", VKEY + "x", VKEY[:-1]])
def test_a_bad_key_is_no_key(vkey: str) -> None:
    with pytest.raises(MalformedNote):
        verify_receipt(TEXT, vkey=vkey)


@given(st.integers(0, 8 * len(TEXT.encode()) - 1))
@settings(max_examples=200, deadline=None)
def test_no_flipped_bit_verifies(bit: int) -> None:
    data = bytearray(TEXT.encode())
    data[bit // 8] ^= 1 << bit % 8
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    with pytest.raises(LedgerError):
        verify_receipt(text, vkey=VKEY)


@given(st.text(max_size=300), st.integers(0, len(TEXT)))
@settings(max_examples=100, deadline=None)
def test_parsing_raises_nothing_else(noise: str, at: int) -> None:
    for candidate in (noise, TEXT[:at] + noise, TEXT[:at] + noise + TEXT[at:]):
        try:
            parse_receipt(candidate)
        except LedgerError:
            continue


@pytest.mark.parametrize(("seen", "holds"), [(0, True), (1, False), (5, False)])
def test_an_entry_has_seen_only_what_was_before_it(seen: int, holds: bool) -> None:
    entry = leaf_number(0).leaf
    data = encode_leaf(dataclasses.replace(entry, seen=TreeHead(seen, b"\x01" * 32 if seen else EMPTY_ROOT)))
    note = sign_note(checkpoint_text(LOG_KEY.name, TreeHead(1, hash_leaf(data))), [LOG_KEY])
    text = format_receipt(Receipt(data, (), 0, (), note))
    if holds:
        assert verify_receipt(text, vkey=str(LOG_KEY.verifier)).index == 0
        return
    with pytest.raises(VerificationFailed) as failed:
        verify_receipt(text, vkey=str(LOG_KEY.verifier))
    assert failed.value.step == "seen"
