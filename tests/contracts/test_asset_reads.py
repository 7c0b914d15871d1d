"""What `retrieval.registry.assets.store` promises, asked of every store of record: filters and graphs as plain Python over the corpus
has them, and nothing of what a scope does not admit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.filters import parse_filter
from retrieval.ingest.upkeep.upkeep import IngestStore
from retrieval.model import Lifecycle, Relationship
from retrieval.registry.assets.model import EntityFilters, GraphNarrowing, RelationshipFilters
from retrieval.registry.sqlite import open_sqlite_store
from retrieval.registry.store import FileJob
from retrieval.scope import Scope
from tests.contracts.test_record_store import fill
from tests.corpora import TENANT, corpus, hidden

VISIBLE = corpus(11, documents=8)
CONTENT = VISIBLE + hidden(12)
EVERYONE = Scope.of(TENANT, CONTENT.classes)
ENTITIES = sorted({e.entity.entity_id for e in CONTENT.entries})
SOURCES = sorted({d.facts.source_id for d in CONTENT.documents})
NOTHING = Scope(TENANT, frozenset())
SLOW = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[IngestStore]:
    opened: IngestStore = open_sqlite_store(tmp_path / "record.sqlite")
    yield opened
    await opened.aclose()


async def test_every_source_of_the_scope_is_an_asset_and_no_other(store: IngestStore) -> None:
    await fill(store, CONTENT)
    for allowed in [*CONTENT.classes]:
        scope = Scope.of(TENANT, [allowed])
        found = await store.assets(scope=scope, lifecycles=("active",))
        assert [each.asset_id for each in found] == sorted(
            d.facts.source_id
            for d in CONTENT.documents
            if d.facts.visibility == allowed and d.facts.visibility.tenant == TENANT
        )
        assert all(each.metadata["source_id"] == each.asset_id for each in found)
    assert await store.assets(scope=NOTHING, lifecycles=("active",)) == ()
    assert await store.assets(scope=VISIBLE.scope(), lifecycles=()) == ()


async def test_lifecycles_are_told_apart(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    first, *others = VISIBLE.document_ids
    await store.set_lifecycle([first], Lifecycle.WITHDRAWN)
    active = await store.assets(scope=VISIBLE.scope(), lifecycles=("active",))
    withdrawn = await store.assets(scope=VISIBLE.scope(), lifecycles=("withdrawn",))
    both = await store.assets(scope=VISIBLE.scope(), lifecycles=("active", "withdrawn"))
    assert [a.facts.document_id for a in withdrawn] == [first]
    assert {a.facts.document_id for a in active} == set(others)
    assert {a.facts.document_id for a in both} == set(VISIBLE.document_ids)


async def test_the_run_that_stored_a_document_is_named(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    document, source = VISIBLE.documents[0].facts.document_id, VISIBLE.documents[0].facts.source_id
    job = {"tenant": TENANT, "source_id": source, "document_id": document, "path": "/somewhere/in/a.md"}
    await store.put_files([FileJob("run-1", 0, **job, state="done")])  # type: ignore[arg-type]
    await store.put_files([FileJob("run-2", 0, **job, state="skipped")])  # type: ignore[arg-type]
    [asset] = [a for a in await store.assets(scope=VISIBLE.scope(), lifecycles=("active",)) if a.asset_id == source]
    assert (asset.workflow_run, asset.name) == ("run-1", "a.md")
    edges = await store.relationships(RelationshipFilters(workflow_runs=("run-1",)), scope=VISIBLE.scope())
    assert {each.edge.document_id for each in edges} <= {document}
    assert await store.relationships(RelationshipFilters(workflow_runs=("run-2",)), scope=VISIBLE.scope()) == ()


def names(document_id: str, entities: set[str], relationships: tuple[Relationship, ...], visible: set[str]) -> bool:
    entries = any(
        e.entity.entity_id in entities and e.document_id == document_id and e.class_id in visible
        for e in CONTENT.entries
    )
    ends = any(
        {r.subject.entity_id, r.object.entity_id} & entities and r.document_id == document_id and r.class_id in visible
        for r in relationships
    )
    return entries or ends


async def test_narrowing_by_entity_equals_plain_python(store: IngestStore) -> None:
    await fill(store, CONTENT)
    for scope in (VISIBLE.scope(), EVERYONE, NOTHING):
        seen = [
            d.facts.document_id
            for d in CONTENT.documents
            if d.facts.visibility.class_id in scope.class_ids and d.facts.visibility.tenant == TENANT
        ]
        for wanted in ([ENTITIES[0]], ENTITIES[1:3], ["none"]):
            expected = {d for d in seen if names(d, set(wanted), CONTENT.relationships, set(scope.class_ids))}
            assert await store.documents_of(GraphNarrowing(entities=tuple(wanted)), scope=scope) == expected


async def test_narrowing_by_related_asset_uses_only_what_the_scope_admits(store: IngestStore) -> None:
    await fill(store, CONTENT)
    scope = VISIBLE.scope()
    seen = {d.facts.document_id: d.facts.source_id for d in VISIBLE.documents}
    stated = {d: {e.entity.entity_id for e in VISIBLE.entries if e.document_id == d} for d in seen}
    for source in SOURCES:
        own = set().union(*(stated[d] for d, s in seen.items() if s == source))
        expected = {d for d, s in seen.items() if s != source and stated[d] & own}
        assert await store.documents_of(GraphNarrowing(related=(source,)), scope=scope) == expected, source


async def test_parts_of_a_narrowing_hold_together(store: IngestStore) -> None:
    await fill(store, CONTENT)
    scope = VISIBLE.scope()
    borders = await store.documents_of(GraphNarrowing(predicates=("borders",)), scope=scope)
    one = await store.documents_of(GraphNarrowing(entities=(ENTITIES[0],)), scope=scope)
    both = await store.documents_of(GraphNarrowing(entities=(ENTITIES[0],), predicates=("borders",)), scope=scope)
    titled = parse_filter({"eq": {"title": VISIBLE.documents[0].facts.title}})
    named = await store.documents_of(GraphNarrowing(metadata=titled), scope=scope)
    assert both == borders & one
    assert named == {VISIBLE.document_ids[0]}
    assert await store.documents_of(GraphNarrowing(predicates=("none",)), scope=scope) == frozenset()
    assert await store.documents_of(GraphNarrowing(), scope=scope) == frozenset()


ENTITY_FILTERS = [
    EntityFilters(),
    EntityFilters(types=("county",)),
    EntityFilters(types=("city",)),
    EntityFilters(name="coUNTY"),
    EntityFilters(name="élan"),
    EntityFilters(name="ÉLAN"),
    EntityFilters(references=(ENTITIES[0],)),
    EntityFilters(references=(ENTITIES[1].partition(":")[2], "none")),
    EntityFilters(name="'; DROP TABLE document"),
]


async def test_entities_equal_plain_python(store: IngestStore) -> None:
    await fill(store, CONTENT)
    for scope in (VISIBLE.scope(), EVERYONE, NOTHING):
        for wanted in ENTITY_FILTERS:
            found = await store.entity_statements(wanted, scope=scope)
            told = [(each.entity.entity_id, each.document_id) for each in found]
            assert sorted(told) == sorted(entities_meant(wanted, scope)), wanted


def entities_meant(wanted: EntityFilters, scope: Scope) -> set[tuple[str, str]]:
    tenants = {d.facts.document_id: d.facts.visibility.tenant for d in CONTENT.documents}
    stated: dict[tuple[str, str], list[str]] = {}
    for entry in CONTENT.entries:
        if entry.class_id in scope.class_ids and tenants[entry.document_id] == TENANT:
            stated.setdefault((entry.entity.entity_id, entry.document_id), []).extend((entry.entity.name, *entry.names))
    return {
        key
        for key, names in stated.items()
        if (not wanted.types or "county" in wanted.types)
        and any(wanted.name.casefold() in name.casefold() for name in names)
        and (not wanted.references or {key[0], key[0].partition(":")[2]} & set(wanted.references))
    }


RELATIONSHIPS = st.builds(
    RelationshipFilters,
    sources=st.sets(st.sampled_from([*ENTITIES, "none"]), max_size=3).map(lambda s: tuple(sorted(s))),
    targets=st.sets(st.sampled_from(ENTITIES), max_size=4).map(lambda s: tuple(sorted(s))),
    entity=st.none() | st.sampled_from(ENTITIES),
    direction=st.sampled_from(["outgoing", "incoming", "both"]),
    predicates=st.sampled_from([(), ("borders",), ("none",), ("none", "borders")]),
    target_types=st.sampled_from([(), ("county",), ("city",)]),
    assets=st.sets(st.sampled_from(SOURCES), max_size=3).map(lambda s: tuple(sorted(s))),
    day=st.none() | st.just(date(1870, 5, 1)),
)


async def test_relationships_equal_plain_python(store: IngestStore) -> None:
    await fill(store, CONTENT)
    facts = {d.facts.document_id: d.facts for d in CONTENT.documents}
    checked: list[tuple[RelationshipFilters, Scope]] = []

    @given(wanted=RELATIONSHIPS, scope=st.sampled_from([VISIBLE.scope(), EVERYONE]))
    @SLOW
    def gather(wanted: RelationshipFilters, scope: Scope) -> None:
        checked.append((wanted, scope))

    gather()
    hits = 0
    for wanted, scope in checked:
        found = await store.relationships(wanted, scope=scope)
        expected = sorted(
            (r.record_id, r.subject.entity_id, r.object.entity_id)
            for r in CONTENT.relationships
            if r.class_id in scope.class_ids and facts[r.document_id].visibility.tenant == TENANT and fits(r, wanted, facts[r.document_id].source_id)
        )  # fmt: skip
        told = sorted((e.edge.record_id, e.edge.subject.entity_id, e.edge.object.entity_id) for e in found)
        assert told == expected, wanted
        assert list(found) == sorted(found, key=lambda e: (e.edge.document_id, e.position))
        assert await store.relationships(wanted, scope=scope, limit=1) == found[:1]
        hits += len(found)
    assert hits > 10


def fits(edge: Relationship, wanted: RelationshipFilters, source_id: str) -> bool:
    ends = {"outgoing": (edge.subject,), "incoming": (edge.object,), "both": (edge.subject, edge.object)}
    return (
        (not wanted.sources or edge.subject.entity_id in wanted.sources)
        and (not wanted.targets or edge.object.entity_id in wanted.targets)
        and (not wanted.predicates or edge.predicate in wanted.predicates)
        and (not wanted.target_types or edge.object.type in wanted.target_types)
        and (not wanted.assets or source_id in wanted.assets)
        and (wanted.entity is None or any(end.entity_id == wanted.entity for end in ends[wanted.direction]))
        and (wanted.day is None or edge.time is None or (edge.time.start <= wanted.day and wanted.day <= edge.time.end))
    )
