"""What policy costs a request: the three points on the embedded engine, and what a call to a server costs above the
evaluation that OPA itself measures."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from api.bench.goals import Verdict
from api.bench.statistics import Spread, settled, spread
from api.wiring import open_embedded, open_server
from policy.authoring.domain import NOW_MS, Domain, a_class, an_item
from policy.authoring.opa import Opa
from policy.authoring.server import own_server
from policy.bundle import Bundle
from policy.canonical import encode_plain
from policy.engine import PolicyEngine
from policy.model import (
    AnswerFacts,
    ClassFacts,
    Decision,
    EvidenceFacts,
    Point,
    PromptFacts,
    RequestFacts,
    SentenceFacts,
    Subject,
)
from policy.points import PolicyPoints

ITEMS, SENTENCES = 50, 8
SIZES = (125, 250, 500, 1_000)
_CLASSES = 8
_WARM = 20
_REQUEST, _PROMPT = RequestFacts(id="r1"), PromptFacts(chars=60, verdict="ALLOW", risk=0)


@dataclass(frozen=True, slots=True)
class ServerCalls:
    """Milliseconds a call to a server on a local socket, by point: `whole` as the engine sees it, `evaluation` as OPA
    measures it (`timer_rego_query_eval_ns`), `above` the difference."""

    whole: Mapping[str, Spread]
    evaluation: Mapping[str, Spread]
    above: Mapping[str, Spread]


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """Milliseconds. `request`: three points, 50 items and 8 sentences; `processor_ms` what one of them takes of a
    processor, which a busy machine changes less; `points` each of them; `by_items`: the evidence point by number of
    items; `server` None without the opa program."""

    request: Spread
    processor_ms: float
    points: Mapping[str, Spread]
    by_items: Mapping[int, Spread]
    server: ServerCalls | None

    @property
    def growth(self) -> float:
        """The cost of an item among the most over that among the fewest: 1 is linear."""
        few, many = min(self.by_items), max(self.by_items)
        return (self.by_items[many].p50 / many) / (self.by_items[few].p50 / few)


async def measure_policy(bundle: Bundle, folder: Path, opa: Opa | None, *, requests: int, rounds: int) -> PolicyFigures:
    """The figures of one bundle, which lies in `folder`."""
    world = _World.of(bundle)
    engine = await open_embedded(bundle)
    try:
        await _requests(engine, world, _WARM)
        started = time.process_time()
        taken = [await _requests(engine, world, requests) for _ in range(rounds)]
        processor_ms = round((time.process_time() - started) * 1e3 / (requests * rounds), 3)
        by_items = {size: await _evidence(engine, world, size, max(25, requests * 10 // size)) for size in SIZES}
    finally:
        await engine.aclose()
    names = [str(point) for point in Point]
    points = {name: settled([[each[n] for each in one] for one in taken]) for n, name in enumerate(names)}
    request = settled([[sum(each) for each in one] for one in taken])
    server = None if opa is None else await _server(bundle, folder, opa, world, requests)
    return PolicyFigures(request, processor_ms, points, by_items, server)


def policy_goals(figures: PolicyFigures) -> tuple[Verdict, ...]:
    """The goals, and whether they are met."""
    above = None if figures.server is None else max(each.p50 for each in figures.server.above.values())
    return (
        Verdict(f"three points, {ITEMS} items, {SENTENCES} sentences, embedded, p99", "ms", 5, figures.request.p99),
        Verdict("call to a server above OPA's own evaluation, p50 of the dearest point", "ms", 2, above),
        Verdict(f"an item among {SIZES[-1]:,} over an item among {SIZES[0]}", "x", 1.5, figures.growth),
    )


def policy_json(figures: PolicyFigures) -> dict[str, Any]:
    """The figures and their goals as one document."""
    return asdict(figures) | {"goals": [asdict(each) | {"met": each.met} for each in policy_goals(figures)]}


def policy_rows(figures: PolicyFigures) -> list[tuple[str, str, str, str]]:
    """The figures as rows: what, p50, p95, p99."""
    rows = {"request": figures.request, **figures.points}
    rows |= {f"evidence, {size:,} items": each for size, each in figures.by_items.items()}
    if figures.server is not None:
        for name, each in measures_of(figures.server).items():
            rows |= {f"server, {point}: {name}": one for point, one in each.items()}
    shown = [(name, f"{each.p50:.2f}", f"{each.p95:.2f}", f"{each.p99:.2f}") for name, each in rows.items()]
    return [("request, processor time, mean", f"{figures.processor_ms:.2f}", "", ""), *shown]


def measures_of(calls: ServerCalls) -> dict[str, Mapping[str, Spread]]:
    """Its three measures by what they are."""
    return {"whole call": calls.whole, "OPA's evaluation": calls.evaluation, "above it": calls.above}


@dataclass(frozen=True, slots=True)
class _World:
    """A request of usual size: eight classes of which the asker may see some, items spread over them."""

    bundle: Bundle
    subject: Subject
    classes: tuple[ClassFacts, ...]
    evidence: tuple[EvidenceFacts, ...]
    draft: AnswerFacts

    @classmethod
    def of(cls, bundle: Bundle, items: int = ITEMS) -> _World:
        domain = Domain.of(bundle)
        labels, tags = domain.labels, ((), (), (), domain.tags[:1])
        classes = tuple(
            a_class(f"k{n}", collection=f"c{n}", label=labels[n % 3], handling=tags[n % 4]) for n in range(_CLASSES)
        )
        evidence = tuple(an_item(f"document-{n}#c{n}", classes[n % len(classes)]) for n in range(items))
        citable = [each.id for each in evidence if each.label == labels[0]]
        sentences = tuple(
            SentenceFacts(i, None, (citable[i % len(citable)], citable[(i * 7) % len(citable)]), 900)
            for i in range(SENTENCES)
        )
        draft = AnswerFacts("model", tuple(range(1, SENTENCES + 1)), sentences)
        return cls(bundle, domain.asker(domain.asking_role), classes, evidence, draft)

    async def query(self, points: PolicyPoints) -> Decision:
        return await points.query(request=_REQUEST, subject=self.subject, prompt=_PROMPT, classes=self.classes)

    async def found(self, points: PolicyPoints, prior: Decision) -> Decision:
        return await points.evidence(
            request=_REQUEST,
            subject=self.subject,
            prompt=_PROMPT,
            classes=self.classes,
            evidence=self.evidence,
            prior=prior,
        )

    async def answer(self, points: PolicyPoints, prior: Decision) -> Decision:
        return await points.answer(
            request=_REQUEST, subject=self.subject, evidence=self.evidence, answer=self.draft, prior=prior
        )


def _points(engine: PolicyEngine, bundle: Bundle) -> PolicyPoints:
    return PolicyPoints(engine=engine, clock_ms=lambda: NOW_MS, deadline_s=5.0, data=bundle.data)


async def _requests(engine: PolicyEngine, world: _World, count: int) -> list[tuple[float, float, float]]:
    """Milliseconds of the three points of each request, whole: drawn up, decided, checked."""
    points = _points(engine, world.bundle)
    taken = []
    for _ in range(count):
        started = time.perf_counter()
        query = await world.query(points)
        asked = time.perf_counter()
        evidence = await world.found(points, query)
        found = time.perf_counter()
        answer = await world.answer(points, evidence)
        ended = time.perf_counter()
        if not (query.classes and evidence.admit and answer.allowed):
            raise AssertionError("the request of the bench is not allowed by this bundle")
        taken.append(((asked - started) * 1e3, (found - asked) * 1e3, (ended - found) * 1e3))
    return taken


async def _evidence(engine: PolicyEngine, world: _World, size: int, count: int) -> Spread:
    points, large = _points(engine, world.bundle), _World.of(world.bundle, size)
    prior = await large.query(points)
    taken = []
    for _ in range(count + 3):
        started = time.perf_counter()
        await large.found(points, prior)
        taken.append((time.perf_counter() - started) * 1e3)
    return spread(taken[3:])


async def _server(bundle: Bundle, folder: Path, opa: Opa, world: _World, count: int) -> ServerCalls:
    """Each point's call over a local socket, and after each what OPA measures when it is asked the same again."""
    whole: dict[str, Spread] = {}
    evaluation: dict[str, Spread] = {}
    above: dict[str, Spread] = {}
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(own_server(opa, folder))
        engine = open_server(address, bundle)
        stack.push_async_callback(engine.aclose)
        socket = httpx.AsyncHTTPTransport(uds=address.removeprefix("unix://"), trust_env=False)
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url="http://opa", transport=socket, timeout=5.0, trust_env=False)
        )
        for point, asked in (await _inputs(engine, world)).items():
            taken = [await _call(engine, client, point, asked) for _ in range(count + _WARM)][_WARM:]
            whole[point], evaluation[point] = (spread([each[n] for each in taken]) for n in (0, 1))
            above[point] = spread([called - measured for called, measured in taken])
    return ServerCalls(whole, evaluation, above)


async def _call(engine: PolicyEngine, client: httpx.AsyncClient, point: str, asked: bytes) -> tuple[float, float]:
    """Milliseconds of one call as the engine sees it, and of one evaluation as OPA sees it."""
    started = time.perf_counter()
    await engine.evaluate(f"kfm/ai/{point}", asked, deadline_s=5.0)
    called = (time.perf_counter() - started) * 1e3
    path, content = f"/v1/data/kfm/ai/{point}", b'{"input":' + asked + b"}"
    replied = await client.post(path, params={"metrics": "true"}, content=content)
    return called, replied.json()["metrics"]["timer_rego_query_eval_ns"] / 1e6


async def _inputs(engine: PolicyEngine, world: _World) -> dict[str, bytes]:
    """What the points put to the engine for one request."""
    points = _points(engine, world.bundle)
    query = await world.query(points)
    evidence = await world.found(points, query)
    answer = await world.answer(points, evidence)
    return {str(each.point): encode_plain(dict(each.input)) for each in (query, evidence, answer)}
