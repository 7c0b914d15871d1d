"""The contract of the store of record, asked of PostgreSQL: the same tests as over the file, and its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from retrieval.errors import StoreUnavailable
from retrieval.ingest.upkeep.upkeep import IngestStore
from retrieval.model import Lifecycle
from retrieval.registry.postgres import PostgresEngine, open_postgres_store
from retrieval.registry.sqlite import open_sqlite_store
from tests.contracts.test_record_store import *  # noqa: F403
from tests.contracts.test_record_store import CONTENT, VISIBLE, fill
from tests.corpora import TENANT
from tests.services.postgres_backends import schema_of

pytestmark = pytest.mark.services

# These are about a file; their like for a server stands below.
del test_a_text_that_was_changed_behind_the_store_has_another_digest  # noqa: F821
del test_two_stores_on_one_file_see_each_other  # noqa: F821
del test_a_store_that_is_not_there_or_no_store  # noqa: F821
del test_a_home_that_cannot_be_written  # noqa: F821
del test_a_full_disk_leaves_the_store_as_it_was  # noqa: F821
del test_another_schema_is_refused  # noqa: F821
del test_a_cancelled_read_frees_its_worker  # noqa: F821
del test_the_tables_are_good_for_both_products  # noqa: F821
del test_the_statements_name_columns_that_exist  # noqa: F821

IDS = [record.record_id for record in VISIBLE.records]


@pytest.fixture
def schema(tmp_path: Path) -> str:
    return schema_of(tmp_path)


@pytest.fixture
async def store(postgres_dsn: str, schema: str) -> AsyncIterator[IngestStore]:
    opened: IngestStore = open_postgres_store(postgres_dsn, schema=schema)
    yield opened
    await opened.aclose()


async def test_both_products_give_the_same_manifest_hash_and_the_same_records(
    store: IngestStore, tmp_path: Path
) -> None:
    embedded = open_sqlite_store(tmp_path / "record.sqlite")
    for one in (store, embedded):
        await fill(one, CONTENT)  # type: ignore[arg-type]
    assert await store.manifest_hash(TENANT) == await embedded.manifest_hash(TENANT)
    scope = VISIBLE.scope()
    assert await store.fetch(IDS, scope=scope) == await embedded.fetch(IDS, scope=scope)
    assert await store.gazetteer_entries(scope=scope) == await embedded.gazetteer_entries(scope=scope)
    assert await store.batch(TENANT, VISIBLE.document_ids) == await embedded.batch(TENANT, VISIBLE.document_ids)
    await embedded.aclose()


async def test_a_text_that_was_changed_behind_the_store_is_noticed(
    store: IngestStore, postgres_dsn: str, schema: str
) -> None:
    await fill(store, VISIBLE)
    record = VISIBLE.records[0]
    before = (await store.fetch(IDS, scope=VISIBLE.scope()))[record.record_id].source
    with psycopg.connect(postgres_dsn) as foreign:
        change = f"UPDATE {schema}.document SET text = text || '\\x20'::bytea WHERE document_id = %s"
        foreign.execute(change.encode(), (record.document_id,))
    after = (await store.fetch(IDS, scope=VISIBLE.scope()))[record.record_id].source
    assert before.document_sha256 == before.indexed_sha256 == after.indexed_sha256 != after.document_sha256


async def test_two_stores_on_one_schema_see_each_other(store: IngestStore, postgres_dsn: str, schema: str) -> None:
    await fill(store, VISIBLE)
    reader = open_postgres_store(postgres_dsn, schema=schema, writable=False)
    assert len(await reader.fetch(IDS, scope=VISIBLE.scope())) == len(IDS)
    await store.set_lifecycle(VISIBLE.document_ids, Lifecycle.WITHDRAWN)
    assert await reader.fetch(IDS, scope=VISIBLE.scope()) == {}
    with pytest.raises(StoreUnavailable, match="for reading"):
        await reader.set_lifecycle(VISIBLE.document_ids, Lifecycle.ACTIVE)
    await reader.aclose()


async def test_two_writers_wait_for_each_other(store: IngestStore, postgres_dsn: str, schema: str) -> None:
    other = open_postgres_store(postgres_dsn, schema=schema)
    await asyncio.gather(fill(store, VISIBLE), fill(other, CONTENT.without(VISIBLE.document_ids)))
    assert len(await store.fetch(IDS, scope=VISIBLE.scope())) == len(IDS)
    assert await other.corpus_version(TENANT) == await store.corpus_version(TENANT)
    await other.aclose()


async def test_a_schema_that_nobody_wrote_is_named(postgres_dsn: str, schema: str) -> None:
    absent = open_postgres_store(postgres_dsn, schema=schema, writable=False)
    with pytest.raises(StoreUnavailable, match="nothing has been ingested"):
        await absent.classes(TENANT)
    await absent.aclose()
    with psycopg.connect(postgres_dsn) as connection:
        assert connection.execute("SELECT to_regnamespace(%s)", (schema,)).fetchone() == (None,)


async def test_a_store_of_an_earlier_version_is_named_and_brought_up_to_date_by_the_next_write(
    store: IngestStore, postgres_dsn: str, schema: str
) -> None:
    await fill(store, VISIBLE)
    with psycopg.connect(postgres_dsn) as foreign:
        foreign.execute(f"DROP TABLE {schema}.document_field".encode())
    reader = open_postgres_store(postgres_dsn, schema=schema, writable=False)
    with pytest.raises(StoreUnavailable, match="exhibit ingest"):
        await reader.metadata(VISIBLE.document_ids, scope=VISIBLE.scope())
    await store.put_files([])
    assert set(await reader.metadata(VISIBLE.document_ids, scope=VISIBLE.scope())) <= set(VISIBLE.document_ids)
    await store.set_metadata(VISIBLE.document_ids[0], {"reviewer": "Ann"})
    found = await reader.metadata(VISIBLE.document_ids, scope=VISIBLE.scope())
    assert found[VISIBLE.document_ids[0]]["reviewer"] == "Ann"
    await reader.aclose()


async def test_another_schema_version_is_refused(store: IngestStore, postgres_dsn: str, schema: str) -> None:
    await fill(store, VISIBLE)
    with psycopg.connect(postgres_dsn) as foreign:
        foreign.execute(f"UPDATE {schema}.store_generation SET schema_version = 99".encode())
    for use in (store.classes(TENANT), store.set_lifecycle(VISIBLE.document_ids, Lifecycle.WITHDRAWN)):
        with pytest.raises(StoreUnavailable, match="schema 99"):
            await use


@pytest.mark.parametrize("password", ["wrong", ""])
async def test_a_server_that_refuses_is_named_without_its_address(postgres_dsn: str, password: str) -> None:
    refused = open_postgres_store(psycopg.conninfo.make_conninfo(postgres_dsn, password=password))
    with pytest.raises(StoreUnavailable) as raised:
        await refused.classes(TENANT)
    assert "127.0.0.1" not in str(raised.value)
    await refused.aclose()


async def test_a_cancelled_read_is_cancelled_in_the_server(store: IngestStore, postgres_dsn: str, schema: str) -> None:
    await fill(store, VISIBLE)
    engine = PostgresEngine(postgres_dsn, schema=schema, readers=1)
    begun = threading.Event()

    def endless(session: object) -> None:
        begun.set()
        session.rows("SELECT pg_sleep(3600)")  # type: ignore[attr-defined]

    running = asyncio.create_task(engine.read(endless, scope=None))
    await asyncio.to_thread(begun.wait)
    await asyncio.sleep(0.2)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert await asyncio.wait_for(engine.read(lambda session: session.rows("SELECT 1"), scope=None), 10) == [(1,)]
    await engine.aclose()


async def test_what_a_later_transaction_still_sees_is_not_left_behind(
    store: IngestStore, postgres_dsn: str, schema: str
) -> None:
    """A transaction that began after the deletion, while an earlier one was still writing, sees what the earlier did."""
    await fill(store, CONTENT)
    engine = PostgresEngine(postgres_dsn, schema=schema, readers=1)
    with (
        psycopg.connect(postgres_dsn) as writing,
        psycopg.connect(postgres_dsn) as reading,
        psycopg.connect(postgres_dsn, autocommit=True) as deleting,
    ):
        rows = f"FROM {schema}.record WHERE length(text) > 20".encode()
        gone = [str(text).encode() for (text,) in deleting.execute(b"SELECT DISTINCT text " + rows)]
        assert len(gone) > 1
        writing.execute("SELECT pg_current_xact_id()")
        deleting.execute(b"DELETE " + rows)
        shrinking = asyncio.create_task(engine.compact())
        await asyncio.wait({shrinking}, timeout=0.3)
        reading.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reading.execute("SELECT 1")
        writing.commit()
        await asyncio.wait({shrinking}, timeout=1)
        reading.rollback()
        await shrinking
        deleting.execute("CHECKPOINT")
        file = f"SELECT pg_read_binary_file(pg_relation_filepath('{schema}.record'))".encode()
        row = deleting.execute(file).fetchone()
    assert row is not None
    assert [text for text in gone if text in row[0]] == []
    await engine.aclose()
