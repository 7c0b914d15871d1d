"""Signed notes and checkpoints: our own, the specification's example, and what is neither."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import MalformedNote, VerificationFailed
from ledger.merkle.tree import EMPTY_ROOT, MAX_SIZE
from ledger.model import TreeHead
from ledger.notes.note import (
    SigningKey,
    checkpoint_text,
    parse_checkpoint_text,
    parse_note,
    parse_signing_key,
    parse_vkey,
    sign_note,
    verify_checkpoint,
    verify_note,
)

KEY = SigningKey.from_seed("exhibit.example/log", bytes(range(32)))
OTHER = SigningKey.from_seed("other.example", b"o" * 32)
SAME_NAME = SigningKey.from_seed("exhibit.example/log", b"s" * 32)
HEAD = TreeHead(3, b"\x5a" * 32)
TEXT = checkpoint_text(KEY.name, HEAD)
NOTE = sign_note(TEXT, [KEY])


def test_the_key_of_the_go_documentation_is_read_and_verifies_its_note() -> None:
    # golang.org/x/mod/sumdb/note, package documentation
    vkey = parse_vkey("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
    note = (
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n"
        "\n"
        "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
    )
    assert verify_note(note, vkey).startswith("If you think")


def test_verifier_key_and_private_key_go_both_ways() -> None:
    assert parse_vkey(str(KEY.verifier)) == KEY.verifier
    assert parse_signing_key(KEY.encode()).verifier == KEY.verifier
    assert "PRIVATE" not in repr(KEY)


def test_checkpoint_goes_both_ways() -> None:
    assert verify_checkpoint(NOTE, KEY.verifier, origin=KEY.name) == HEAD
    assert parse_checkpoint_text(checkpoint_text("a", TreeHead(0, EMPTY_ROOT))) == ("a", TreeHead(0, EMPTY_ROOT))
    assert parse_checkpoint_text(checkpoint_text("a", TreeHead(MAX_SIZE, EMPTY_ROOT)))[1].size == MAX_SIZE
    assert parse_checkpoint_text(TEXT + "extension line\n") == (KEY.name, HEAD)


def test_signatures_of_unknown_keys_are_ignored() -> None:
    assert verify_note(sign_note(TEXT, [OTHER, SAME_NAME, KEY]), KEY.verifier) == TEXT


def test_every_signature_of_the_known_key_must_hold() -> None:
    good, bad = sign_note(TEXT, [KEY]), sign_note(TEXT + "more\n", [KEY])
    assert verify_note(good + good.split("\n\n")[1], KEY.verifier) == TEXT
    with pytest.raises(VerificationFailed):
        verify_note(good + bad.split("\n\n")[1], KEY.verifier)


def test_sixteen_signatures_are_accepted_and_a_thousand_are_not() -> None:
    line = sign_note(TEXT, [OTHER]).split("\n\n")[1]
    assert verify_note(NOTE + line * 15, KEY.verifier) == TEXT
    with pytest.raises(MalformedNote):
        verify_note(NOTE + line * 1000, KEY.verifier)


@pytest.mark.parametrize("text", ["one\n\ntwo\n", "\nstarts empty\n", "\n", "\n\n", "ends empty\n\n", "è \x7f 𝄞\n"])
def test_text_may_hold_empty_lines_and_any_letter(text: str) -> None:
    assert verify_note(sign_note(text, [KEY]), KEY.verifier) == text


def test_the_empty_tree_has_one_root() -> None:
    with pytest.raises(MalformedNote):
        parse_checkpoint_text(checkpoint_text("a", TreeHead(0, b"\x5a" * 32)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PRIVATE+KEY+",
        KEY.encode()[1:],
        KEY.encode() + "A",
        KEY.encode().replace("PRIVATE", "PUBLIC"),
        KEY.encode().replace("/log+", "+"),
        str(KEY.verifier),
        KEY.encode().replace(KEY.verifier.key_id.hex(), "00000000"),
        "PRIVATE+KEY+n+00000000+" + base64.b64encode(b"\x01short").decode(),
        "PRIVATE+KEY+n+00000000+" + base64.b64encode(b"\x02" + b"x" * 32).decode(),
    ],
)
def test_bad_private_keys(text: str) -> None:
    with pytest.raises(MalformedNote):
        parse_signing_key(text)


@pytest.mark.parametrize(
    "text", ["", "no newline", "a\n\nb", "a\x1b\n", "a\x1f\n", "cr\r\n", "tab\there\n", "nul\0\n", "\ud800\n"]
)
def test_texts_that_no_note_can_have(text: str) -> None:
    with pytest.raises(MalformedNote):
        sign_note(text, [KEY])


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u00a0b", "a\u2003b", "\ud800"])
def test_names_that_no_key_can_have(name: str) -> None:
    with pytest.raises(MalformedNote):
        SigningKey.from_seed(name, b"s" * 32)


def test_a_note_needs_a_signature() -> None:
    with pytest.raises(MalformedNote):
        sign_note(TEXT, [])


@given(st.integers(0, 8 * len(NOTE.encode()) - 1))
@settings(max_examples=200, deadline=None)
def test_one_flipped_bit_never_verifies_as_another_head(bit: int) -> None:
    data = bytearray(NOTE.encode())
    data[bit // 8] ^= 1 << bit % 8
    try:
        note = data.decode()
    except UnicodeDecodeError:
        return
    with pytest.raises((MalformedNote, VerificationFailed)):
        verify_checkpoint(note, KEY.verifier, origin=KEY.name)


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_parsing_raises_nothing_else(text: str) -> None:
    for candidate in (text, NOTE + text, text + NOTE):
        try:
            parse_note(candidate)
        except MalformedNote:
            continue
