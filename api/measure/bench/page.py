"""The requests that a server gets from the page that asks on a map: the page, layers, places as they are typed,
features, a tile, and suggestions, tried and from the cache, over HTTP without a socket on the sample corpus."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from api.errors import ExpectationFailed
from api.home.configuration import load
from api.home.logs import configure_logging
from api.http.app import create_app
from api.measure.bench.goals import Verdict
from api.measure.bench.statistics import Percentiles, spread
from api.measure.demonstration import sample_corpus
from api.wiring import open_ingest

KEPT = "suggestions"
"""Begins the names of the requests whose answers are kept."""
MOST_KEPT_MS = 10
READINGS: Mapping[str, str] = {
    "page": "/",
    "layers": "/api/v1/layers",
    "places as typed": "/api/v1/places?q=shawnee%20co&limit=8",
    "features, 105 areas": "/api/v1/layers/counties/features?limit=500&zoom=6",
    "tile, 105 areas": "/api/v1/layers/counties/tiles/6/14/24",
    KEPT: "/api/v1/ai/suggestions",
    f"{KEPT} around a place": "/api/v1/ai/suggestions?place=Shawnee%20County",
    f"{KEPT} in a box": "/api/v1/ai/suggestions?bbox=-96.2,38.8,-95.5,39.3",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One request, in milliseconds: the first of it, which for suggestions tries every candidate, those after, and
    their processor time, which other work on the machine moves little."""

    name: str
    first_ms: float
    again_ms: Percentiles
    cpu_ms: Percentiles
    bytes: int


@dataclass(frozen=True, slots=True)
class _Taken:
    ms: float
    cpu_ms: float
    bytes: int


async def measure_page(folder: Path, *, times: int) -> tuple[Reading, ...]:
    """Each request once and then so many times, in turn with the others. Raises ExpectationFailed for one that is not
    answered."""
    async with _served(folder) as client:
        firsts = {name: await _timed(client, path) for name, path in READINGS.items()}
        again: dict[str, list[_Taken]] = {name: [] for name in READINGS}
        for _ in range(times):
            for name, path in READINGS.items():
                again[name].append(await _timed(client, path))
    return tuple(
        Reading(
            name,
            first.ms,
            again_ms=spread([each.ms for each in again[name]]),
            cpu_ms=spread([each.cpu_ms for each in again[name]]),
            bytes=first.bytes,
        )
        for name, first in firsts.items()
    )


def page_goals(readings: Sequence[Reading]) -> tuple[Verdict, ...]:
    """The slowest kind of suggestion from the cache."""
    kept = [each.again_ms.p50 for each in readings if each.name.startswith(KEPT)]
    return (Verdict("suggestions from the cache, p50", "ms", MOST_KEPT_MS, max(kept, default=None)),)


def page_rows(readings: Sequence[Reading]) -> list[list[object]]:
    """The rows of the table."""
    return [
        [
            each.name,
            each.bytes,
            *(f"{ms:.1f}" for ms in (each.first_ms, each.again_ms.p50, each.again_ms.p95, each.cpu_ms.p50)),
        ]
        for each in readings
    ]


def page_json(readings: Sequence[Reading]) -> dict[str, Any]:
    """The figures as a document."""
    return {"readings": [asdict(each) for each in readings]}


async def _timed(client: httpx.AsyncClient, path: str) -> _Taken:
    started, used = time.perf_counter(), time.process_time()
    response = await client.get(path)
    taken = _Taken((time.perf_counter() - started) * 1000, (time.process_time() - used) * 1000, len(response.content))
    if response.status_code != 200:
        raise ExpectationFailed(f"{path} was answered with {response.status_code}")
    return taken


@asynccontextmanager
async def _served(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The application over the sample corpus, and a client of it on loopback."""
    configuration = load({}, home=folder / "home")
    async with open_ingest(configuration) as ingest:
        report = await ingest.run([], tenant="default", manifest=sample_corpus() / "manifest.toml")
    if report.failed:
        raise ExpectationFailed(f"{len(report.failed)} files of the sample corpus were not ingested")
    configure_logging("warning")
    app = create_app(configuration)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client:
            yield client
