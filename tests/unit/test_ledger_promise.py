"""A promise holds the log to an answer: altered ones are refused, kept ones are covered, and a log that signs and drops
is caught by what it signed itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import KeyUnusable, LedgerError, MalformedNote, VerificationFailed
from ledger.ledger import Ledger
from ledger.notes.note import SigningKey, parse_checkpoint_text, parse_vkey
from ledger.proofs.claim import (
    Breach,
    Claim,
    ClaimVerdict,
    best_of,
    claim_by_folder,
    claim_by_receipt,
    overdue,
    promised_in,
)
from ledger.proofs.promise import MERGE_DELAY_S, Commitment, parse_promise
from tests.ledger_doubles import MemoryKeyRing, MemoryLedgerStore, open_ledger
from tests.ledger_promises import ANSWER, a_log_of_one, a_twin, answered, exported, recorded

DAY_MS = MERGE_DELAY_S * 1000


def promised(body: object, ledger: Ledger) -> Commitment:
    return promised_in(body, [parse_vkey(each) for each in ledger.vkeys])


async def claimed(body: Mapping[str, Any], ledger: Ledger) -> Claim:
    """The verdict of an export of the log on a body that its keys promised."""
    files = await exported(ledger)
    return claim_by_folder(promised(body, ledger), files.get, vkeys=ledger.vkeys)


async def test_a_kept_promise_is_covered_by_export_and_receipt() -> None:
    ledger = await open_ledger(MemoryLedgerStore())
    bodies = [await answered(ledger, number) for number in range(3)]
    for index, body in enumerate(bodies):
        by_export = await claimed(body, ledger)
        assert (by_export.verdict, by_export.index, by_export.size) == (ClaimVerdict.COVERED, index, 3)
        receipt = await ledger.receipt(body["promise"]["entry_id"], disclose=())
        assert claim_by_receipt(promised(body, ledger), receipt, vkeys=ledger.vkeys).verdict is ClaimVerdict.COVERED


async def test_the_same_promise_whenever_it_is_asked_for_and_after_a_change_of_key() -> None:
    ledger = await open_ledger(MemoryLedgerStore())
    body = await answered(ledger)
    entry = await ledger.entry(body["promise"]["entry_id"])
    await ledger.rotate_key()
    again = await ledger.promise(entry.ref, answer=recorded({**ANSWER, "request_id": "r0"}))
    assert again.as_json() == body["promise"]
    after = await answered(ledger, 1)
    assert after["promise"]["key"] != body["promise"]["key"]
    for each in (body, after):
        assert (await claimed(each, ledger)).verdict is ClaimVerdict.COVERED
    with pytest.raises(VerificationFailed, match="not one of the log's"):
        promised_in(after, [parse_vkey(ledger.vkeys[0])])


async def test_a_promise_is_no_checkpoint() -> None:
    ledger = await open_ledger(MemoryLedgerStore(), keys=MemoryKeyRing(origin="exhibit.promise/1"))
    for each in (ledger, await open_ledger(MemoryLedgerStore(), keys=MemoryKeyRing(origin="5"))):
        with pytest.raises(MalformedNote):
            parse_checkpoint_text(promised(await answered(each), each).text)


async def test_no_key_no_promise() -> None:
    keys = MemoryKeyRing()
    ledger = await open_ledger(MemoryLedgerStore(), keys=keys)
    await ledger.rotate_key()
    keys.later.clear()
    with pytest.raises(KeyUnusable):
        await answered(ledger)


# ---------------------------------------------------------------- forged and altered

_TEXT = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S", "Z")), max_size=80)
_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _TEXT, st.lists(_TEXT, max_size=2)
)


@pytest.fixture(scope="module")
def scene() -> tuple[Ledger, dict[str, Any]]:
    async def made() -> tuple[Ledger, dict[str, Any]]:
        ledger = await open_ledger(MemoryLedgerStore())
        return ledger, await answered(ledger)

    return asyncio.run(made())


def refused(body: object, ledger: Ledger) -> bool:
    try:
        promised(body, ledger)
    except (MalformedNote, VerificationFailed):
        return True
    return False


MEMBERS = (
    *("v", "entry_id", "leaf_hash", "answer_digest", "replica", "rseq", "time", "merge_delay_s", "key", "signature"),
)


@pytest.mark.parametrize("member", MEMBERS)
@given(data=st.data())
def test_every_altered_member_is_refused(
    scene: tuple[Ledger, dict[str, Any]], member: str, data: st.DataObject
) -> None:
    """By any value, and by one that differs in a single character or by one."""
    ledger, body = scene
    assert set(body["promise"]) == set(MEMBERS)
    value = body["promise"][member]
    if isinstance(value, str):
        at = data.draw(st.integers(0, len(value) - 1))
        near = st.sampled_from("0123456789abcdefABCZ+-:/. \n").map(lambda char: value[:at] + char + value[at + 1 :])
    else:
        near = st.integers(-1, 2).map(lambda more: value + more)
    other = data.draw(st.one_of(_VALUES, near).filter(lambda it: type(it) is not type(value) or it != value))
    assert refused({**body, "promise": {**body["promise"], member: other}}, ledger)


@given(data=st.data())
def test_an_altered_body_is_refused(scene: tuple[Ledger, dict[str, Any]], data: st.DataObject) -> None:
    ledger, body = scene
    name = data.draw(
        st.sampled_from(sorted(set(body) - {"promise", "timings_ms"})) | _TEXT.filter(lambda n: n not in body)
    )
    value = data.draw(_VALUES.filter(lambda it: name not in body or it != body[name]))
    if name not in ("promise", "timings_ms", "took_ms"):
        assert refused({**body, name: value}, ledger)


@pytest.mark.parametrize("member", MEMBERS)
def test_a_promise_without_a_member_or_with_one_more_is_refused(
    scene: tuple[Ledger, dict[str, Any]], member: str
) -> None:
    ledger, body = scene
    rest = {name: value for name, value in body["promise"].items() if name != member}
    assert refused({**body, "promise": rest}, ledger)
    assert refused({**body, "promise": {**body["promise"], member + "2": "x"}}, ledger)


@given(body=_VALUES | st.dictionaries(_TEXT, _VALUES, max_size=3) | st.fixed_dictionaries({"promise": _VALUES}))
def test_what_carries_no_promise_is_refused(scene: tuple[Ledger, dict[str, Any]], body: object) -> None:
    assert refused(body, scene[0])


async def test_times_are_no_part_of_it_and_another_logs_promise_is_refused(
    scene: tuple[Ledger, dict[str, Any]],
) -> None:
    ledger, body = scene
    assert not refused({**body, "timings_ms": {"other": 9}, "took_ms": 3}, ledger)
    stranger = await open_ledger(MemoryLedgerStore(), keys=MemoryKeyRing("another seed"))
    assert refused(await answered(stranger), ledger)
    assert refused({**body, "promise": (await answered(stranger))["promise"]}, ledger)


async def test_a_forger_without_the_key_is_refused(scene: tuple[Ledger, dict[str, Any]]) -> None:
    ledger, body = scene
    parsed = parse_promise(body["promise"])
    forger = SigningKey.from_seed(ledger.origin, b"F" * 32)
    signature = await forger.sign(parsed.of.text.encode())
    assert refused({**body, "promise": replace(parsed, signature=signature).as_json()}, ledger)
    named = replace(parsed, signature=signature, key_id=forger.verifier.key_id)
    assert refused({**body, "promise": named.as_json()}, ledger)


# ---------------------------------------------------------------- a log that signs and drops


async def test_a_dropped_answer_is_pending_until_the_log_goes_on() -> None:
    cheat = await a_twin()
    body = await answered(await open_ledger(MemoryLedgerStore()))
    first = await claimed(body, cheat)
    assert (first.verdict, first.size) == (ClaimVerdict.PENDING, 0)
    await answered(cheat, 100)  # in its place, under its number
    caught = await claimed(body, cheat)
    assert (caught.verdict, caught.breach, caught.index) == (ClaimVerdict.BROKEN, Breach.SEQUENCE, 0)
    receipt = await cheat.receipt((await cheat.entries())[0].leaf.entry_id, disclose=())
    by_receipt = claim_by_receipt(promised(body, cheat), receipt, vkeys=cheat.vkeys)
    assert (by_receipt.verdict, by_receipt.breach) == (ClaimVerdict.BROKEN, Breach.SEQUENCE)


@pytest.mark.parametrize(
    ("change", "breach"),
    [
        (lambda leaf: replace(leaf, rseq=7), Breach.SEQUENCE),  # a gap where the answer was
        (lambda leaf: replace(leaf, replica="other", t_ms=leaf.t_ms + DAY_MS + 1000), Breach.TIME),
    ],
)
async def test_what_the_log_signs_afterwards_breaks_it(change: Callable[[Any], Any], breach: Breach) -> None:
    body = await answered(await open_ledger(MemoryLedgerStore()))
    caught = await claimed(body, await a_log_of_one(change))
    assert (caught.verdict, caught.breach) == (ClaimVerdict.BROKEN, breach)


@pytest.mark.parametrize(
    "change",
    [
        lambda leaf: replace(leaf, replica="other"),
        lambda leaf: replace(leaf, replica="other", t_ms=leaf.t_ms + DAY_MS - 1000),
        lambda leaf: replace(leaf, replica="other", t_ms=leaf.t_ms - DAY_MS),
    ],
)
async def test_what_others_wrote_in_time_breaks_nothing(change: Callable[[Any], Any]) -> None:
    body = await answered(await open_ledger(MemoryLedgerStore()))
    assert (await claimed(body, await a_log_of_one(change))).verdict is ClaimVerdict.PENDING


async def test_the_same_id_with_another_content_breaks_it() -> None:
    body = await answered(await open_ledger(MemoryLedgerStore(), replica="one"))
    cheat = await open_ledger(MemoryLedgerStore(), replica="two")
    await answered(cheat)
    caught = await claimed(body, cheat)
    assert (caught.verdict, caught.breach) == (ClaimVerdict.BROKEN, Breach.ENTRY)


@pytest.mark.parametrize(
    "wrong", [{"rseq": 2}, {"replica": "another"}, {"t_ms": 1}, {"entry_id": "018bcfe5-6800-7000-8000-0000000000ff"}]
)
async def test_a_promise_that_lies_about_its_leaf_is_broken(wrong: Mapping[str, Any]) -> None:
    keys = MemoryKeyRing()
    ledger = await open_ledger(MemoryLedgerStore(), keys=keys)
    body = await answered(ledger)
    parsed = parse_promise(body["promise"])
    of = replace(parsed.of, **wrong)
    lied = replace(parsed, of=of, signature=await keys.signer.sign(of.text.encode()))
    caught = await claimed({**body, "promise": lied.as_json()}, ledger)
    assert (caught.verdict, caught.breach) == (ClaimVerdict.BROKEN, Breach.FIELDS)


async def test_the_merge_delay_on_ones_own_clock() -> None:
    ledger = await open_ledger(MemoryLedgerStore())
    body = await answered(ledger)
    pending = await claimed(body, await a_twin())
    due = pending.promised.due_ms
    assert overdue(pending, due).verdict is ClaimVerdict.PENDING
    broken = overdue(pending, due + 1)
    assert (broken.verdict, broken.breach) == (ClaimVerdict.BROKEN, Breach.CLOCK)
    covered = await claimed(body, ledger)
    assert overdue(covered, due + 1) == covered
    assert best_of([pending, broken, covered]) == covered
    assert best_of([pending, broken]) == broken


async def test_an_export_that_does_not_verify_says_nothing() -> None:
    ledger = await open_ledger(MemoryLedgerStore())
    body = await answered(ledger)
    files = await exported(ledger)
    for path in [path for path in files if path != "vkey"]:
        changed = {**files, path: files[path][:-2] + bytes([files[path][-2] ^ 1]) + files[path][-1:]}
        for each in (changed, {name: data for name, data in files.items() if name != path}):
            with pytest.raises(LedgerError):
                claim_by_folder(promised(body, ledger), each.get, vkeys=ledger.vkeys)
