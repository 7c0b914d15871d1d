"""The ledger as its callers see it, over both stores."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest

from api.home.kept_file import KeptSchema, bring_up_to_date
from ledger.erasure.redaction import Redaction, Target
from ledger.errors import (
    EntryConflict,
    EntryNotFound,
    EntryRefused,
    KeyUnusable,
    LedgerNotResponding,
    LedgerUnavailable,
    LogForked,
    PartErased,
    SchemaUnsupported,
    VerificationFailed,
)
from ledger.keys import open_key_ring
from ledger.ledger import Ledger
from ledger.merkle.tree import EMPTY_ROOT
from ledger.model import Checkpoint, Kind, Ref, TreeHead, Verdict
from ledger.notes.note import parse_vkey, verify_checkpoint
from ledger.outside import CheckpointFile
from ledger.proofs.receipt import verify_receipt
from ledger.stores.sqlite.schema import SCHEMA_VERSION, STEPS
from ledger.stores.sqlite.store import SqliteLedgerStore
from ledger.stores.store import AppendedBatch, LedgerStore, NewEntry, PartAt, RefusedBatch
from tests.ledger_doubles import ORIGIN, MemoryKeyRing, MemoryLedgerStore, fixed_ids, open_ledger, ticking_clock
from tests.ledger_kills import aftermath, check, kill_writers

PARTS = {"question": b"Who?", "scope": b"[]"}


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> LedgerStore:
    return MemoryLedgerStore() if request.param == "memory" else await SqliteLedgerStore.open(tmp_path / "ledger.db")


@pytest.fixture
async def ledger(store: LedgerStore) -> AsyncIterator[Ledger]:
    made = await open_ledger(store)
    yield made
    await made.aclose()


async def ask(ledger: Ledger, request_id: str, sources: tuple[bytes, ...] = (b"one", b"two")) -> tuple[str, str]:
    """Record a whole request; the ids of its two entries."""
    intent = await ledger.record(Kind.INTENT, tenant="default", request_id=request_id, parts=PARTS)
    outcome = await ledger.record(
        Kind.OUTCOME,
        tenant="default",
        request_id=request_id,
        parts={"answer": b"{}"},
        sources=sources,
        refs=[intent.as_ref("intent")],
    )
    return intent.entry_id, outcome.entry_id


async def test_what_goes_in_comes_out(ledger: Ledger) -> None:
    intent, outcome = await ask(ledger, "r1")
    assert await ledger.part(intent, "question") == b"Who?"
    assert await ledger.part(intent, "context") == b""
    assert await ledger.sources(outcome) == (b"one", b"two")
    assert await ledger.sources(intent) == ()
    assert await ledger.part(outcome, "sources/2") == b"two"
    entry = await ledger.entry(outcome)
    assert (entry.index, entry.leaf.kind, entry.leaf.rseq) == (1, Kind.OUTCOME, 2)
    assert entry.leaf.refs == ((await ledger.entry(intent)).ref.as_ref("intent"),)
    assert entry.leaf.tenant == ledger.pseudonym("tenant", "default")
    assert [found.leaf.entry_id for found in await ledger.find(request_id="r1")] == [intent, outcome]
    assert await ledger.find(request_id="r2") == ()


async def test_no_text_of_the_caller_is_in_a_leaf(ledger: Ledger) -> None:
    await ask(ledger, "r1", sources=(b"Shawnee County",))
    for entry in await ledger.entries():
        assert b"Who" not in entry.leaf_bytes
        assert b"Shawnee" not in entry.leaf_bytes
        assert b"default" not in entry.leaf_bytes


async def test_entries_are_paged_and_filtered(ledger: Ledger) -> None:
    for number in range(3):
        await ask(ledger, f"r{number}")
    await ledger.record(Kind.CONFIG, tenant="other", request_id="c", parts={})
    page = await ledger.entries(limit=4)
    assert [entry.index for entry in page] == [0, 1, 2, 3]
    assert [entry.index for entry in await ledger.entries(after=page[-1].index)] == [4, 5, 6]
    assert [entry.index for entry in await ledger.entries(kind=Kind.OUTCOME)] == [1, 3, 5]
    assert await ledger.entries(limit=-1) == await ledger.entries(after=2**70) == ()
    assert len(await ledger.entries(after=-(2**70), limit=2**70)) == 7
    assert [entry.index for entry in await ledger.entries(tenant="other")] == [6]


async def test_the_same_request_again_is_the_first_entry(ledger: Ledger) -> None:
    first = await ledger.record(Kind.INTENT, tenant="default", request_id="r", parts=PARTS)
    again = await ledger.record(Kind.INTENT, tenant="default", request_id="r", parts={**PARTS, "context": b""})
    assert again == first
    assert len(await ledger.entries()) == 1


@pytest.mark.parametrize("change", ["part", "part more", "sources", "source order", "tenant", "refs"])
async def test_the_same_request_with_other_content_is_a_conflict(ledger: Ledger, change: str) -> None:
    intent = await ledger.record(Kind.INTENT, tenant="default", request_id="r", parts=PARTS)

    async def outcome(changed: str = "") -> None:
        await ledger.record(
            Kind.OUTCOME,
            tenant="other" if changed == "tenant" else "default",
            request_id="r",
            parts={"answer": b"2" if changed == "part" else b"1"} | ({"calls": b"x"} if changed == "part more" else {}),
            sources={"sources": [b"a"], "source order": [b"b", b"a"]}.get(changed, [b"a", b"b"]),
            refs=[] if changed == "refs" else [intent.as_ref("intent")],
        )

    await outcome()
    await outcome()
    with pytest.raises(EntryConflict):
        await outcome(change)
    assert len(await ledger.entries()) == 2


async def test_concurrent_records_are_gapless_and_repeats_are_one(ledger: Ledger) -> None:
    refs = await asyncio.gather(
        *(
            ledger.record(Kind.INTENT, tenant="default", request_id=f"r{number % 100}", parts=PARTS)
            for number in range(200)
        )
    )
    assert len({ref.entry_id for ref in refs}) == 100
    entries = await ledger.entries(limit=1000)
    assert [entry.index for entry in entries] == list(range(100))
    assert [entry.leaf.rseq for entry in entries] == list(range(1, 101))


async def test_two_ledgers_on_one_store_share_the_sequence(store: LedgerStore) -> None:
    one, two = await open_ledger(store), await open_ledger(store, first_id=1_000_000)
    for number in range(10):
        await one.record(Kind.INTENT, tenant="default", request_id=f"a{number}", parts=PARTS)
        await two.record(Kind.INTENT, tenant="default", request_id=f"b{number}", parts=PARTS)
    assert await one.checkpoint() == await two.checkpoint()
    await one.record(Kind.INTENT, tenant="default", request_id="last", parts=PARTS)
    await two.checkpoint()
    assert (await one.verify()).ok
    assert [entry.leaf.rseq for entry in await two.entries(limit=99)] == list(range(1, 22))
    await one.aclose()


TARGET = "018bcfe5-6800-7000-8000-000000000001"
BAD_ENTRIES: dict[str, dict[str, Any]] = {
    "part of another kind": {"parts": {"answer": b""}},
    "sources that the kind has not": {"sources": (b"s",)},
    "request id with a space": {"request_id": "has space"},
    "request id empty": {"request_id": ""},
    "ref to no entry id": {"refs": (Ref("intent", "x", "ab" * 32),)},
    "leaf over 4 KiB": {"refs": tuple(Ref(f"r{i}", TARGET, "ab" * 32) for i in range(40))},
}


@pytest.mark.parametrize("name", BAD_ENTRIES)
async def test_bad_entries_are_refused_and_harm_no_other(ledger: Ledger, name: str) -> None:
    bad: dict[str, Any] = {"tenant": "default", "request_id": "r", "parts": {}} | BAD_ENTRIES[name]
    results = await asyncio.gather(
        ledger.record(Kind.INTENT, tenant="default", request_id="good-1", parts=PARTS),
        ledger.record(Kind.INTENT, **bad),
        ledger.record(Kind.INTENT, tenant="default", request_id="good-2", parts=PARTS),
        return_exceptions=True,
    )
    assert isinstance(results[1], EntryRefused)
    assert [entry.leaf.request_id for entry in await ledger.entries()] == ["good-1", "good-2"]


async def test_unknown_entries_and_parts(ledger: Ledger) -> None:
    intent, outcome = await ask(ledger, "r")
    missing = "018bcfe5-6800-7000-8000-00000000ffff"
    assert await ledger.find(request_id="\ud800") == ()
    for entry_id, name in (
        (missing, "question"),
        ("", "question"),
        ("\ud800", "question"),
        (intent, "\ud800"),
        (intent, "answer"),
        (intent, "sources/1"),
        (outcome, "sources/3"),
    ):
        with pytest.raises(EntryNotFound):
            await ledger.part(entry_id, name)
    with pytest.raises(EntryNotFound):
        await ledger.receipt(missing, disclose=())
    with pytest.raises(EntryNotFound):
        await ledger.receipt(intent, disclose=("answer",))


async def test_checkpoint_covers_the_head_and_stays_for_one_size(ledger: Ledger) -> None:
    key = parse_vkey(ledger.vkey)
    assert verify_checkpoint(await ledger.checkpoint(), key, origin=ORIGIN) == TreeHead(0, EMPTY_ROOT)
    await ask(ledger, "r")
    first = await ledger.checkpoint()
    assert verify_checkpoint(first, key, origin=ORIGIN).size == 2
    assert await ledger.checkpoint() == first
    await ask(ledger, "s")
    assert verify_checkpoint(await ledger.checkpoint(), key, origin=ORIGIN).size == 4


async def test_receipts_of_every_entry_verify_alone(ledger: Ledger) -> None:
    for number in range(9):
        intent, outcome = await ask(ledger, f"r{number}")
        for entry_id, names in ((intent, ["question"]), (outcome, ["answer", "sources/1"]), (outcome, [])):
            verified = verify_receipt(await ledger.receipt(entry_id, disclose=names), vkey=ledger.vkey)
            assert verified.leaf.entry_id == entry_id
            assert set(names) - {"sources/1"} <= set(verified.parts)
            assert verified.sources == ({1: b"one"} if "sources/1" in names else {})


async def test_an_entry_names_the_latest_signed_head(ledger: Ledger) -> None:
    await ask(ledger, "r")
    head = verify_checkpoint(await ledger.checkpoint(), parse_vkey(ledger.vkey), origin=ORIGIN)
    _, outcome = await ask(ledger, "s")
    assert (await ledger.entry(outcome)).leaf.seen == head


async def test_a_dangling_intent_is_reported_and_breaks_nothing(ledger: Ledger) -> None:
    await ask(ledger, "whole")
    lost = await ledger.record(Kind.INTENT, tenant="default", request_id="lost", parts=PARTS)
    await ledger.checkpoint()
    report = await ledger.verify()
    assert report.verdict is Verdict.INTACT
    assert report.dangling == (lost,)
    assert (report.size, report.entries, report.checkpoints, report.erased) == (3, 3, 1, 0)
    assert report.parts == 4 + 9 + 2 + 4


async def test_an_empty_log_verifies(ledger: Ledger) -> None:
    report = await ledger.verify()
    assert report.ok
    assert (report.size, report.root) == (0, EMPTY_ROOT.hex())


async def test_another_key_ring_is_refused(store: LedgerStore) -> None:
    await open_ledger(store)
    with pytest.raises(KeyUnusable, match="vkey"):
        await open_ledger(store, keys=MemoryKeyRing("another"))
    with pytest.raises(KeyUnusable, match="origin"):
        await open_ledger(store, keys=MemoryKeyRing(origin="other.example"))
    mixed = MemoryKeyRing()
    mixed.pseudonym_key = b"x" * 32
    with pytest.raises(KeyUnusable, match="pseudonym"):
        await open_ledger(store, keys=mixed)


async def test_a_lost_tenant_key_is_named(store: LedgerStore) -> None:
    keys = MemoryKeyRing()
    ledger = await open_ledger(store, keys=keys)
    intent, _ = await ask(ledger, "r")
    keys.lost.add(ledger.pseudonym("tenant", "default"))
    with pytest.raises(KeyUnusable):
        await ledger.part(intent, "question")
    with pytest.raises(KeyUnusable):
        await ledger.record(Kind.INTENT, tenant="default", request_id="s", parts=PARTS)
    assert {problem.step for problem in (await ledger.verify()).problems} == {"key"}


async def test_a_checkpoint_signed_over_another_root_stops_the_signing(store: LedgerStore) -> None:
    ledger = await open_ledger(store)
    await ask(ledger, "r")
    note = (await ledger.checkpoint()).replace("\n2\n", "\n3\n")
    await ledger.record(Kind.INTENT, tenant="default", request_id="s", parts=PARTS)
    await store.add_checkpoint(Checkpoint(TreeHead(3, b"x" * 32), note))
    with pytest.raises(VerificationFailed):
        await ledger.checkpoint()
    with pytest.raises(VerificationFailed):
        await open_ledger(store)


async def test_an_unavailable_store_is_said_and_nothing_is_half_written() -> None:
    store = MemoryLedgerStore()
    ledger = await open_ledger(store)
    await ask(ledger, "before")
    store.broken = True
    with pytest.raises(LedgerUnavailable):
        await ledger.record(Kind.INTENT, tenant="default", request_id="r", parts=PARTS)
    with pytest.raises(LedgerUnavailable):
        await ledger.verify()
    store.broken = False
    await ask(ledger, "after")
    assert (await ledger.verify()).ok
    assert [entry.leaf.request_id for entry in await ledger.entries()] == ["before", "before", "after", "after"]


class StandingStill(MemoryLedgerStore):
    """Answers an append only once it goes on; what it was sent before, it has."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = asyncio.Event()
        self.goes_on.set()

    async def append(self, batch: Sequence[NewEntry], *, erase: Sequence[PartAt] = ()) -> AppendedBatch | RefusedBatch:
        await self.goes_on.wait()
        return await super().append(batch, erase=erase)


