"""Attestations: the same bytes for the same receipt, and nothing that was altered passes."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from ledger.canonical import canonical_json
from ledger.errors import LedgerError, MalformedNote, VerificationFailed
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.notes.note import SigningKey
from ledger.proofs.attestation import PAYLOAD_TYPE, attest, public_pem, size_of, statement_of, verify_attestation
from tests.ledger_doubles import MemoryLedgerStore, open_ledger

PARTS = {"answer": b'{"answer":"85 200"}'}
Change = Callable[[dict[str, Any]], object]


async def a_ledger() -> tuple[Ledger, str]:
    ledger = await open_ledger(MemoryLedgerStore())
    for number in range(5):
        entry = await ledger.record(
            Kind.OUTCOME, tenant="default", request_id=f"r{number}", parts=PARTS, sources=[b"one", b"two"]
        )
    await ledger.checkpoint()
    return ledger, await ledger.receipt(entry.entry_id, disclose=["answer", "sources/2"])


async def attested(ledger: Ledger, receipt: str) -> bytes:
    return await attest(receipt, await ledger.head.signer_at(size_of(receipt)))


async def resigned(ledger: Ledger, receipt: str, change: Change, kind: str = PAYLOAD_TYPE) -> bytes:
    """An envelope that the log's own key signed over an altered statement."""
    from securesystemslib.dsse import Envelope

    statement = statement_of(receipt)
    change(statement)
    signer = await ledger.head.signer_at(size_of(receipt))
    envelope = Envelope(canonical_json(statement), kind, {})
    signature = {"keyid": signer.verifier.key_id.hex(), "sig": b64encode(await signer.sign(envelope.pae())).decode()}
    return canonical_json({**envelope.to_dict(), "signatures": [signature]})


async def test_what_it_says_is_what_the_receipt_proves() -> None:
    ledger, receipt = await a_ledger()
    data = await attested(ledger, receipt)
    assert data == await attested(ledger, receipt)
    verified = verify_attestation(data, vkeys=[ledger.vkey])
    leaf = verified.receipt.leaf
    assert (verified.receipt.parts["answer"], verified.receipt.sources) == (PARTS["answer"], {2: b"two"})
    assert verified.subjects[f"{leaf.entry_id}/answer"] == sha256(PARTS["answer"]).hexdigest()
    assert verified.subjects[f"{leaf.entry_id}/sources/2"] == sha256(b"two").hexdigest()
    assert set(verified.subjects) == {f"{leaf.entry_id}/{name}" for name in ("leaf", "answer", "sources", "sources/2")}


ENVELOPES: dict[str, Change] = {
    "payload": lambda body: body.update(payload=b64encode(b"{}" + b64decode(body["payload"])).decode()),
    "payload, one bit": lambda body: body.update(
        payload=b64encode(bytes([*(data := b64decode(body["payload"]))[:-3], data[-3] ^ 1, *data[-2:]])).decode()
    ),
    "payload is no text": lambda body: body.update(payload=1),
    "payload is no base64": lambda body: body.update(payload="%"),
    "type": lambda body: body.update(payloadType="application/json"),
    "type is no text": lambda body: body.update(payloadType=None),
    "no type": lambda body: body.pop("payloadType"),
    "no signatures": lambda body: body.update(signatures=[]),
    "signatures are no list": lambda body: body.update(signatures={}),
    "signature is no object": lambda body: body.update(signatures=["x"]),
    "signature": lambda body: body["signatures"][0].update(sig=b64encode(bytes(64)).decode()),
    "signature is short": lambda body: body["signatures"][0].update(sig=b64encode(bytes(63)).decode()),
    "signature is no base64": lambda body: body["signatures"][0].update(sig="%"),
    "another key id": lambda body: body["signatures"][0].update(keyid="00000000"),
    "no key id": lambda body: body["signatures"][0].pop("keyid"),
    "twice the same": lambda body: body["signatures"].append(body["signatures"][0]),
    "more members": lambda body: body.update(more=1),
}


