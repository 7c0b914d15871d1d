"""TLS on a real PostgreSQL: the options that the address takes, for all three stores behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from api import wiring
from api.home.configuration import load
from api.http.health import examine
from tests.api_world import POPULATION, make_world
from tests.harness import ask
from tests.services.certificates import self_signed
from tests.services.conftest import missing
from tests.services.postgres_server import NotPrepared, Server, installed, remove_leftovers

pytestmark = pytest.mark.services
PATIENT = {"EXHIBIT_STORES__DEADLINE_MS": "30000", "EXHIBIT_RETRIEVAL__DEADLINE_MS__SPATIAL": "30000"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def server(authority: tuple[Path, Path]) -> Iterator[Server]:
    """A server that takes no connection in the clear."""
    try:
        folder = installed()
    except NotPrepared as error:
        missing(str(error))
    remove_leftovers()
    started = Server(folder)
    try:
        started.initialise()
        started.encrypt(*authority)
        started.start()
        yield started
    finally:
        started.stop()
        started.remove()


def encrypted(server: Server, authority: Path, **options: str) -> str:
    return conninfo.make_conninfo(server.dsn, sslmode="verify-full", sslrootcert=str(authority), **options)


async def test_everything_in_it_is_written_and_read_over_tls(
    server: Server, authority: tuple[Path, Path], tmp_path: Path
) -> None:
    dsn = encrypted(server, authority[0])
    with psycopg.connect(dsn, autocommit=True) as connection:
        assert connection.info.pgconn.ssl_in_use
    world = await make_world(tmp_path, {"POSTGIS_DSN": dsn})
    async with wiring.open_system(load({"POSTGIS_DSN": dsn} | PATIENT, home=world.configuration.home)) as system:
        body = await ask(system, POPULATION)
        assert body["outcome"] == "ANSWER"
        assert not body["limitations"]
        assert {part.ok for part in (await examine(system)).values()} == {True}


@pytest.mark.parametrize("wrong", ["another authority", "another host", "in the clear"])
async def test_nothing_is_asked_of_a_server_that_is_not_the_one(
    server: Server, authority: tuple[Path, Path], tmp_path: Path, wrong: str
) -> None:
    world = await make_world(tmp_path)
    dsn = {
        "another authority": lambda: encrypted(server, self_signed(tmp_path)[0]),
        "another host": lambda: encrypted(server, authority[0], host="localhost"),
        "in the clear": lambda: conninfo.make_conninfo(server.dsn, sslmode="disable"),
    }[wrong]()
    async with wiring.open_system(load({"POSTGIS_DSN": dsn}, home=world.configuration.home)) as system:
        parts = await examine(system)
    assert parts["records"].code == "INDEX_NOT_READY"
    assert {parts[name].code for name in ("postgis", "vector")} == {"CHANNEL_UNAVAILABLE"}
    assert "127.0.0.1" not in str(parts)
