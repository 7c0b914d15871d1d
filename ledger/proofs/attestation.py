"""An entry as an in-toto statement in a DSSE envelope, for tools that know those and no log.

The statement is a function of the receipt, which it carries whole: its subjects are the leaf and each disclosed part,
by SHA-256 of their bytes, so that a tool can match a file with it. The log's key signs it: the one that signed the
receipt's checkpoint. What is signed begins with `DSSEv1` and a space, as no note, checkpoint or promise does.

`securesystemslib` makes the envelope and verifies it; it is imported on first use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NoReturn

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ledger.canonical import canonical_json
from ledger.entry.leaf import parse_leaf, strict_object
from ledger.errors import MalformedLeaf, MalformedNote, VerificationFailed
from ledger.notes.note import Signer, VerifierKey, parse_checkpoint_text, parse_note, parse_vkey
from ledger.proofs.promise import utc_text
from ledger.proofs.receipt import VerifiedReceipt, parse_receipt, verify_with_any

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:exhibit:entry/1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class VerifiedAttestation:
    """The content that an attestation proves: its receipt, and the subjects by name with their SHA-256 in hex."""

    receipt: VerifiedReceipt
    subjects: Mapping[str, str]


def size_of(receipt: str) -> int:
    """The size of the tree that the receipt's checkpoint signs. Raises MalformedNote."""
    return parse_checkpoint_text(parse_note(parse_receipt(receipt).checkpoint).text)[1].size


def statement_of(receipt: str) -> dict[str, Any]:
    """The in-toto statement of a receipt, of which nothing is verified here. Raises MalformedNote, MalformedLeaf."""
    parsed = parse_receipt(receipt)
    leaf, origin = parse_leaf(parsed.leaf_bytes), parse_checkpoint_text(parse_note(parsed.checkpoint).text)[0]
    subjects = {LEAF: parsed.leaf_bytes, **{part.name: part.data for part in parsed.disclosures}}
    return {
        "_type": STATEMENT,
        "subject": [
            {"name": f"{leaf.entry_id}/{name}", "digest": {"sha256": sha256(data).hexdigest()}}
            for name, data in subjects.items()
        ],
        "predicateType": PREDICATE,
        "predicate": {
            "log": origin,
            "entry_id": leaf.entry_id,
            "kind": str(leaf.kind),
            "time": utc_text(leaf.t_ms),
            "receipt": receipt,
        },
    }


async def attest(receipt: str, signer: Signer) -> bytes:
    """The signed envelope of a receipt's statement: the same receipt and key give the same bytes. Raises MalformedNote,
    KeyUnusable."""
    from securesystemslib.dsse import Envelope  # noqa: PLC0415 - only who exchanges entries needs it
    from securesystemslib.signer import Signature  # noqa: PLC0415

    envelope = Envelope(canonical_json(statement_of(receipt)), PAYLOAD_TYPE, {})
    key_id = signer.verifier.key_id.hex()
    envelope.signatures[key_id] = Signature(key_id, (await signer.sign(envelope.pae())).hex())
    return canonical_json(envelope.to_dict()) + b"\n"


def verify_attestation(data: bytes, *, vkeys: Sequence[str]) -> VerifiedAttestation:
    """Check an attestation against the log's verifier keys, offline. Raises MalformedNote for what is no envelope of a
    statement, VerificationFailed with the step `signature` or `statement`, or with that of its receipt."""
    from securesystemslib.dsse import Envelope  # noqa: PLC0415
    from securesystemslib.exceptions import VerificationError  # noqa: PLC0415

    envelope = _envelope(data, Envelope)
    try:
        envelope.verify([_key(parse_vkey(vkey)) for vkey in vkeys], 1)
    except (VerificationError, ValueError) as exc:
        raise VerificationFailed("signature", "none of the log's keys signed this attestation") from exc
    statement = _object(envelope.payload, "the statement")
    predicate = statement.get("predicate")
    receipt = predicate.get("receipt") if isinstance(predicate, dict) else None
    if envelope.payload_type != PAYLOAD_TYPE or not isinstance(receipt, str):
        _refuse(f"it is no in-toto statement about an entry ({PREDICATE})")
    verified = verify_with_any(receipt, vkeys=vkeys)
    expected = statement_of(receipt)
    if statement != expected:
        raise VerificationFailed("statement", "it does not say what its receipt proves")
    return VerifiedAttestation(verified, {each["name"]: each["digest"]["sha256"] for each in expected["subject"]})


def public_pem(vkey: str) -> bytes:
    """The public key of a log as PEM (SubjectPublicKeyInfo), as other tools take it. Raises MalformedNote."""
    key = Ed25519PublicKey.from_public_bytes(parse_vkey(vkey).public)
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _key(key: VerifierKey) -> Any:
    from securesystemslib.signer import SSlibKey  # noqa: PLC0415

    return SSlibKey(key.key_id.hex(), "ed25519", "ed25519", {"public": key.public.hex()})


def _envelope(data: bytes, kind: Any) -> Any:
    body = _object(data, "the envelope")
    if set(body) != {"payload", "payloadType", "signatures"}:
        _refuse("an envelope has exactly the members payload, payloadType and signatures")
    if not isinstance(body["payload"], str) or not isinstance(body["payloadType"], str):
        _refuse("payload and payloadType of an envelope are text")
    try:
        return kind.from_dict(body)
    except (ValueError, KeyError, TypeError, AttributeError, LookupError) as exc:
        raise MalformedNote("it is not a DSSE envelope") from exc


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        return strict_object(data)
    except MalformedLeaf as exc:
        raise MalformedNote(f"{what} is not a strict JSON object: {exc}") from exc


def _refuse(reason: str) -> NoReturn:
    raise MalformedNote(reason)
