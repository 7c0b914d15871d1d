"""Exports, receipts, cosignatures, promises and attestations, verified by Go's golang.org/x/mod/sumdb and the libraries of DSSE and in-toto,
with none of our code."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.notes.cosignature import cosign, witness_signing_key
from ledger.notes.note import checkpoint_text, sign_note
from ledger.proofs.attestation import attest, size_of
from ledger.stores.sqlite.store import SqliteLedgerStore
from tests.harness import KANSAS, ask, ingest, opened
from tests.ledger_doubles import MemoryLedgerStore, open_ledger
from tests.ledger_long import LOG_KEY, export_to, grow
from tests.ledger_promises import a_log_of_one, a_twin, answered, exported

SOURCE = Path(__file__).parents[1] / "go"
QUESTIONS = (
    "What was the population of Shawnee County in 1930?",
    "Which counties border Shawnee County?",
    "Who was William Cody?",
    "What is the capital of France?",
)
SIZES = (0, 1, 2, 255, 256, 257, 65_536, 70_000)
pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go on this machine"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("go") / "tlog-verify"
    subprocess.run(["go", "build", "-o", built, "."], cwd=SOURCE, check=True, timeout=600)
    return built


def accepts(program: Path, *arguments: object) -> bool:
    done = subprocess.run([program, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 or done.stderr
    return done.returncode == 0


async def test_exports_of_every_size_verify(program: Path, tmp_path: Path) -> None:
    store = await SqliteLedgerStore.open(tmp_path / "ledger.sqlite")
    checkpoints = await grow(store, SIZES)
    older = []
    for checkpoint in checkpoints:
        folder = await export_to(store, checkpoint, tmp_path / str(checkpoint.head.size))
        assert accepts(program, "log", folder, LOG_KEY.verifier, *older), checkpoint.head.size
        older.append(folder / "checkpoint")
    await store.aclose()
    for changed in (
        "tile/0/000",
        "tile/0/273.p/112",
        "tile/1/000",
        "tile/2/000.p/1",
        "tile/entries/255",
        "tile/entries/273.p/112",
    ):
        file = folder / changed
        data = file.read_bytes()
        file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        assert not accepts(program, "log", folder, LOG_KEY.verifier), changed
        file.write_bytes(data)
    assert accepts(program, "log", folder, LOG_KEY.verifier)


async def test_receipts_verify(program: Path, tmp_path: Path) -> None:
    ledger = await open_ledger(MemoryLedgerStore())
    for number in range(11):
        await ledger.record(Kind.INTENT, tenant="default", request_id=f"r{number}", parts={"question": b"Who?"})
    await ledger.checkpoint()
    proof, leaf = tmp_path / "receipt.tlog-proof", tmp_path / "leaf"
    for entry in await ledger.entries():
        proof.write_text(await ledger.receipt(entry.leaf.entry_id, disclose=("question",)), "utf-8")
        leaf.write_bytes(entry.leaf_bytes)
        assert accepts(program, "proof", proof, ledger.vkey, leaf)
        leaf.write_bytes(entry.leaf_bytes + b" ")
        assert not accepts(program, "proof", proof, ledger.vkey, leaf)


async def test_cosignatures_verify(program: Path, tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    (checkpoint,) = await grow(store, [5])
    witnesses = [witness_signing_key(f"witness.example/{n}", bytes([n]) * 32) for n in (1, 2)]
    text = checkpoint_text(LOG_KEY.name, checkpoint.head)
    lines = [await cosign(text, witness, timestamp_s=1_700_000_000 + n) for n, witness in enumerate(witnesses)]
    file = tmp_path / "checkpoint"
    file.write_text(sign_note(text, [LOG_KEY]) + "".join(f"{line}\n" for line in lines), "utf-8")
    keys = [witness.verifier for witness in witnesses]
    assert accepts(program, "cosigned", file, LOG_KEY.verifier, *keys)
    assert accepts(program, "cosigned", file, LOG_KEY.verifier, keys[0])
    assert not accepts(program, "cosigned", file, LOG_KEY.verifier, witness_signing_key("w", b"x" * 32).verifier)
    file.write_text(file.read_text("utf-8").replace("\n5\n", "\n6\n"), "utf-8")
    assert not accepts(program, "cosigned", file, LOG_KEY.verifier)


# ---------------------------------------------------------------- promises

COVERED, REFUSED, BROKEN, PENDING = 0, 1, 10, 11


def claims(program: Path, body: Mapping[str, Any], vkey: str, folder: Path, *shown: Path) -> int:
    """The exit code for a saved answer."""
    file = folder / "answer.json"
    file.write_text(json.dumps(body, ensure_ascii=False), "utf-8")
    arguments = [program, "claim", file, vkey, *shown]
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == COVERED or done.stderr
    return done.returncode


async def shown_by(ledger: Ledger, folder: Path) -> Path:
    """The log as it is now, exported to a folder."""
    for path, data in (await exported(ledger)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


async def receipt_of(ledger: Ledger, entry_id: str, file: Path) -> Path:
    file.write_text(await ledger.receipt(entry_id, disclose=("answer",)), "utf-8")
    return file


async def test_a_kept_promise_is_covered(program: Path, tmp_path: Path) -> None:
    ledger = await open_ledger(MemoryLedgerStore())
    first, second = [await answered(ledger, number) for number in (0, 1)]
    log = await shown_by(ledger, tmp_path / "log")
    receipt = await receipt_of(ledger, first["promise"]["entry_id"], tmp_path / "receipt")
    assert claims(program, first, ledger.vkey, tmp_path, log) == COVERED
    assert claims(program, first, ledger.vkey, tmp_path, receipt) == COVERED
    assert claims(program, second, ledger.vkey, tmp_path, receipt) == PENDING
    assert claims(program, second, ledger.vkey, tmp_path, receipt, log) == COVERED
    assert claims(program, {**first, "answer": "86,200"}, ledger.vkey, tmp_path, log) == REFUSED
    assert claims(program, first, str(LOG_KEY.verifier), tmp_path, log) == REFUSED
    for name, value in first["promise"].items():
        other = value + 1 if isinstance(value, int) else value[:-1] + ("0" if value[-1] != "0" else "1")
        altered = {**first, "promise": {**first["promise"], name: other}}
        assert claims(program, altered, ledger.vkey, tmp_path, log) == REFUSED, name
    checkpoint = (log / "checkpoint").read_bytes()
    (log / "checkpoint").write_bytes(checkpoint.replace(b"\n2\n", b"\n3\n"))
    assert claims(program, first, ledger.vkey, tmp_path, log) == REFUSED


async def test_a_log_that_signs_and_drops_is_caught_from_the_clients_files(program: Path, tmp_path: Path) -> None:
    body, cheat = await answered(await open_ledger(MemoryLedgerStore())), await a_twin()
    vkey = cheat.vkey
    assert claims(program, body, vkey, tmp_path, await shown_by(cheat, tmp_path / "empty")) == PENDING
    other = await answered(cheat, 100)
    receipt = await receipt_of(cheat, other["promise"]["entry_id"], tmp_path / "receipt")
    assert claims(program, body, vkey, tmp_path, receipt) == BROKEN
    assert claims(program, body, vkey, tmp_path, await shown_by(cheat, tmp_path / "replaced")) == BROKEN
    for name, change, found in (
        ("gap", lambda leaf: replace(leaf, rseq=7), BROKEN),
        ("late", lambda leaf: replace(leaf, replica="other", t_ms=leaf.t_ms + 2 * 86_400_000), BROKEN),
        ("in time", lambda leaf: replace(leaf, replica="other"), PENDING),
    ):
        log = await shown_by(await a_log_of_one(change), tmp_path / name)
        assert claims(program, body, vkey, tmp_path, log) == found, name


async def test_attestations_verify_with_the_libraries_of_dsse_and_in_toto(program: Path, tmp_path: Path) -> None:
    ledger = await open_ledger(MemoryLedgerStore())
    for number in range(11):
        entry = await ledger.record(
            Kind.OUTCOME, tenant="default", request_id=f"r{number}", parts={"answer": b"Who?"}, sources=[b"one"]
        )
    await ledger.checkpoint()
    receipt = await ledger.receipt(entry.entry_id, disclose=["answer", "sources/1"])
    data = await attest(receipt, await ledger.head.signer_at(size_of(receipt)))
    file, answer, source, other = (tmp_path / name for name in ("attestation.json", "answer", "source", "other"))
    for path, content in ((file, data), (answer, b"Who?"), (source, b"one"), (other, b"two")):
        path.write_bytes(content)
    assert accepts(program, "attestation", file, ledger.vkey)
    assert accepts(program, "attestation", file, ledger.vkey, answer, source)
    assert not accepts(program, "attestation", file, ledger.vkey, answer, other)
    assert not accepts(program, "attestation", file, str(LOG_KEY.verifier), answer)
    body = json.loads(data)
    for member in ("payload", "payloadType"):
        changed = body[member][:-6] + ("A" if body[member][-6] != "A" else "B") + body[member][-5:]
        file.write_text(json.dumps({**body, member: changed}), "utf-8")
        assert not accepts(program, "attestation", file, ledger.vkey), member
    file.write_text(json.dumps({**body, "signatures": []}), "utf-8")
    assert not accepts(program, "attestation", file, ledger.vkey)


async def test_an_answer_of_the_product_is_covered(program: Path, tmp_path: Path) -> None:
    """Its coordinates, quotes and every other value in canonical form."""
    await ingest(tmp_path / "home", manifest=KANSAS)
    async with opened(tmp_path / "home") as system:
        bodies = [await ask(system, question) for question in QUESTIONS]
        ledger = system.services.ledger
        log = await shown_by(ledger, tmp_path / "log")
        for body in bodies:
            assert claims(program, body, ledger.vkey, tmp_path, log) == COVERED
            assert claims(program, {**body, "answer": body["answer"] + " "}, ledger.vkey, tmp_path, log) == REFUSED
