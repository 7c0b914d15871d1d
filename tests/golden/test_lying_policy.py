"""A lying policy engine, through the whole pipeline: whatever it says at whichever point, nothing is released that an
honest engine has not allowed, and the record names the lie."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from ai.case.case import RequestFault
from api import wiring
from ledger.model import Kind
from policy.engine import PolicyEngine, Reply
from policy.model import Point
from policy.points import PolicyPoints
from tests.harness import ask, with_services

QUESTION = "What was the population of Shawnee County in 1930?"


def wrapped(decision: object) -> bytes:
    return json.dumps([{"result": decision}]).encode()


def allowing(**changes: object) -> dict[str, object]:
    return {"effect": "allow", "reasons": [], "obligations": [], "admit": []} | changes


UNKNOWN_OP = {"op": "publish", "target": {"kind": "request", "ref": ""}, "rule": "X", "params": {}}
LIES: dict[str, tuple[str, bytes]] = {
    "undefined": ("UNDEFINED", b"[]"),
    "allow: 1": ("SCHEMA", wrapped({"allow": 1})),
    "true": ("SCHEMA", wrapped(True)),
    "extra ids": ("ADMIT_NOT_SUBSET", wrapped(allowing(admit=["secret"]))),
    "unknown op": ("UNKNOWN_OBLIGATION", wrapped(allowing(obligations=[UNKNOWN_OP]))),
    "two results": ("SEVERAL_RESULTS", wrapped(allowing())[:-1] + b"," + wrapped(allowing())[1:]),
    "NaN": ("NOT_JSON", b'[{"result":NaN}]'),
    "10 MB": ("TOO_LARGE", wrapped("x" * 10_000_000)),
}


@dataclass
class LyingAt:
    """Honest but for one point. `lie` None never answers; an exception is raised."""

    honest: PolicyEngine
    point: Point
    lie: bytes | BaseException | None

    @property
    def name(self) -> str:
        return "liar"

    @property
    def bundle_digest(self) -> str:
        return self.honest.bundle_digest

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        if not entrypoint.endswith(f"/{self.point}"):
            return await self.honest.evaluate(entrypoint, input, deadline_s=deadline_s)
        if isinstance(self.lie, bytes):
            return Reply(self.lie, self.honest.bundle_digest)
        if self.lie is not None:
            raise self.lie
        await asyncio.Event().wait()
        raise AssertionError

    async def aclose(self) -> None:
        return None


async def asked(system: wiring.System, point: Point, lie: bytes | BaseException | None) -> dict[str, Any]:
    engine = LyingAt(system.engine, point, lie)

    def points(now_ms: int) -> PolicyPoints:
        return PolicyPoints(engine=engine, clock_ms=lambda: now_ms, deadline_s=0.5, data=system.data)

    return await ask(system, QUESTION, services=with_services(system, points=points))


async def test_an_honest_engine_answers(kansas: wiring.System) -> None:
    assert (await ask(kansas, QUESTION))["outcome"] == "ANSWER"


@pytest.mark.parametrize("point", list(Point))
async def test_a_lie_releases_nothing_and_is_on_record_by_its_code(kansas: wiring.System, point: Point) -> None:
    for code, lie in LIES.values():
        body = await asked(kansas, point, lie)
        assert body["outcome"] == ("DENY" if point is Point.QUERY else "ABSTAIN")
        assert body["evidence"] == []
        assert body["citations"] == {}
        assert "85,200" not in json.dumps(body)
        entry = await kansas.services.ledger.entry(body["provenance"]["entry_id"])
        where = entry.leaf.refs[0].id if point is Point.QUERY else entry.leaf.entry_id
        recorded = json.loads(await kansas.services.ledger.part(where, f"policy.{point}"))[-1]["decision"]
        assert [each["code"] for each in recorded["reasons"]] == [f"POLICY_DECISION_INVALID.{code}"]
        assert (recorded["effect"], recorded["admit"], recorded["obligations"]) == ("deny", [], [])


async def test_a_panic_and_a_hang_are_unavailability_and_on_record(kansas: wiring.System) -> None:
    for point, lie in product(Point, (RuntimeError("panic"), None)):
        with pytest.raises(RequestFault) as caught:
            await asked(kansas, point, lie)
        assert caught.value.code == "POLICY_UNAVAILABLE"
        entry = await kansas.services.ledger.entry(caught.value.entry_id)
        assert entry.leaf.kind is Kind.OUTCOME
        body = json.loads(await kansas.services.ledger.part(entry.leaf.entry_id, "answer"))
        assert (body["outcome"], body["reason_codes"]) == ("FAULT", ["POLICY_UNAVAILABLE"])
