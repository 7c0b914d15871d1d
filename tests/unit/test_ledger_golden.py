"""The golden vectors: exact bytes of leaves, commitments, roots, checkpoints, receipts, provenance."""

from __future__ import annotations

import hmac
import json
from hashlib import sha256
from pathlib import Path

import pytest
import rfc8785

from ledger.entry.leaf import parse_leaf
from ledger.entry.parts import commitment
from ledger.merkle.tree import EMPTY_ROOT, root_of
from ledger.model import Kind
from ledger.notes.note import parse_vkey, verify_checkpoint
from ledger.proofs.receipt import parse_receipt, verify_receipt
from ledger.provenance.check import check_prov
from ledger.stores.sqlite.store import SqliteLedgerStore
from tests.ledger_doubles import ORIGIN, open_ledger
from tests.ledger_vectors import FOLDER
from tests.ledger_vectors.golden import QUESTION, SOURCES, golden, prov_facts, record_golden

GOLDEN = json.loads((FOLDER / "golden.json").read_text())


async def test_the_bytes_have_not_changed() -> None:
    assert await golden() == GOLDEN


async def test_the_sqlite_store_gives_the_same_bytes(tmp_path: Path) -> None:
    ledger = await open_ledger(await SqliteLedgerStore.open(tmp_path / "ledger.db"))
    assert await ledger.checkpoint() == GOLDEN["empty_checkpoint"]
    await record_golden(ledger)
    assert [entry.leaf_bytes.decode() for entry in await ledger.entries()] == GOLDEN["leaves"]
    assert await ledger.checkpoint() == GOLDEN["checkpoint"]
    await ledger.aclose()


def test_leaf_hashes_and_root_follow_from_the_bytes() -> None:
    hashes = [sha256(b"\0" + text.encode()).digest() for text in GOLDEN["leaves"]]
    assert [item.hex() for item in hashes] == GOLDEN["leaf_hashes"]
    key = parse_vkey(GOLDEN["vkey"])
    head = verify_checkpoint(GOLDEN["checkpoint"], key, origin=ORIGIN)
    assert (head.size, head.root) == (len(hashes), root_of(hashes))
    assert verify_checkpoint(GOLDEN["empty_checkpoint"], key, origin=ORIGIN).root == EMPTY_ROOT


def test_leaves_are_of_every_kind_and_at_most_4_kib() -> None:
    leaves = [parse_leaf(text.encode()) for text in GOLDEN["leaves"]]
    assert {leaf.kind for leaf in leaves} == set(Kind)
    assert [leaf.rseq for leaf in leaves] == list(range(1, len(leaves) + 1))
    assert leaves[1].seen.size == 1
    assert max(len(text) for text in GOLDEN["leaves"]) < 2048


@pytest.mark.parametrize("name", GOLDEN["receipts"])
def test_receipts_verify(name: str) -> None:
    verified = verify_receipt(GOLDEN["receipts"][name], vkey=GOLDEN["vkey"])
    assert verified.leaf_hash == GOLDEN["leaf_hashes"][verified.index]
    assert verified.witnessed is False


def test_what_receipts_disclose() -> None:
    def verified(name: str) -> tuple[dict[str, bytes], dict[int, bytes]]:
        found = verify_receipt(GOLDEN["receipts"][name], vkey=GOLDEN["vkey"])
        return dict(found.parts), dict(found.sources)

    assert verified("intent, nothing disclosed") == ({}, {})
    assert verified("intent, question") == ({"question": QUESTION}, {})
    parts, sources = verified("outcome, answer and source 2")
    assert set(parts) == {"answer", "sources"}
    assert sources == {2: SOURCES[1]}


def test_a_commitment_is_the_hmac_that_the_contract_names() -> None:
    receipt = parse_receipt(GOLDEN["receipts"]["intent, question"])
    (part,) = receipt.disclosures
    expected = hmac.new(part.salt, b"exhibit-part/1\x00question\x00" + QUESTION, "sha256").hexdigest()
    assert commitment(part.salt, "question", QUESTION) == expected
    assert parse_leaf(receipt.leaf_bytes).parts["question"] == expected


def test_sources_is_the_canonical_array_of_their_commitments() -> None:
    receipt = parse_receipt(GOLDEN["receipts"]["outcome, answer and source 2"])
    parts = {part.name: part for part in receipt.disclosures}
    array = json.loads(parts["sources"].data)
    assert rfc8785.dumps(array) == parts["sources"].data
    assert len(array) == len(SOURCES)
    assert array[1] == commitment(parts["sources/2"].salt, "sources/2", SOURCES[1])


def test_provenance_holds_and_is_of_the_facts() -> None:
    check_prov(GOLDEN["prov"].encode())
    assert f"urn:exhibit:run:{prov_facts().run_id}:" in GOLDEN["prov"]
