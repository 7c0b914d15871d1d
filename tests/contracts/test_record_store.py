"""What `retrieval.registry.store` promises, asked of every store of record."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from retrieval.errors import RecordNotFound, StoreUnavailable
from retrieval.index import IndexBatch
from retrieval.ingest.upkeep.upkeep import IngestStore
from retrieval.model import Lifecycle, RecordKind
from retrieval.registry.sql.tables import ddl
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.registry.sqlite import SqliteEngine, open_sqlite_store
from retrieval.registry.store import Document, FileJob, Holdings, KnowledgeBase
from retrieval.scope import Scope
from tests.channel_backends import vault_at
from tests.corpora import TENANT, Corpus, corpus, hidden

CONTENT = corpus(7, documents=6) + hidden(8)
VISIBLE = corpus(7, documents=6)


@pytest.fixture(params=["plain", "encrypted"])
async def store(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[IngestStore]:
    if request.param == "encrypted":
        vault_at(tmp_path)
    opened: IngestStore = open_sqlite_store(tmp_path / "record.sqlite")
    yield opened
    await opened.aclose()


async def fill(store: IngestStore, content: Corpus, lifecycle: Lifecycle = Lifecycle.ACTIVE) -> None:
    for batch in content.batches():
        ids = {r.document_id for r in batch.records}
        documents = [d for d in content.documents if d.facts.document_id in ids]
        await store.put_all(documents, batch, lifecycle=lifecycle)


async def test_what_is_put_is_fetched_as_it_was(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    found = await store.fetch([r.record_id for r in VISIBLE.records], scope=VISIBLE.scope())
    assert {k: v.record for k, v in found.items()} == {r.record_id: r for r in VISIBLE.records}
    for held in found.values():
        whole = await store.document(held.record.document_id, scope=VISIBLE.scope())
        at = held.record.locator
        assert whole.text[at.start_char : at.end_char] == held.record.text
        assert held.source.document_sha256 == held.source.indexed_sha256


async def test_fetch_keeps_the_order_asked_for(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    ids = [r.record_id for r in VISIBLE.records]
    random.Random(3).shuffle(ids)
    assert list(await store.fetch([*ids, *ids, "none"], scope=VISIBLE.scope())) == ids


async def test_only_the_scope_is_seen(store: IngestStore) -> None:
    await fill(store, CONTENT)
    for allowed in VISIBLE.classes:
        scope = Scope.of(TENANT, [allowed])
        found = await store.fetch([r.record_id for r in CONTENT.records], scope=scope)
        assert found
        assert {s.record.class_id for s in found.values()} == {allowed.class_id}
        entries = await store.gazetteer_entries(scope=scope)
        assert {e.class_id for e in entries} <= {allowed.class_id}


async def test_an_empty_scope_sees_nothing(store: IngestStore) -> None:
    await fill(store, CONTENT)
    nothing = Scope(TENANT, frozenset())
    assert await store.fetch([r.record_id for r in CONTENT.records], scope=nothing) == {}
    assert await store.gazetteer_entries(scope=nothing) == ()
    assert await store.coverage(scope=nothing, measures=[], place_ids=[]) == ()
    with pytest.raises(RecordNotFound):
        await store.document(CONTENT.document_ids[0], scope=nothing)


async def test_a_class_of_another_tenant_is_not_seen_even_when_it_is_named(store: IngestStore) -> None:
    other = [c for c in CONTENT.classes if c.tenant != TENANT]
    await fill(store, CONTENT)
    scope = Scope(TENANT, frozenset(c.class_id for c in other))
    assert await store.fetch([r.record_id for r in CONTENT.records], scope=scope) == {}
    assert await store.gazetteer_entries(scope=scope) == ()
    assert await store.coverage(scope=scope, measures=[], place_ids=[]) == ()


async def test_absent_and_hidden_documents_fail_alike(store: IngestStore) -> None:
    await fill(store, CONTENT)
    secret = hidden(8).document_ids[0]
    messages = set()
    for document_id in (secret, "no-such@000000000000", ""):
        for locator in ("c=0-5", "row=0", "p=1"):
            with pytest.raises(RecordNotFound) as caught:
                await store.resolve(document_id, locator, scope=VISIBLE.scope())
            messages.add(str(caught.value))
    assert len(messages) == 1


@pytest.mark.parametrize("state", [s for s in Lifecycle if s is not Lifecycle.ACTIVE])
async def test_only_active_documents_are_seen(store: IngestStore, state: Lifecycle) -> None:
    await fill(store, VISIBLE)
    version = await store.corpus_version(TENANT)
    await store.set_lifecycle(VISIBLE.document_ids, state)
    assert await store.fetch([r.record_id for r in VISIBLE.records], scope=VISIBLE.scope()) == {}
    assert await store.classes(TENANT) == ()
    assert await store.gazetteer_entries(scope=VISIBLE.scope()) == ()
    assert await store.coverage(scope=VISIBLE.scope(), measures=[], place_ids=[]) == ()
    with pytest.raises(RecordNotFound):
        await store.document(VISIBLE.document_ids[0], scope=VISIBLE.scope())
    assert await store.corpus_version(TENANT) > version


async def test_a_document_that_is_relabelled_is_seen_by_its_new_class_alone(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    first = VISIBLE.documents[0].facts
    moved = replace(first.visibility, label="confidential", groups=("curators",))
    version = await store.corpus_version(TENANT)
    await store.relabel([first.document_id], moved)
    assert await store.corpus_version(TENANT) > version
    ids = [r.record_id for r in VISIBLE.records if r.document_id == first.document_id]
    assert await store.fetch(ids, scope=VISIBLE.scope()) == {}
    with pytest.raises(RecordNotFound):
        await store.document(first.document_id, scope=VISIBLE.scope())
    above = Scope.of(TENANT, [moved])
    found = await store.fetch(ids, scope=above)
    assert list(found) == ids
    assert {(s.record.class_id, s.source.visibility) for s in found.values()} == {(moved.class_id, moved)}
    named = {e.document_id for e in await store.gazetteer_entries(scope=above)}
    assert named <= {first.document_id}
    batch = await store.batch(TENANT, [first.document_id])
    assert {r.class_id for r in (*batch.records, *batch.entries, *batch.relationships)} == {moved.class_id}
    await store.relabel([first.document_id], first.visibility)
    assert set(await store.fetch(ids, scope=VISIBLE.scope())) == set(ids)


async def test_versions_are_in_the_order_in_which_they_were_stored(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    facts = VISIBLE.documents[0].facts
    [only] = await store.versions(TENANT, facts.source_id)
    assert only.document_id == facts.document_id
    assert await store.versions("other", facts.source_id) == ()
    assert await store.versions(TENANT, "none") == ()


async def test_files_of_active_documents_are_named_by_their_last_run(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    one, two = VISIBLE.documents[:2]
    job = {"tenant": TENANT, "source_id": one.facts.source_id, "document_id": one.facts.document_id}
    await store.put_files([FileJob("run-1", 0, path="/old", state="done", **job)])  # type: ignore[arg-type]
    await store.put_files([FileJob("run-2", 0, path="/new", state="skipped", **job)])  # type: ignore[arg-type]
    await store.put_files([FileJob("run-3", 0, path="/failed", state="failed", **job)])  # type: ignore[arg-type]
    found = {each.document.document_id: each for each in await store.stored_files(TENANT)}
    assert set(found) == set(VISIBLE.document_ids)
    assert (found[one.facts.document_id].path, found[two.facts.document_id].path) == ("/new", "")
    assert found[one.facts.document_id].sha256 == one.facts.document_sha256
    await store.set_lifecycle([one.facts.document_id], Lifecycle.WITHDRAWN)
    assert one.facts.document_id not in {each.document.document_id for each in await store.stored_files(TENANT)}


async def test_places_are_the_names_of_active_documents_whose_ids_begin_with_their_type(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    entries = [each for each in VISIBLE.entries if each.entity.entity_id.startswith(f"{each.entity.type}:")]
    assert entries
    assert sorted(await store.places(TENANT), key=repr) == sorted(entries, key=repr)
    assert await store.places("other") == ()
    await store.set_lifecycle(VISIBLE.document_ids, Lifecycle.WITHDRAWN)
    assert await store.places(TENANT) == ()


async def test_holdings_are_of_now(store: IngestStore) -> None:
    await fill(store, CONTENT)
    for state in (Lifecycle.ACTIVE, Lifecycle.WITHDRAWN, Lifecycle.ACTIVE):
        await store.set_lifecycle(VISIBLE.document_ids, state)
        held = await store.holdings(TENANT)
        assert held == Holdings(
            await store.classes(TENANT),
            await store.collections(TENANT),
            await store.corpus_version(TENANT),
            held.places,
        )
        assert any(c.class_id == VISIBLE.records[0].class_id for c in held.classes) is (state is Lifecycle.ACTIVE)
    assert await store.holdings("nobody") == Holdings((), (), 0)


async def test_a_document_is_not_seen_before_it_is_valid(store: IngestStore) -> None:
    await store.put_collection(KnowledgeBase("c", TENANT, "first", "First"))  # the store is made by now
    later = time.time_ns() // 1_000_000 + 400
    documents = [replace(d, valid_from_ms=later) for d in VISIBLE.documents]
    await store.put_all(documents, VISIBLE.batch(), lifecycle=Lifecycle.ACTIVE)
    scope, ids = VISIBLE.scope(), [r.record_id for r in VISIBLE.records]
    assert await store.fetch(ids, scope=scope) == {}
    assert await store.gazetteer_entries(scope=scope) == ()
    await asyncio.sleep(0.6)
    assert len(await store.fetch(ids, scope=scope)) == len(ids)
    assert len(await store.gazetteer_entries(scope=scope)) == len(VISIBLE.entries)


async def test_activation_supersedes_the_older_version_only(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    old = VISIBLE.documents[0]
    new = replace(old, facts=replace(old.facts, document_id=old.facts.document_id + "-2"))
    await store.put(new, IndexBatch(TENANT, []), lifecycle=Lifecycle.DRAFT)
    assert {d.document_id for d in await store.stored(TENANT, Lifecycle.DRAFT)} == {new.facts.document_id}
    assert await store.activate([new.facts.document_id]) == {old.facts.document_id}
    assert {d.document_id for d in await store.stored(TENANT, Lifecycle.SUPERSEDED)} == {old.facts.document_id}
    active = {d.document_id for d in await store.stored(TENANT)}
    assert active == {*VISIBLE.document_ids, new.facts.document_id} - {old.facts.document_id}
    assert await store.activate([new.facts.document_id]) == frozenset()


async def test_put_replaces_and_discard_forgets_drafts_only(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    first = VISIBLE.documents[0]
    kept = [r for r in VISIBLE.records if r.document_id == first.facts.document_id][:1]
    await store.put(first, IndexBatch(TENANT, kept), lifecycle=Lifecycle.ACTIVE)
    assert list((await store.batch(TENANT, [first.facts.document_id])).records) == kept
    draft = replace(first, facts=replace(first.facts, document_id="draft@1", source_id="draft"))
    await store.put(draft, IndexBatch(TENANT, []), lifecycle=Lifecycle.DRAFT)
    await store.discard(["draft@1", first.facts.document_id])
    assert await store.facts_of("draft@1") is None
    assert await store.facts_of(first.facts.document_id) is not None


async def test_a_transaction_is_whole_or_not_at_all(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    before = await store.manifest_hash(TENANT)
    document = VISIBLE.documents[0]
    records = [r for r in VISIBLE.records if r.document_id == document.facts.document_id]
    with pytest.raises(StoreUnavailable):
        await store.put(document, IndexBatch(TENANT, [*records, records[0]]), lifecycle=Lifecycle.ACTIVE)
    assert await store.manifest_hash(TENANT) == before


async def test_the_manifest_hash_is_of_what_is_active(store: IngestStore, tmp_path: Path) -> None:
    await fill(store, VISIBLE)
    whole = await store.manifest_hash(TENANT)
    other = open_sqlite_store(tmp_path / "other.sqlite")
    for document in reversed(VISIBLE.documents):
        parts = VISIBLE.without(set(VISIBLE.document_ids) - {document.facts.document_id})
        await other.put(document, parts.batch(), lifecycle=Lifecycle.DRAFT)
    assert await other.manifest_hash(TENANT) != whole
    await other.activate(VISIBLE.document_ids)
    assert await other.manifest_hash(TENANT) == whole
    await fill(store, hidden(8))
    assert await store.manifest_hash("nobody") != whole
    await store.set_lifecycle([VISIBLE.document_ids[0]], Lifecycle.WITHDRAWN)
    assert await store.manifest_hash(TENANT) != whole
    await other.aclose()


async def test_locators(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    scope = VISIBLE.scope()
    cell = next(r for r in VISIBLE.records if r.measurement)
    row, column = cell.locator.row, cell.locator.column
    found = await store.resolve(cell.document_id, f"row={row}&col={column}", scope=scope)
    assert (found.text, found.measurement, found.locator) == (cell.text, cell.measurement, cell.locator)
    prose = next(r for r in VISIBLE.records if r.kind is RecordKind.PASSAGE and r.statement is None)
    at = prose.locator
    found = await store.resolve(prose.document_id, f"c={at.start_char}-{at.end_char}", scope=scope)
    assert (found.text, found.locator.start_byte, found.locator.end_byte) == (prose.text, at.start_byte, at.end_byte)


NOWHERE = [
    "", "c=", "c=5", "c=5-", "c=-5", "c=5-5", "c=9-3", "c=0-999999999", "c=0-99999999999999999999", "c=a-b", "c=٠-٣", "c=1-2&c=3-4",
    "c=0-5&x=1", "row=", "row=-1", "row=99999", "row=1e3", "row=0&col=none", "col=1930", "feature=none", "p=0", "p=1", "p=x",
    "row=0;DROP TABLE record", "x", "&&", "c=0-5#",
]  # fmt: skip


@pytest.mark.parametrize("locator", NOWHERE)
async def test_what_is_no_place_in_the_document(store: IngestStore, locator: str) -> None:
    await fill(store, VISIBLE)
    with pytest.raises(RecordNotFound):
        await store.resolve(VISIBLE.document_ids[0], locator, scope=VISIBLE.scope())


async def test_pages(store: IngestStore) -> None:
    first = VISIBLE.documents[0]
    document = Document(first.facts, "application/pdf", "one\n\ntwo é", ((0, 3), (5, 10)))
    await store.put(document, IndexBatch(TENANT, []), lifecycle=Lifecycle.ACTIVE)
    found = await store.resolve(first.facts.document_id, "p=2", scope=VISIBLE.scope())
    assert (found.text, found.locator.page, found.locator.start_byte, found.locator.end_byte) == ("two é", 2, 5, 11)


async def test_coverage(store: IngestStore) -> None:
    await fill(store, CONTENT)
    measured = [r.measurement for r in VISIBLE.records if r.measurement]
    place = measured[0].place
    found = await store.coverage(scope=VISIBLE.scope(), measures=[measured[0].measure], place_ids=[place.entity_id])
    years = {m.time.start.year for m in measured if m.place == place and m.measure == measured[0].measure}
    assert [(c.measure, c.place, set(c.years)) for c in found] == [(measured[0].measure, place, years)]
    assert await store.coverage(scope=VISIBLE.scope(), measures=["rainfall"], place_ids=[]) == ()


async def test_collections_keep_their_id(store: IngestStore) -> None:
    await store.put_collection(KnowledgeBase("id-1", TENANT, "kansas", "Kansas"))
    version = await store.corpus_version(TENANT)
    await store.put_collection(KnowledgeBase("id-1", TENANT, "kansas", "Kansas"))
    assert await store.corpus_version(TENANT) == version
    await store.put_collection(KnowledgeBase("id-2", TENANT, "kansas", "Kansas!"))
    await store.put_collection(KnowledgeBase("id-3", "other", "kansas", "Other"))
    assert await store.collections(TENANT) == (KnowledgeBase("id-1", TENANT, "kansas", "Kansas!"),)


async def test_file_rows(store: IngestStore) -> None:
    jobs = [FileJob("run-1", i, TENANT, f"{i}.txt", f"s{i}") for i in range(3)]
    await store.put_files(jobs)
    await store.put_files(
        [replace(jobs[1], state="failed", stage="load", error_code="VALIDATION_FAILED", error_message="no")]
    )
    await store.put_files([FileJob("run-0", 0, TENANT, "old", "old"), FileJob("run-9", 0, "other", "x", "x")])
    assert [(f.path, f.state) for f in await store.files(TENANT)] == [
        ("0.txt", "queued"),
        ("1.txt", "failed"),
        ("2.txt", "queued"),
    ]
    assert [f.path for f in await store.files(TENANT, "run-0")] == ["old"]
    assert await store.files(TENANT, "run-9") == ()
    assert await store.files("nobody") == ()


async def test_a_text_that_was_changed_behind_the_store_has_another_digest(store: IngestStore, tmp_path: Path) -> None:
    await fill(store, VISIBLE)
    record = VISIBLE.records[0]
    before = (await store.fetch([record.record_id], scope=VISIBLE.scope()))[record.record_id].source
    with closing(apsw.Connection(str(tmp_path / "record.sqlite"))) as foreign:
        foreign.execute(
            "UPDATE document SET text = CAST(text || ' ' AS BLOB) WHERE document_id = ?", (record.document_id,)
        )
    foreign.close()
    after = (await store.fetch([record.record_id], scope=VISIBLE.scope()))[record.record_id].source
    assert before.document_sha256 == before.indexed_sha256 == after.indexed_sha256 != after.document_sha256


async def test_two_stores_on_one_file_see_each_other(store: IngestStore, tmp_path: Path) -> None:
    await fill(store, VISIBLE)
    reader = open_sqlite_store(tmp_path / "record.sqlite", writable=False)
    ids = [r.record_id for r in VISIBLE.records]
    assert len(await reader.fetch(ids, scope=VISIBLE.scope())) == len(ids)
    await store.set_lifecycle(VISIBLE.document_ids, Lifecycle.WITHDRAWN)
    assert await reader.fetch(ids, scope=VISIBLE.scope()) == {}
    with pytest.raises(StoreUnavailable, match="for reading"):
        await reader.set_lifecycle(VISIBLE.document_ids, Lifecycle.ACTIVE)
    await reader.aclose()


async def test_a_store_that_is_not_there_or_no_store(tmp_path: Path) -> None:
    absent = open_sqlite_store(tmp_path / "none" / "record.sqlite", writable=False)
    with pytest.raises(StoreUnavailable, match="nothing has been ingested"):
        await absent.classes(TENANT)
    assert not (tmp_path / "none").exists()
    (tmp_path / "bad.sqlite").write_bytes(b"this is no database, whatever its name says" * 50)
    (tmp_path / "empty.sqlite").touch()
    for name in ("bad.sqlite", "empty.sqlite"):
        broken = open_sqlite_store(tmp_path / name, writable=False)
        with pytest.raises(StoreUnavailable):
            await broken.classes(TENANT)
        await broken.aclose()
    await absent.aclose()


async def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    broken = open_sqlite_store(tmp_path / "file" / "record.sqlite")
    with pytest.raises(StoreUnavailable) as caught:
        await broken.put_files([])
    assert str(tmp_path) not in str(caught.value)
    await broken.aclose()


async def test_a_full_disk_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "record.sqlite")
    full = SqlRecordStore(engine=engine)
    await full.put_files([])
    before = await full.manifest_hash(TENANT)
    await engine.write(lambda session: session.rows("PRAGMA max_page_count = 40"))
    many = corpus(9, documents=60)
    with pytest.raises(StoreUnavailable, match="full"):
        await full.put_all(many.documents, many.batch(), lifecycle=Lifecycle.ACTIVE)
    assert await full.manifest_hash(TENANT) == before
    assert await full.classes(TENANT) == ()
    await full.aclose()


async def test_another_schema_is_refused(store: IngestStore, tmp_path: Path) -> None:
    await fill(store, VISIBLE)
    with closing(apsw.Connection(str(tmp_path / "record.sqlite"))) as foreign:
        foreign.execute("PRAGMA user_version = 99")
    foreign.close()
    later = open_sqlite_store(tmp_path / "record.sqlite")
    with pytest.raises(StoreUnavailable, match="schema 99"):
        await later.classes(TENANT)
    await later.aclose()


async def test_a_cancelled_read_frees_its_worker(tmp_path: Path) -> None:
    engine = SqliteEngine(tmp_path / "record.sqlite", readers=1)
    await engine.write(lambda session: None)
    begun = threading.Event()

    def endless(session: object) -> None:
        begun.set()
        session.rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")  # type: ignore[attr-defined]

    running = asyncio.create_task(engine.read(endless, scope=None))
    await asyncio.to_thread(begun.wait)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert await asyncio.wait_for(engine.read(lambda session: session.rows("SELECT 1"), scope=None), 10) == [(1,)]
    await engine.aclose()


async def test_reads_and_writes_at_once(store: IngestStore) -> None:
    await fill(store, VISIBLE)
    ids = [r.record_id for r in VISIBLE.records]

    async def reading() -> None:
        for _ in range(20):
            found = await store.fetch(ids, scope=VISIBLE.scope())
            assert len(found) in (0, len(ids))

    async def writing() -> None:
        for state in (Lifecycle.WITHDRAWN, Lifecycle.ACTIVE) * 5:
            await store.set_lifecycle(VISIBLE.document_ids, state)

    await asyncio.gather(reading(), reading(), reading(), writing())


def test_the_tables_are_good_for_both_products() -> None:
    for dialect in ("sqlite", "postgresql"):
        assert sum(statement.startswith("CREATE TABLE") for statement in ddl(dialect)) == 11
    assert any("BYTEA" in statement for statement in ddl("postgresql"))


def test_the_statements_name_columns_that_exist(tmp_path: Path) -> None:
    from retrieval.registry import writes
    from retrieval.registry.sql import rows

    base = sqlite3.connect(":memory:")
    for statement in ddl("sqlite"):
        base.execute(statement)
    lists = {"record": rows.RECORD, "visibility_class": rows.CLASS, "gazetteer_entry": rows.GAZETTEER}
    lists |= {"relationship": rows.RELATIONSHIP, "document": rows.FACTS, "ingest_file": writes._FILE}
    for table, columns in lists.items():
        base.execute(f"SELECT {columns} FROM {table}")
    base.close()


async def test_an_overview_counts_what_the_scope_admits_and_leaves_no_trace_of_the_rest(store: IngestStore) -> None:
    await fill(store, CONTENT)
    documents = [each.facts for each in CONTENT.documents]
    jobs = [
        FileJob("run", n, TENANT, f"{each.source_id}.md", each.source_id, "done", "index", each.document_id)
        for n, each in enumerate(documents)
    ]
    await store.put_files([*jobs, FileJob("run", len(jobs), TENANT, "broken.pdf", "broken", "failed", "load")])
    scope = VISIBLE.scope()
    seen = await store.overview(scope=scope, unlabelled=False)
    shown = {each.facts.document_id for each in VISIBLE.documents}
    assert {each.document_id for each in seen.versions} == {each.document_id for each in seen.files} == shown
    counted = {each.document_id: dict(each.records) for each in seen.versions}
    for document_id in shown:
        kinds = [str(record.kind) for record in VISIBLE.records if record.document_id == document_id]
        assert counted[document_id] == {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    told = await store.overview(scope=scope, unlabelled=True)
    assert {each.path for each in told.files} - {each.path for each in seen.files} == {"broken.pdf"}
    nothing = await store.overview(scope=Scope(TENANT, frozenset()), unlabelled=False)
    assert (nothing.versions, nothing.files) == ((), ())
    elsewhere = await store.overview(scope=Scope("nobody", scope.class_ids), unlabelled=True)
    assert (elsewhere.versions, elsewhere.files) == ((), ())