async def test_nobody_waits_for_a_store_that_stands_still_and_what_it_was_sent_is_whole() -> None:
    store = StandingStill()
    ledger = await open_ledger(store, deadline_s=0.02)
    await ask(ledger, "before")
    store.goes_on.clear()
    sent = asyncio.create_task(ledger.record(Kind.INTENT, tenant="default", request_id="sent", parts=PARTS))
    with pytest.raises(LedgerNotResponding):
        await sent
    for number in range(3):  # each waits behind the first, and not for it
        with pytest.raises(LedgerNotResponding):
            await ledger.record(Kind.INTENT, tenant="default", request_id=f"waiting{number}", parts=PARTS)
    store.goes_on.set()
    await ask(ledger, "after")
    report = await ledger.verify()
    assert report.ok
    found = [entry.leaf.request_id for entry in await ledger.entries()]
    assert found == ["before", "before", "sent", "after", "after"]
    assert [entry.leaf.request_id for entry in await ledger.dangling()] == ["sent"]


async def test_a_cancelled_record_is_whole_or_absent(ledger: Ledger) -> None:
    for number in range(20):
        task = asyncio.create_task(ledger.record(Kind.INTENT, tenant="default", request_id=f"c{number}", parts=PARTS))
        for _ in range(number % 6):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await ask(ledger, "after")
    assert (await ledger.verify()).ok


