"""The table of tamperings: what somebody with the file can do to a witnessed log, and the step that names it.

Every column of a leaf, every level of the tree, every checkpoint and cosignature, every table and trigger; parts and
files are in tests/api/test_home_tamperings.py. What is not in the table is what a log without outside witnesses cannot notice: a history rewritten and signed
under the real key (tests/api/test_ledger_adversary.py, where a witness notices it).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
import pytest_asyncio

from ledger.ledger import Ledger
from ledger.merkle.tree import hash_leaf
from ledger.model import PART_NAMES, Kind, VerifyReport
from ledger.notes.cosignature import cosign, witness_signing_key
from ledger.notes.note import parse_note
from ledger.notes.trust import parse_policy
from ledger.outside import CheckpointFile
from ledger.stores.sqlite.schema import _INSERT_ONLY
from ledger.stores.sqlite.store import SqliteLedgerStore
from tests.ledger_doubles import MemoryKeyRing, fixed_entropy, fixed_ids, ticking_clock

WITNESSES = [witness_signing_key(f"{name}.example/w", name.encode() * 8) for name in ("nort", "sout")]
POLICY = parse_policy(
    "".join(f"witness {n} {key.verifier}\n" for n, key in enumerate(WITNESSES)).encode()
    + b"group g all 0 1\nquorum g\n"
)


async def write(folder: Path) -> None:
    """Four requests, a checkpoint after the second and at the end, both with both witnesses; the last one held
    outside too."""
    ledger = await opened(folder)
    for number in range(4):
        request = f"r{number}"
        intent = await ledger.record(Kind.INTENT, tenant="t", request_id=request, parts={"question": b"Who?"})
        parts = {name: b"{}" for name in PART_NAMES[Kind.OUTCOME] if name not in ("sources", "prov", "answer")}
        refs = [intent.as_ref("intent")]
        await ledger.record(
            Kind.OUTCOME, tenant="t", request_id=request, parts=parts, sources=[b"one", b"two"], refs=refs
        )
        if number % 2:
            checkpoint = await ledger.head.checkpoint()
            text = parse_note(checkpoint.note).text
            lines = [await cosign(text, key, timestamp_s=9) for key in WITNESSES]
            await ledger._store.add_cosignatures(checkpoint.head.size, lines)
    await ledger.aclose()


async def opened(folder: Path) -> Ledger:
    keys = MemoryKeyRing()
    return await Ledger.open(
        store=await SqliteLedgerStore.open(folder / "ledger.sqlite"),
        keys=keys,
        origin=keys.signer.name,
        replica="local",
        clock_ms=ticking_clock(),
        new_id=fixed_ids(1),
        entropy=fixed_entropy(),
        outside=CheckpointFile(folder / "highest"),
    )


async def verified(folder: Path) -> VerifyReport:
    ledger = await opened(folder)
    try:
        return await ledger.verify(policy=POLICY)
    finally:
        await ledger.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log")
    await write(folder)
    report = await verified(folder)
    assert (report.ok, report.witnessed_size) == (True, 8), report.problems
    return folder


pytestmark = pytest.mark.asyncio(loop_scope="module")


def tree_tamperings() -> Iterator[tuple[str, str, str]]:
    """Of each level of the tree one node, changed and gone, and the leaves."""
    for level, n in ((0, 5), (1, 2), (2, 1), (3, 0)):
        where = f"WHERE level = {level} AND n = {n}"
        yield f"a node of level {level}", f"UPDATE nodes SET hash = flip(hash) {where}", "node"
        yield f"a node of level {level} gone", f"DELETE FROM nodes {where}", "node"
    for column in ("id", "kind", "tenant", "req", "replica"):
        yield f"the column {column}", f"UPDATE leaves SET {column} = 'another' WHERE idx = 3", "store"
    yield "the column rseq", "UPDATE leaves SET rseq = 99 WHERE idx = 3", "store"
    yield "a bit of a leaf", "UPDATE leaves SET leaf = flip(leaf) WHERE idx = 3", "leaf-hash"
    yield "a bit of a hash", "UPDATE leaves SET hash = flip(hash) WHERE idx = 3", "leaf-hash"
    both = "UPDATE leaves SET leaf = flip(leaf), hash = leaf_hash(flip(leaf)) WHERE idx = 3"
    yield "a leaf with its hash", both, "node"
    for first, after in ((0, 1), (3, 4)):
        yield f"leaf {first} gone", f"DELETE FROM leaves WHERE idx = {first}", "index"
        del after
    yield "the tail gone", "DELETE FROM leaves WHERE idx >= 6", "behind"
    swap = "UPDATE leaves SET idx = {} WHERE idx = {}"
    yield "two leaves swapped", "; ".join(swap.format(*each) for each in ((-1, 3), (3, 4), (4, -1))), "node"


def head_tamperings() -> Iterator[tuple[str, str, str]]:
    """Of the checkpoints, the cosignatures and the log's own row."""
    cut = "DELETE FROM cosignatures"
    yield "every cosignature gone", cut, "quorum"
    yield "the latest checkpoint's cosignatures gone", f"{cut} WHERE size = 8", "quorum"
    yield "one cosignature of the latest checkpoint gone", f"{cut} WHERE size = 8 AND n = 1", "quorum"
    yield "one cosignature of an earlier checkpoint gone", f"{cut} WHERE size = 4 AND n = 0", "quorum"
    other = "UPDATE cosignatures SET line = (SELECT line FROM cosignatures WHERE size = 4 AND n = {0}) WHERE size = 8 AND n = {0}"
    yield "a cosignature of another checkpoint", other.format(0), "cosignature"
    yield "another cosignature of another checkpoint", other.format(1), "cosignature"
    yield (
        "the latest checkpoint gone",
        f"{cut} WHERE size = 8; DELETE FROM checkpoints WHERE size = 8",
        "checkpoint-missing",
    )
    yield "every checkpoint gone", f"{cut}; DELETE FROM checkpoints", "checkpoint-missing"
    yield "an earlier checkpoint gone", f"{cut} WHERE size = 4; DELETE FROM checkpoints WHERE size = 4", "seen"
    yield "the root of a checkpoint", "UPDATE checkpoints SET root = flip(root) WHERE size = 4", "checkpoint"
    yield "the size of a checkpoint", "UPDATE checkpoints SET size = 5 WHERE size = 4", "checkpoint"
    yield "the text of a checkpoint", "UPDATE checkpoints SET note = note || 'x' WHERE size = 4", "checkpoint"