@pytest.mark.parametrize("name", ENVELOPES)
async def test_an_altered_envelope_is_refused(name: str) -> None:
    ledger, receipt = await a_ledger()
    body = json.loads(await attested(ledger, receipt))
    ENVELOPES[name](body)
    with pytest.raises((VerificationFailed, MalformedNote)):
        verify_attestation(json.dumps(body).encode(), vkeys=[ledger.vkey])


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b'{"payload":"","payload":""}', b"\xff", b"[" * 100_000])
async def test_what_is_no_envelope_is_refused(data: bytes) -> None:
    ledger, _ = await a_ledger()
    with pytest.raises(MalformedNote):
        verify_attestation(data, vkeys=[ledger.vkey])


def _another_receipt(body: dict[str, Any]) -> None:
    body["predicate"]["receipt"] = body["predicate"]["receipt"].replace("index 4", "index 3")


STATEMENTS: dict[str, Change] = {
    "digest of a subject": lambda body: body["subject"][1]["digest"].update(sha256="0" * 64),
    "name of a subject": lambda body: body["subject"][1].update(name="answer"),
    "one subject less": lambda body: body["subject"].pop(),
    "one subject more": lambda body: body["subject"].append({"name": "x", "digest": {"sha256": "0" * 64}}),
    "no subject": lambda body: body.pop("subject"),
    "time": lambda body: body["predicate"].update(time="2020-01-01T00:00:00.000Z"),
    "kind": lambda body: body["predicate"].update(kind="intent"),
    "log": lambda body: body["predicate"].update(log="elsewhere.example/log"),
    "entry": lambda body: body["predicate"].update(entry_id="x"),
    "more": lambda body: body["predicate"].update(more="x"),
    "type of the statement": lambda body: body.update(_type="https://in-toto.io/Statement/v0.1"),
    "type of the predicate": lambda body: body.update(predicateType="https://slsa.dev/provenance/v1"),
    "the receipt proves nothing": _another_receipt,
    "no receipt": lambda body: body["predicate"].pop("receipt"),
    "the receipt is no text": lambda body: body["predicate"].update(receipt=1),
    "the receipt is none": lambda body: body["predicate"].update(receipt="x"),
    "no predicate": lambda body: body.pop("predicate"),
}


@pytest.mark.parametrize("name", STATEMENTS)
async def test_what_the_log_signs_beyond_its_receipt_is_refused(name: str) -> None:
    ledger, receipt = await a_ledger()
    verify_attestation(await resigned(ledger, receipt, lambda _: None), vkeys=[ledger.vkey])
    with pytest.raises(LedgerError):
        verify_attestation(await resigned(ledger, receipt, STATEMENTS[name]), vkeys=[ledger.vkey])


async def test_another_type_of_payload_is_refused_though_it_is_signed() -> None:
    ledger, receipt = await a_ledger()
    with pytest.raises(MalformedNote):
        verify_attestation(await resigned(ledger, receipt, lambda _: None, "text/plain"), vkeys=[ledger.vkey])


async def test_another_logs_key_is_refused() -> None:
    ledger, receipt = await a_ledger()
    data = await attested(ledger, receipt)
    other = SigningKey.from_seed(ledger.vkey.partition("+")[0], bytes(32))
    for vkeys in ([str(other.verifier)], []):
        with pytest.raises(LedgerError):
            verify_attestation(data, vkeys=vkeys)
    assert verify_attestation(data, vkeys=[str(other.verifier), ledger.vkey]).subjects


async def test_the_key_as_pem_is_the_logs() -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from securesystemslib.dsse import Envelope

    ledger, receipt = await a_ledger()
    envelope = Envelope.from_dict(json.loads(await attested(ledger, receipt)))
    key = load_pem_public_key(public_pem(ledger.vkey))
    assert isinstance(key, Ed25519PublicKey)
    [signature] = envelope.signatures.values()
    key.verify(bytes.fromhex(signature.signature), envelope.pae())