async def test_an_erased_part_keeps_its_commitment_and_needs_a_redaction() -> None:
    store = MemoryLedgerStore()
    ledger = await open_ledger(store)
    _, outcome = await ask(ledger, "r")
    erased = store.entries[1]
    kept = tuple(part for part in erased.parts if part.name not in ("answer", "sources/1"))
    object.__setattr__(erased, "parts", kept)
    with pytest.raises(PartErased):
        await ledger.part(outcome, "answer")
    with pytest.raises(PartErased):
        await ledger.receipt(outcome, disclose=("sources/1",))
    assert verify_receipt(await ledger.receipt(outcome, disclose=("sources/2",)), vkey=ledger.vkey).sources == {
        2: b"two"
    }
    problems = (await ledger.verify()).problems
    assert {(problem.step, problem.part) for problem in problems} == {
        ("part-missing", "answer"),
        ("part-missing", "sources/1"),
    }
    gone = [PartAt(outcome, name) for name in ("answer", "sources/1")]
    await ledger.redact(Redaction(Target.ENTRY, outcome, "request", (gone[0],)), request_id="x")
    assert {problem.part for problem in (await ledger.verify()).problems} == {"sources/1"}
    await ledger.redact(Redaction(Target.ENTRY, outcome, "request", tuple(gone)), request_id="y")
    report = await ledger.verify()
    assert report.ok
    assert report.erased == 2


