"""Policy as it was: the recorded decisions as values, and points that give them again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ai.errors import ReplayImpossible
from policy.data import PolicyData
from policy.model import Decision, Effect, Obligation, Point, Reason, Stamp, Target
from policy.obligations import FILTER
from policy.points import PolicyPoints


def recorded_decision(run: Mapping[str, Any]) -> Decision:
    """A decision as the ledger keeps it, as a value."""
    document = run["decision"]
    reasons = [
        Reason(r["rule"], r["code"], r["severity"], Target(**r["target"]), r["params"]) for r in document["reasons"]
    ]
    every = [Obligation(o["op"], Target(**o["target"]), o["rule"], o["params"]) for o in document["obligations"]]
    filters = [each for each in every if each.op == FILTER]
    return Decision(
        point=Point(run["point"]),
        effect=Effect(document["effect"]),
        reasons=tuple(reasons),
        obligations=tuple(each for each in every if each.op != FILTER),
        admit=tuple(document["admit"]),
        classes=tuple(filters[0].params["classes"]) if filters else (),
        stamp=Stamp(**run["stamp"]),
        input=run["input"],
        document=document,
    )


class RecordedPoints(PolicyPoints):
    """Policy points that decide as they did, run by run. `data` are today's: the record holds none."""

    def __init__(self, parts: Mapping[str, bytes], data: PolicyData) -> None:
        self._data = data
        self._left = {name: _runs_of(parts, name) for name in ("policy.evidence", "policy.answer")}

    async def query(self, **_: Any) -> Decision:
        """Never asked: the query point's decision is part of the case."""
        raise ReplayImpossible("the query point is asked once, before the core")

    async def evidence(self, **_: Any) -> Decision:
        """The next recorded decision of the evidence point."""
        return self._next("policy.evidence")

    async def answer(self, **_: Any) -> Decision:
        """The next recorded decision of the answer point."""
        return self._next("policy.answer")

    def _next(self, name: str) -> Decision:
        if not self._left[name]:
            raise ReplayImpossible(f"{name} is asked more often than on record")
        return self._left[name].pop(0)


def _runs_of(parts: Mapping[str, bytes], name: str) -> list[Decision]:
    return [recorded_decision(run) for run in json.loads(parts[name])] if parts.get(name) else []
