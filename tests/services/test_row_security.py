"""The second wall: a role that PostgreSQL holds to the classes of its transaction, whatever its statement forgets."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from retrieval.ingest.upkeep.upkeep import IngestStore
from retrieval.model import EntityRef, Query, Record, Relationship
from retrieval.registry.postgres import open_postgres_store
from retrieval.scope import Scope
from retrieval.servers.postgres import Postgres
from retrieval.servers.postgres_threads import Connection, PostgresThreads
from retrieval.servers.row_security import WHOLE, opened_for
from retrieval.servers.statement import Statement
from retrieval.spatial.fact_row import CONTAINMENT
from retrieval.spatial.postgis import PostgisChannel, PostgisIndex
from retrieval.vector.pgvector import PgvectorChannel, PgvectorIndex
from tests.contracts.test_record_store import fill
from tests.corpora import TENANT, corpus, hidden, probes
from tests.fakes_retrieval import HashEmbedder
from tests.services.postgres_backends import TIMEOUT_MS, schema_of

pytestmark = pytest.mark.services

SHOWN = corpus(11, documents=8)
CONTENT = SHOWN + hidden(12, documents=8)
SCOPE = SHOWN.scope()
TABLES = (
    "record",
    "gazetteer_entry",
    "relationship",
    "spatial_fact",
    "spatial_inside",
    "vector_row",
    "vector_row_small",
)
BOXES_TRUSTED = "ALTER FUNCTION geometry_overlaps(geometry, geometry) LEAKPROOF"
HELD = b"SELECT DISTINCT class_id FROM "


@pytest.fixture(scope="module")
def role(postgres_dsn: str) -> Iterator[str]:
    """An ordinary role: a superuser is above the wall."""
    name, password = f"walled_{secrets.token_hex(4)}", secrets.token_hex(12)
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        database = connection.info.dbname
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'".encode())
        connection.execute(f"GRANT CREATE ON DATABASE {database} TO {name}".encode())
    yield conninfo.make_conninfo(postgres_dsn, user=name, password=password)
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {name} CASCADE".encode())
        connection.execute(f"DROP ROLE {name}".encode())


@pytest.fixture(scope="module")
def schema(role: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Everything in all three stores, written by the role; classes of fifteen rows have an index."""
    name = schema_of(tmp_path_factory.mktemp("walled"))
    asyncio.run(_write(role, name, row_security=True))
    return name


async def _write(dsn: str, schema: str, *, row_security: bool) -> None:
    store: IngestStore = open_postgres_store(dsn, schema=schema, row_security=row_security)
    spatial = PostgisIndex.open(dsn, schema=schema, row_security=row_security)
    vectors = PgvectorIndex.open(dsn, embedder=HashEmbedder(), schema=schema, exact_rows=15, row_security=row_security)
    async with AsyncExitStack() as stack:
        for opened in (store, spatial, vectors):
            stack.push_async_callback(opened.aclose)
        await fill(store, CONTENT)
        for index in (spatial, vectors):
            for batch in CONTENT.batches():
                inside = map(_inside, batch.records)
                await index.add(replace(batch, relationships=[*batch.relationships, *inside]))
            await index.commit()


def _inside(record: Record) -> Relationship:
    """A place in a place, which the corpus itself does not state."""
    county, state = EntityRef("county:1", "One", "county"), EntityRef("state:1", "All", "state")
    return Relationship(county, CONTAINMENT, state, record.class_id, record.document_id, record.record_id)


@pytest.fixture
async def threads(role: str, schema: str) -> AsyncIterator[PostgresThreads]:
    opened = PostgresThreads(role, schema=schema)
    yield opened
    await opened.aclose()


@pytest.fixture
async def vectors(role: str, schema: str) -> AsyncIterator[PgvectorChannel]:
    opened = PgvectorChannel.open(
        role, embedder=HashEmbedder(), statement_timeout_ms=TIMEOUT_MS, schema=schema, minimum_milli=-1000
    )
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("table", TABLES)
async def test_a_statement_that_forgets_its_filter_sees_nothing_hidden(threads: PostgresThreads, table: str) -> None:
    def held(connection: Connection) -> set[str]:
        return {row[0] for row in connection.execute(HELD + table.encode())}

    everything = await threads.read(held, scope=None)
    assert everything - SCOPE.class_ids  # there is something to hide
    assert await threads.read(held, scope=SCOPE) == everything & SCOPE.class_ids != set()
    assert await threads.read(held, scope=Scope(TENANT, frozenset())) == set()
    assert await threads.read(held, scope=SCOPE) == everything & SCOPE.class_ids  # and nothing is left of the last


@pytest.mark.parametrize("table", TABLES)
def test_a_connection_that_says_nothing_sees_nothing(role: str, schema: str, table: str) -> None:
    with psycopg.connect(role) as connection:
        connection.execute(f"SET search_path = {schema}, public".encode())
        assert connection.execute(HELD + table.encode()).fetchall() == []
        assert connection.execute(f"DELETE FROM {table}".encode()).rowcount == 0


