"""The tests of the structured channel, asked of PostGIS: the same questions, and what only a server can do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from retrieval.errors import ChannelTimeout, ChannelUnavailable
from retrieval.scope import Scope
from retrieval.spatial.postgis import PostgisChannel, PostgisIndex
from retrieval.spatial.postgis_rows import PostgisFacts
from tests.corpora import corpus, probes
from tests.services.postgres_backends import TIMEOUT_MS, schema_of
from tests.structured import region
from tests.unit.test_random_plans import test_a_plan_comes_to_what_plain_python_does  # noqa: F401
from tests.unit.test_spatial_channel import *  # noqa: F403

pytestmark = pytest.mark.services

CONTENT = corpus(3, documents=3)


@pytest.fixture
def schema(tmp_path: Path) -> str:
    return schema_of(tmp_path)


@pytest.fixture
async def index(postgres_dsn: str, schema: str) -> AsyncIterator[PostgisIndex]:
    opened = PostgisIndex.open(postgres_dsn, schema=schema)
    await opened.add(region())
    await opened.commit()
    yield opened
    await opened.aclose()


@pytest.fixture
async def channel(index: PostgisIndex, postgres_dsn: str, schema: str) -> AsyncIterator[PostgisChannel]:
    opened = PostgisChannel.open(postgres_dsn, statement_timeout_ms=TIMEOUT_MS, schema=schema)
    yield opened
    await opened.aclose()


async def test_a_box_is_met_over_the_index(index: PostgisIndex, postgres_dsn: str, schema: str) -> None:
    seen: list[str] = []

    class Explained:
        """A connection that asks for plans."""

        def __init__(self, connection: psycopg.Connection) -> None:
            self._connection = connection

        def execute(self, statement: bytes, parameters: object) -> object:
            self._connection.execute("SET enable_seqscan = off")
            plan = self._connection.execute(b"EXPLAIN (COSTS OFF) " + statement, parameters)  # type: ignore[arg-type]
            seen.extend(row[0] for row in plan.fetchall())
            return self._connection.execute("SELECT 1 WHERE false")

    with psycopg.connect(postgres_dsn) as connection:
        connection.execute(f"SET search_path = {schema}, public".encode())
        scope = Scope("default", frozenset(["a", "b"]))
        PostgisFacts(Explained(connection), scope).shapes(box=(-96.0, 38.0, -95.0, 39.0))  # type: ignore[arg-type]
    plan = "\n".join(seen)
    assert "spatial_fact_bounds" in plan
    assert "class_id = ANY" in plan
    assert "tenant" in plan


async def test_a_cancelled_search_is_cancelled_in_the_server(
    index: PostgisIndex, channel: PostgisChannel, postgres_dsn: str, schema: str
) -> None:
    query = probes(CONTENT)[0]
    async with await psycopg.AsyncConnection.connect(postgres_dsn) as holder:
        await holder.execute(f"LOCK TABLE {schema}.spatial_fact IN ACCESS EXCLUSIVE MODE".encode())
        task = asyncio.create_task(channel.search(query))
        await _until(postgres_dsn, waiting=1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await _until(postgres_dsn, waiting=0)
        await holder.rollback()
    await channel.search(query)


async def test_the_server_gives_up_after_the_deadline(index: PostgisIndex, postgres_dsn: str, schema: str) -> None:
    hurried = PostgisChannel.open(postgres_dsn, statement_timeout_ms=50, schema=schema)
    async with await psycopg.AsyncConnection.connect(postgres_dsn) as holder:
        await holder.execute(f"LOCK TABLE {schema}.spatial_fact IN ACCESS EXCLUSIVE MODE".encode())
        with pytest.raises(ChannelTimeout) as raised:
            await hurried.search(probes(CONTENT)[0])
        await holder.rollback()
    assert "spatial_fact" not in raised.value.message
    await hurried.aclose()


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    absent = PostgisChannel.open("postgresql://x:secret@127.0.0.1:1/x", statement_timeout_ms=1_000)
    with pytest.raises(ChannelUnavailable) as raised:
        await absent.search(probes(CONTENT)[0])
    assert raised.value.message == "the spatial store cannot be reached"
    await absent.aclose()


async def _until(dsn: str, *, waiting: int) -> None:
    text = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%spatial_fact%'"
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        for _ in range(500):
            if await (await connection.execute(text.encode())).fetchone() == (waiting,):
                return
            await asyncio.sleep(0.01)
    pytest.fail(f"never {waiting} waiting")