def schema_tamperings() -> Iterator[tuple[str, str, str]]:
    """Of the tables and of the triggers that keep them insert-only."""
    for table in _INSERT_ONLY:
        for verb in ("replace", "update", "delete"):
            yield f"the trigger {table}_no_{verb} gone", f"-- keep\nDROP TRIGGER {table}_no_{verb}", "store"
    for table in ("secrets", "blobs"):
        for name in ("redacted", "no_update"):
            yield f"the trigger {table}_{name} gone", f"-- keep\nDROP TRIGGER {table}_{name}", "store"
    idle = "-- keep\nDROP TRIGGER leaves_no_update; -- keep\nCREATE TRIGGER leaves_no_update BEFORE UPDATE ON leaves BEGIN SELECT 1; END"
    yield "a trigger that does nothing", idle.replace("; -- keep", ";"), "store"
    yield "another table", "-- keep\nCREATE TABLE more (a)", "store"
    yield "another index", "-- keep\nCREATE INDEX more ON leaves (kind)", "store"
    yield "another view", "-- keep\nCREATE VIEW more AS SELECT 1", "store"
    yield "another column", "-- keep\nALTER TABLE log ADD COLUMN more TEXT", "store"
    yield "a part that no leaf commits to", (
        "INSERT INTO secrets SELECT 3, 'extra', salt, key FROM secrets WHERE idx = 3 AND name = 'answer';"
        "INSERT INTO blobs SELECT 3, 'extra', blob FROM blobs WHERE idx = 3 AND name = 'answer'"
    ), "part-unknown"  # fmt: skip
    yield "a part of another entry", (
        "UPDATE blobs SET blob = (SELECT blob FROM blobs WHERE idx = 0 AND name = 'question')"
        " WHERE idx = 2 AND name = 'question'"
    ), "part"  # fmt: skip


TAMPERINGS = {
    name: (statements, step)
    for name, statements, step in (*tree_tamperings(), *head_tamperings(), *schema_tamperings())
}


def tamper(path: Path, statements: str) -> None:
    """Change the file as somebody with the disk does, who puts back the triggers that were in the way."""
    db: Any = apsw.Connection(str(path))
    db.execute("PRAGMA synchronous = OFF")
    db.create_scalar_function("flip", lambda data: data[:12] + bytes([data[12] ^ 1]) + data[13:])
    db.create_scalar_function("leaf_hash", hash_leaf)
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    kept = statements.startswith("-- keep")
    db.execute("BEGIN")
    for name, _ in () if kept else triggers:
        db.execute(f"DROP TRIGGER {name}")
    db.execute(statements)
    for _, sql in () if kept else triggers:
        db.execute(sql)
    db.execute("COMMIT")
    db.close()


@pytest.mark.parametrize("name", TAMPERINGS)
async def test_every_tampering_is_named(original: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "log"
    shutil.copytree(original, folder)
    statements, step = TAMPERINGS[name]
    tamper(folder / "ledger.sqlite", statements)
    report = await verified(folder)
    assert not report.ok
    assert step in {problem.step for problem in report.problems}, report.problems


async def test_verifying_writes_nothing(original: Path) -> None:
    before = {path.name: path.read_bytes() for path in original.iterdir()}
    await verified(original)
    assert {path.name: path.read_bytes() for path in original.iterdir()} == before
