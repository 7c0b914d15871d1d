"""Cosignatures: the specification's form, and what is none."""

from __future__ import annotations

import base64
import struct

import pytest
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import MalformedNote, VerificationFailed
from ledger.model import TreeHead
from ledger.notes.cosignature import (
    MAX_TIMESTAMP_S,
    cosign,
    cosigned_at,
    cosigned_message,
    parse_witness_key,
    witness_signing_key,
)
from ledger.notes.note import (
    COSIGNATURE,
    MLDSA44_COSIGNATURE,
    SigningKey,
    VerifierKey,
    checkpoint_text,
    parse_note,
    parse_signing_key,
    parse_vkey,
    sign_note,
    signature_line,
)
from ledger.notes.trust import parse_policy

LOG = SigningKey.from_seed("exhibit.example/log", bytes(range(32)))
WITNESS = witness_signing_key("witness.example/w1", b"w" * 32)
OTHER = witness_signing_key("other.example/w", b"o" * 32)
SAME_NAME = witness_signing_key("witness.example/w1", b"s" * 32)
TEXT = checkpoint_text(LOG.name, TreeHead(3, b"\x5a" * 32))
NOTE = sign_note(TEXT, [LOG])
TIME_S = 1_679_315_147


async def line(key: SigningKey = WITNESS, timestamp_s: int = TIME_S, text: str = TEXT) -> str:
    return await cosign(text, key, timestamp_s=timestamp_s) + "\n"


def raw(cosignature: str) -> bytes:
    return base64.b64decode(cosignature.split(" ")[2])


def with_raw(data: bytes, name: str = WITNESS.name) -> str:
    return f"— {name} {base64.b64encode(data).decode()}\n"


def test_the_signed_message_is_that_of_the_specification() -> None:
    assert cosigned_message("example.com/behind-the-sofa\n20852163\nCsUYapGG=\n", TIME_S) == (
        b"cosignature/v1\ntime 1679315147\nexample.com/behind-the-sofa\n20852163\nCsUYapGG=\n"
    )


async def test_the_signature_is_key_id_time_and_ed25519() -> None:
    data = raw(await line())
    assert data[:4] == WITNESS.verifier.key_id
    assert int.from_bytes(data[4:12], "big") == TIME_S
    assert WITNESS.verifier.holds(data[12:], cosigned_message(TEXT, TIME_S))
    assert len(data) == 4 + 8 + 64


@pytest.mark.parametrize("timestamp_s", [0, 1, TIME_S, MAX_TIMESTAMP_S])
async def test_times(timestamp_s: int) -> None:
    assert cosigned_at(NOTE + await line(timestamp_s=timestamp_s), WITNESS.verifier) == timestamp_s


@pytest.mark.parametrize("timestamp_s", [-1, MAX_TIMESTAMP_S + 1, 2**64])
async def test_times_that_cannot_be_written(timestamp_s: int) -> None:
    with pytest.raises(ValueError, match="range"):
        await line(timestamp_s=timestamp_s)


async def test_lines_of_others_say_nothing() -> None:
    note = NOTE + await line(OTHER) + await line(SAME_NAME)
    assert cosigned_at(note, WITNESS.verifier) is None
    assert cosigned_at(note + await line(), WITNESS.verifier) == TIME_S
    assert cosigned_at(NOTE, WITNESS.verifier) is None


async def test_the_first_of_several_times_counts_and_all_must_hold() -> None:
    note = NOTE + await line(timestamp_s=TIME_S + 9) + await line()
    assert cosigned_at(note, WITNESS.verifier) == TIME_S
    with pytest.raises(VerificationFailed):
        cosigned_at(note + await line(text=TEXT + "x\n"), WITNESS.verifier)


def test_a_log_key_cannot_cosign_nor_a_witness_key_sign() -> None:
    with pytest.raises(MalformedNote):
        cosigned_at(NOTE, LOG.verifier)
    with pytest.raises(MalformedNote):
        parse_witness_key(str(LOG.verifier))
    with pytest.raises(MalformedNote):
        parse_vkey(str(WITNESS.verifier))
    with pytest.raises(MalformedNote):
        parse_signing_key(WITNESS.encode())
    assert parse_witness_key(str(WITNESS.verifier)) == WITNESS.verifier
    assert parse_signing_key(WITNESS.encode(), type=COSIGNATURE).verifier == WITNESS.verifier


async def test_a_log_key_is_no_cosigner() -> None:
    with pytest.raises(ValueError, match="witness"):
        await cosign(TEXT, LOG, timestamp_s=1)


