"""Cosignatures of witnesses (c2sp.org/tlog-cosignature, Ed25519 `cosignature/v1`).

    signature = timestamp_s, 8 bytes big-endian || Ed25519("cosignature/v1\\ntime <timestamp_s>\\n" || note text)

A witness that signs says: at that time, this was the largest consistent tree that I had seen of this log.
"""

from __future__ import annotations

from ledger.errors import MalformedNote, VerificationFailed
from ledger.note import COSIGNATURE, Signer, SigningKey, VerifierKey, parse_note, parse_vkey, signature_line

TIMESTAMP_BYTES = 8
SIGNATURE_BYTES = 64
MAX_TIMESTAMP_S = 2**63 - 1


def parse_witness_key(text: str) -> VerifierKey:
    """A witness's verifier key (type 04) from its text. Raises MalformedNote."""
    return parse_vkey(text, type=COSIGNATURE)


def witness_signing_key(name: str, seed: bytes) -> SigningKey:
    """The signing key of a witness from a 32-byte seed. Raises MalformedNote for a name that a note cannot carry."""
    return SigningKey.from_seed(name, seed, COSIGNATURE)


def cosigned_message(text: str, timestamp_s: int) -> bytes:
    """The bytes that a witness signs: header, time, and the whole text of the note."""
    return f"cosignature/v1\ntime {timestamp_s}\n{text}".encode()


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
    if key.type != COSIGNATURE:
        raise MalformedNote("not a witness's key")
    parsed = parse_note(note)
    times = []
    for line in parsed.signatures:
        if not key.wrote(line):
            continue
        timestamp_s = int.from_bytes(line.signature[:TIMESTAMP_BYTES], "big")
        if (
            len(line.signature) != TIMESTAMP_BYTES + SIGNATURE_BYTES
            or timestamp_s > MAX_TIMESTAMP_S
            or not key.holds(line.signature[TIMESTAMP_BYTES:], cosigned_message(parsed.text, timestamp_s))
        ):
            raise VerificationFailed("cosignature", f"the cosignature of {key.name} does not hold")
        times.append(timestamp_s)
    return min(times, default=None)
