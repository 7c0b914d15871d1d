"""Witnesses: the protocol's request and rules, our own witness, and a log that has itself cosigned."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.checkpointer import Checkpointer
from ledger.errors import CheckpointPending, LedgerUnavailable, LogForked, MalformedNote, VerificationFailed
from ledger.ledger import Ledger
from ledger.model import Kind, TreeHead
from ledger.notes.cosignature import cosign, cosigned_at
from ledger.notes.note import SigningKey, checkpoint_text, parse_vkey, sign_note
from ledger.notes.trust import parse_policy
from ledger.outage import OutageWatch
from ledger.proofs.proving import prove_consistency
from ledger.proofs.receipt import verify_receipt
from ledger.witnesses.sqlite import MAX_EVIDENCE, SqliteWitness
from ledger.witnesses.witness import SIZE_TYPE, AddCheckpoint, WitnessReply, parse_add_checkpoint
from tests.ledger_doubles import MemoryKeyRing, MemoryLedgerStore, open_ledger
from tests.ledger_long import LOG_KEY, ORIGIN, grow
from tests.ledger_witnesses import T0_S, Deaf, Says, cosigner_of, open_witness, policy_text, witness_key

OTHER = SigningKey.from_seed(ORIGIN, b"o" * 32)
FORGED = TreeHead(9, b"\x11" * 32)


@pytest.fixture
async def witness(tmp_path: Path) -> AsyncIterator[SqliteWitness]:
    made = await open_witness(tmp_path, LOG_KEY.verifier, 1)
    yield made
    await made.aclose()


async def requests(*sizes: int) -> tuple[MemoryLedgerStore, dict[tuple[int, int], str]]:
    """A log with a checkpoint at each size, and the honest request for each pair of sizes."""
    store = MemoryLedgerStore()
    made = await grow(store, sizes)
    asked = {
        (old, new.head.size): str(AddCheckpoint(old, await prove_consistency(store, old=old, head=new.head), new.note))
        for new in made
        for old in (0, *sizes)
        if old <= new.head.size
    }
    return store, asked


def signed(head: TreeHead, key: SigningKey = LOG_KEY, origin: str = ORIGIN) -> str:
    return sign_note(checkpoint_text(origin, head), [key])


async def test_a_growing_log_is_cosigned_and_what_was_seen_survives(tmp_path: Path) -> None:
    _, asked = await requests(0, 1, 3, 8)
    for pair in ((0, 0), (0, 1), (1, 1), (1, 3), (3, 8)):
        witness = await open_witness(tmp_path, LOG_KEY.verifier, 1)  # opened anew each time
        reply = await witness.add_checkpoint(asked[pair])
        assert (reply.status, reply.body[:2], reply.body[-1]) == (200, "— ", "\n")
        note = parse_add_checkpoint(asked[pair]).checkpoint + reply.body
        assert cosigned_at(note, witness_key(1).verifier) == T0_S
        assert (await witness.seen(ORIGIN)).size == pair[1]
        await witness.aclose()


async def test_another_old_size_is_told_the_size_that_was_seen(witness: SqliteWitness) -> None:
    _, asked = await requests(2, 5, 9)
    assert (await witness.add_checkpoint(asked[0, 5])).status == 200
    for pair in ((0, 5), (0, 9), (2, 9), (2, 5), (0, 2)):
        reply = await witness.add_checkpoint(asked[pair])
        assert reply == WitnessReply(409, "5\n", SIZE_TYPE)
    assert (await witness.add_checkpoint(asked[5, 9])).status == 200


REFUSED = {
    "unknown log": (404, lambda a: a.replace(ORIGIN, "exhibit.example/other")),
    "no signature of ours": (403, lambda a: a.split("\n\n")[0] + "\n\n" + signed(FORGED, OTHER)),
    "signature of another text": (403, lambda a: a.replace("\n9\n", "\n8\n")),
    "old beyond new": (400, lambda a: "old 10\n\n" + a.split("\n\n", 1)[1]),
    "proof cut": (422, lambda a: a.replace(a.split("\n")[1] + "\n", "", 1)),
    "proof of zeros": (422, lambda a: a.replace(a.split("\n")[1], base64.b64encode(bytes(32)).decode(), 1)),
    "no proof": (422, lambda a: "old 5\n\n" + a.split("\n\n", 1)[1]),
    "another tree, larger": (422, lambda a: a.split("\n\n")[0] + "\n\n" + signed(FORGED)),
    "another tree of the same size": (409, lambda a: "old 5\n\n" + signed(TreeHead(5, FORGED.root))),
    "empty": (400, lambda a: ""),
    "no old size": (400, lambda a: a.split("\n", 1)[1]),
    "old with a leading zero": (400, lambda a: a.replace("old 5", "old 05")),
    "old with a sign": (400, lambda a: a.replace("old 5", "old +5")),
    "old negative": (400, lambda a: a.replace("old 5", "old -5")),
    "old in Arabic digits": (400, lambda a: a.replace("old 5", "old ٥")),
    "old too large": (400, lambda a: a.replace("old 5", "old 9223372036854775808")),
    "old with two spaces": (400, lambda a: a.replace("old 5", "old  5")),
    "Old": (400, lambda a: a.replace("old 5", "Old 5")),
    "carriage returns": (400, lambda a: a.replace("\n", "\r\n")),
    "proof not base64": (400, lambda a: a.replace(a.split("\n")[1], "?")),
    "proof not canonical": (400, lambda a: a.replace(a.split("\n")[1], "A" * 42 + "B=")),
    "proof hash short": (400, lambda a: a.replace(a.split("\n")[1], base64.b64encode(bytes(31)).decode())),
    "sixty-four hashes": (400, lambda a: a.replace("\n\n", "\n" + (a.split("\n")[1] + "\n") * 64 + "\n", 1)),
    "no empty line": (400, lambda a: a.replace("\n\n", "\n", 1)),
    "no checkpoint": (400, lambda a: a.split("\n\n")[0] + "\n\n"),
    "checkpoint without a signature": (400, lambda a: a.rsplit("\n\n", 1)[0] + "\n"),
    "checkpoint of size 09": (400, lambda a: a.replace("\n9\n", "\n09\n")),
    "after the last line": (400, lambda a: a + "more"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_a_witness_refuses_changes_nothing(witness: SqliteWitness, name: str) -> None:
    _, asked = await requests(5, 9)
    assert (await witness.add_checkpoint(asked[0, 5])).status == 200
    before = await witness.seen(ORIGIN)
    status, change = REFUSED[name]
    reply = await witness.add_checkpoint(change(asked[5, 9]))
    assert reply.status == status, reply
    assert await witness.seen(ORIGIN) == before
    assert len(await witness.evidence(ORIGIN)) == (status == 422 or name == "another tree of the same size")
    assert (await witness.add_checkpoint(asked[5, 9])).status == 200


async def test_wrong_proofs_of_a_stranger_leave_room_for_what_the_log_signed(witness: SqliteWitness) -> None:
    _, asked = await requests(5, 9)
    assert (await witness.add_checkpoint(asked[0, 5])).status == 200
    wrong = REFUSED["proof of zeros"][1](asked[5, 9])
    for _ in range(MAX_EVIDENCE + 1):
        assert (await witness.add_checkpoint(wrong)).status == 422
    split = REFUSED["another tree of the same size"][1](asked[5, 9])
    assert (await witness.add_checkpoint(split)).status == 409
    assert (await witness.evidence(ORIGIN))[MAX_EVIDENCE:] == (split,)


async def test_one_of_two_racing_branches_is_cosigned(witness: SqliteWitness) -> None:
    _, asked = await requests(5, 9)
    branch = "old 0\n\n" + signed(FORGED)
    replies = await asyncio.gather(*(witness.add_checkpoint(each) for each in [asked[0, 9], branch] * 4))
    assert sorted({reply.status for reply in replies}) == [200, 409]
    assert (await witness.seen(ORIGIN)).root in (FORGED.root, parse_root(asked[0, 9]))
    assert sum(reply.status == 200 for reply in replies) == 1


def parse_root(request: str) -> bytes:
    return base64.b64decode(request.split("\n\n")[1].split("\n")[2])


@given(st.text(max_size=120), st.integers(0, 300))
@settings(max_examples=50, deadline=None)
def test_parsing_raises_nothing_else(noise: str, at: int) -> None:
    honest = "old 5\n" + base64.b64encode(bytes(32)).decode() + "\n\n" + signed(FORGED)
    assert str(parse_add_checkpoint(honest)) == honest
    for text in (noise, honest[:at] + noise, honest[:at] + noise + honest[at:]):
        try:
            assert str(parse_add_checkpoint(text)) == text
        except MalformedNote:
            continue


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another task does."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def witnessed_log(folder: Path, store: MemoryLedgerStore) -> tuple[Ledger, list[Deaf], Checkpointer]:
    """A log with two witnesses, both of which must cosign."""
    ledger = await open_ledger(store)
    log = parse_vkey(ledger.vkey)
    witnesses = [Deaf(await open_witness(folder, log, n)) for n in (1, 2)]
    cosigner = cosigner_of(store, policy_text(log), witnesses)
    return ledger, witnesses, Checkpointer(store=store, head=ledger.head, cosigner=cosigner, interval_s=0.05)


async def ask(ledger: Ledger, request_id: str) -> str:
    entry = await ledger.record(Kind.INTENT, tenant="default", request_id=request_id, parts={"question": b"Who?"})
    return entry.entry_id


async def test_without_witnesses_no_question_is_recorded_for_longer_than_the_bound(tmp_path: Path) -> None:
    """By the log's own clock, which here goes on by a millisecond whenever it is read."""
    store = MemoryLedgerStore()
    ledger = await open_ledger(store)
    log = parse_vkey(ledger.vkey)
    witnesses = [Deaf(await open_witness(tmp_path, log, n)) for n in (1, 2)]
    assert ledger.unpublished_ms is None
    checkpointer = ledger.checkpointer(cosigner_of(store, policy_text(log), witnesses), interval_s=0.02)
    await checkpointer.start()
    ledger.stop_unpublished(after_ms=1_000)
    await ask(ledger, "before")
    witnesses[1].deaf = True  # one alone is no quorum
    await ask(ledger, "while")
    await until(lambda: (ledger.unpublished_ms or 0) > 1_000)
    for kind, parts in ((Kind.INTENT, {"question": b"Who?"}), (Kind.RETRIEVAL, {"answer": b"{}"})):
        with pytest.raises(CheckpointPending):
            await ledger.record(kind, tenant="default", request_id="refused", parts=parts)
    await ledger.record(Kind.INCIDENT, tenant="default", request_id="told", parts={"detail": b"{}"})
    witnesses[1].deaf = False
    await until(lambda: (ledger.unpublished_ms or 0) < 500)
    await ask(ledger, "after")
    assert [entry.leaf.request_id for entry in await ledger.entries()] == ["before", "while", "told", "after"]
    await checkpointer.aclose()


