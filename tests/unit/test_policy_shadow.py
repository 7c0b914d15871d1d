"""A bundle in the shadow: compared, counted, and without any effect."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from policy.engine import Reply
from policy.errors import PolicyUnavailable
from policy.shadow import WAITING, Brief, Difference, ShadowEngine, ShadowLog, brief
from policy.shadow_log import MAX_KEPT, SqliteShadowLog
from tests.policy_engines import LyingEngine, deciding, hanging, raising, saying

CANDIDATE = "sha256:" + "c" * 64


def decision(effect: str = "allow", admit: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {"effect": effect, "reasons": [], "obligations": [], "admit": list(admit)} | more


def results(document: object) -> bytes:
    return json.dumps([{"result": document}]).encode()


@dataclass
class Kept:
    """A ShadowLog in memory."""

    differences: list[Difference | None] = field(default_factory=list)
    skips: int = 0

    async def compared(self, candidate: str, entrypoint: str, *, difference: Difference | None) -> None:
        assert candidate == CANDIDATE
        self.differences.append(difference)

    async def skipped(self, candidate: str, entrypoint: str) -> None:
        self.skips += 1


_kept: type[ShadowLog] = Kept


def shadowed(active: LyingEngine, candidate: LyingEngine, log: ShadowLog) -> ShadowEngine:
    candidate.bundle_digest = CANDIDATE
    return ShadowEngine(active=active, candidate=candidate, log=log)


async def ask(engine: ShadowEngine) -> Reply:
    reply = await engine.evaluate("kfm/ai/evidence", b'{"id":"r1"}', deadline_s=1)
    await engine.settle()
    return reply


async def test_equal_decisions_are_counted_and_nothing_else() -> None:
    log = Kept()
    engine = shadowed(saying(results(decision(admit=("b", "a")))), saying(results(decision(admit=("a", "b")))), log)
    assert (await ask(engine)).results == results(decision(admit=("b", "a")))
    assert log.differences == [None]


async def test_a_difference_is_recorded_and_not_enforced() -> None:
    log = Kept()
    engine = shadowed(saying(results(decision(admit=("a",)))), saying(results(decision("deny"))), log)
    assert (await ask(engine)).results == results(decision(admit=("a",)))
    [difference] = log.differences
    assert difference is not None
    document = difference.document()
    assert document["effect"] == {"active": "allow", "shadow": "deny"}
    assert document["only_active"]["admit"] == ["a"]
    assert document["only_shadow"]["admit"] == []


@pytest.mark.parametrize(
    "candidate",
    [
        raising(PolicyUnavailable("trap")),
        saying(b"[]"),
        saying(b"not json"),
        saying(results({"effect": "allow"})),
        saying(results(decision(reasons=[{}]))),
        saying(results(decision(admit=(1,)))),  # type: ignore[arg-type]
        saying(
            results(
                decision(obligations=[{"op": "filter", "params": {}, "target": {"kind": "", "ref": ""}, "rule": "x"}])
            )
        ),
        deciding(lambda asked: 1),
    ],
)
async def test_a_candidate_that_goes_wrong_is_a_difference(candidate: LyingEngine) -> None:
    log = Kept()
    reply = await ask(shadowed(saying(results(decision())), candidate, log))
    assert reply.results == results(decision())
    assert [d is not None for d in log.differences] == [True]


async def test_a_bug_of_the_candidate_or_of_the_log_reaches_nobody() -> None:
    class Broken(Kept):
        async def compared(self, candidate: str, entrypoint: str, *, difference: Difference | None) -> None:
            raise OSError("disk full")

    for engine in (
        shadowed(saying(results(decision())), raising(ZeroDivisionError()), Kept()),
        shadowed(saying(results(decision())), saying(results(decision())), Broken()),
    ):
        assert (await ask(engine)).results == results(decision())


async def test_a_fault_of_the_active_engine_is_not_shadowed() -> None:
    log = Kept()
    with pytest.raises(PolicyUnavailable):
        await ask(shadowed(raising(PolicyUnavailable("gone")), saying(results(decision())), log))
    assert log.differences == []


async def test_a_slow_candidate_costs_the_requests_nothing() -> None:
    log = Kept()
    engine = shadowed(saying(results(decision())), hanging(), log)
    for _ in range(2 * WAITING):
        await engine.evaluate("kfm/ai/query", b"{}", deadline_s=1)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert log.skips == WAITING
    await engine.aclose()
    assert log.differences == []


def test_requirement_003s_boolean_is_compared_as_a_word() -> None:
    assert brief(results(True)) != brief(results(False))
    assert brief(results(True)).effect == "true"


# ------------------------------------------------------------------------------------------------------------- the file


def difference(n: int = 0) -> Difference:
    side = Brief("deny", frozenset({"Q02 SUBJECT_INVALID request:"}), frozenset(), frozenset())
    return Difference(
        "kfm/ai/query", f"sha256:{n:064}", side, Brief("allow", frozenset(), frozenset(), frozenset({"k"}))
    )


async def test_the_file_keeps_counts_and_differences_by_candidate(tmp_path: Path) -> None:
    log = SqliteShadowLog(tmp_path / "policy" / "shadow.sqlite", clock_ms=lambda: 7)
    assert log.report(CANDIDATE, limit=5) == {"counts": {}, "differences": []}
    assert not (tmp_path / "policy").exists()
    await log.compared(CANDIDATE, "kfm/ai/query", difference=None)
    await log.compared(CANDIDATE, "kfm/ai/query", difference=difference())
    await log.skipped(CANDIDATE, "kfm/ai/answer")
    report = log.report(CANDIDATE, limit=5)
    assert report["counts"] == {
        "kfm/ai/answer": {"compared": 0, "differing": 0, "skipped": 1},
        "kfm/ai/query": {"compared": 2, "differing": 1, "skipped": 0},
    }
    [kept] = report["differences"]
    assert (kept["t_ms"], kept["only_active"]["reasons"]) == (7, ["Q02 SUBJECT_INVALID request:"])
    assert log.report("sha256:" + "0" * 64, limit=5) == {"counts": {}, "differences": []}


async def test_the_newest_differences_come_first(tmp_path: Path) -> None:
    log = SqliteShadowLog(tmp_path / "shadow.sqlite", clock_ms=lambda: 7)
    for n in range(4):
        await log.compared(CANDIDATE, "kfm/ai/query", difference=difference(n))
    shown = log.report(CANDIDATE, limit=2)["differences"]
    assert [each["input"] for each in shown] == [f"sha256:{n:064}" for n in (3, 2)]
    assert MAX_KEPT >= 1_000


async def test_a_file_that_is_none_is_a_fault_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "shadow.sqlite").write_text("no database at all, but long enough to be looked at as one" * 20)
    log = SqliteShadowLog(tmp_path / "shadow.sqlite", clock_ms=lambda: 7)
    with pytest.raises(PolicyUnavailable):
        await log.compared(CANDIDATE, "kfm/ai/query", difference=None)
