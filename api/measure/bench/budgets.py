"""How far the wall clock runs past a request's own bound: agentic runs past `max_latency_ms`, searches past
`timeout_ms`; as shipped, over stores that are slow, and with a model that never ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from ai.canonical import digest
from ai.case.case import RequestFault, Services
from ai.errors import ModelTimeout
from ai.focus_pipeline import answer
from ai.model import AgentOptions, Ask, Completion, Effort, ModelIdentity, Options, SearchOptions
from ai.models.chat_model import ChatRequest, StructuredRequest
from ai.retrieve import retrieve
from ai.search.passage_search import Shaping
from ai.search.surface import Surface
from api.errors import ExpectationFailed
from api.home.configuration import load
from api.home.identity.principal import public_subject
from api.measure.bench.goals import Verdict
from api.measure.bench.wrapped_channel import WrappedChannel
from api.measure.demonstration import sample_corpus
from api.wiring import System, new_id, open_ingest, open_system
from retrieval.model import Query, Run

MOST_OVER_MS = 100
LATENCIES_MS = (1000, 1500, 2500)
TIMEOUTS_MS = (100, 400, 1000)
SLOW_S = 0.6
QUESTIONS = (
    "Which county had more inhabitants in 1930, Shawnee or Douglas, and who signed the treaty of 1825?",
    "What treaties did the Kansa sign before 1850, and where did they live?",
)
World = Literal["as shipped", "slow stores", "a model without end"]
Measure = Callable[[System, Services, str, int], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Overrun:
    """The worst of the questions under one bound: `wall_ms` is the whole request, recorded and all. `ended` says how
    the worst one ended."""

    way: str
    world: World
    limit_ms: int
    wall_ms: float
    ended: str

    @property
    def over_ms(self) -> float:
        """Past the bound; below zero where it was kept."""
        return round(self.wall_ms - self.limit_ms, 1)


async def measure_budgets(folder: Path) -> tuple[Overrun, ...]:
    """Every way in every world at every bound, over the sample corpus in the folder; one request at a time."""
    found = []
    async with _opened(folder) as system:
        for world in get_args(World):
            services = _in_world(world, system.services)
            for way, limits, ask in _ways():
                found += [await _worst(way, world, limit, ask=ask, at=(system, services)) for limit in limits]
    return tuple(found)


def budget_goals(overruns: Sequence[Overrun]) -> tuple[Verdict, ...]:
    """One goal per kind of request: the worst of all."""
    agentic = [each.over_ms for each in overruns if each.way.startswith("agentic")]
    searches = [each.over_ms for each in overruns if not each.way.startswith("agentic")]
    return (
        Verdict("agentic, wall clock past max_latency_ms, worst", "ms", MOST_OVER_MS, max(agentic, default=None)),
        Verdict("search, wall clock past timeout_ms, worst", "ms", MOST_OVER_MS, max(searches, default=None)),
    )


def budget_rows(overruns: Sequence[Overrun]) -> list[list[object]]:
    """The rows of the table."""
    return [[o.way, o.world, o.limit_ms, f"{o.wall_ms:.0f}", f"{o.over_ms:+.0f}", o.ended] for o in overruns]


def budget_json(overruns: Sequence[Overrun]) -> dict[str, Any]:
    """The figures as a document."""
    return {"overruns": [{**asdict(each), "over_ms": each.over_ms} for each in overruns]}


def _ways() -> list[tuple[str, tuple[int, ...], Measure]]:
    efforts: list[tuple[str, tuple[int, ...], Measure]] = [
        (f"agentic {effort}", LATENCIES_MS, _agentic(effort)) for effort in get_args(Effort)
    ]
    return [*efforts, ("search", TIMEOUTS_MS, _search)]


def _agentic(effort: Effort) -> Measure:
    async def ask(system: System, services: Services, question: str, limit_ms: int) -> str:
        options = Options(
            profile="agentic", top_k=20, agent=AgentOptions(effort=effort, max_steps=20, max_latency_ms=limit_ms)
        )
        asked = Ask(new_id(), question, public_subject(system.data), options=options)
        done = await answer(asked, services=services, profile=system.profile("agentic"))
        cut = done.body["agent"]["truncated_reason"]
        return f"{done.outcome}{f', cut by {cut}' if cut else ''}"

    return ask


async def _search(system: System, services: Services, question: str, limit_ms: int) -> str:
    options = Options(profile="basic", top_k=40, search=SearchOptions(weights_milli=(600, 400)))
    surface = Surface("query", shaping=Shaping(10), timeout_ms=limit_ms)
    asked = Ask(new_id(), question, public_subject(system.data), options=options)
    try:
        done = await retrieve(asked, services=services, profile=system.profile("basic"), surface=surface)
    except RequestFault as fault:
        return fault.code
    return str(done.found.outcome)


async def _worst(way: str, world: World, limit_ms: int, *, ask: Measure, at: tuple[System, Services]) -> Overrun:
    taken = []
    for question in QUESTIONS:
        began = time.perf_counter()
        ended = await ask(*at, question, limit_ms)
        taken.append((round((time.perf_counter() - began) * 1000, 1), ended))
    wall_ms, ended = max(taken)
    return Overrun(way, world, limit_ms, wall_ms, ended)


def _in_world(world: World, services: Services) -> Services:
    match world:
        case "as shipped":
            return services
        case "slow stores":
            return replace(services, channels=[_SlowChannel(channel) for channel in services.channels], runs=None)
        case "a model without end":
            return replace(services, model=_EndlessModel(), runs=None)


class _SlowChannel(WrappedChannel):
    """A channel whose store takes its time."""

    async def search(self, query: Query) -> Run:
        await asyncio.sleep(SLOW_S)
        return await self.inner.search(query)


class _EndlessModel:
    """A model that writes and writes: nothing comes within any deadline."""

    async def identity(self) -> ModelIdentity:
        return ModelIdentity("endless", digest("endless"))

    async def complete(self, request: ChatRequest) -> Completion:
        return await self._write(request.deadline_s)

    async def structured(self, request: StructuredRequest) -> Completion:
        return await self._write(request.deadline_s)

    async def aclose(self) -> None:
        return None

    @staticmethod
    async def _write(deadline_s: float) -> Completion:
        await asyncio.sleep(deadline_s)
        raise ModelTimeout(f"no answer within {deadline_s:g} s")


@asynccontextmanager
async def _opened(folder: Path) -> AsyncIterator[System]:
    """The sample corpus in the folder, asked once so that nothing is loaded while the clock runs."""
    configuration = load({}, home=folder / "home")
    async with open_ingest(configuration) as ingest:
        report = await ingest.run([], tenant="default", manifest=sample_corpus() / "manifest.toml")
    if report.failed:
        raise ExpectationFailed(f"{len(report.failed)} files of the sample corpus were not ingested")
    async with open_system(configuration) as system:
        for ask in (_agentic("high"), _search):
            await ask(system, system.services, QUESTIONS[0], 60_000)
        yield system