async def test_receipts_bear_the_cosignatures_and_a_two_sided_time(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    ledger, _, checkpointer = await witnessed_log(tmp_path, store)
    policy = parse_policy(policy_text(parse_vkey(ledger.vkey)))
    await ask(ledger, "before")
    await checkpointer.start()
    first = await ask(ledger, "r1")
    receipt = await ledger.receipt(first, disclose=("question",))
    verified = verify_receipt(receipt, vkey=ledger.vkey, policy=policy)
    assert verified.witnessed
    assert verified.cosigned is not None
    assert verified.cosigned.by_s == T0_S
    assert sorted(verified.cosigned.times_s) == ["w1.example/witness", "w2.example/witness"]
    assert not verify_receipt(receipt, vkey=ledger.vkey).witnessed
    seen = await ledger.checkpoint_of(verified.leaf.seen.size)
    assert policy.check(seen.text) is not None
    report = await ledger.verify(policy=policy)
    assert report.ok
    assert report.witnessed_size == 2
    assert not (await ledger.verify()).witnessed
    await checkpointer.aclose()


async def test_without_a_quorum_a_checkpoint_is_not_cosigned_and_the_next_one_is(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    ledger, witnesses, checkpointer = await witnessed_log(tmp_path, store)
    policy = parse_policy(policy_text(parse_vkey(ledger.vkey)))
    await checkpointer.start()
    witnesses[1].deaf = True
    entry = await ask(ledger, "r1")
    receipt = await ledger.receipt(entry, disclose=())
    with pytest.raises(VerificationFailed) as failed:
        verify_receipt(receipt, vkey=ledger.vkey, policy=policy)
    assert failed.value.step == "quorum"
    witnesses[1].deaf = False
    await ask(ledger, "r2")
    await until(lambda: store.signed[max(store.signed)].cosignatures != ())
    receipt = await ledger.receipt(entry, disclose=())
    assert verify_receipt(receipt, vkey=ledger.vkey, policy=policy).witnessed
    await checkpointer.aclose()


async def test_nothing_new_is_signed_until_a_witness_has_been_asked(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    ledger, witnesses, checkpointer = await witnessed_log(tmp_path, store)
    for witness in witnesses:
        witness.deaf = True
    await ask(ledger, "r1")
    await checkpointer.start()
    assert checkpointer.fault is not None
    assert max(store.signed) == 0
    witnesses[0].deaf = False
    await until(lambda: checkpointer.fault is None)
    await checkpointer.aclose()
    assert max(store.signed) == 1


async def test_a_log_behind_its_witness_signs_and_writes_nothing(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    ledger, _, checkpointer = await witnessed_log(tmp_path, store)
    for number in range(3):
        await ask(ledger, f"r{number}")
    await checkpointer.start()
    await checkpointer.aclose()
    behind = MemoryLedgerStore()
    ledger, _, checkpointer = await witnessed_log(tmp_path, behind)
    await ask(ledger, "r0")
    with pytest.raises(LogForked, match="cosigned 3"):
        await checkpointer.start()
    assert set(behind.signed) == {0}
    with pytest.raises(LogForked):
        await ledger.checkpoint()
    with pytest.raises(LogForked):
        await ask(ledger, "r1")
    assert [p.step for p in (await ledger.verify()).problems] == ["behind"]
    await checkpointer.aclose()


async def test_a_log_rewritten_beside_its_witness_is_stopped(tmp_path: Path) -> None:
    ledger, _, checkpointer = await witnessed_log(tmp_path, MemoryLedgerStore())
    await ask(ledger, "r0")
    await checkpointer.start()
    await checkpointer.aclose()
    other = MemoryLedgerStore()
    ledger, _, checkpointer = await witnessed_log(tmp_path, other)
    await ask(ledger, "another")
    await ask(ledger, "more")
    with pytest.raises(LogForked):
        await checkpointer.start()
    assert not any(kept.cosignatures for kept in other.signed.values())
    await checkpointer.aclose()


BAD_REPLIES = {
    "no cosignature": WitnessReply(200, "\n"),
    "nothing": WitnessReply(200, ""),
    "text": WitnessReply(200, "fine\n"),
    "another witness's line": WitnessReply(200, "OTHER"),
    "an old line": WitnessReply(200, "OLD"),
    "a server's fault": WitnessReply(500, "x"),
    "unknown log": WitnessReply(404, "x"),
    "forbidden": WitnessReply(403, "x"),
    "409 without a size": WitnessReply(409, "x"),
    "409 with a padded size": WitnessReply(409, "07\n"),
    "409 with our own size": WitnessReply(409, "0\n"),
    "redirect": WitnessReply(302, ""),
}


@pytest.mark.parametrize("name", BAD_REPLIES)
async def test_a_witness_that_answers_nonsense_is_a_value(name: str) -> None:
    store = MemoryLedgerStore()
    small, large = await grow(store, [1, 3])
    reply = BAD_REPLIES[name]
    if reply.body in ("OTHER", "OLD"):
        text = checkpoint_text(ORIGIN, (large if reply.body == "OTHER" else small).head)
        line = await cosign(text, witness_key(2 if reply.body == "OTHER" else 1), timestamp_s=1)
        reply = WitnessReply(200, line + "\n")
    shown = await cosigner_of(store, policy_text(LOG_KEY.verifier, 1), [Says([reply])]).cosign(large)
    assert shown.lines == ()
    assert shown.asked[0].fault
    assert store.signed[3].cosignatures == ()


@pytest.mark.parametrize(
    "reply", [WitnessReply(422, ""), WitnessReply(409, "4\n"), WitnessReply(409, "9223372036854775807\n")]
)
async def test_a_witness_that_contradicts_the_log_stops_it(reply: WitnessReply) -> None:
    store = MemoryLedgerStore()
    _, large = await grow(store, [1, 3])
    with pytest.raises(LogForked):
        await cosigner_of(store, policy_text(LOG_KEY.verifier, 1), [Says([reply])]).cosign(large)


async def test_a_replica_that_was_overtaken_goes_on() -> None:
    store = MemoryLedgerStore()
    small, _ = await grow(store, [1, 3])
    says = Says([WitnessReply(409, "3\n", SIZE_TYPE)])
    shown = await cosigner_of(store, policy_text(LOG_KEY.verifier, 1), [says]).cosign(small)
    assert shown.lines == ()
    assert len(says.asked) == 1


async def test_a_receipt_waits_for_the_interval_and_then_says_so() -> None:
    ledger = await open_ledger(MemoryLedgerStore(), keys=MemoryKeyRing())
    ledger.head.keep_signing(0.02)
    entry = await ask(ledger, "r1")
    with pytest.raises(CheckpointPending):
        await ledger.receipt(entry, disclose=())
    waiting = asyncio.create_task(ledger.receipt(entry, disclose=()))
    await asyncio.sleep(0)
    await ledger.head.announce(await ledger.head.checkpoint())
    assert verify_receipt(await waiting, vkey=ledger.vkey).size == 1


async def test_many_entries_are_signed_before_the_interval_ends() -> None:
    store = MemoryLedgerStore()
    ledger = await open_ledger(store)
    checkpointer = Checkpointer(store=store, head=ledger.head, interval_s=0.5, entries=4)
    await checkpointer.start()
    for number in range(4):
        await ask(ledger, f"r{number}")
    await until(lambda: max(store.signed) == 4)
    await checkpointer.aclose()


async def told(ledger: Ledger) -> list[tuple[str, str]]:
    """What the incidents of the log say, and which entry each points at."""
    incidents = await ledger.entries(kind=Kind.INCIDENT)
    details = [json.loads(await ledger.part(each.leaf.entry_id, "detail")) for each in incidents]
    at = {each.leaf.entry_id: number for number, each in enumerate(incidents)}
    return [
        (detail["what"], " ".join(f"{ref.rel} {at[ref.id]}" for ref in each.leaf.refs))
        for detail, each in zip(details, incidents, strict=True)
    ]


async def looked(ledger: Ledger, watch: OutageWatch) -> list[tuple[str, str]]:
    for _ in range(3):
        await watch.look()
    return await told(ledger)


async def signed_by_its_clock(folder: Path, store: MemoryLedgerStore) -> tuple[Ledger, list[Deaf], Checkpointer]:
    """As `witnessed_log`, signed already, by a clock that goes on by a millisecond whenever it is read."""
    ledger, witnesses, _ = await witnessed_log(folder, store)
    cosigner = cosigner_of(store, policy_text(parse_vkey(ledger.vkey)), witnesses)
    checkpointer = ledger.checkpointer(cosigner, interval_s=0.02)
    await checkpointer.start()
    return ledger, witnesses, checkpointer


async def test_an_outage_is_told_once_and_cleared_by_a_second_entry(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    ledger, witnesses, checkpointer = await signed_by_its_clock(tmp_path, store)
    watch = OutageWatch(ledger, after_ms=400, why=lambda: checkpointer.fault)
    await watch.start()
    assert await looked(ledger, watch) == []
    outages: list[tuple[str, str]] = []
    for number in (0, 2):
        witnesses[1].deaf = True  # one alone is no quorum
        await ask(ledger, f"while-{number}")
        await until(lambda: (ledger.unpublished_ms or 0) > 400)
        outages.append(("unpublished", ""))
        assert await looked(ledger, watch) == outages
        await watch.aclose()
        watch = OutageWatch(ledger, after_ms=400, why=lambda: checkpointer.fault)  # a restart in the middle of it
        await watch.start()
        assert await looked(ledger, watch) == outages
        witnesses[1].deaf = False
        size = await ledger.size()
        await until(lambda size=size: (ledger.head.published_size or 0) >= size)  # type: ignore[misc]
        outages.append(("published", f"clears {number}"))
        assert await looked(ledger, watch) == outages
    await watch.aclose()
    await checkpointer.aclose()
    assert (await ledger.verify()).problems == ()


async def test_an_outage_that_cannot_be_told_is_told_when_the_log_can_be_written(tmp_path: Path) -> None:
    store = MemoryLedgerStore()
    ledger, witnesses, checkpointer = await signed_by_its_clock(tmp_path, store)
    watch = OutageWatch(ledger, after_ms=400, why=lambda: None)
    witnesses[1].deaf = True
    await ask(ledger, "while")
    await until(lambda: (ledger.unpublished_ms or 0) > 400)
    store.broken = True
    with pytest.raises(LedgerUnavailable):
        await watch.look()
    store.broken = False
    assert await looked(ledger, watch) == [("unpublished", "")]
    [entry] = await ledger.entries(kind=Kind.INCIDENT)
    detail = json.loads(await ledger.part(entry.leaf.entry_id, "detail"))
    assert (detail["bound_ms"], detail["why"]) == (400, "the quorum of the witnesses was not reached")
    await checkpointer.aclose()
