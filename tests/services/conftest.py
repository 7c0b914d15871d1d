"""The real servers. Each fixture takes, in order: a server that the environment names, a container, the native recipe;
where there is none the test is skipped, and with CI set it fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NoReturn

import psycopg
import pytest

from tests.services import containers
from tests.services.ollama_server import ollama, own_ollama  # noqa: F401  fixtures
from tests.services.opensearch_server import opensearch_url  # noqa: F401  a fixture, one server for all modules
from tests.services.postgres_server import NotPrepared, installed, running

# Minutes each: begun first, so that none of them is what all wait for at the end. xdist would go by the number of tests.
LONGEST = ("test_policy_authoring", "test_bench_servers", "test_policy_tutorial", "test_fault_matrix")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take longest come first."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(LONGEST)))


@pytest.fixture(scope="session")
def postgres_dsn() -> Iterator[str]:
    """A PostgreSQL with PostGIS and pgvector installed in its database, as a role that may make schemas."""
    given = os.environ.get("EXHIBIT_TEST_POSTGIS_DSN")
    if given:
        _install(given)
        yield given
        return
    if image := containers.image_of("postgres"):
        with containers.postgres(image) as dsn:
            _install(dsn)
            yield dsn
        return
    try:
        installation = installed()
    except NotPrepared as error:
        missing(str(error))
    with running(installation) as server:
        _install(server.dsn)
        yield server.dsn


def missing(why: str) -> NoReturn:
    """Skips the test, or fails it where servers must be there."""
    if os.environ.get("CI"):
        pytest.fail(f"a real server is missing: {why}")
    pytest.skip(f"no server: {why}")


def _install(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        for extension in ("postgis", "vector"):
            connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
