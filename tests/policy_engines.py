"""Engines for tests: a liar that says whatever it is told to, through the engine's Protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from policy.engine import PolicyEngine, Reply

BUNDLE = "sha256:" + "b" * 64
Tell = Callable[[str, dict[str, Any]], Awaitable[Reply]]


@dataclass
class LyingEngine:
    """Answers with `tell(entrypoint, input)`; keeps what it was asked."""

    tell: Tell
    bundle_digest: str = BUNDLE
    name: str = "liar"
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        document = json.loads(input)
        self.asked.append(document)
        return await self.tell(entrypoint, document)

    async def aclose(self) -> None:
        return None


def saying(results: bytes, bundle_digest: str = BUNDLE) -> LyingEngine:
    """An engine that always gives these bytes."""

    async def tell(_entrypoint: str, _asked: dict[str, Any]) -> Reply:
        return Reply(results, bundle_digest)

    return LyingEngine(tell)


def deciding(decision: Callable[[dict[str, Any]], object]) -> LyingEngine:
    """An engine whose one result is made from the input."""

    async def tell(_entrypoint: str, asked: dict[str, Any]) -> Reply:
        return Reply(json.dumps([{"result": decision(asked)}]).encode(), BUNDLE)

    return LyingEngine(tell)


def raising(fault: BaseException) -> LyingEngine:
    """An engine that panics."""

    async def tell(_entrypoint: str, _asked: dict[str, Any]) -> Reply:
        raise fault

    return LyingEngine(tell)


def hanging() -> LyingEngine:
    """An engine that never answers."""

    async def tell(_entrypoint: str, _asked: dict[str, Any]) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    return LyingEngine(tell)


_liar: type[PolicyEngine] = LyingEngine  # the liar keeps the Protocol's shape
