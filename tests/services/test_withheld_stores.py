"""What the reader may not see changes no byte of any reply, with every store on a server: everything that any guard
withholds at once, and everything that any obligation alters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from neo4j import AsyncGraphDatabase
from psycopg import conninfo

from retrieval.graph import cypher
from tests.services.neo4j_server import Address, neo4j_server  # noqa: F401  a fixture
from tests.services.opensearch_backend import RUN, wipe
from tests.services.test_all_servers import PATIENT
from tests.withheld import (
    ALTERED_BY,
    HIDDEN_BY,
    NOBODY,
    SEEN,
    UNGUARDED,
    Unguarded,
    World,
    calls,
    differences,
    fill,
    oracles,
    together,
    told,
)

pytestmark = pytest.mark.services
ASKED = (*tuple(calls(118))[::2], *oracles())
STORES = tuple(f'"{name}"' for name in ("neo4j", "postgis", "pgvector", "opensearch"))
HALF = tuple(each for n, each in enumerate(SEEN) if n % 2 == 0)
PAIRS: Mapping[str, Mapping[str, Callable[[], tuple[World, World]]]] = {"hidden": HIDDEN_BY, "altered": ALTERED_BY}


@dataclass(frozen=True)
class Servers:
    """Addresses of the servers, each emptied for one home at a time."""

    postgres: str
    neo4j: Address
    opensearch: str

    @asynccontextmanager
    async def emptied(self, name: str) -> AsyncIterator[dict[str, str]]:
        """The settings of a home on the servers, on which nothing lies yet."""
        await asyncio.to_thread(
            self._database, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}"
        )
        async with AsyncGraphDatabase.driver(self.neo4j.uri, auth=(self.neo4j.user, self.neo4j.password)) as driver:
            await driver.execute_query("MATCH (n {graph: $graph}) DETACH DELETE n", graph=cypher.GRAPH)
        yield {
            **PATIENT,
            "POSTGIS_DSN": conninfo.make_conninfo(self.postgres, dbname=name),
            "NEO4J_URI": self.neo4j.uri,
            "NEO4J_USER": self.neo4j.user,
            "NEO4J_PASSWORD": self.neo4j.password,
            "OPENSEARCH_URL": self.opensearch,
            "EXHIBIT_STORES__OPENSEARCH_INDEX": f"{RUN}-{name.replace('_', '-')}",
        }
        await asyncio.to_thread(self._database, f"DROP DATABASE {name} WITH (FORCE)")

    def _database(self, *statements: str) -> None:
        with psycopg.connect(self.postgres, autocommit=True) as connection:
            for each in statements:
                connection.execute(each.encode())


@pytest.fixture(scope="module")
def servers(postgres_dsn: str, neo4j_server: Address, opensearch_url: str) -> Iterator[Servers]:  # noqa: F811
    yield Servers(postgres_dsn, neo4j_server, opensearch_url)
    asyncio.run(wipe(opensearch_url))


@pytest.mark.parametrize("kind", PAIRS)
async def test_what_is_withheld_changes_no_reply_on_servers(kind: str, servers: Servers, tmp_path: Path) -> None:
    pairs, alike = PAIRS[kind], kind == "altered"
    readers = {name: each for name in pairs if (each := UNGUARDED[name]).by_key}
    one, other = [
        await replies(world, servers, tmp_path / str(n), f"withheld_{kind}_{n}", readers, versions_alike=alike)
        for n, world in enumerate(together([pair() for pair in pairs.values()]))
    ]
    assert all(any(store in each for each in one[""]) for store in STORES)
    found = differences(ASKED, one[""], other[""])
    assert not found, f"{len(found)} of {len(ASKED)} replies differ:\n" + "\n".join(found[:5])
    unseen = [name for name in readers if not differences(HALF, one[name], other[name])]
    assert not unseen, "nothing tells the homes apart, with or without the guard"


async def replies(
    world: World, servers: Servers, folder: Path, name: str, readers: Mapping[str, Unguarded], *, versions_alike: bool
) -> Mapping[str, Sequence[str]]:
    """By reader, "" nobody in particular: every reply of the home."""
    async with servers.emptied(name) as environment:
        home = await fill(folder, world, environment)
        found = {"": await told(home, ASKED, versions_alike=versions_alike, reader=NOBODY)}
        for guard, reader in readers.items():
            found[guard] = await told(home, HALF, versions_alike=versions_alike, reader=reader)
        return found
