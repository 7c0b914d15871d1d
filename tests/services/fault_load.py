"""Questions at a steady rate while a server fails, and what each of them got."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from asgi_lifespan import LifespanManager

from api.app import create_app
from api.configuration import load
from api.wiring.system import open_ledger
from tests.api_world import POPULATION
from tests.services.fault_matrix import OPEN, Toll

DEADLINE_MS = 2_000
RATE = float(os.environ.get("EXHIBIT_TEST_RATE", "10"))  # questions a second
BOUND_S = 60.0
GRACE_S = 4.0  # of a machine that others use too
TIMES = {
    "EXHIBIT_STORES__DEADLINE_MS": str(DEADLINE_MS),
    "EXHIBIT_POLICY__DEADLINE_MS": str(DEADLINE_MS),
    **{f"EXHIBIT_RETRIEVAL__DEADLINE_MS__{c}": str(DEADLINE_MS) for c in ("GRAPH", "SPATIAL", "FULLTEXT", "VECTOR")},
}


@dataclass(frozen=True)
class Seen:
    """What a question got: the code of an error or the answer's text, with the codes of the limitations, and after how
    long."""

    error: str | None
    answer: str
    limits: frozenset[str]
    took_s: float

    @property
    def whole(self) -> bool:
        return self.error is None and not self.limits


class Asker:
    """One running application and its questions."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def ask(self) -> Seen:
        """One question."""
        started = time.perf_counter()
        response = await self._client.post("/api/v1/ai/query", json={"question": POPULATION}, timeout=BOUND_S)
        body, took_s = response.json(), time.perf_counter() - started
        if response.status_code != 200:
            assert response.status_code in (503, 504), body
            return Seen(body["error"]["code"], "", frozenset(), took_s)
        codes = {limited["code"] for limited in body["limitations"] if limited["channel"]}
        return Seen(None, body["answer"], frozenset(codes), took_s)

    async def under_load(self, seconds: float) -> list[Seen]:
        """Questions at `RATE`, whether earlier ones have ended or not."""
        async with asyncio.TaskGroup() as group:
            asked = []
            for _ in range(int(seconds * RATE)):
                asked.append(group.create_task(self.ask()))
                await asyncio.sleep(1 / RATE)
        return [task.result() for task in asked]

    async def whole_again(self) -> Seen:
        """The first answer that lacks nothing; fails if there is none for too long."""
        ends = time.monotonic() + BOUND_S
        while not (seen := await self.ask()).whole:
            assert time.monotonic() < ends, f"not whole again: {seen}"
            await asyncio.sleep(0.1)
        return seen

    async def circuits(self) -> Mapping[str, str]:
        """State of the circuit of each server."""
        parts = (await self._client.get("/readyz", timeout=BOUND_S)).json()["parts"]
        return {name: part["circuit"] for name, part in parts.items() if "circuit" in part}


@asynccontextmanager
async def asking(home: Path, environment: Mapping[str, str]) -> AsyncIterator[Asker]:
    """The application over this home and these servers. What it recorded is whole when it ends."""
    configuration = load({**environment, **TIMES}, home=home)
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=BOUND_S, shutdown_timeout=BOUND_S):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield Asker(client)
    async with open_ledger(configuration) as ledger:
        report = await ledger.verify()
    assert report.ok, report.problems
    assert not report.dangling


def paid(toll: Toll, seen: list[Seen], answer: str, *, deadline_ms: int) -> None:
    """Every question got what the table says, soon enough; the answer, where there is one, is the same."""
    for one in seen:
        assert one.took_s <= deadline_ms / 1000 + GRACE_S, one
        if toll.errors:
            assert one.error in toll.errors, one
        else:
            assert (one.error, one.answer) == (None, answer), one
            assert one.limits <= toll.limits | {OPEN}, one
            assert one.limits, one


def figures(name: str, seen: list[Seen]) -> str:
    """One line of latencies for people who look."""
    took = sorted(one.took_s * 1000 for one in seen)
    p99 = took[min(len(took) - 1, int(len(took) * 0.99))]
    return f"{name}: {len(seen)} questions, p50 {took[len(took) // 2]:.0f} ms, p99 {p99:.0f} ms"
