"""The cost of a call to an OPA server over loopback, taken apart: OPA names its own parts of the same call."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from api.measure.bench.statistics import Percentiles, spread
from api.wiring import open_server_over
from policy.authoring.opa import Opa
from policy.authoring.server import own_server
from policy.bundles.bundle import Bundle
from policy.engine import PolicyEngine, Reply, WrappedEngine
from policy.model import Point
from policy.opa.http import OpaHttp

ABOVE = "above OPA's evaluation"
ANY = "any point"
_WARM = 20

ServerCalls = Mapping[str, Mapping[str, Percentiles]]
"""Milliseconds by point and part, see `_parts`; under ANY those of every call, whichever its point."""
Requests = Callable[[PolicyEngine, int], Awaitable[Sequence[tuple[float, float, float]]]]
"""So many requests over an engine: of each the milliseconds of its three points, whole."""


async def measure_server(bundle: Bundle, folder: Path, opa: Opa, requests: Requests, count: int) -> ServerCalls:
    """The parts of each point's calls, over loopback, one at a time."""
    async with own_server(opa, folder, loopback=True) as address:
        http = _MeteredOpa(address)
        engine = _TimedEngine(open_server_over(http, bundle), http)
        try:
            await requests(engine, _WARM)
            engine.calls.clear()
            whole = [each for one in await requests(engine, count) for each in one]
        finally:
            await engine.aclose()
    taken = [_parts(ms, call) for ms, call in zip(whole, engine.calls, strict=True)]
    by_point = {str(point): _spreads(taken[n :: len(Point)]) for n, point in enumerate(Point)}
    return by_point | {ANY: _spreads(taken)}


def _spreads(calls: Sequence[Mapping[str, float]]) -> dict[str, Percentiles]:
    return {name: spread([each[name] for each in calls]) for name in calls[0]}


def _parts(point_ms: float, call: Mapping[str, float]) -> dict[str, float]:
    """One point's time: the point, the call in it, OPA's evaluation in that, and what the rest went to."""
    point_ms -= call["read_ms"]
    return {
        "the point": point_ms,
        "of it, facts, encoding and check": point_ms - call["whole"],
        "the call": call["whole"],
        "OPA's evaluation": call["evaluation"],
        ABOVE: call["whole"] - call["evaluation"],
        "of it, OPA reads the input": call["input"],
        "of it, the rest of OPA's handler": call["handler"] - call["input"] - call["evaluation"],
        "of it, client, way and OPA's listener": call["exchange"] - call["handler"],
        "of it, reading the reply": call["whole"] - call["exchange"],
    }


class _MeteredOpa(OpaHttp):
    """Asks for OPA's own metrics with each call, and keeps them."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.seen: dict[str, float] = {}

    async def post(self, path: str, content: bytes, *, deadline_s: float) -> tuple[int, bytes]:
        """See OpaHttp."""
        started = time.perf_counter()
        status, body = await super().post(path + "&metrics=true", content, deadline_s=deadline_s)
        exchange = (time.perf_counter() - started) * 1e3
        self.seen = {"exchange": exchange, "read_ms": 0.0}
        self._note(body)
        self.seen["read_ms"] = (time.perf_counter() - started) * 1e3 - exchange
        return status, body

    def _note(self, body: bytes) -> None:
        metrics: dict[str, Any] = orjson.loads(body)["metrics"]
        self.seen["evaluation"] = metrics["timer_rego_query_eval_ns"] / 1e6
        self.seen["input"] = metrics["timer_rego_input_parse_ns"] / 1e6
        self.seen["handler"] = metrics["timer_server_handler_ns"] / 1e6


class _TimedEngine(WrappedEngine):
    """Keeps what each call took, without what the bench itself took to read the metrics."""

    def __init__(self, engine: PolicyEngine, http: _MeteredOpa) -> None:
        super().__init__(engine)
        self._http = http
        self.calls: list[dict[str, float]] = []

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine."""
        started = time.perf_counter()
        reply = await super().evaluate(entrypoint, input, deadline_s=deadline_s)
        whole = (time.perf_counter() - started) * 1e3 - self._http.seen["read_ms"]
        self.calls.append(self._http.seen | {"whole": whole})
        return reply