async def test_a_log_survives_reopening(tmp_path: Path) -> None:
    numbers = itertools.count()

    async def opened(create: bool) -> Ledger:
        keys = await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=create)
        store = await SqliteLedgerStore.open(tmp_path / "ledger.db")
        return await Ledger.open(
            store=store,
            keys=keys,
            origin=ORIGIN,
            replica="local",
            clock_ms=lambda: 1,
            new_id=lambda: f"018bcfe5-6800-7000-8000-{next(numbers):012x}",
        )

    first = await opened(create=True)
    intent, _ = await ask(first, "r")
    receipt = await first.receipt(intent, disclose=("question",))
    await first.aclose()
    second = await opened(create=False)
    await ask(second, "s")
    assert await second.receipt(intent, disclose=("question",)) == receipt
    assert verify_receipt(receipt, vkey=second.vkey).parts == {"question": b"Who?"}
    assert (await second.verify()).ok
    assert (await second.entries())[-1].leaf.rseq == 4
    await second.aclose()
    await second.aclose()


@pytest.mark.parametrize(
    "content", [b"", b"not a database, but long enough to be read as one" * 100, b"SQLite format 3\0"]
)
async def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(content)
    if not content:
        await (await SqliteLedgerStore.open(path)).aclose()
        return
    with pytest.raises(LedgerUnavailable):
        await SqliteLedgerStore.open(path)
    assert path.read_bytes() == content


