"""The embedded engine stands in for a server, with the same bundle only."""

from __future__ import annotations

import asyncio
import json

import pytest

from policy.engine import Reply
from policy.errors import BundleRejected, OpaUnavailable, PolicyUnavailable
from policy.fallback import FallbackEngine
from tests.policy_engines import BUNDLE, LyingEngine, hanging, raising, saying

WIDE = json.dumps([{"result": {"effect": "allow"}}]).encode()
SPARE = b'[{"result": {"effect": "deny"}}]'


async def decided(first: LyingEngine, second: LyingEngine, deadline_s: float = 1.0) -> Reply:
    return await FallbackEngine(first=first, second=second).evaluate("kfm/ai/query", b"{}", deadline_s=deadline_s)


def named(engine: LyingEngine, name: str) -> LyingEngine:
    engine.name = name
    return engine


async def test_what_the_server_decides_stands() -> None:
    spare = saying(SPARE)
    reply = await decided(named(saying(WIDE), "server"), spare)
    assert (reply.results, reply.engine, spare.asked) == (WIDE, "server", [])


@pytest.mark.parametrize("results", [b"[]", b'[{"result": 1}]', b"", b"NaN", b'[{"result": 1}, {"result": 2}]'])
async def test_a_wrong_decision_is_no_reason_to_ask_another_engine(results: bytes) -> None:
    spare = saying(SPARE)
    assert (await decided(saying(results), spare)).results == results
    assert spare.asked == []


@pytest.mark.parametrize("problem", ["UNREACHABLE", "TIMEOUT", "BUNDLE_MISMATCH", "CIRCUIT_OPEN", "STATUS"])
async def test_without_a_decision_of_the_server_the_spare_decides(problem: str) -> None:
    reply = await decided(raising(OpaUnavailable(problem, "gone")), named(saying(SPARE), "embedded"))
    assert (reply.results, reply.engine, reply.bundle_digest) == (SPARE, "embedded", BUNDLE)


class Slow(LyingEngine):
    """A server that keeps its deadline and has nothing to say."""

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        try:
            async with asyncio.timeout(deadline_s):
                return await super().evaluate(entrypoint, input, deadline_s=deadline_s)
        except TimeoutError as exc:
            raise PolicyUnavailable("slow") from exc


async def test_a_hanging_server_leaves_time_for_the_spare() -> None:
    reply = await decided(Slow(hanging().tell), saying(SPARE), deadline_s=0.2)
    assert reply.results == SPARE


async def test_with_both_gone_there_is_no_decision() -> None:
    with pytest.raises(PolicyUnavailable):
        await decided(raising(PolicyUnavailable("gone")), raising(PolicyUnavailable("gone too")))


async def test_a_bug_is_not_hidden_by_the_spare() -> None:
    with pytest.raises(ZeroDivisionError):
        await decided(raising(ZeroDivisionError()), saying(SPARE))


def test_another_bundle_never_stands_in() -> None:
    other = saying(SPARE)
    other.bundle_digest = "sha256:" + "0" * 64
    with pytest.raises(BundleRejected):
        FallbackEngine(first=saying(WIDE), second=other)
