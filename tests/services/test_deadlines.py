"""A deadline reaches the server: its work stops there, whatever becomes of the client; and a server that stands still
holds no thread of ours."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from neo4j import AsyncGraphDatabase

from retrieval.errors import StoreNotResponding
from retrieval.registry.postgres import open_guarded_store, open_postgres_store
from retrieval.servers.breaker import Breaker
from retrieval.servers.postgres import Postgres, patience_of
from retrieval.servers.postgres_threads import CANCEL_S, PostgresThreads
from tests.contracts.test_record_store import VISIBLE, fill
from tests.corpora import TENANT, corpus
from tests.services.conftest import missing
from tests.services.neo4j_backend import graph_of, opener_on
from tests.services.neo4j_server import Address, neo4j_server
from tests.services.postgres_backends import schema_of
from tests.services.postgres_server import NotPrepared, Server, installed, running

pytestmark = pytest.mark.services
__all__ = ["neo4j_server"]
ROOT = Path(__file__).parents[2]
BOUND_S = 60.0
SEARCHER = """
import asyncio, sys
from retrieval.graph.neo4j import Neo4jChannel
from tests.corpora import corpus, probes

async def main(uri, user, password, graph):
    channel = Neo4jChannel.open(uri, user, password, graph=graph, deadline_s=4.0)
    probe = probes(corpus(61, documents=6), top_k=20)[0]
    print("searching", flush=True)
    while True:
        try:
            await asyncio.gather(*(channel.search(probe) for _ in range(8)))
        except Exception:
            pass

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_read_of_the_store_of_record_ends_in_the_server_at_its_deadline(
    postgres_dsn: str, tmp_path: Path
) -> None:
    schema = schema_of(tmp_path)
    writer = open_postgres_store(postgres_dsn, schema=schema)
    await fill(writer, VISIBLE)  # type: ignore[arg-type]
    await writer.aclose()
    breaker = Breaker(StoreNotResponding, clock=time.monotonic)
    store = open_guarded_store(postgres_dsn, breaker=breaker, deadline_ms=1_000, schema=schema)
    assert await store.collections(TENANT) is not None
    async with await psycopg.AsyncConnection.connect(postgres_dsn) as holder:
        await holder.execute(f"LOCK TABLE {schema}.document IN ACCESS EXCLUSIVE MODE".encode())
        with pytest.raises(StoreNotResponding):
            await store.classes(TENANT)
        await _nobody_waits(postgres_dsn, schema)
        await holder.rollback()
    assert await store.classes(TENANT)
    await store.aclose()


async def _nobody_waits(dsn: str, schema: str) -> None:
    statement = (
        "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT l.granted AND n.nspname = %s"
    )
    async with asyncio.timeout(BOUND_S), await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        while await (await connection.execute(statement, (schema,))).fetchone() != (0,):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@pytest.fixture
def own_postgres() -> Iterator[Server]:
    try:
        installation = installed()
    except NotPrepared as error:
        missing(str(error))
    with running(installation) as server:
        yield server


async def test_a_server_that_stands_still_holds_no_thread(own_postgres: Server) -> None:
    threads = PostgresThreads(own_postgres.dsn, size=1)
    ask = lambda connection: connection.execute("SELECT 1").fetchone()  # noqa: E731
    assert await threads.read(ask, scope=None) == (1,)
    own_postgres.send(signal.SIGSTOP)
    try:
        for _ in range(2):  # the second would wait for ever if the first still held the only thread
            with pytest.raises((TimeoutError, psycopg.Error)):
                async with asyncio.timeout(0.5):
                    await threads.read(ask, scope=None)
            await asyncio.sleep(2 * CANCEL_S)
        started = asyncio.Event()
        loop = asyncio.get_running_loop()
        freed = loop.run_in_executor(threads._workers, lambda: loop.call_soon_threadsafe(started.set))
        await asyncio.wait_for(started.wait(), BOUND_S)
        await freed
    finally:
        own_postgres.send(signal.SIGCONT)
    async with asyncio.timeout(BOUND_S):
        while True:
            try:
                assert await threads.read(ask, scope=None) == (1,)
                break
            except psycopg.Error:
                await asyncio.sleep(0.1)
    await threads.aclose()


async def test_ingest_waits_for_a_server_that_is_being_started_and_a_question_does_not(own_postgres: Server) -> None:
    patient, hurried = PostgresThreads(own_postgres.dsn), PostgresThreads(own_postgres.dsn, patience_s=patience_of(500))
    patient_too = Postgres(own_postgres.dsn, settings={})

    async def asked(connection: psycopg.AsyncConnection) -> object:
        return await (await connection.execute("SELECT 1")).fetchone()

    ask = lambda connection: connection.execute("SELECT 1").fetchone()  # noqa: E731
    assert await hurried.read(ask, scope=None) == await patient.read(ask, scope=None) == (1,)
    own_postgres.kill()
    waiting = [asyncio.create_task(patient.read(ask, scope=None)), asyncio.create_task(patient_too.run(asked))]
    for _ in range(6):  # a question waits a quarter of a second each time
        with pytest.raises(psycopg.OperationalError):
            await hurried.read(ask, scope=None)
    assert not any(task.done() for task in waiting)
    await asyncio.to_thread(own_postgres.start)
    assert await asyncio.gather(*waiting) == [(1,), (1,)]
    for threads in (patient, hurried, patient_too):
        await threads.aclose()


async def test_the_server_ends_the_search_of_a_client_that_is_frozen(neo4j_server: Address, tmp_path: Path) -> None:
    async with opener_on(neo4j_server)(tmp_path) as backend:
        await backend.index.add(corpus(61, documents=6).batch())
        await backend.index.commit()
    where = (neo4j_server.uri, neo4j_server.user, neo4j_server.password, graph_of(tmp_path))
    process = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", SEARCHER, *where],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        await asyncio.to_thread(process.stdout.readline)
        for _ in range(200):
            process.send_signal(signal.SIGSTOP)  # it can cancel nothing now
            if await _transactions(neo4j_server):
                break
            process.send_signal(signal.SIGCONT)
            await asyncio.sleep(0.02)
        else:
            pytest.fail("no search was met")
        async with asyncio.timeout(BOUND_S):
            while await _transactions(neo4j_server):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
    finally:
        process.kill()
        process.communicate()


async def _transactions(address: Address) -> int:
    """Transactions that run beside this one. A terminated one does nothing more; it is listed until its client asks."""
    driver = AsyncGraphDatabase.driver(address.uri, auth=(address.user, address.password))
    statement = (
        "SHOW TRANSACTIONS YIELD currentQuery, status"
        " WHERE currentQuery IS NULL OR NOT currentQuery STARTS WITH 'SHOW' RETURN status"
    )
    async with driver, driver.session() as session:
        shown = await (await session.run(statement)).values()
    return len([status for (status,) in shown if not status.startswith("Terminated")])