async def test_two_writers_of_one_file_stay_in_order(tmp_path: Path) -> None:
    ledgers = [
        await open_ledger(await SqliteLedgerStore.open(tmp_path / "ledger.db"), first_id=1 + 1_000_000 * number)
        for number in range(2)
    ]

    async def write(number: int) -> None:
        for request in range(20):
            await ask(ledgers[number], f"r{number}-{request}")
            if request % 7 == number:
                await ledgers[number].checkpoint()

    await asyncio.gather(write(0), write(1))
    report = await ledgers[0].verify()
    assert report.ok, report.problems
    assert report.size == 80
    entries = await ledgers[1].entries(limit=100)
    assert [entry.leaf.rseq for entry in entries] == list(range(1, 81))
    for ledger in ledgers:
        await ledger.aclose()


class Overtaken(MemoryLedgerStore):
    """Another writer is at work as soon as the size was read."""

    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def size(self) -> int:
        size = await super().size()
        work, self.meanwhile = self.meanwhile, None
        if work is not None:
            await work()
        return size


async def test_what_another_writer_signs_meanwhile_is_no_truncation() -> None:
    store = Overtaken()
    one, other = await open_ledger(store), await open_ledger(store, first_id=1_000_001)
    await ask(one, "first")

    async def overtake() -> None:
        await ask(other, "second")
        await other.checkpoint()

    store.meanwhile = overtake
    signed = [await one.checkpoint(), await one.checkpoint()]
    key = parse_vkey(one.vkey)
    assert [verify_checkpoint(text, key, origin=ORIGIN).size for text in signed] == [2, 4]
    assert (await one.verify()).ok


