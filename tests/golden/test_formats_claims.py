"""docs/formats.md is enough to check a promise, an attestation, a redaction and the commitments of provenance: `reader_claims.py` is written
from it alone, and comes to what the product comes to."""

from __future__ import annotations

import ast
import json
import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.exceptions import InvalidSignature
from hypothesis import given
from hypothesis import strategies as st

from ledger.erasure.redaction import PartAt, Redaction, Target
from ledger.errors import LedgerError
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.notes.note import parse_vkey
from ledger.proofs.attestation import attest, size_of, verify_attestation
from ledger.proofs.claim import claim_by_folder, promised_in
from tests.golden import reader_claims
from tests.golden.reader import Key, Wrong
from tests.golden.test_formats import REFUSALS
from tests.harness import KANSAS, ask, ingest, opened
from tests.ledger_doubles import MemoryLedgerStore, open_ledger
from tests.ledger_promises import a_log_of_one, a_twin, answered, exported
from tests.unit.test_ledger_attestation import ENVELOPES, STATEMENTS, a_ledger, attested, resigned

REFUSED = (*REFUSALS, Wrong, InvalidSignature, AttributeError)
VERDICTS = {"covered": "covered", "broken promise": "broken", "not yet covered": "open"}


def leaves_of(files: dict[str, bytes]) -> list[bytes]:
    """The leaves of an export of fewer than 257 entries."""
    found, bundle = [], next((data for path, data in files.items() if path.startswith("tile/entries/")), b"")
    while bundle:
        (length,) = struct.unpack(">H", bundle[:2])
        found.append(bundle[2 : 2 + length])
        bundle = bundle[2 + length :]
    return found


def test_the_reader_knows_the_page_alone() -> None:
    tree = ast.parse(Path(reader_claims.__file__).read_text("utf-8"))
    modules = {name.name for each in ast.walk(tree) if isinstance(each, ast.Import) for name in each.names}
    modules |= {str(each.module) for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    assert modules <= {
        *("__future__", "base64", "hashlib", "hmac", "json", "re", "collections.abc", "datetime", "typing"),
        "tests.golden.reader",
    }


@given(
    st.floats(allow_nan=False, allow_infinity=False) | st.floats(-1e-3, 1e-3) | st.sampled_from([1e21, 1e-7, 5e-324])
)
def test_numbers_are_those_of_the_standard(value: float) -> None:
    assert math.isfinite(value) and reader_claims.canonical([value]).encode() == rfc8785.dumps([value])


async def test_it_comes_to_the_same_verdicts_on_promises() -> None:
    kept, cheat = await open_ledger(MemoryLedgerStore()), await a_twin()
    body = await answered(kept)
    logs = {"kept": kept, "empty": cheat}
    for name, change in {
        "gap": lambda leaf: replace(leaf, rseq=7),
        "late": lambda leaf: replace(leaf, replica="other", t_ms=leaf.t_ms + 2 * 86_400_000),
        "in time": lambda leaf: replace(leaf, replica="other"),
        "id": lambda leaf: replace(leaf, replica="other", entry_id=body["promise"]["entry_id"]),
    }.items():
        logs[name] = await a_log_of_one(change)
    found = {}
    for name, ledger in logs.items():
        files = await exported(ledger)
        promised = promised_in(body, [parse_vkey(ledger.vkey)])
        ours = claim_by_folder(promised, files.get, vkeys=[ledger.vkey]).verdict
        made = reader_claims.promise(body, [Key(ledger.vkey)])
        found[name] = reader_claims.verdict(made, leaves_of(files), whole=True)
        assert found[name] == VERDICTS[ours], name
    assert set(found.values()) == {"covered", "broken", "open"}


async def test_it_refuses_what_was_altered_in_a_promise() -> None:
    ledger = await open_ledger(MemoryLedgerStore())
    body = await answered(ledger)
    keys = [Key(ledger.vkey)]
    promise = body["promise"]
    altered: list[dict[str, Any]] = [{**body, "answer": "86,200"}, {**body, "more": 1}, {**body, "promise": {}}]
    altered += [{**body, "promise": {**promise, name: value}} for name, value in (("rseq", 2), ("merge_delay_s", 1))]
    altered += [
        {**body, "promise": {**promise, name: f"{promise[name]}0"}}
        for name in promise
        if isinstance(promise[name], str)
    ]
    for each in altered:
        with pytest.raises(REFUSED):
            reader_claims.promise(each, keys)
        with pytest.raises(LedgerError):
            promised_in(each, [parse_vkey(ledger.vkey)])


async def test_it_comes_to_the_same_verdicts_on_attestations() -> None:
    ledger, receipt = await a_ledger()
    data = await attested(ledger, receipt)
    keys = [Key(ledger.vkey)]
    assert reader_claims.attestation(data, keys) == verify_attestation(data, vkeys=[ledger.vkey]).subjects
    for name, change in ENVELOPES.items():
        body = json.loads(data)
        change(body)
        with pytest.raises(REFUSED):
            print(name, reader_claims.attestation(json.dumps(body).encode(), keys))
    for name, change in STATEMENTS.items():
        with pytest.raises(REFUSED):
            print(name, reader_claims.attestation(await resigned(ledger, receipt, change), keys))


async def test_it_reads_a_redaction() -> None:
    ledger = await open_ledger(MemoryLedgerStore())
    entry = await ledger.record(Kind.INTENT, tenant="default", request_id="r", parts={"question": b"Who?"})
    await ledger.redact(
        Redaction(Target.ENTRY, entry.entry_id, "art. 17", (PartAt(entry.entry_id, "question"),)), request_id="e"
    )
    [made] = [each async for each in ledger.every(kind=Kind.REDACTION)]
    detail = await ledger.part(made.leaf.entry_id, "detail")
    body = json.loads(made.leaf_bytes)
    assert reader_claims.redaction(body, detail) == {entry.entry_id: ["question"]}
    for member in json.loads(detail):
        told = {name: value for name, value in json.loads(detail).items() if name != member}
        with pytest.raises(REFUSED):
            reader_claims.redaction(body, reader_claims.canonical(told).encode())
    with pytest.raises(REFUSED):
        reader_claims.redaction({**body, "refs": []}, detail)


async def test_what_the_product_answers_is_checked_with_it(tmp_path: Path) -> None:
    """Coordinates, quotes and every other value in canonical form, and the commitment that the provenance has."""
    await ingest(tmp_path / "home", manifest=KANSAS)
    async with opened(tmp_path / "home") as system:
        ledger: Ledger = system.services.ledger
        bodies = [
            await ask(system, each) for each in ("Which counties border Shawnee County?", "Who was William Cody?")
        ]
        leaves = leaves_of(await exported(ledger))
        key = bytes.fromhex((tmp_path / "home/keys/pseudonym.key").read_text().strip())
        for body in bodies:
            made = reader_claims.promise(json.loads(json.dumps(body)), [Key(ledger.vkey)])
            assert reader_claims.verdict(made, leaves, whole=True) == "covered"
            parts = await ledger.parts(made["entry_id"], ("answer", "prov"))
            named = json.loads(parts["prov"])["entity"]["run:answer"]["exhibit:commitment"]
            assert named == reader_claims.answer_commitment(key, made["entry_id"], parts["answer"])
            receipt = await ledger.receipt(made["entry_id"], disclose=["answer"])
            data = await attest(receipt, await ledger.head.signer_at(size_of(receipt)))
            assert f"{made['entry_id']}/answer" in reader_claims.attestation(data, [Key(ledger.vkey)])
