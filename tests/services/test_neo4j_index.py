"""What `tests/contracts/test_channel_index.py` asks, of a real Neo4j; and that a second writer is kept out."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path

import pytest
from neo4j import AsyncGraphDatabase

from retrieval.errors import ChannelUnavailable
from retrieval.graph import cypher
from tests.channel_backends import Backend, Opener
from tests.contracts.test_channel_index import *  # noqa: F403  the suite
from tests.contracts.test_channel_index import CONTENT, fill, seen, seen_of
from tests.corpora import corpus
from tests.services.neo4j_backend import opener_on
from tests.services.neo4j_server import Address, neo4j_server  # noqa: F401  a fixture
from tests.writer_kills import write_and_kill

pytestmark = pytest.mark.services
# They are about the files of one backend of the table; the first has its like below.
del test_after_a_kill_every_document_is_wholly_there_or_can_be_added_again  # noqa: F821
del test_a_damaged_index_is_unavailable_and_says_no_path  # noqa: F821

WRITER = """
import asyncio, os, sys
from pathlib import Path
from tests.corpora import corpus
from tests.services.neo4j_backend import opener_on
from tests.services.neo4j_server import Address

async def main():
    content = corpus(21, documents=9)
    address = Address(os.environ["uri"], os.environ["user"], os.environ["password"])
    async with opener_on(address)(Path(sys.argv[1])) as backend:
        await backend.index.remove(["nothing"])
        await backend.index.commit()
        print("ready", flush=True)
        while True:
            for document_id in content.document_ids:
                await backend.index.add(content.without(set(content.document_ids) - {document_id}).batch())
                await backend.index.commit()
            await backend.index.remove(content.document_ids[::2])
            await backend.index.commit()

asyncio.run(main())
"""


@pytest.fixture
def opener(neo4j_server: Address) -> Opener:  # noqa: F811
    return opener_on(neo4j_server)


@pytest.fixture
def durable(opener: Opener) -> Opener:
    return opener


@pytest.mark.parametrize("after_s", [0.05, 0.2, 0.6])
async def test_after_a_kill_every_document_is_wholly_there(
    neo4j_server: Address,  # noqa: F811
    opener: Opener,
    tmp_path: Path,
    after_s: float,
) -> None:
    folder = tmp_path / "index"
    await write_and_kill(WRITER, folder, after_s=after_s, environment=asdict(neo4j_server))
    whole = {d: CONTENT.without(set(CONTENT.document_ids) - {d}) for d in CONTENT.document_ids}
    async with opener(folder) as reopened:
        listed = await reopened.index.documents()
        stands = CONTENT.without(set(whole) - listed)
        assert await seen(reopened) == await seen_of(opener, tmp_path / "stands", stands)
        await fill(reopened, CONTENT)
        assert await seen(reopened) == await seen_of(opener, tmp_path / "fresh", CONTENT)


async def test_a_second_writer_takes_the_graph_and_the_first_is_told(opener: Opener, tmp_path: Path) -> None:
    async with opener(tmp_path / "index") as first, opener(tmp_path / "index") as second:
        await first.index.add(CONTENT.batch())
        await fill(second, corpus(22, prefix="x"))
        with pytest.raises(ChannelUnavailable):
            await first.index.commit()
        assert await second.index.documents() == set(corpus(22, prefix="x").document_ids)
        await fill(first, CONTENT)
        assert await first.index.documents() == {*CONTENT.document_ids, *corpus(22, prefix="x").document_ids}


async def test_a_constraint_whose_index_stands_alone_is_waited_for(
    neo4j_server: Address,  # noqa: F811
    opener: Opener,
    tmp_path: Path,
) -> None:
    """As a writer leaves it who is killed between the two."""
    async with opener(tmp_path / "first") as first:
        await fill(first, CONTENT)
    name, statement = next((name, text) for name, text in cypher.SCHEMA.items() if name.endswith("_unique"))
    keys = statement.partition("REQUIRE (")[2].partition(")")[0]
    auth = (neo4j_server.user, neo4j_server.password)
    async with AsyncGraphDatabase.driver(neo4j_server.uri, auth=auth) as driver:
        await driver.execute_query(f"DROP CONSTRAINT {name}")
        await driver.execute_query(f"CREATE INDEX {name} FOR (x:{name.removesuffix('_unique')}) ON ({keys})")
        async with opener(tmp_path / "second") as second:
            filling = asyncio.create_task(fill(second, CONTENT))
            await asyncio.sleep(1)
            assert not filling.done()
            await driver.execute_query(f"DROP INDEX {name}")
            await filling
            assert await second.index.documents() == set(CONTENT.document_ids)
        made = await driver.execute_query("SHOW CONSTRAINTS YIELD name WHERE name = $name RETURN name", name=name)
    assert len(made.records) == 1


async def test_searches_beside_a_writer_see_whole_commits(opener: Opener, tmp_path: Path) -> None:
    """Two states alternate; every search sees one or the other."""
    one, other = corpus(31, documents=6), corpus(32, documents=6)
    async with opener(tmp_path / "one") as alone:
        await fill(alone, one)
        states = [await seen(alone)]
        await fill(alone, other)
        states.append(await seen(alone))
    async with opener(tmp_path / "index") as backend:
        await fill(backend, one)
        writing = asyncio.create_task(_alternate(backend, other, one))
        looks = 0
        while not writing.done():
            found = await seen(backend)
            assert all(hits in (states[0][i], states[1][i]) for i, hits in enumerate(found))
            looks += 1
        await writing
        assert looks > 1


async def _alternate(backend: Backend, *contents: object) -> None:
    for _ in range(4):
        for content in contents:
            await fill(backend, content)  # type: ignore[arg-type]
