"""Questions that arrive at a fixed rate while a server fails, what each of them got, and what the ledger has of it."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from asgi_lifespan import LifespanManager
from fastapi import FastAPI

from ai.text.catalogue import ABSTAIN, PHRASES
from api.home.configuration import load
from api.http.app import create_app
from api.wiring.system import open_ledger
from ledger.ledger import Ledger
from ledger.model import Kind
from tests.api_world import POPULATION
from tests.services.fault_matrix import LATE, OPEN, Measured, Toll

DEADLINE_MS = 2_000
RATE = float(os.environ.get("EXHIBIT_TEST_RATE", "20"))  # questions a second
LOAD_S = float(os.environ.get("EXHIBIT_TEST_LOAD_S", "1.0"))  # beside the deadline, where that is waited for
# Beyond deadline and bound, for a machine that others use too; 250 ms in all are shown with 0, see docs/operations.md.
ALLOWANCE_MS = int(os.environ.get("EXHIBIT_TEST_ALLOWANCE_MS", "8000"))
BOUND_S = 120.0
READY_S = 2.0  # that `/readyz` gives each part
TIMES = {
    "EXHIBIT_STORES__DEADLINE_MS": str(DEADLINE_MS),
    "EXHIBIT_POLICY__DEADLINE_MS": str(DEADLINE_MS),
    "EXHIBIT_LEDGER__DEADLINE_MS": str(DEADLINE_MS),
    **{f"EXHIBIT_RETRIEVAL__DEADLINE_MS__{c}": str(DEADLINE_MS) for c in ("GRAPH", "SPATIAL", "FULLTEXT", "VECTOR")},
}


@dataclass(frozen=True)
class Seen:
    """What a question got: the code of an error or the answer's text, with the codes of the limitations, and how long
    after it arrived."""

    request_id: str
    error: str | None
    answer: str
    limits: frozenset[str]
    took_s: float

    @property
    def whole(self) -> bool:
        return self.error is None and not self.limits


class Asker:
    """One running application and its questions."""

    def __init__(self, client: httpx.AsyncClient, app: FastAPI) -> None:
        self._client = client
        self._app = app
        self.cut_off: set[str] = set()

    @property
    def ledger(self) -> Ledger:
        """The ledger of the application."""
        ledger: Ledger = self._app.state.live.system.services.ledger
        return ledger

    async def ask(self, arrived: float | None = None) -> Seen:
        """One question, which arrived then (by `time.perf_counter`) or now."""
        arrived = time.perf_counter() if arrived is None else arrived
        response = await self._client.post("/api/v1/ai/query", json={"question": POPULATION}, timeout=BOUND_S)
        body, took_s = response.json(), time.perf_counter() - arrived
        if response.status_code != 200:
            assert response.status_code in (503, 504), body
            code, request_id = body["error"]["code"], body["error"]["request_id"]
            if code == "LEDGER_UNAVAILABLE":
                self.cut_off.add(request_id)
            return Seen(request_id, code, "", frozenset(), took_s)
        codes = {limited["code"] for limited in body["limitations"] if limited["channel"]}
        return Seen(body["request_id"], None, body["answer"], frozenset(codes), took_s)

    async def under_load(self, seconds: float) -> list[Seen]:
        """Questions that arrive at `RATE`, whether earlier ones have ended or not: an open loop."""
        began = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            asked = []
            for number in range(math.ceil(seconds * RATE)):
                due = began + number / RATE
                await asyncio.sleep(due - time.perf_counter())
                asked.append(group.create_task(self.ask(due)))
        return [task.result() for task in asked]

    async def get(self, path: str) -> tuple[int, dict[str, Any] | str, float]:
        """Status, body and seconds of another request."""
        started = time.perf_counter()
        response = await self._client.get(path, timeout=BOUND_S)
        took_s = time.perf_counter() - started
        is_json = response.headers["content-type"].startswith("application/json")
        return response.status_code, response.json() if is_json else response.text, took_s

    async def beside(self, path: str, until: asyncio.Event) -> list[tuple[int, float]]:
        """Status and seconds of requests that do not need the server, twice a second."""
        found = []
        while not until.is_set():
            status, _, took_s = await self.get(path)
            found.append((status, took_s))
            await asyncio.sleep(0.5)
        return found

    async def whole_again(self) -> Seen:
        """The first answer that lacks nothing; fails if there is none for too long."""
        ends = time.monotonic() + BOUND_S
        while not (seen := await self.ask()).whole:
            assert time.monotonic() < ends, f"not whole again: {seen}"
            await asyncio.sleep(0.05)
        return seen

    async def parts(self) -> Mapping[str, Mapping[str, Any]]:
        """What `/readyz` says of each part, in time."""
        _, body, took_s = await self.get("/readyz")
        assert took_s <= READY_S + (250 + ALLOWANCE_MS) / 1000, f"readyz took {took_s:.2f} s"
        assert isinstance(body, dict)
        parts: Mapping[str, Mapping[str, Any]] = body["parts"]
        return parts

    async def circuits(self) -> Mapping[str, str]:
        """State of the circuit of each server."""
        return {name: part["circuit"] for name, part in (await self.parts()).items() if "circuit" in part}

    async def kept(self, seen: Sequence[Seen]) -> None:
        """The ledger has an intent and an outcome of each question; of one that it could not record, whole entries or
        none. An intent without outcome is one that its caller was told of."""
        for one in seen:
            kinds = [entry.leaf.kind for entry in await self.ledger.find(request_id=one.request_id)]
            whole = [Kind.INTENT, Kind.OUTCOME]
            assert kinds == whole or (one.request_id in self.cut_off and kinds == whole[: len(kinds)]), (one, kinds)
        dangling = {entry.leaf.request_id for entry in await self.ledger.dangling(limit=100_000)}
        assert dangling <= self.cut_off


@asynccontextmanager
async def asking(home: Path, environment: Mapping[str, str]) -> AsyncIterator[Asker]:
    """The application over this home and these servers. What it recorded verifies when it ends."""
    configuration = load({**environment, **TIMES}, home=home)
    app = create_app(configuration)
    async with LifespanManager(app, startup_timeout=BOUND_S, shutdown_timeout=BOUND_S):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 1), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            asker = Asker(client, app)
            yield asker
    async with open_ledger(configuration) as ledger:
        report = await ledger.verify()
        dangling = {entry.leaf.request_id for entry in await ledger.dangling(limit=100_000)}
    assert report.ok, report.problems
    assert dangling <= asker.cut_off


def paid(toll: Toll, seen: Collection[Seen], answer: str) -> None:
    """Every question got what the table says; the answer, where there is one, is the same.

    On a busy machine a refused connection may take until the deadline, so that a channel that is gone is told as late
    by some questions; never by all.
    """
    answers = {answer, PHRASES[ABSTAIN]} if toll.errors else {answer}
    told = toll.limits | {OPEN, LATE}
    for one in seen:
        if one.error is not None or not toll.limits:
            assert one.error in toll.errors, one
        else:
            assert one.answer in answers, one
            assert one.limits, one
            assert one.limits <= told, one
    limited = [one for one in seen if one.limits]
    assert not limited or any(one.limits <= toll.limits | {OPEN} for one in limited), limited


def measured(seen: Collection[Seen], *, again_s: float, deadline_ms: int) -> Measured:
    """Nearest-rank percentiles, from arrival."""
    took = sorted(one.took_s * 1000 for one in seen)

    def rank(share: float) -> float:
        return round(took[math.ceil(len(took) * share) - 1], 1)

    return Measured(len(took), rank(0.5), rank(0.99), round(took[-1], 1), round(again_s * 1000, 1), deadline_ms)
