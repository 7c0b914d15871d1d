"""The cost of policy per request: the three points on the embedded engine, and on a server."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from api.measure.bench.decisions.policy_server import ABOVE, ANY, ServerCalls, measure_server
from api.measure.bench.goals import Verdict
from api.measure.bench.statistics import Percentiles, settled, spread
from api.wiring import open_embedded
from policy.authoring.lattice.domain import NOW_MS, Domain, a_class, an_item
from policy.authoring.opa import Opa
from policy.bundles.bundle import Bundle
from policy.engine import PolicyEngine
from policy.model import (
    AnswerFacts,
    AppealFacts,
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
SIZES = (250, 500, 1_000)
"""All of them above what is evaluated on the event loop: below it another path would be compared."""
_CLASSES = 8
_WARM = 20
_REQUEST, _PROMPT = RequestFacts(id="r1"), PromptFacts(chars=60, verdict="ALLOW", risk=0)


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """Milliseconds. `request`: three points, 50 items and 8 sentences; `processor_ms` what one of them takes of a
    processor, which a busy machine changes less; `points` each of them; `by_items`: the evidence point by number of
    items; `server` None without the opa program."""

    request: Percentiles
    processor_ms: float
    points: Mapping[str, Percentiles]
    by_items: Mapping[int, Percentiles]
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
    server = None
    if opa is not None:
        server = await measure_server(
            bundle, folder, opa, lambda engine, count: _requests(engine, world, count), requests
        )
    return PolicyFigures(request, processor_ms, points, by_items, server)


def policy_goals(figures: PolicyFigures) -> tuple[Verdict, ...]:
    """The goals, and whether they are met."""
    above = None if figures.server is None else figures.server[ANY][ABOVE].p50
    return (
        Verdict(f"three points, {ITEMS} items, {SENTENCES} sentences, embedded, p99", "ms", 5, figures.request.p99),
        Verdict("call to a server above OPA's own evaluation, p50", "ms", 2, above),
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
        for point, parts in figures.server.items():
            rows |= {f"server, {point}: {name}": one for name, one in parts.items()}
    shown = [(name, f"{each.p50:.2f}", f"{each.p95:.2f}", f"{each.p99:.2f}") for name, each in rows.items()]
    return [("request, processor time, mean", f"{figures.processor_ms:.2f}", "", ""), *shown]


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
            SentenceFacts(
                i, None, (citable[i % len(citable)], citable[(i * 7) % len(citable)]), 900, appeals=AppealFacts()
            )
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


async def _evidence(engine: PolicyEngine, world: _World, size: int, count: int) -> Percentiles:
    points, large = _points(engine, world.bundle), _World.of(world.bundle, size)
    prior = await large.query(points)
    taken = []
    for _ in range(count + 3):
        started = time.perf_counter()
        await large.found(points, prior)
        taken.append((time.perf_counter() - started) * 1e3)
    return spread(taken[3:])
