"""What `retrieval.channels.traversal.Traversal` promises, asked of every graph: the records that plain Python finds, and
nothing of what a scope does not admit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.channels.traversal import MOST_WALKED, Direction, Neighbourhood, Traversal, Walk
from retrieval.model import EntityRef, Relationship, TimeRange
from retrieval.scope import Scope
from tests.channel_backends import Backend, Opener, graph
from tests.corpora import TENANT, Corpus, corpus, hidden, visibility

VISIBLE = corpus(31, documents=9)
CONTENT = VISIBLE + hidden(32)
DIRECTIONS: tuple[Direction, ...] = ("outgoing", "incoming", "both")
NODES = sorted({end.entity_id for edge in CONTENT.relationships for end in (edge.subject, edge.object)})
PREDICATES = sorted({edge.predicate for edge in CONTENT.relationships})
SLOW = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
WALKS = st.builds(
    Walk,
    starts=st.lists(st.sampled_from([*NODES, "county:none"]), min_size=1, max_size=3, unique=True).map(tuple),
    hops=st.integers(1, 4),
    direction=st.sampled_from(DIRECTIONS),
    predicates=st.lists(st.sampled_from([*PREDICATES, "none"]), max_size=2, unique=True).map(tuple),
    day=st.none() | st.dates(date(1850, 1, 1), date(1960, 12, 31)),
)


@pytest.fixture
def opener() -> Opener:
    return graph


@pytest.fixture
async def backend(opener: Opener, tmp_path: Path) -> AsyncIterator[Backend]:
    async with opener(tmp_path / "index") as opened:
        yield opened


async def walkable(backend: Backend, content: Corpus) -> Traversal:
    for batch in content.batches():
        await backend.index.add(batch)
    await backend.index.commit()
    assert isinstance(backend.channel, Traversal)
    return backend.channel


def passed(edges: Iterable[Relationship], walk: Walk) -> tuple[str, ...]:
    """The records that state what the walk passes, in plain Python."""
    known = [
        edge
        for edge in edges
        if (not walk.predicates or edge.predicate in walk.predicates)
        and (walk.day is None or edge.time is None or edge.time.start <= walk.day <= edge.time.end)
    ]
    found, at = set[str](), set(walk.starts)
    for _ in range(walk.hops):
        further = set[str]()
        for edge in known:
            subject, other = edge.subject.entity_id, edge.object.entity_id
            if subject in at and walk.direction != "incoming":
                found.add(edge.record_id)
                further.add(other)
            if other in at and walk.direction != "outgoing":
                found.add(edge.record_id)
                further.add(subject)
        at |= further
    return tuple(sorted(found))


def admitted(content: Corpus, scope: Scope) -> list[Relationship]:
    tenants = {d.facts.document_id: d.facts.visibility.tenant for d in content.documents}
    return [
        edge
        for edge in content.relationships
        if edge.class_id in scope.class_ids and tenants[edge.document_id] == scope.tenant
    ]


async def test_a_walk_passes_what_plain_python_passes(backend: Backend) -> None:
    walked, scope = await walkable(backend, CONTENT), VISIBLE.scope()

    @given(WALKS)
    @SLOW
    def expected(walk: Walk) -> None:
        walks.append(walk)

    walks: list[Walk] = []
    expected()
    lengths = set[int]()
    for walk in walks:
        found = await walked.around(walk, scope=scope)
        assert found == Neighbourhood(passed(admitted(CONTENT, scope), walk)), walk
        lengths.add(len(found.record_ids))
    assert len(lengths) > 2


@pytest.mark.parametrize("direction", DIRECTIONS)
async def test_a_walk_takes_its_direction_at_every_hop(backend: Backend, direction: Direction) -> None:
    content = chain()
    walked = await walkable(backend, content)
    ends = {"outgoing": ("r2", "r3"), "incoming": ("r1",), "both": ("r1", "r2", "r3")}
    walk = Walk(("county:1",), 2, direction)
    assert (await walked.around(walk, scope=content.scope())).record_ids == ends[direction]


async def test_hidden_relationships_lead_nowhere(backend: Backend) -> None:
    content = chain()
    closed = replace(content.relationships[1], class_id=visibility(label="restricted").class_id)
    assert closed.class_id not in content.scope().class_ids
    hiding = replace(content, relationships=(content.relationships[0], closed, content.relationships[2]))
    walked = await walkable(backend, hiding)
    assert (await walked.around(Walk(("county:0",), 4), scope=content.scope())).record_ids == ("r1",)


@pytest.mark.parametrize(
    "scope", [Scope(TENANT, frozenset()), Scope("other", VISIBLE.scope().class_ids), Scope.of("none", [])]
)
async def test_a_scope_that_admits_nothing_finds_nothing(backend: Backend, scope: Scope) -> None:
    walked = await walkable(backend, VISIBLE)
    assert await walked.around(Walk(tuple(NODES), 3), scope=scope) == Neighbourhood(())


async def test_an_empty_graph_leads_nowhere(backend: Backend) -> None:
    assert isinstance(backend.channel, Traversal)
    assert await backend.channel.around(Walk(("county:1",), 4), scope=VISIBLE.scope()) == Neighbourhood(())


@pytest.mark.parametrize("start", ["", "county:none", "'; DROP TABLE edge --", "x" * 3_000, "$ids", "county:1*"])
async def test_what_is_not_there_leads_nowhere(backend: Backend, start: str) -> None:
    walked = await walkable(backend, chain())
    assert await walked.around(Walk((start,), 4), scope=chain().scope()) == Neighbourhood(())


async def test_a_walk_is_cut_where_too_much_lies_around(backend: Backend) -> None:
    content = star(MOST_WALKED + 1)
    walked = await walkable(backend, content)
    found = await walked.around(Walk(("county:0",), 1), scope=content.scope())
    assert found.cut and len(found.record_ids) == MOST_WALKED
    whole = await walked.around(Walk(("county:1",), 1), scope=content.scope())
    assert whole == Neighbourhood(("r00001",))


def chain() -> Corpus:
    """county:0 -> county:1 -> county:2 -> county:3, each by a record of its own, the last dated."""
    ends = [(0, 1), (1, 2), (2, 3)]
    days = [None, None, TimeRange(date(1860, 1, 1), date(1870, 1, 1))]
    return stated([(f"r{n}", *pair, time) for n, (pair, time) in enumerate(zip(ends, days, strict=True), 1)])


def star(size: int) -> Corpus:
    return stated([(f"r{n:05d}", 0, n, None) for n in range(1, size + 1)])


def stated(edges: list[tuple[str, int, int, TimeRange | None]]) -> Corpus:
    base = corpus(41, documents=1, classes=(visibility(),))
    document = base.documents[0].facts
    made = [
        Relationship(county(a), "borders", county(b), document.visibility.class_id, document.document_id, name, time)
        for name, a, b, time in edges
    ]
    return replace(base, relationships=tuple(made))


def county(number: int) -> EntityRef:
    return EntityRef(f"county:{number}", f"County {number}", "county")
