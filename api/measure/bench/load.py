"""The query load: every question through the orchestrator and through the HTTP application, timed stage by stage."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

import httpx

from ai.case.case import Services
from ai.focus_pipeline import answer
from api.errors import ExpectationFailed
from api.home.configuration import Configuration
from api.home.logs import configure_logging
from api.http.app import create_app
from api.measure.bench.machine import peak_memory_mib
from api.measure.bench.model import SUMS, Load
from api.measure.bench.statistics import Percentiles, settled, settled_by_name
from api.measure.bench.workload.corpus import ASKER_GROUP, ASKER_ROLE, ASKER_TENANT
from api.measure.bench.workload.questions import KINDS, Question
from api.measure.bench.wrapped_channel import WrappedChannel
from api.schemas.ask import ask_of, parse_query
from api.wiring import System, key_store, new_id, open_system
from policy.model import Subject
from retrieval.model import Query, Run

CONCURRENT = 8
WARM_UP = 40

Asker = Callable[[str], Awaitable[Mapping[str, Any]]]


@dataclass(slots=True)
class MeteredChannel(WrappedChannel):
    """A channel that also says how long it took, from the question to its run."""

    taken_ms: dict[str, float]

    async def search(self, query: Query) -> Run:
        started = time.perf_counter()
        try:
            return await self.inner.search(query)
        finally:
            self.taken_ms[f"{self.name}/{self.store}"] = (time.perf_counter() - started) * 1000


@dataclass(frozen=True, slots=True)
class Sample:
    """One answered question."""

    kind: str
    outcome: str
    total_ms: float
    cpu_ms: float
    stages_ms: Mapping[str, float]
    channels_ms: Mapping[str, float]


async def measure_load(configuration: Configuration, questions: Sequence[Question], *, rounds: int) -> Load:
    """Asks every question `rounds` times one after another, then all of them by several askers at once; in process and
    over the HTTP application. Raises ExpectationFailed when evidence of another audience comes back."""
    async with open_system(configuration) as system:
        taken: dict[str, float] = {}
        metered = [MeteredChannel(channel, taken) for channel in system.services.channels]
        alone = _in_process(system, replace(system.services, channels=metered))
        await _warm(alone, questions)
        samples = [await _round(alone, questions, taken) for _ in range(rounds)]
        plain = _in_process(system, system.services)
        throughput = {
            "in process, 1 asker": await _throughput(plain, questions, askers=1),
            f"in process, {CONCURRENT} askers": await _throughput(plain, questions, askers=CONCURRENT),
        }
    over_http, http_throughput = await _http(configuration, questions, rounds)
    stages = settled_by_name([[sample.stages_ms for sample in each] for each in samples])
    return Load(
        stages=stages,
        channels=settled_by_name([[sample.channels_ms for sample in each] for each in samples]),
        sums={name: settled([[_sum(s, of) for s in each] for each in samples]) for name, of in SUMS.items()},
        requests={
            "in process": settled([[s.total_ms for s in each] for each in samples]),
            "in process, CPU of all threads": settled([[s.cpu_ms for s in each] for each in samples]),
            "HTTP": over_http,
        },
        throughput={name: round(value, 1) for name, value in (throughput | http_throughput).items()},
        outcomes={kind: dict(Counter(s.outcome for s in samples[0] if s.kind == kind)) for kind in KINDS},
        peak_memory_mib=peak_memory_mib(),
    )


def _sum(sample: Sample, stages: Sequence[str]) -> float:
    return sum(sample.stages_ms.get(stage, 0.0) for stage in stages)


def _in_process(system: System, services: Services) -> Asker:
    subject = Subject.of(id="bench", tenant=ASKER_TENANT, roles=(ASKER_ROLE,), data=system.data, groups=(ASKER_GROUP,))
    profile = system.profile("focus")

    async def ask(question: str) -> Mapping[str, Any]:
        asked = ask_of(parse_query({"question": question}), subject=subject, request_id=new_id())
        return (await answer(asked, services=services, profile=profile)).body

    return ask


async def _warm(ask: Asker, questions: Sequence[Question]) -> None:
    for question in questions[:WARM_UP]:
        await ask(question.text)


async def _round(ask: Asker, questions: Sequence[Question], taken: dict[str, float]) -> list[Sample]:
    samples = []
    for question in questions:
        taken.clear()
        started, started_cpu = time.perf_counter(), time.process_time()
        body = await ask(question.text)
        total_ms, cpu_ms = (time.perf_counter() - started) * 1000, (time.process_time() - started_cpu) * 1000
        _check_audience(body)
        samples.append(Sample(question.kind, body["outcome"], total_ms, cpu_ms, dict(body["timings_ms"]), dict(taken)))
    return samples


def _check_audience(body: Mapping[str, Any]) -> None:
    """A fast answer out of somebody else's documents is no answer."""
    for item in body["evidence"]:
        if any(word in item["source_id"] for word in ("tenant", "confidential", "archivists")):
            raise ExpectationFailed(f"{item['source_id']} is not for this asker")


async def _throughput(ask: Asker, questions: Sequence[Question], *, askers: int) -> float:
    waiting = iter(questions)

    async def work() -> None:
        for question in waiting:
            await ask(question.text)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(askers)))
    return len(questions) / (time.perf_counter() - started)


async def _http(
    configuration: Configuration, questions: Sequence[Question], rounds: int
) -> tuple[Percentiles, dict[str, float]]:
    """The same through the whole HTTP application, client included, without a socket. Only its warnings are logged."""
    configure_logging("warning")
    _, token = key_store(configuration).create(
        name="bench", tenant=ASKER_TENANT, roles=(ASKER_ROLE,), groups=(ASKER_GROUP,)
    )
    app = create_app(configuration)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        client = await stack.enter_async_context(
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app, client=("127.0.0.1", 1)),
                base_url="http://127.0.0.1",
                headers={"authorization": f"Bearer {token}"},
            )
        )

        async def ask(question: str) -> Mapping[str, Any]:
            response = await client.post("/api/v1/ai/query", json={"question": question})
            response.raise_for_status()
            body: Mapping[str, Any] = response.json()
            return body

        await _warm(ask, questions)
        taken = [[s.total_ms for s in await _round(ask, questions, {})] for _ in range(rounds)]
        return settled(taken), {
            "HTTP, 1 asker": await _throughput(ask, questions, askers=1),
            f"HTTP, {CONCURRENT} askers": await _throughput(ask, questions, askers=CONCURRENT),
        }
