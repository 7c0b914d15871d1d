"""Exports, receipts and cosignatures, verified by Go's golang.org/x/mod/sumdb with none of our code."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ledger.cosignature import cosign, witness_signing_key
from ledger.model import Kind
from ledger.note import checkpoint_text, sign_note
from ledger.sqlite import SqliteLedgerStore
from tests.ledger_doubles import MemoryLedgerStore, open_ledger
from tests.ledger_long import LOG_KEY, export_to, grow

SOURCE = Path(__file__).parents[1] / "go"
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