@pytest.mark.parametrize(
    "vkey",
    [
        "",
        WITNESS.name,
        str(WITNESS.verifier)[:-1],
        str(WITNESS.verifier) + "\n",
        str(WITNESS.verifier).replace("/w1+", "/w2+"),
        str(WITNESS.verifier).replace(WITNESS.verifier.key_id.hex(), WITNESS.verifier.key_id.hex().upper()),
        str(VerifierKey(WITNESS.name, WITNESS.verifier.public, b"\x06")),
        str(VerifierKey(WITNESS.name, WITNESS.verifier.public + b"x", COSIGNATURE)),
        str(VerifierKey(WITNESS.name, WITNESS.verifier.public[:-1], COSIGNATURE)),
        str(VerifierKey("a b", WITNESS.verifier.public, COSIGNATURE)),
    ],
)
def test_bad_witness_keys(vkey: str) -> None:
    with pytest.raises(MalformedNote):
        parse_witness_key(vkey)


@given(st.integers(0, 8 * 76 - 1))
@settings(max_examples=50, deadline=None)
async def test_no_flipped_bit_is_another_time(bit: int) -> None:
    data = bytearray(raw(await line()))
    data[bit // 8] ^= 1 << bit % 8
    if bit < 32:
        assert cosigned_at(NOTE + with_raw(bytes(data)), WITNESS.verifier) is None
        return
    with pytest.raises(VerificationFailed):
        cosigned_at(NOTE + with_raw(bytes(data)), WITNESS.verifier)


# ---------------------------------------------------------------- ML-DSA-44


PQ = MLDSA44PrivateKey.from_seed_bytes(b"p" * 32)
PQ_KEY = VerifierKey("pq.example/w", PQ.public_key().public_bytes_raw(), MLDSA44_COSIGNATURE)


def pq_line(message: bytes, timestamp_s: int) -> str:
    """What such a witness writes; the message is laid out here by hand, from the specification."""
    return signature_line(PQ_KEY, timestamp_s.to_bytes(8, "big") + PQ.sign(message))


def subtree(name: bytes, timestamp_s: int, origin: bytes, size: int, root: bytes) -> bytes:
    """The structure `cosigned_message` of tlog-cosignature, for a whole tree."""
    head = b"subtree/v1\n\x00" + bytes([len(name)]) + name + struct.pack(">Q", timestamp_s)
    return head + bytes([len(origin)]) + origin + struct.pack(">QQ", 0, size) + root


SIZE, ROOT, ORIGIN = 3, b"\x5a" * 32, LOG.name.encode()
PQ_NOTE = sign_note(checkpoint_text(LOG.name, TreeHead(SIZE, ROOT)), [LOG])
HONEST = (b"pq.example/w", 7, ORIGIN, SIZE, ROOT)


def test_a_cosignature_with_ml_dsa_44_holds() -> None:
    assert parse_witness_key(str(PQ_KEY)) == PQ_KEY
    note = PQ_NOTE + pq_line(subtree(*HONEST), 7) + "\n"
    assert cosigned_at(note, PQ_KEY) == 7
    assert cosigned_at(PQ_NOTE, PQ_KEY) is None
    policy = parse_policy(f"witness pq {PQ_KEY}\nquorum pq\n".encode())
    found = policy.check(note)
    assert found is not None and (found.by_s, policy.notes) == (7, ())


def test_time_zero_does_not_say_that_the_tree_was_the_largest() -> None:
    note = PQ_NOTE + pq_line(subtree(b"pq.example/w", 0, ORIGIN, SIZE, ROOT), 0) + "\n"
    assert cosigned_at(note, PQ_KEY) is None


@pytest.mark.parametrize(
    "message",
    [
        subtree(b"other.example/w", 7, ORIGIN, SIZE, ROOT),
        subtree(b"pq.example/w", 8, ORIGIN, SIZE, ROOT),
        subtree(b"pq.example/w", 7, b"another.example/log", SIZE, ROOT),
        subtree(b"pq.example/w", 7, ORIGIN, SIZE + 1, ROOT),
        subtree(b"pq.example/w", 7, ORIGIN, SIZE, b"\x5b" * 32),
        subtree(*HONEST)[:-1],
        subtree(*HONEST) + b"\x00",
        subtree(*HONEST).replace(b"subtree/v1", b"subtree/v2"),
        cosigned_message(parse_note(PQ_NOTE).text, 7),
        b"",
    ],
)
def test_another_message_with_ml_dsa_44_does_not_hold(message: bytes) -> None:
    note = PQ_NOTE + pq_line(message, 7) + "\n"
    with pytest.raises(VerificationFailed) as failed:
        cosigned_at(note, PQ_KEY)
    assert failed.value.step == "cosignature"


@pytest.mark.parametrize("length", [0, 31, 32, 33, 1311, 1313])
def test_a_key_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(MalformedNote):
        parse_witness_key(str(VerifierKey("pq.example/w", b"k" * length, MLDSA44_COSIGNATURE)))