async def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    check(await aftermath(tmp_path / "home", kill_writers(tmp_path / "home", 2)))


async def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(LedgerUnavailable, match="not a ledger"):
        await SqliteLedgerStore.open(tmp_path / "other.db")


async def test_a_file_of_the_first_version_is_brought_up(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    ledger = await open_ledger(await SqliteLedgerStore.open(path))
    await ask(ledger, "r1")
    before = await ledger.checkpoint()
    await ledger.aclose()
    db = apsw.Connection(str(path))
    db.execute("DROP TABLE cosignatures")
    db.execute("PRAGMA user_version = 1")
    db.close()
    with pytest.raises(SchemaUnsupported, match="schema 1"):
        await SqliteLedgerStore.open(path)
    copy = bring_up_to_date(path, KeptSchema("the ledger", SCHEMA_VERSION, STEPS))
    assert copy == tmp_path / "ledger.db.v1"
    store = await SqliteLedgerStore.open(path)
    ledger = await open_ledger(store)
    assert await ledger.checkpoint() == before
    await store.add_cosignatures(2, ["w"])
    assert (await ledger.verify()).ok
    await ledger.aclose()


@pytest.mark.parametrize("path", ["missing/ledger.db", "."])
async def test_a_place_that_cannot_hold_a_file_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(LedgerUnavailable):
        await SqliteLedgerStore.open(tmp_path / path)


FULL_DISK = """
import asyncio, resource, signal, sys
from pathlib import Path
from ledger.errors import LedgerUnavailable
from ledger.model import Kind
from ledger.stores.sqlite.store import SqliteLedgerStore
from ledger.stores.sqlite.schema import SCHEMA_VERSION, STEPS
from tests.ledger_doubles import open_ledger

async def main() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    ledger = await open_ledger(await SqliteLedgerStore.open(Path(sys.argv[1])))
    async def record(number, size):
        parts = {"question": bytes(i * 37 % 251 for i in range(size))}
        await ledger.record(Kind.INTENT, tenant="default", request_id=f"r{number}", parts=parts)
    await record(0, 10)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    written = 0
    try:
        for number in range(1, 2000):
            await record(number, 2000)
            written = number
    except LedgerUnavailable as exc:
        print("refused", written)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await record("after", 10)
    report = await ledger.verify()
    print(report.verdict, report.size == written + 2, report.problems)
    await ledger.aclose()

asyncio.run(main())
"""


def test_a_full_disk_is_unavailable_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "ledger.db")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    refused, verified = done.stdout.splitlines()
    assert refused.startswith("refused ")
    assert verified == "intact True ()"


async def test_two_processes_on_one_home_follow_a_change_of_key(tmp_path: Path) -> None:
    """As `exhibit ledger key rotate` beside a running `serve`: the highest checkpoint never goes back either."""
    held = CheckpointFile(tmp_path / "highest")

    async def opened(first_id: int) -> Ledger:
        return await Ledger.open(
            store=await SqliteLedgerStore.open(tmp_path / "ledger.db"),
            keys=await open_key_ring(tmp_path / "keys", origin="exhibit.example/log", create=True),
            origin="exhibit.example/log",
            replica=f"r{first_id}",
            clock_ms=ticking_clock(),
            new_id=fixed_ids(first_id),
            outside=held,
        )

    serving, other = await opened(1), await opened(1_000_000)
    await ask(serving, "before")
    await serving.checkpoint()
    await other.rotate_key()
    await ask(serving, "after")
    assert "\n5\n" in await serving.checkpoint()
    assert serving.vkeys == other.vkeys
    assert "\n5\n" in str(await held.read())
    await ask(other, "more")
    await other.checkpoint()
    await ask(serving, "last")
    third = await opened(2_000_000)
    assert third.fork is None
    assert third.vkey == serving.vkey
    await held.write((await third.checkpoint_of(3)).note)
    await serving.checkpoint()
    assert "\n9\n" in str(await held.read())
    assert (await third.verify()).ok
    for ledger in (serving, other, third):
        await ledger.aclose()


