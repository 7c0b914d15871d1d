"""Cosignatures of witnesses (c2sp.org/tlog-cosignature), with Ed25519 or ML-DSA-44.

    signature = timestamp_s, 8 bytes big-endian || Ed25519("cosignature/v1\\ntime <timestamp_s>\\n" || note text)
    signature = timestamp_s, 8 bytes big-endian || ML-DSA-44("subtree/v1\\n\\0" || len || name of the witness ||
                timestamp_s || len || origin || 0, 8 bytes || size, 8 bytes || root)

A witness that signs says: at that time, this was the largest consistent tree that I had seen of this log.
"""

from __future__ import annotations

from ledger.errors import MalformedNote, VerificationFailed
from ledger.notes.note import (
    COSIGNATURE,
    MLDSA44_COSIGNATURE,
    Signer,
    SigningKey,
    VerifierKey,
    parse_checkpoint_text,
    parse_note,
    parse_vkey,
    signature_line,
    vkey_type,
)

TIMESTAMP_BYTES = 8
SIGNATURE_BYTES = {COSIGNATURE: 64, MLDSA44_COSIGNATURE: 2420}
MAX_TIMESTAMP_S = 2**63 - 1


def parse_witness_key(text: str) -> VerifierKey:
    """A witness's verifier key (type 04 or 06) from its text. Raises MalformedNote."""
    found = vkey_type(text)
    return parse_vkey(text, type=found if found == MLDSA44_COSIGNATURE else COSIGNATURE)


def witness_signing_key(name: str, seed: bytes) -> SigningKey:
    """The signing key of a witness from a 32-byte seed. Raises MalformedNote for a name that a note cannot carry."""
    return SigningKey.from_seed(name, seed, COSIGNATURE)


def cosigned_message(text: str, timestamp_s: int) -> bytes:
    """The bytes that a witness signs: header, time, and the whole text of the note."""
    return f"cosignature/v1\ntime {timestamp_s}\n{text}".encode()


def cosigned_subtree(text: str, name: str, timestamp_s: int) -> bytes:
    """The bytes that the witness of that name signs with ML-DSA-44: of a checkpoint only what it states of the tree.
    Raises MalformedNote for what is not a checkpoint."""
    origin, head = parse_checkpoint_text(text)
    told = (b"subtree/v1\n\x00", _opaque(name), timestamp_s.to_bytes(8, "big"), _opaque(origin), bytes(8))
    return b"".join((*told, head.size.to_bytes(8, "big"), head.root))


def _opaque(text: str) -> bytes:
    data = text.encode()
    if not 1 <= len(data) <= 255:
        raise MalformedNote("a name is longer than a cosignature can hold")
    return bytes([len(data)]) + data


async def cosign(text: str, key: Signer, *, timestamp_s: int) -> str:
    """The signature line, without its newline. Raises ValueError for a time that cannot be written, KeyUnusable."""
    if key.verifier.type != COSIGNATURE or not 0 <= timestamp_s <= MAX_TIMESTAMP_S:
        raise ValueError("not a witness's key, or a time out of range")
    signature = await key.sign(cosigned_message(text, timestamp_s))
    return signature_line(key.verifier, timestamp_s.to_bytes(TIMESTAMP_BYTES, "big") + signature)


def cosigned_at(note: str, key: VerifierKey) -> int | None:
    """When that witness cosigned the note, in seconds since 1970; None if it did not. Of several times the first
    counts: the note was there by then. Raises MalformedNote, or VerificationFailed with the step `cosignature` if any
    line of that witness does not hold."""
    if key.type not in SIGNATURE_BYTES:
        raise MalformedNote("not a witness's key")
    parsed = parse_note(note)
    times = []
    for line in parsed.signatures:
        if not key.wrote(line):
            continue
        timestamp_s = int.from_bytes(line.signature[:TIMESTAMP_BYTES], "big")
        if (
            len(line.signature) != TIMESTAMP_BYTES + SIGNATURE_BYTES[key.type]
            or timestamp_s > MAX_TIMESTAMP_S
            or not key.holds(line.signature[TIMESTAMP_BYTES:], _message(parsed.text, key, timestamp_s))
        ):
            raise VerificationFailed("cosignature", f"the cosignature of {key.name} does not hold")
        if timestamp_s or key.type == COSIGNATURE:  # of type 06, time 0 does not state that the tree was the largest
            times.append(timestamp_s)
    return min(times, default=None)


def _message(text: str, key: VerifierKey, timestamp_s: int) -> bytes:
    if key.type == MLDSA44_COSIGNATURE:
        return cosigned_subtree(text, key.name, timestamp_s)
    return cosigned_message(text, timestamp_s)
