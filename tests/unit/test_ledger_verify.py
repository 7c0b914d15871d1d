"""An adversary with the database file: whatever is changed is found, and named."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.entry.leaf import encode_leaf
from ledger.erasure.redaction import Redaction, Target
from ledger.errors import LedgerError, VerificationFailed
from ledger.ledger import Ledger
from ledger.merkle.tree import EMPTY_ROOT, Frontier, hash_leaf, root_of
from ledger.model import PART_NAMES, Checkpoint, Kind, Leaf, Problem, Ref, TreeHead
from ledger.notes.note import checkpoint_text, sign_note
from ledger.stores.sqlite.store import SqliteLedgerStore
from ledger.stores.store import NewEntry, PartAt, StoredLeaf
from tests.ledger_doubles import MemoryKeyRing, MemoryLedgerStore, open_ledger

REQUESTS = 5


async def write_log(path: Path) -> list[str]:
    """Five requests of two entries, a checkpoint after the third and at the end; the ids of the entries."""
    ledger = await open_ledger(await SqliteLedgerStore.open(path))
    for number in range(REQUESTS):
        intent = await ledger.record(
            Kind.INTENT, tenant="default", request_id=f"r{number}", parts={"question": b"Who %d?" % number}
        )
        await ledger.record(
            Kind.OUTCOME,
            tenant="default",
            request_id=f"r{number}",
            parts={"answer": b"{}", "bundle": b"[]"},
            sources=[b"one", b"two"],
            refs=[intent.as_ref("intent")],
        )
        if number == 2:
            await ledger.checkpoint()
    await ledger.checkpoint()
    ids = [entry.leaf.entry_id for entry in await ledger.entries()]
    assert (await ledger.verify()).ok
    await ledger.aclose()
    return ids


def tamper(path: Path, *statements: str) -> None:
    """Change the file as somebody with the disk would: triggers gone, foreign keys off."""
    db: Any = apsw.Connection(str(path))
    db.create_scalar_function("flip", lambda data: bytes([data[0] ^ 1]) + data[1:])
    db.create_scalar_function("leaf_hash", hash_leaf)
    for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        db.execute(statement)
    db.close()


async def problems(path: Path) -> tuple[Problem, ...]:
    ledger = await open_ledger(await SqliteLedgerStore.open(path))
    try:
        return (await ledger.verify()).problems
    finally:
        await ledger.aclose()


CHANGES = {
    "leaf": (
        "UPDATE leaves SET leaf = CAST(replace(leaf, '\"local\"', '\"lokal\"') AS BLOB) WHERE idx = 3",
        ("leaf-hash", 3, None),
    ),
    "first byte of a leaf": ("UPDATE leaves SET leaf = flip(leaf) WHERE idx = 4", ("leaf-hash", 4, None)),
    "stored leaf hash": ("UPDATE leaves SET hash = flip(hash) WHERE idx = 3", ("leaf-hash", 3, None)),
    "leaf together with its hash": (
        "UPDATE leaves SET leaf = flip(leaf), hash = leaf_hash(flip(leaf)) WHERE idx = 3",
        ("node", 3, None),
    ),
    "id column": ("UPDATE leaves SET id = 'another' WHERE idx = 3", ("leaf", 3, None)),
    "leaf node": ("UPDATE nodes SET hash = flip(hash) WHERE level = 0 AND n = 5", ("node", 5, None)),
    "inner node": ("UPDATE nodes SET hash = flip(hash) WHERE level = 2 AND n = 1", ("node", 7, None)),
    "node gone": ("DELETE FROM nodes WHERE level = 1 AND n = 0", ("node", 1, None)),
    "salt": ("UPDATE secrets SET salt = flip(salt) WHERE idx = 3 AND name = 'answer'", ("salt", 3, "answer")),
    "key": ("UPDATE secrets SET key = flip(key) WHERE idx = 3 AND name = 'sources'", ("key", 3, "sources")),
    "part": ("UPDATE blobs SET blob = flip(blob) WHERE idx = 3 AND name = 'bundle'", ("part", 3, "bundle")),
    "source": ("UPDATE blobs SET blob = flip(blob) WHERE idx = 3 AND name = 'sources/2'", ("part", 3, "sources/2")),
    "empty part": ("UPDATE blobs SET blob = x'' WHERE idx = 2 AND name = 'scope'", ("part", 2, "scope")),
    "part gone": ("DELETE FROM blobs WHERE idx = 2 AND name = 'question'", ("part-missing", 2, "question")),
    "salt gone": ("DELETE FROM secrets WHERE idx = 3 AND name = 'answer'", ("part-missing", 3, "answer")),
    "last source gone": ("DELETE FROM blobs WHERE idx = 3 AND name = 'sources/2'", ("part-missing", 3, "sources/2")),
    "array of sources gone": ("DELETE FROM blobs WHERE idx = 3 AND name = 'sources'", ("part-missing", 3, "sources")),
    "parts of one entry swapped": (
        "UPDATE blobs SET name = 'x' WHERE idx = 3 AND name = 'answer';"
        "UPDATE blobs SET name = 'answer' WHERE idx = 3 AND name = 'bundle';"
        "UPDATE blobs SET name = 'bundle' WHERE idx = 3 AND name = 'x'",
        ("part", 3, "answer"),
    ),
    "a part of another entry": (
        "UPDATE blobs SET blob = (SELECT blob FROM blobs WHERE idx = 2 AND name = 'question')"
        " WHERE idx = 4 AND name = 'question'",
        ("part", 4, "question"),
    ),
    "a part too many": (
        "INSERT INTO secrets SELECT 3, 'extra', salt, key FROM secrets WHERE idx = 3 AND name = 'answer';"
        "INSERT INTO blobs SELECT 3, 'extra', blob FROM blobs WHERE idx = 3 AND name = 'answer'",
        ("part-unknown", 3, "extra"),
    ),
    "middle leaf gone": ("DELETE FROM leaves WHERE idx = 3", ("index", 4, None)),
    "first leaf gone": ("DELETE FROM leaves WHERE idx = 0", ("index", 1, None)),
    "tail gone": ("DELETE FROM leaves WHERE idx >= 8", ("truncated", None, None)),
    "everything gone": ("DELETE FROM leaves", ("truncated", None, None)),
    "two leaves swapped": (
        "UPDATE leaves SET idx = -1 WHERE idx = 3; UPDATE leaves SET idx = 3 WHERE idx = 4;"
        "UPDATE leaves SET idx = 4 WHERE idx = -1",
        ("node", 3, None),
    ),
    "checkpoint's size": ("UPDATE checkpoints SET size = 5 WHERE size = 6", ("checkpoint", None, None)),
    "checkpoint's root": ("UPDATE checkpoints SET root = flip(root) WHERE size = 6", ("checkpoint", None, None)),
    "checkpoint's note": ("UPDATE checkpoints SET note = note || 'x' WHERE size = 6", ("checkpoint", None, None)),
    "checkpoint gone": ("DELETE FROM checkpoints WHERE size = 6", ("seen", 6, None)),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_every_change_is_found_and_named(tmp_path: Path, change: str) -> None:
    path = tmp_path / "ledger.db"
    ids = await write_log(path)
    statement, (step, index, part) = CHANGES[change]
    tamper(path, *statement.split(";"))
    found = await problems(path)
    assert (step, index, part) in {(problem.step, problem.index, problem.part) for problem in found}, found
    named = next(problem for problem in found if (problem.step, problem.index) == (step, index))
    if index is not None and change != "id column":
        assert named.entry_id == ids[index] or "swapped" in change
    assert step in str(named)


@pytest.mark.parametrize("change", ["salt", "key", "part", "source", "part gone", "leaf node", "stored leaf hash"])
async def test_one_change_is_one_problem(tmp_path: Path, change: str) -> None:
    path = tmp_path / "ledger.db"
    await write_log(path)
    tamper(path, CHANGES[change][0])
    assert len([problem for problem in await problems(path) if problem.step != "store"]) == 1


async def signed_log(edit: Callable[[int, Leaf], Leaf]) -> Ledger:
    """A log of two requests whose leaves were edited before they were written and signed: by a careless or lying operator."""
    honest = MemoryLedgerStore()
    ledger = await open_ledger(honest)
    for request in ("a", "b"):
        intent = await ledger.record(Kind.INTENT, tenant="default", request_id=request, parts={})
        await ledger.checkpoint()
        await ledger.record(
            Kind.OUTCOME, tenant="default", request_id=request, parts={}, refs=[intent.as_ref("intent")]
        )
    store = MemoryLedgerStore(signed={size: item for size, item in honest.signed.items() if size == 1})
    for index, entry in enumerate(honest.entries):
        leaf = edit(index, entry.leaf)
        edited = NewEntry(leaf, encode_leaf(leaf), entry.parts)
        store.frontier, made = store.frontier.append(hash_leaf(edited.leaf_bytes))
        store.tree.update(made)
        store.entries.append(edited)
    lying = await open_ledger(store)
    await lying.checkpoint()
    return lying


FOREIGN = Ref("intent", "018bcfe5-6800-7000-8000-000000000001", "cd" * 32)
EDITS: dict[str, tuple[int, dict[str, Any], set[str]]] = {
    "nothing": (1, {}, set()),
    "a number left out": (1, {"rseq": 3}, {"rseq"}),
    "a number twice": (1, {"rseq": 1}, {"rseq"}),
    "a ref to another leaf hash": (1, {"refs": (FOREIGN,)}, {"ref"}),
    "a ref to no entry": (1, {"refs": (dataclasses.replace(FOREIGN, id=FOREIGN.id[:-1] + "f"),)}, {"ref"}),
    "seen in the future": (1, {"seen": TreeHead(9, b"x" * 32)}, {"seen"}),
    "seen another root": (1, {"seen": TreeHead(1, b"x" * 32)}, {"seen"}),
    "a commitment to something else": (
        1,
        {"parts": dict.fromkeys(PART_NAMES[Kind.OUTCOME], "ab" * 32)},
        {"commitment"},
    ),
}


@pytest.mark.parametrize("name", EDITS)
async def test_what_was_signed_is_checked_too(name: str) -> None:
    at, changes, steps = EDITS[name]

    def edit(index: int, leaf: Leaf) -> Leaf:
        if index == at:
            return dataclasses.replace(leaf, **changes)
        return dataclasses.replace(leaf, seen=TreeHead(0, EMPTY_ROOT)) if leaf.seen.size > 1 else leaf

    report = await (await signed_log(edit)).verify()
    found = {problem.step for problem in report.problems if problem.index == at}
    assert found == steps, report.problems


async def test_a_rewritten_tree_does_not_have_the_signed_root() -> None:
    """Leaf, leaf hash and every tree node are changed consistently; only the signature is of the old root."""
    store = MemoryLedgerStore()
    ledger = await open_ledger(store)
    refs = [
        await ledger.record(Kind.INTENT, tenant="default", request_id=f"r{number}", parts={}) for number in range(3)
    ]
    await ledger.checkpoint()
    leaf = dataclasses.replace(store.entries[1].leaf, t_ms=1)
    store.entries[1] = NewEntry(leaf, encode_leaf(leaf), store.entries[1].parts)
    store.tree, store.frontier = {}, Frontier()
    for entry in store.entries:
        store.frontier, made = store.frontier.append(hash_leaf(entry.leaf_bytes))
        store.tree.update(made)
    reopened = await open_ledger(store, first_id=1000)
    report = await reopened.verify()
    assert {(problem.step, problem.index) for problem in report.problems} == {("root", 2)}
    for ref in refs:
        with pytest.raises(VerificationFailed):
            await reopened.receipt(ref.entry_id, disclose=())
    await reopened.record(Kind.INTENT, tenant="default", request_id="more", parts={})
    with pytest.raises(VerificationFailed):
        await reopened.checkpoint()


async def test_an_index_that_stands_twice_is_found() -> None:
    """A backend whose constraints were dropped: the last index fits the number of leaves, and one is missing."""

    class Doubled(MemoryLedgerStore):
        def _stored(self, index: int) -> StoredLeaf:
            return super()._stored(1 if index == 2 else index)

    store = Doubled()
    ledger = await open_ledger(store)
    for number in range(4):
        await ledger.record(Kind.INTENT, tenant="default", request_id=f"r{number}", parts={})
    found = (await ledger.verify(contents=False)).problems
    assert ("index", 1) in {(problem.step, problem.index) for problem in found}


async def test_every_size_may_be_signed_and_every_root_is_compared() -> None:
    store = MemoryLedgerStore()
    ledger = await open_ledger(store)
    for number in range(9):
        await ledger.record(Kind.INTENT, tenant="default", request_id=f"r{number}", parts={})
        await ledger.checkpoint()
    assert (await ledger.verify()).ok
    signed = dict(store.signed)
    store.signed[4] = dataclasses.replace(signed[4], head=TreeHead(4, b"x" * 32))
    store.signed[9] = dataclasses.replace(signed[9], head=TreeHead(9, b"x" * 32))
    found = {(problem.step, problem.index) for problem in (await ledger.verify()).problems}
    assert found >= {("root", 3), ("root", 8)}


async def test_a_truncated_log_signs_nothing_and_says_why() -> None:
    store = MemoryLedgerStore()
    ledger = await open_ledger(store)
    for number in range(3):
        await ledger.record(Kind.INTENT, tenant="default", request_id=f"r{number}", parts={})
    await ledger.checkpoint()
    store.entries.pop()
    for reader in (ledger, await open_ledger(store)):
        with pytest.raises(VerificationFailed) as failed:
            await reader.checkpoint()
        assert failed.value.step == "truncated"


@pytest.mark.parametrize("kept", [Checkpoint(TreeHead(1, b"x" * 32), "x"), Checkpoint(TreeHead(1, b""), "not signed")])
async def test_a_size_that_was_signed_for_otherwise_meanwhile_is_refused(kept: Checkpoint) -> None:
    class Racing(MemoryLedgerStore):
        async def add_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
            root = kept.head.root or checkpoint.head.root
            return Checkpoint(TreeHead(1, root), kept.note)

    ledger = await open_ledger(Racing())
    await ledger.record(Kind.INTENT, tenant="default", request_id="r", parts={})
    with pytest.raises(LedgerError):
        await ledger.checkpoint()


@pytest.mark.parametrize(
    "change", ["UPDATE leaves SET leaf = flip(leaf) WHERE idx = 8", "DELETE FROM leaves WHERE idx = 7"]
)
async def test_what_changed_since_the_last_checkpoint_is_not_signed(tmp_path: Path, change: str) -> None:
    path = tmp_path / "ledger.db"
    await write_log(path)
    tamper(path, change, "DELETE FROM checkpoints WHERE size = 10")
    ledger = await open_ledger(await SqliteLedgerStore.open(path))
    with pytest.raises(VerificationFailed) as failed:
        await ledger.checkpoint()
    assert failed.value.step == "leaf-hash"
    await ledger.aclose()


async def test_a_forged_history_without_the_key_does_not_verify(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    await write_log(path)
    tamper(path, "DELETE FROM leaves WHERE idx >= 8", "DELETE FROM checkpoints WHERE size > 8")
    db: Any = apsw.Connection(str(path))
    hashes = [row[0] for row in db.execute("SELECT hash FROM leaves ORDER BY idx")]
    forger = MemoryKeyRing("forger").signer
    head = TreeHead(8, root_of(hashes))
    note = sign_note(checkpoint_text(forger.name, head), [forger])
    db.execute("INSERT INTO checkpoints VALUES (?, ?, ?)", (head.size, head.root, note))
    db.close()
    with pytest.raises(VerificationFailed):
        await open_ledger(await SqliteLedgerStore.open(path))


@pytest.mark.parametrize("change", ["leaf", "stored leaf hash", "tail gone", "inner node"])
async def test_no_receipt_is_given_from_a_changed_log(tmp_path: Path, change: str) -> None:
    path = tmp_path / "ledger.db"
    ids = await write_log(path)
    tamper(path, CHANGES[change][0], "DELETE FROM checkpoints WHERE size = 10" if change in ("leaf",) else "SELECT 1")

    async def receipts() -> None:
        ledger = await open_ledger(await SqliteLedgerStore.open(path), first_id=1000)
        try:
            await more(ledger)
            await ledger.checkpoint()
            for entry_id in ids:
                await ledger.receipt(entry_id, disclose=(), size=11)
        finally:
            await ledger.aclose()

    async def more(ledger: Ledger) -> None:
        await ledger.record(Kind.INTENT, tenant="default", request_id="new", parts={})

    with pytest.raises(LedgerError):
        await receipts()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE leaves SET leaf = x'00'",
        "UPDATE leaves SET idx = 100 WHERE idx = 9",
        "DELETE FROM leaves",
        "DELETE FROM leaves WHERE idx = 9",
        "REPLACE INTO leaves SELECT * FROM leaves WHERE idx = 0",
        "UPDATE nodes SET hash = zeroblob(32)",
        "DELETE FROM nodes",
        "REPLACE INTO nodes VALUES (0, 0, zeroblob(32))",
        "UPDATE checkpoints SET note = ''",
        "DELETE FROM checkpoints",
        "REPLACE INTO checkpoints SELECT * FROM checkpoints",
        "UPDATE log SET origin = 'x'",
        "DELETE FROM log",
    ],
)
async def test_the_file_refuses_changes_by_ordinary_sql(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "ledger.db"
    await write_log(path)
    db = sqlite3.connect(path)
    with pytest.raises(sqlite3.Error):
        db.execute(statement)
    db.close()
    assert await problems(path) == ()


COLUMNS = {
    "leaf": "SELECT leaf FROM leaves",
    "hash": "SELECT hash FROM leaves",
    "node": "SELECT hash FROM nodes WHERE level > 0",
    "salt": "SELECT salt FROM secrets",
    "key": "SELECT key FROM secrets",
    "blob": "SELECT blob FROM blobs",
    "root": "SELECT root FROM checkpoints",
    "note": "SELECT CAST(note AS BLOB) FROM checkpoints",
}


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[tuple[str, int]]]:
    """The bytes of a closed log file, and where every byte of a leaf, node, salt, key, blob, root or note stands."""
    path = tmp_path_factory.mktemp("log") / "ledger.db"
    asyncio.run(write_log(path))
    db: Any = apsw.Connection(str(path))
    stored = [(what, row[0]) for what, sql in COLUMNS.items() for row in db.execute(sql).fetchall()]
    db.close()
    file = path.read_bytes()
    places = []
    for what, content in stored:
        starts = [match.start() for match in re.finditer(re.escape(content), file)]
        assert starts, what
        places += [(what, start + offset) for start in starts for offset in range(len(content))]
    return file, places


@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
@settings(max_examples=50, deadline=None)
def test_a_flipped_bit_in_the_file_is_found(
    log_file: tuple[bytes, list[tuple[str, int]]], tmp_path_factory: pytest.TempPathFactory, place: int, bit: int
) -> None:
    file, places = log_file
    what, at = places[place % len(places)]
    changed = tmp_path_factory.mktemp("changed") / "ledger.db"
    changed.write_bytes(file[:at] + bytes([file[at] ^ 1 << bit]) + file[at + 1 :])
    try:
        found = asyncio.run(problems(changed))
    except LedgerError:  # the latest checkpoint itself does not hold: the log does not open
        assert what in ("note", "root", "hash", "node")
        return
    assert found, what


class GrowingStore(SqliteLedgerStore):
    """Somebody appends right after the checkpoints were read."""

    then: Callable[[], Awaitable[object]] | None = None

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        read = await super().checkpoints()
        if self.then is not None:
            then, self.then = self.then, None
            await then()
        return read


@pytest.mark.parametrize("erases", [False, True])
async def test_a_log_that_grows_meanwhile_holds(tmp_path: Path, erases: bool) -> None:
    ids = await write_log(tmp_path / "ledger.sqlite")
    store = await GrowingStore.open(tmp_path / "ledger.sqlite")
    ledger = await open_ledger(store, first_id=100)

    async def grow() -> None:
        for number in range(3):
            await ledger.record(Kind.INTENT, tenant="default", request_id=f"later{number}", parts={"question": b"?"})
            await ledger.checkpoint()
        if erases:
            erased = Redaction(Target.ENTRY, ids[1], "request", (PartAt(ids[1], "answer"),))
            await ledger.redact(erased, request_id="erased")

    store.then = grow
    report = await ledger.verify()
    assert (report.problems, report.entries) == ((), 2 * REQUESTS)
    assert report.erased == (1 if erases else 0)
    later = await ledger.verify()
    assert (later.problems, later.entries) == ((), 2 * REQUESTS + 3 + (1 if erases else 0))
    await ledger.aclose()
