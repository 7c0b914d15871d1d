"""Every form that a stranger may hand us, against the vectors in `tests/vectors/ledger/`: what is right is taken, what is
not is refused at the step that the vector names."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ledger.entry.leaf import encode_leaf, parse_leaf
from ledger.errors import MalformedLeaf, MalformedNote, VerificationFailed
from ledger.merkle.tree import verify_consistency, verify_inclusion
from ledger.notes.cosignature import cosigned_at
from ledger.notes.note import parse_vkey, verify_checkpoint, verify_note
from ledger.proofs.receipt import format_receipt, parse_receipt, verify_receipt
from tests.ledger_vectors import FOLDER, FORMS, HEAD, KEY, MALFORMED, OK
from tests.ledger_vectors.cosignatures import NOBODY, WITNESS, cosignatures
from tests.ledger_vectors.leaves import leaves
from tests.ledger_vectors.notes import checkpoints, notes, vkeys
from tests.ledger_vectors.proofs import proofs
from tests.ledger_vectors.receipts import receipts

Vector = Mapping[str, Any]
GOLDEN = json.loads((FOLDER / "golden.json").read_text())
VECTORS = {form: json.loads((FOLDER / f"{form}.json").read_text()) for form in FORMS}
EVERY = [(form, each) for form, lists in VECTORS.items() for which in ("positive", "negative") for each in lists[which]]


def read_proof(vector: Vector) -> None:
    proof = [base64.b64decode(each) for each in vector["proof"]]
    if vector["kind"] == "inclusion-proof":
        leaf_hash, root = base64.b64decode(vector["leaf_hash"]), base64.b64decode(vector["root"])
        verify_inclusion(leaf_hash=leaf_hash, index=vector["index"], size=vector["size"], proof=proof, root=root)
        return
    old_root, new_root = base64.b64decode(vector["old_root"]), base64.b64decode(vector["new_root"])
    verify_consistency(old=vector["old"], new=vector["new"], old_root=old_root, new_root=new_root, proof=proof)


def read_vkey(vector: Vector) -> None:
    assert str(parse_vkey(vector["vkey"])) == vector["vkey"]


def read_note(vector: Vector) -> None:
    assert vector["note"].startswith(verify_note(vector["note"], KEY.verifier))


def read_checkpoint(vector: Vector) -> None:
    assert verify_checkpoint(vector["note"], KEY.verifier, origin=KEY.name) == HEAD


def read_cosignature(vector: Vector) -> str | None:
    return NOBODY if cosigned_at(vector["note"], WITNESS.verifier) is None else None


def read_leaf(vector: Vector) -> None:
    data = base64.b64decode(vector["leaf"])
    assert encode_leaf(parse_leaf(data)) == data


def read_receipt(vector: Vector) -> None:
    verify_receipt(vector["text"], vkey=GOLDEN["vkey"])
    assert format_receipt(parse_receipt(vector["text"])) == vector["text"]


READ: Mapping[str, Callable[[Vector], str | None]] = {
    "proofs": read_proof,
    "vkeys": read_vkey,
    "notes": read_note,
    "checkpoints": read_checkpoint,
    "cosignatures": read_cosignature,
    "leaves": read_leaf,
    "receipts": read_receipt,
}


@pytest.mark.parametrize(("form", "vector"), EVERY, ids=[f"{form}: {each['name']}" for form, each in EVERY])
def test_each_vector_has_its_verdict(form: str, vector: Vector) -> None:
    try:
        verdict = READ[form](vector) or OK
    except (MalformedNote, MalformedLeaf):
        verdict = MALFORMED
    except VerificationFailed as failed:
        verdict = failed.step
    assert verdict == vector["verdict"]


@pytest.mark.parametrize("form", FORMS)
def test_there_are_ten_negative_vectors_per_positive(form: str) -> None:
    """Counted by what they are, so that no input counts twice and none is on the wrong side."""
    positive, negative = VECTORS[form]["positive"], VECTORS[form]["negative"]
    distinct = {json.dumps({**each, "name": "", "verdict": ""}, sort_keys=True) for each in negative}
    assert len(distinct) == len(negative)
    assert {each["verdict"] for each in positive} == {OK}
    assert OK not in {each["verdict"] for each in negative}
    assert len(negative) >= 10 * len(positive) > 0


def test_the_files_are_what_the_forms_give() -> None:
    made = {"proofs": proofs(), "vkeys": vkeys(), "notes": notes(), "checkpoints": checkpoints()}
    made |= {"cosignatures": cosignatures(), "leaves": leaves(), "receipts": receipts(GOLDEN)}
    assert made == VECTORS
