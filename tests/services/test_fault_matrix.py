"""Every cell of the fault matrix on the real servers, under load: what questions get, how soon, and that nothing must be
restarted afterwards but the server."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
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
from tests.services.conftest import missing
from tests.services.fault_load import DEADLINE_MS, asking, figures, paid
from tests.services.fault_matrix import FAULTS, MATRIX, OPEN
from tests.services.neo4j_server import Neo4jServer, discard, new_server
from tests.services.postgres_server import NotPrepared, Server, installed, running
from tests.services.proxy import Proxy

pytestmark = pytest.mark.services
LOAD_S = 3.0
LATER = "a-password-of-later"
_KEEPER = ThreadPoolExecutor(1)
_STARTING: list[asyncio.Task[None]] = []
GARBAGE = b"\xff\x00 this is another service \x00\xff" * 8


@dataclass
class Target:
    """A real server: how to reach it through a port, and how it is made to fail and to go on."""

    name: str
    port: int
    home: Path
    environment: Callable[[int], dict[str, str]]
    refused: Callable[[int], dict[str, str]]
    kill: Callable[[], None]
    start: Callable[[], None]
    pause: Callable[[], None]
    resume: Callable[[], None]
    admit: Callable[[], None] | None
    circuits: frozenset[str] = field(default_factory=frozenset)


@pytest.fixture(scope="module")
def neo4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    server = new_server()
    try:
        server.start()
        folder = tmp_path_factory.mktemp("neo4j")
        target = _neo4j(server, folder / "home")
        _apart(_fill(folder, target))
        yield target
    finally:
        server.resume()
        discard(server)


def _neo4j(server: Neo4jServer, home: Path) -> Target:
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
        admit=lambda: _apart(create()),
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
        _apart(_fill(folder, target))
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
            admit=None,
            circuits=frozenset({"policy"}),
        )
        _apart(_fill(folder, target))
        yield target


def _apart(work: Coroutine[Any, Any, None]) -> None:
    """Runs it to its end on a loop of its own."""
    _KEEPER.submit(asyncio.run, work).result()


async def _keep(work: Callable[[], None]) -> None:
    """Runs it in a thread that stays: a server ends with the thread that started it."""
    await asyncio.get_running_loop().run_in_executor(_KEEPER, work)


async def _in_a_moment(work: Callable[[], None]) -> None:
    await asyncio.sleep(0.3)
    await _keep(work)


async def _fill(folder: Path, target: Target) -> None:
    await make_world(folder, target.environment(target.port))


@asynccontextmanager
async def proxied(target: Target, *, listening: bool = True) -> AsyncIterator[Proxy]:
    proxy = Proxy(target.port)
    await proxy.open()
    if not listening:
        await proxy.close()
    try:
        yield proxy
    finally:
        await proxy.close()


@asynccontextmanager
async def failing(fault: str, target: Target, proxy: Proxy) -> AsyncIterator[None]:
    """While this fault holds."""
    match fault:
        case "absent":
            yield
            await proxy.open()
        case "killed":
            kill = asyncio.create_task(_in_a_moment(target.kill))  # with questions on their way
            yield
            await kill
            _STARTING.append(asyncio.create_task(_keep(target.start)))  # with questions waiting for it
        case "paused":
            target.pause()
            try:
                yield
            finally:
                target.resume()
        case "slow":
            proxy.delay_s = 3 * DEADLINE_MS / 1000
            yield
            proxy.delay_s = 0.0
        case "refused":
            yield
            if target.admit is not None:
                await asyncio.to_thread(target.admit)
        case "garbled":
            proxy.says = GARBAGE
            await proxy.drop()
            yield
            proxy.says = None


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("server", ["neo4j", "postgres", "opa"])
async def test_a_cell(request: pytest.FixtureRequest, server: str, fault: str) -> None:
    target: Target = request.getfixturevalue(server)
    toll = MATRIX[target.name][fault]
    async with asking(target.home, target.environment(target.port)) as asker:
        answer = (await asker.whole_again()).answer
    async with proxied(target, listening=fault != "absent") as proxy:
        environment = (target.refused if fault == "refused" else target.environment)(proxy.port)
        async with asking(target.home, environment) as asker:
            if fault not in ("absent", "refused"):
                await asker.whole_again()
            async with failing(fault, target, proxy):
                seen = await asker.under_load(LOAD_S)
                circuits = await asker.circuits()
            print(figures(f"{target.name} {fault}", seen))
            paid(toll, [one for one in seen if fault != "killed" or not one.whole], answer)
            if fault != "refused":  # a refusal is an answer
                assert {circuits[part] for part in target.circuits} & {"open", "half-open"}
                assert not toll.limits or any(OPEN in one.limits for one in seen)
            if fault != "refused" or target.admit is not None:
                assert (await asker.whole_again()).answer == answer
                await asyncio.gather(*_STARTING)
                _STARTING.clear()
                assert set((await asker.circuits()).values()) == {"closed"}
