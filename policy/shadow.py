"""A candidate bundle decides beside the active one, over the same inputs, and nothing of it is enforced.

The active decision is given back before the candidate is asked. The candidate's work waits in a short queue; when that
is full, decisions are not compared, and counted as such: a slow candidate costs the requests nothing. Whatever the
candidate does, a fault included, is a record and never an error.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from policy.canonical import digest
from policy.checks import UntrustedReply, decision_of, single_result
from policy.engine import PolicyEngine, Reply, WrappedEngine
from policy.errors import PolicyUnavailable
from policy.obligations import FILTER

WAITING = 64
DEADLINE_S = 2.0
MAX_IDS = 50


@dataclass(frozen=True, slots=True)
class Brief:
    """The parts of a decision that are compared, and recorded where two differ: `effect` is a word where there was no
    decision; `codes` are `rule code target` lines, `obligations` `rule op target` lines, `admit` the ids that are let
    through (class ids at the query point)."""

    effect: str
    codes: frozenset[str]
    obligations: frozenset[str]
    admit: frozenset[str]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two bundles that decided differently over one input."""

    entrypoint: str
    input_digest: str
    active: Brief
    shadow: Brief

    def document(self) -> Mapping[str, Any]:
        """The ids that only one of them has, at most MAX_IDS of each kind."""
        sides = {"active": (self.active, self.shadow), "shadow": (self.shadow, self.active)}
        return {
            "input": self.input_digest,
            "effect": {"active": self.active.effect, "shadow": self.shadow.effect},
            **{f"only_{name}": _more(one, than=other) for name, (one, other) in sides.items()},
        }


class ShadowLog(Protocol):
    """Keeps what the comparison found, per candidate. Both calls may fail; nobody waits for them."""

    async def compared(self, candidate: str, entrypoint: str, *, difference: Difference | None) -> None:
        """One decision was compared."""
        ...

    async def skipped(self, candidate: str, entrypoint: str) -> None:
        """One decision was not compared, because too many were waiting."""
        ...


class ShadowEngine(WrappedEngine):
    """The engine `active` in all it says, which puts the same inputs to `candidate` afterwards."""

    def __init__(self, *, active: PolicyEngine, candidate: PolicyEngine, log: ShadowLog) -> None:
        super().__init__(active)
        self._candidate = candidate
        self._log = log
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Semaphore(1)

    @property
    def active(self) -> PolicyEngine:
        """The engine that decides, without the candidate."""
        return self._inner

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine; nothing of the candidate shows."""
        reply = await super().evaluate(entrypoint, input, deadline_s=deadline_s)
        if len(self._tasks) < WAITING:
            self._later(self._compare(entrypoint, input, reply))
        elif len(self._tasks) < 2 * WAITING:
            self._later(self._log.skipped(self._candidate.bundle_digest, entrypoint))
        return reply

    async def settle(self) -> None:
        """Wait until everything that was asked so far has been compared."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def aclose(self) -> None:
        """See PolicyEngine. What waits is given up."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await super().aclose()
        finally:
            await self._candidate.aclose()

    def _later(self, work: Any) -> None:
        task = asyncio.create_task(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _compare(self, entrypoint: str, input: bytes, reply: Reply) -> None:
        async with self._turn:
            active = brief(reply.results)
            try:
                told = await self._candidate.evaluate(entrypoint, input, deadline_s=DEADLINE_S)
                shadow = brief(told.results)
            except PolicyUnavailable:
                shadow = Brief("UNAVAILABLE", frozenset(), frozenset(), frozenset())
            found = None if active == shadow else Difference(entrypoint, digest(input), active, shadow)
            await self._log.compared(self._candidate.bundle_digest, entrypoint, difference=found)


def brief(results: bytes) -> Brief:
    """The compared part of a result set; of requirement 003's boolean the word."""
    try:
        if isinstance(value := single_result(results), bool):
            return Brief(str(value).lower(), frozenset(), frozenset(), frozenset())
        decision = decision_of(results)
        return Brief(
            effect=decision["effect"],
            codes=frozenset(f"{e['rule']} {e['code']} {_target(e)}" for e in decision["reasons"]),
            obligations=frozenset(f"{e['rule']} {e['op']} {_target(e)}" for e in decision["obligations"]),
            admit=frozenset(decision["admit"]) | _filtered(decision["obligations"]),
        )
    except (UntrustedReply, LookupError, TypeError) as exc:
        return Brief(f"INVALID {exc}", frozenset(), frozenset(), frozenset())


def _filtered(obligations: list[dict[str, Any]]) -> frozenset[str]:
    return frozenset(id for each in obligations if each["op"] == FILTER for id in each["params"]["classes"])


def _target(each: Mapping[str, Any]) -> str:
    return f"{each['target']['kind']}:{each['target']['ref']}"


def _more(one: Brief, *, than: Brief) -> dict[str, list[str]]:
    return {
        "reasons": sorted(one.codes - than.codes)[:MAX_IDS],
        "obligations": sorted(one.obligations - than.obligations)[:MAX_IDS],
        "admit": sorted(one.admit - than.admit)[:MAX_IDS],
    }


async def _quietly(work: Any) -> None:
    """Nothing that the shadow does is an error of a request."""
    with contextlib.suppress(Exception):
        await work