@pytest.mark.parametrize("content", ["", "nonsense", "\xff"])
async def test_a_highest_checkpoint_that_cannot_be_read_stops_the_log(tmp_path: Path, content: str) -> None:
    (tmp_path / "highest").write_bytes(content.encode("latin-1"))
    keys = MemoryKeyRing()
    opening = Ledger.open(
        store=MemoryLedgerStore(),
        keys=keys,
        origin=keys.signer.name,
        replica="r",
        clock_ms=ticking_clock(),
        new_id=fixed_ids(),
        outside=CheckpointFile(tmp_path / "highest"),
    )
    if content == "\xff":
        with pytest.raises(LedgerUnavailable):
            await opening
        return
    ledger = await opening
    assert ledger.fork is not None
    with pytest.raises(LogForked):
        await ask(ledger, "r1")


@dataclasses.dataclass
class Replica:
    """A ledger over a folder of keys and one file of entries."""

    ledger: Ledger

    @classmethod
    async def of(cls, folder: Path, keys: Path, name: str) -> Replica:
        numbers = itertools.count(int.from_bytes(name.encode()) << 16)
        ring = await open_key_ring(keys, origin=ORIGIN, create=not keys.exists())
        store = await SqliteLedgerStore.open(folder / "ledger.db")
        new_id = lambda: f"018bcfe5-6800-7000-8000-{next(numbers):012x}"  # noqa: E731
        opened = await Ledger.open(
            store=store, keys=ring, origin=ORIGIN, replica=name, clock_ms=lambda: 1, new_id=new_id
        )
        return cls(opened)


async def test_a_replica_makes_the_keys_of_tenants_that_came_after_its_copy(tmp_path: Path) -> None:
    first = (await Replica.of(tmp_path, tmp_path / "keys", "a")).ledger
    shutil.copytree(tmp_path / "keys", tmp_path / "copied")
    intent, _ = await ask(first, "r")
    second = (await Replica.of(tmp_path, tmp_path / "copied", "b")).ledger
    assert (await second.contents(await second.entry(intent), ("question",)))["question"] == b"Who?"
    await ask(second, "s")
    assert (await second.verify()).ok and (await first.verify()).ok
    made = {path.name: path.read_bytes() for path in (tmp_path / "keys").iterdir()}
    assert made == {path.name: path.read_bytes() for path in (tmp_path / "copied").iterdir()}
    assert any(name.startswith("tenant-") for name in made)
    await first.aclose()
    await second.aclose()


async def test_a_key_that_was_drawn_and_lost_is_never_replaced(tmp_path: Path) -> None:
    first = (await Replica.of(tmp_path, tmp_path / "keys", "a")).ledger
    drawn = tmp_path / "keys" / f"tenant-{first.pseudonym('tenant', 'default')}.key"
    drawn.write_text("ab" * 32 + "\n")
    drawn.chmod(0o600)
    intent, _ = await ask(first, "r")
    assert drawn.read_text() == "ab" * 32 + "\n"
    await first.aclose()
    drawn.unlink()
    again = (await Replica.of(tmp_path, tmp_path / "keys", "a")).ledger
    with pytest.raises(KeyUnusable, match="missing"):
        await again.contents(await again.entry(intent), ("question",))
    with pytest.raises(KeyUnusable, match="missing"):
        await ask(again, "s")
    assert not drawn.exists()
    assert not (await again.verify()).ok
    await again.aclose()
