"""The servers of the fault matrix: how each is reached through a port, and how it is made to fail and to go on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
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
LATER = "a-password-of-later"
DENIED = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass
class Target:
    """A real server. `admit` lets in who was refused; where `denies` is set, a proxy says that in the server's place.
    `deadline_ms` is the longest that a question waits for it."""

    name: str
    port: int
    home: Path
    environment: Callable[[int], dict[str, str]]
    refused: Callable[[int], dict[str, str]]
    kill: Callable[[], None]
    start: Callable[[], None]
    pause: Callable[[], None]
    resume: Callable[[], None]
    admit: Callable[[], None] | None = None
    circuits: frozenset[str] = field(default_factory=frozenset)
    denies: bytes | None = None
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
    def environment(port: int, user: str = "neo4j", password: str = server.address.password) -> dict[str, str]:
        return {"NEO4J_URI": f"bolt://127.0.0.1:{port}", "NEO4J_USER": user, "NEO4J_PASSWORD": password}

    async def create() -> None:
        driver = AsyncGraphDatabase.driver(server.address.uri, auth=("neo4j", server.address.password))
        async with driver, driver.session(database="system") as session:
            statement = "CREATE USER later IF NOT EXISTS SET PASSWORD $password CHANGE NOT REQUIRED"
            await (await session.run(statement, password=LATER)).consume()

    return Target(
        name="Neo4j",
        port=int(server.address.uri.rpartition(":")[2]),
        home=home,
        environment=environment,
        refused=lambda port: environment(port, "later", LATER),
        kill=server.kill,
        start=server.start,
        pause=server.pause,
        resume=server.resume,
        admit=lambda: apart(create()),
        circuits=frozenset({"neo4j"}),
    )


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    try:
        installation = installed()
    except NotPrepared as error:
        missing(str(error))
    with running(installation) as server:
        folder = tmp_path_factory.mktemp("postgres")
        target = _postgres(server, folder / "home")
        apart(fill(folder, target))
        yield target


def _postgres(server: Server, home: Path) -> Target:
    def environment(port: int, **changed: str) -> dict[str, str]:
        return {"POSTGIS_DSN": conninfo.make_conninfo(server.dsn, port=port, **changed)}

    def create() -> None:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS later")
            connection.execute(f"CREATE ROLE later LOGIN SUPERUSER PASSWORD '{LATER}'".encode())

    return Target(
        name="PostgreSQL",
        port=server.port,
        home=home,
        environment=environment,
        refused=lambda port: environment(port, user="later", password=LATER),
        kill=server.kill,
        start=server.start,
        pause=lambda: server.send(signal.SIGSTOP),
        resume=lambda: server.send(signal.SIGCONT),
        admit=create,
        circuits=frozenset({"records", "postgis", "vector"}),
    )


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("opa")
    bundle = server_bundle()
    with serving(OpaServer(pinned_opa(request.config), folder), bundle) as server:

        def environment(port: int, token: str = TOKEN) -> dict[str, str]:
            return {"OPA_URL": f"http://127.0.0.1:{port}", "EXHIBIT_STORES__OPA_TOKEN": token}

        target = Target(
            name="OPA",
            port=server.port,
            home=folder / "home",
            environment=environment,
            refused=lambda port: environment(port, "another"),
            kill=server.kill,
            start=lambda: server.start(bundle),
            pause=server.pause,
            resume=server.go_on,
            circuits=frozenset({"policy"}),
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
            refused=environment,
            kill=server.kill,
            start=server.start,
            pause=server.pause,
            resume=server.resume,
            circuits=frozenset({"fulltext"}),
            denies=DENIED,
        )
        apart(fill(folder, target))
        yield target
    finally:
        server.resume()
        opensearch_server.discard(server)


@pytest.fixture(scope="module")
def ollama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    server = ollama_server.new_server()
    deadline_ms = 10_000  # a model is loaded within it
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
            refused=environment,
            kill=server.kill,
            start=server.start,
            pause=server.pause,
            resume=server.resume,
            circuits=frozenset({"model"}),
            denies=DENIED,
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


async def keep(work: Callable[[], None]) -> None:
    """Runs it in a thread that stays: a server ends with the thread that started it."""
    await asyncio.get_running_loop().run_in_executor(_KEEPER, work)


async def fill(folder: Path, target: Target) -> None:
    await make_world(folder, target.environment(target.port))
