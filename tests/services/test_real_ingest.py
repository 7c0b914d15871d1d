"""`kill -9` in the middle of an ingest into PostgreSQL, Neo4j and OpenSearch at once: whatever stands is whole, and a
resumed run ends with the corpus that a folder holds."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from opensearchpy import AsyncOpenSearch
from psycopg import conninfo

from api import wiring
from api.cli.corpus.index import compared
from api.home.configuration import Configuration, load
from tests.harness import KANSAS, ask
from tests.services.neo4j_server import Address, neo4j_server  # noqa: F401  a fixture
from tests.services.opensearch_backend import DEADLINE_S, RUN, wipe

pytestmark = pytest.mark.services
PREFIX = f"{RUN}-ingest"
DATABASE = "kill_in_ingest"
DEADLINES = {f"EXHIBIT_RETRIEVAL__DEADLINE_MS__{name}": "60000" for name in ("GRAPH", "SPATIAL", "FULLTEXT", "VECTOR")}
QUESTIONS = (
    "What was the population of Shawnee County in 1930?",
    "Which treaties were signed at Santa Fe?",
    "When was Black Sunday?",
)


@dataclass(frozen=True)
class Servers:
    """The settings that put every store on a server, and how to look at two of them from outside."""

    environment: Mapping[str, str]
    dsn: str
    search_url: str


@pytest.fixture
def servers(postgres_dsn: str, neo4j_server: Address, opensearch_url: str) -> Iterator[Servers]:  # noqa: F811
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)".encode())
        connection.execute(f"CREATE DATABASE {DATABASE}".encode())
    dsn = conninfo.make_conninfo(postgres_dsn, dbname=DATABASE)
    environment = {
        "POSTGIS_DSN": dsn,
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USER": neo4j_server.user,
        "NEO4J_PASSWORD": neo4j_server.password,
        "OPENSEARCH_URL": opensearch_url,
        "EXHIBIT_STORES__OPENSEARCH_INDEX": PREFIX,
        **DEADLINES,
    }
    yield Servers(environment, dsn, opensearch_url)
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)".encode())
    asyncio.run(wipe(opensearch_url))


async def test_killed_while_channels_are_filled_committed_and_activated_then_resumed(
    servers: Servers, tmp_path: Path
) -> None:
    folder, real = load(DEADLINES, home=tmp_path / "folder"), load(servers.environment, home=tmp_path / "real")
    expected = await _taken_in(folder)
    for moment in (_staged, _published, _active):
        await _killed(servers, real, when=moment)
        await _whole(real)
    code, told = await _exhibit(servers, real, "--resume")
    assert code == 0, told
    assert json.loads(told)["manifest_hash"] == expected
    assert (await compared(real))["consistent"]
    assert await _answers(real) == await _answers(folder)


async def _staged(servers: Servers) -> bool:
    """A channel holds what was not committed."""
    async with AsyncOpenSearch(servers.search_url, timeout=DEADLINE_S) as client:
        return bool(await client.indices.get_alias(index=f"{PREFIX}-*"))


async def _published(servers: Servers) -> bool:
    """A channel has committed, the store of record perhaps not."""
    async with AsyncOpenSearch(servers.search_url, timeout=DEADLINE_S) as client:
        told = await client.indices.get_alias(index=f"{PREFIX}-*")
    return any(len(alias) == len(PREFIX) + 33 for index in told.values() for alias in index["aliases"])


async def _active(servers: Servers) -> bool:
    """The first documents answer."""
    return await asyncio.to_thread(_count_active, servers.dsn) > 0


def _count_active(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT count(*) FROM exhibit.document WHERE lifecycle = 'active'").fetchone()
    return row[0] if row else 0


async def _whole(real: Configuration) -> None:
    """Every channel holds every document that answers, and no other is cited."""
    async with wiring.open_indexes(real) as (store, _, indexes):
        active = {document.document_id for document in await store.stored("default")}
        for index in indexes:
            assert active <= await index.documents(), index.name
    async with wiring.open_system(real) as system:
        for question in QUESTIONS:
            body = await ask(system, question)
            assert {item["document_id"] for item in body["evidence"]} <= active


async def _answers(configuration: Configuration) -> list[Any]:
    async with wiring.open_system(configuration) as system:
        bodies = [await ask(system, question) for question in QUESTIONS]
    return [(body["outcome"], body["answer"], body["limitations"]) for body in bodies]


async def _taken_in(configuration: Configuration) -> str:
    async with wiring.open_ingest(configuration) as ingest:
        report = await ingest.run([], tenant="default", manifest=KANSAS)
    assert not report.failed
    return report.manifest_hash


async def _killed(servers: Servers, real: Configuration, *, when: Callable[[Servers], Awaitable[bool]]) -> None:
    async with _ingesting(servers, real) as process:
        while process.returncode is None and not await when(servers):  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.02)
        if process.returncode is not None:
            raise AssertionError(f"it ended before it was killed: {(await process.communicate())!r}")
        process.kill()


async def _exhibit(servers: Servers, real: Configuration, *options: str) -> tuple[int | None, str]:
    async with _ingesting(servers, real, *options) as process:
        out, error = await process.communicate()
    return process.returncode, (out or error).decode()


@asynccontextmanager
async def _ingesting(servers: Servers, real: Configuration, *options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    root = Path(__file__).parents[2]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "api.cli.main", "ingest", "--manifest", str(KANSAS), "--json"),
        *("--home", str(real.home), *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=root,
        env={**os.environ, **servers.environment, "PYTHONPATH": str(root)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
