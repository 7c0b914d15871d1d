"""The health of a log: what is unsigned, unwitnessed, unfinished or forked is a gap, and what is late is told apart from
what is in work."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.audit.log.health import LATE_MS, LogHealth, log_health
from ledger.errors import LogForked
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.notes.note import parse_vkey
from ledger.notes.trust import TrustPolicy, parse_policy
from tests.ledger_doubles import T0_MS, MemoryLedgerStore, open_ledger
from tests.ledger_witnesses import T0_S, open_witness, paired, policy_text

SOON, LATER = T0_MS + 60_000, T0_MS + 60_000 + LATE_MS


async def asked(ledger: Ledger, number: int, *, tenant: str = "t", answered: bool = True) -> None:
    request = f"r{number}"
    intent = await ledger.record(Kind.INTENT, tenant=tenant, request_id=request, parts={"question": b"Who?"})
    if answered:
        refs = [intent.as_ref("intent")]
        await ledger.record(Kind.OUTCOME, tenant=tenant, request_id=request, parts={"answer": b"{}"}, refs=refs)


async def of(ledger: Ledger, *, policy: TrustPolicy | None = None, at_ms: int = SOON, tenant: str = "t") -> LogHealth:
    return await log_health(ledger, tenant=tenant, policy=policy, at_ms=at_ms)


async def witnessed(folder: Path, ledger: Ledger, quorum: str = "all") -> TrustPolicy:
    """Let two witnesses cosign the latest checkpoint."""
    log = parse_vkey(ledger.vkey)
    policy = parse_policy(policy_text(log, quorum=quorum))
    cosigner = ledger.cosigner(policy, paired(policy, [await open_witness(folder, log, n) for n in (1, 2)]))
    try:
        assert (await ledger.show_to(cosigner)).lines
    finally:
        await cosigner.aclose()
    return policy


@pytest.fixture
async def ledger() -> Ledger:
    return await open_ledger(MemoryLedgerStore())


async def test_an_empty_log_has_no_gap(ledger: Ledger) -> None:
    health = await of(ledger, at_ms=LATER)
    assert (health.entries, health.checkpoint, health.unsigned, health.gaps) == (0, None, 0, ())
    assert (health.newest_ms, health.unsigned_since_ms, health.quorum) == (None, None, None)


async def test_what_no_checkpoint_covers_is_unsigned_and_a_gap_once_it_is_late(ledger: Ledger) -> None:
    await asked(ledger, 1)
    await ledger.checkpoint()
    await asked(ledger, 2)
    soon, late = await of(ledger), await of(ledger, at_ms=LATER)
    entries = await ledger.entries()
    assert (soon.unsigned, soon.newest_ms, soon.unsigned_since_ms) == (2, entries[1].leaf.t_ms, entries[2].leaf.t_ms)
    assert (soon.gaps, late.gaps) == ((), ("UNSIGNED",))
    await ledger.checkpoint()
    assert (await of(ledger, at_ms=LATER)).gaps == ()


async def test_a_request_that_was_cut_off_is_a_gap_of_its_own_tenant(ledger: Ledger) -> None:
    await asked(ledger, 1, answered=False)
    await asked(ledger, 2, tenant="other", answered=False)
    await ledger.checkpoint()
    soon, late = await of(ledger), await of(ledger, at_ms=LATER)
    assert (soon.gaps, late.gaps) == ((), ("UNFINISHED",))
    assert [each.index for each in late.open] == [0]
    assert [each.index for each in (await of(ledger, tenant="other")).open] == [1]
    assert (await of(ledger, at_ms=LATER, tenant="third")).gaps == ()


async def test_witnesses_are_named_with_what_they_cosigned_and_when(ledger: Ledger, tmp_path: Path) -> None:
    await asked(ledger, 1)
    await ledger.checkpoint()
    policy = await witnessed(tmp_path, ledger)
    health = await of(ledger, policy=policy)
    assert [(each.name, each.size, each.cosigned_ms) for each in health.witnesses] == [
        ("w1", 2, T0_S * 1000),
        ("w2", 2, T0_S * 1000),
    ]
    assert (health.quorum, health.gaps) == (True, ())


async def test_a_later_checkpoint_without_cosignatures_is_a_gap(ledger: Ledger, tmp_path: Path) -> None:
    for number in range(9):
        await asked(ledger, number)
        await ledger.checkpoint()
        if number == 4:
            policy = await witnessed(tmp_path, ledger)
    health = await of(ledger, policy=policy)
    assert {each.size for each in health.witnesses} == {10}
    assert (health.quorum, health.gaps) == (False, ("UNWITNESSED",))


async def test_a_witness_of_another_key_has_not_cosigned(ledger: Ledger, tmp_path: Path) -> None:
    await asked(ledger, 1)
    await ledger.checkpoint()
    await witnessed(tmp_path, ledger)
    policy = parse_policy(policy_text(parse_vkey(ledger.vkey), count=3))
    health = await of(ledger, policy=policy)
    assert [(each.name, each.size) for each in health.witnesses] == [("w1", 2), ("w2", 2), ("w3", None)]
    assert (health.quorum, health.gaps) == (False, ("UNWITNESSED",))


async def test_a_log_that_asks_nobody_has_no_quorum_to_lack(ledger: Ledger) -> None:
    await asked(ledger, 1)
    await ledger.checkpoint()
    policy = parse_policy(f"log {ledger.vkey}\nquorum none\n".encode())
    assert (await of(ledger, policy=policy)).quorum is None


async def test_a_fork_comes_first(ledger: Ledger) -> None:
    await asked(ledger, 1)
    ledger.head.refuse(LogForked("another tree"))
    assert (await of(ledger, at_ms=LATER)).gaps == ("FORKED", "UNSIGNED")


@pytest.mark.parametrize("cosigned", [[], [1], [1, 2, 3], [4], [2, 5], [7], [1, 7]])
async def test_the_largest_cosigned_checkpoint_is_found(cosigned: list[int]) -> None:
    store = MemoryLedgerStore()
    ledger = await open_ledger(store)
    for number in range(1, 8):
        await asked(ledger, number)
        await ledger.checkpoint()
        if number in cosigned:
            await store.add_cosignatures(2 * number, [f"- w{number}"])
    found = await ledger.latest_cosigned()
    assert (found and found.head.size) == (2 * max(cosigned) if cosigned else None)