async def test_the_channels_own_statements_without_their_filters_find_nothing_hidden(
    role: str, schema: str, vectors: PgvectorChannel
) -> None:
    """The first wall taken out of the text that is really sent: only the second is left."""
    spatial = PostgisChannel.open(role, statement_timeout_ms=TIMEOUT_MS, schema=schema)
    postgres = Postgres(role, schema=schema, settings={})
    shown = {record.record_id for record in SHOWN.records}
    above = set()
    for query in probes(CONTENT, top_k=1000, scope=SCOPE):
        for statement in (*await vectors.statements_of(query), *await spatial.statements_of(query)):
            if not re.match(r"\s*SELECT record_id", statement.text):
                continue
            bare = Statement(_without_filter(statement.text), statement.parameters)
            (rows,) = await postgres.read(bare, scope=SCOPE)
            assert {row[0] for row in rows} <= shown
            (rows,) = await postgres.read(bare, scope=CONTENT.scope())
            above |= {row[0] for row in rows}
    assert above - shown  # without the wall they would have been found
    await postgres.aclose()
    await spatial.aclose()


def _without_filter(text: str) -> str:
    bare = re.sub(r"class_id = ANY\(%\(\w+\)s\)", "true", text)
    assert bare != text
    return bare


async def test_what_is_found_is_the_same_with_the_wall_and_without(
    postgres_dsn: str, role: str, schema: str, vectors: PgvectorChannel, tmp_path: Path
) -> None:
    plain = schema_of(tmp_path)
    await _write(postgres_dsn, plain, row_security=False)
    spatial = PostgisChannel.open(role, statement_timeout_ms=TIMEOUT_MS, schema=schema)
    open_spatial = PostgisChannel.open(postgres_dsn, statement_timeout_ms=TIMEOUT_MS, schema=plain)
    open_vectors = PgvectorChannel.open(
        postgres_dsn, embedder=HashEmbedder(), statement_timeout_ms=TIMEOUT_MS, schema=plain, minimum_milli=-1000
    )
    found = 0
    for query in probes(CONTENT, top_k=50, scope=SCOPE):
        for walled, unwalled in ((spatial, open_spatial), (vectors, open_vectors)):
            run = await walled.search(query)
            assert run == await unwalled.search(query)
            found += len(run.hits)
    assert found
    for channel in (spatial, open_spatial, open_vectors):
        await channel.aclose()


def test_the_whole_is_the_owners_alone(postgres_dsn: str, role: str, schema: str) -> None:
    """A role that may only read cannot say that it is ingest."""
    name, password = f"reader_{secrets.token_hex(4)}", secrets.token_hex(12)
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'".encode())
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {name}".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name}".encode())
    scoped = opened_for(SCOPE)
    try:
        with psycopg.connect(conninfo.make_conninfo(postgres_dsn, user=name, password=password)) as connection:
            connection.execute(f"SET search_path = {schema}, public".encode())
            connection.execute(WHOLE.text.encode(), WHOLE.parameters)
            assert connection.execute(HELD + b"record").fetchall() == []
            connection.execute(scoped.text.encode(), scoped.parameters)
            assert {row[0] for row in connection.execute(HELD + b"record")} <= SCOPE.class_ids
    finally:
        with psycopg.connect(postgres_dsn, autocommit=True) as connection:
            connection.execute(f"DROP OWNED BY {name}".encode())
            connection.execute(f"DROP ROLE {name}".encode())


async def test_a_region_is_searched_over_its_index_once_the_comparison_of_boxes_is_trusted(
    postgres_dsn: str, role: str, tmp_path: Path
) -> None:
    """The guide's step for a bound role, in a database of its own, because a function is everybody's there."""
    name = schema_of(tmp_path)
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    admin, bound = (conninfo.make_conninfo(dsn, dbname=name) for dsn in (postgres_dsn, role))
    user = conninfo.conninfo_to_dict(role)["user"]
    with psycopg.connect(admin, autocommit=True) as connection:
        for given in (
            "CREATE EXTENSION postgis",
            "CREATE EXTENSION vector",
            f"GRANT CREATE ON DATABASE {name} TO {user}",
        ):
            connection.execute(given.encode())
    try:
        await _write(bound, "exhibit", row_security=True)
        before = await _region_plan(bound)
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(BOXES_TRUSTED.encode())
        after = await _region_plan(bound)
    finally:
        with psycopg.connect(postgres_dsn, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
    assert "spatial_fact_bounds" not in before
    assert "Index Cond: (bounds &&" in after
    assert "class_id = ANY ((InitPlan" in after  # and the wall still stands


async def _region_plan(dsn: str) -> str:
    """How the server would carry out a search of a region for the scope."""
    spatial, postgres = PostgisChannel.open(dsn, statement_timeout_ms=TIMEOUT_MS), Postgres(dsn, settings={})
    query = Query("what is here", SCOPE, 50, bbox=(-96.0, 38.0, -95.0, 39.0))
    try:
        sent = await spatial.statements_of(query)
        (region,) = {statement.text: statement for statement in sent if "bounds &&" in statement.text}.values()
        explained = Statement(f"EXPLAIN (COSTS OFF) {region.text}", region.parameters)
        seq_scan = Statement("SELECT set_config('enable_seqscan', 'off', true)", {})
        _, plan = await postgres.read(seq_scan, explained, scope=SCOPE)
    finally:
        await spatial.aclose()
        await postgres.aclose()
    return "\n".join(row[0] for row in plan)


async def test_the_wall_goes_up_and_comes_down_with_the_next_write(role: str, tmp_path: Path) -> None:
    name = schema_of(tmp_path)
    count = (
        "SELECT count(*) FROM pg_class WHERE relnamespace = %s::regnamespace AND relrowsecurity AND relforcerowsecurity"
    )
    seen = []
    for wanted in (False, True, False):
        await _write(role, name, row_security=wanted)
        with psycopg.connect(role) as connection:
            seen += [row[0] for row in connection.execute(count.encode(), (name,))]
    assert seen[0] == seen[2] == 0
    assert seen[1] >= len(TABLES)
