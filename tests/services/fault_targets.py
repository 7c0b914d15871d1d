"""The servers of the fault matrix: how each is reached through a port, and how it is made to fail and to go on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from neo4j import AsyncGraphDatabase
from psycopg import conninfo

from policy.authoring.server_bundle import server_bundle
from tests.api_world import make_world
from tests.opa_server import TOKEN, OpaServer, pinned_opa, serving
from tests.services import neo4j_server, ollama_server, opensearch_server
from tests.services.conftest import missing
from tests.services.fault_load import DEADLINE_MS
from tests.services.postgres_server import NotPrepared, Server, installed, running

_KEEPER = ThreadPoolExecutor(1)
USER, PASSWORD, ANOTHER = "exhibit_app", "a-password-of-the-tests", "a-password-of-others"
LOG = "/api/v1/ledger/checkpoint"
"""A request that needs the log alone."""


@dataclass
class Target:
    """A real server. `parts` are those of `/readyz` that it serves; `healthy` is the path of a request that does not
    need it. `deny` makes it refuse whom it admitted, `admit` lets them in again; where they are None the server admits
    everyone, and a proxy refuses in its place. `deadline_ms` is the longest that a question waits for it."""

    name: str
    port: int
    home: Path
    environment: Callable[[int], dict[str, str]]
    kill: Callable[[], None]
    stop: Callable[[], None]
    start: Callable[[], None]
    pause: Callable[[], None]
    resume: Callable[[], None]
    parts: frozenset[str]
    healthy: str = LOG
    deny: Callable[[], None] | None = None
    admit: Callable[[], None] | None = None
    deadline_ms: int = DEADLINE_MS


@pytest.fixture(scope="module")
def neo4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    server = neo4j_server.new_server()
    try:
        server.start()
        folder = tmp_path_factory.mktemp("neo4j")
        target = _neo4j(server, folder / "home")
        apart(fill(folder, target))
        yield target
    finally:
        server.resume()
        neo4j_server.discard(server)


def _neo4j(server: neo4j_server.Neo4jServer, home: Path) -> Target:
    async def administer(statement: str, password: str) -> None:
        driver = AsyncGraphDatabase.driver(server.address.uri, auth=("neo4j", server.address.password))
        async with driver, driver.session(database="system") as session:
            await (await session.run(statement, password=password)).consume()

    def change(password: str) -> Callable[[], None]:
        statement = f"ALTER USER {USER} SET PASSWORD $password CHANGE NOT REQUIRED"
        return lambda: asyncio.run(administer(statement, password))

    apart(administer(f"CREATE USER {USER} SET PASSWORD $password CHANGE NOT REQUIRED", PASSWORD))
    return Target(
        name="Neo4j",
        port=int(server.address.uri.rpartition(":")[2]),
        home=home,
        environment=lambda port: {
            "NEO4J_URI": f"bolt://127.0.0.1:{port}",
            "NEO4J_USER": USER,
            "NEO4J_PASSWORD": PASSWORD,
        },
        kill=server.kill,
        stop=server.stop,
        start=server.start,
        pause=server.pause,
        resume=server.resume,
        parts=frozenset({"neo4j"}),
        deny=change(ANOTHER),
        admit=change(PASSWORD),
    )


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[Server]:
    """One server for both columns, which come one after the other."""
    try:
        installation = installed()
    except NotPrepared as error:
        missing(str(error))
    with running(installation) as server:
        _administer(server, f"CREATE ROLE {USER} LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
        yield server


@pytest.fixture(scope="module")
def postgres(own_postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Target:
    folder = tmp_path_factory.mktemp("postgres")
    parts = frozenset({"records", "postgis", "vector"})
    target = _postgres(own_postgres, folder / "home", "PostgreSQL", "POSTGIS_DSN", parts, LOG)
    apart(fill(folder, target))
    return target


@pytest.fixture(scope="module")
def log_postgres(own_postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Target:
    folder = tmp_path_factory.mktemp("log")
    name, setting = "the log's PostgreSQL", "EXHIBIT_LEDGER__DSN"
    target = _postgres(own_postgres, folder / "home", name, setting, frozenset({"ledger"}), "/api/v1/collections")
    apart(fill(folder, target))
    return target


def _postgres(server: Server, home: Path, name: str, setting: str, parts: frozenset[str], healthy: str) -> Target:
    def environment(port: int) -> dict[str, str]:
        return {setting: conninfo.make_conninfo(server.dsn, port=port, user=USER, password=PASSWORD)}

    return Target(
        name=name,
        port=server.port,
        home=home,
        environment=environment,
        kill=server.kill,
        stop=server.stop,
        start=server.start,
        pause=lambda: server.send(signal.SIGSTOP),
        resume=lambda: server.send(signal.SIGCONT),
        parts=parts,
        healthy=healthy,
        deny=lambda: _administer(server, f"ALTER ROLE {USER} PASSWORD '{ANOTHER}'"),
        admit=lambda: _administer(server, f"ALTER ROLE {USER} PASSWORD '{PASSWORD}'"),
    )


def _administer(server: Server, statement: str) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(statement.encode())


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("opa")
    bundle = server_bundle()
    with serving(OpaServer(pinned_opa(request.config), folder), bundle) as server:

        def environment(port: int) -> dict[str, str]:
            return {"OPA_URL": f"http://127.0.0.1:{port}", "EXHIBIT_STORES__OPA_TOKEN": TOKEN}

        def expect(token: str) -> None:
            server.stop()
            server.token = token
            server.start(bundle)

        target = Target(
            name="OPA",
            port=server.port,
            home=folder / "home",
            environment=environment,
            kill=server.kill,
            stop=server.stop,
            start=lambda: server.start(bundle),
            pause=server.pause,
            resume=server.go_on,
            parts=frozenset({"policy"}),
            deny=lambda: expect(ANOTHER),
            admit=lambda: expect(TOKEN),
        )
        apart(fill(folder, target))
        yield target


@pytest.fixture(scope="module")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    server = opensearch_server.new_server()
    try:
        server.start()
        folder = tmp_path_factory.mktemp("opensearch")

        def environment(port: int) -> dict[str, str]:
            return {"OPENSEARCH_URL": f"http://127.0.0.1:{port}"}

        target = Target(
            name="OpenSearch",
            port=server.port,
            home=folder / "home",
            environment=environment,
            kill=server.kill,
            stop=server.stop,
            start=server.start,
            pause=server.pause,
            resume=server.resume,
            parts=frozenset({"fulltext"}),
        )
        apart(fill(folder, target))
        yield target
    finally:
        server.resume()
        opensearch_server.discard(server)


@pytest.fixture(scope="module")
def ollama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    server = ollama_server.new_server()
    deadline_ms = 4_000  # a model is loaded within it
    try:
        server.start()
        models = ollama_server.make_models(server.url)
        folder = tmp_path_factory.mktemp("ollama")

        def environment(port: int) -> dict[str, str]:
            return {
                "FOCUS_MODE_MODEL": models.chat,
                "OLLAMA_API_URL": f"http://127.0.0.1:{port}",
                "EXHIBIT_MODELS__DEADLINE_MS": str(deadline_ms),
                "EXHIBIT_MODELS__THREADS": "1",
            }

        target = Target(
            name="Ollama",
            port=int(server.url.rpartition(":")[2]),
            home=folder / "home",
            environment=environment,
            kill=server.kill,
            stop=server.stop,
            start=server.start,
            pause=server.pause,
            resume=server.resume,
            parts=frozenset({"model"}),
            deadline_ms=deadline_ms,
        )
        apart(fill(folder, target))
        yield target
    finally:
        server.resume()
        ollama_server.discard(server)


def apart(work: Coroutine[Any, Any, None]) -> None:
    """Runs it to its end on a loop of its own."""
    _KEEPER.submit(asyncio.run, work).result()


async def keep(work: Callable[[], object]) -> None:
    """Runs it in a thread that stays: a server ends with the thread that started it."""
    await asyncio.get_running_loop().run_in_executor(_KEEPER, work)


async def fill(folder: Path, target: Target) -> None:
    await make_world(folder, target.environment(target.port))
