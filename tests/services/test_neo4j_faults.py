"""What the graph channel does when its Neo4j is gone, slow, foreign, or started again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import pytest
from neo4j import AsyncGraphDatabase

from retrieval.channels.fan_out import Slots, ask
from retrieval.errors import ChannelTimeout, ChannelUnavailable
from retrieval.graph.neo4j import Neo4jChannel
from retrieval.graph.neo4j_index import Neo4jIndex
from retrieval.model import Limitation
from tests.corpora import corpus, probes
from tests.services.channel_faults import SHORT_S, commit_made_again, refused, unavailable_and_found_again
from tests.services.neo4j_server import Address, Neo4jServer, discard, new_server
from tests.services.recovery import recovered

pytestmark = pytest.mark.services
CONTENT = corpus(41, documents=6)
PROBE = probes(CONTENT, top_k=20)[0]


@pytest.fixture(scope="module")
def server() -> Iterator[Neo4jServer]:
    """A server of this module's own, because it is killed."""
    started = new_server()
    try:
        started.start()
        asyncio.run(_fill(started.address))
        yield started
    finally:
        started.resume()
        discard(started)


async def _fill(address: Address) -> None:
    index = Neo4jIndex.open(address.uri, address.user, address.password)
    await index.add(CONTENT.batch())
    await index.commit()
    await index.aclose()


@asynccontextmanager
async def channel_on(address: Address, deadline_s: float = 30.0) -> AsyncIterator[Neo4jChannel]:
    channel = Neo4jChannel.open(address.uri, address.user, address.password, deadline_s=deadline_s)
    try:
        yield channel
    finally:
        await channel.aclose()


async def test_a_server_that_is_not_there(unused_tcp_port: int) -> None:
    async with channel_on(Address(f"bolt://127.0.0.1:{unused_tcp_port}"), SHORT_S) as channel:
        assert isinstance(await refused(channel, PROBE), ChannelUnavailable)


async def test_wrong_credentials_say_so_and_nothing_of_the_password(server: Neo4jServer) -> None:
    async with channel_on(replace(server.address, user="nobody", password="a wrong one"), SHORT_S) as channel:
        errors = [
            await refused(channel, PROBE) for _ in range(5)
        ]  # after three the server locks the user out for a while
    for error in errors:
        assert isinstance(error, ChannelUnavailable)
        assert "credentials" in error.message
        assert "a wrong one" not in f"{error!r} {error.__cause__!r}"


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\x00\x00\x00\x00", b"\xff" * 64])
async def test_a_server_that_speaks_something_else(said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(20)
        writer.write(said)
        await writer.drain()
        writer.close()

    foreign = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = foreign.sockets[0].getsockname()[1]
    async with foreign, channel_on(Address(f"bolt://127.0.0.1:{port}"), SHORT_S) as channel:
        assert isinstance(await refused(channel, PROBE), ChannelUnavailable)


async def test_a_paused_server_is_a_time_out_and_its_work_ends(server: Neo4jServer) -> None:
    async with channel_on(server.address) as warm, channel_on(server.address, SHORT_S) as channel:
        expected = await warm.search(PROBE)
        server.pause()
        try:
            assert isinstance(await refused(channel, PROBE), ChannelTimeout | ChannelUnavailable)
            limitation = await ask(warm, PROBE, deadline_s=0.5, slots=Slots(1))
            assert isinstance(limitation, Limitation)
            assert limitation.code == "CHANNEL_TIMEOUT"
        finally:
            server.resume()
        assert await recovered(lambda: warm.search(PROBE)) == expected
        assert await recovered(lambda: channel.search(PROBE)) == expected
    async with asyncio.timeout(10):  # the server notices on its own when its client has gone
        while await _transactions(server.address) != 0:  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.1)


async def test_a_killed_server_is_unavailable_and_found_again_when_it_is_back(server: Neo4jServer) -> None:
    await unavailable_and_found_again(server, partial(channel_on, server.address), PROBE, deadline_s=30.0)


async def test_an_index_says_that_its_server_is_gone_and_goes_on_when_it_is_back(server: Neo4jServer) -> None:
    index = Neo4jIndex.open(server.address.uri, server.address.user, server.address.password, deadline_s=30.0)
    await commit_made_again(server, index, there=CONTENT, more=corpus(42, documents=3, prefix="m"))


async def _transactions(address: Address) -> int:
    """How many transactions run on the user database."""
    driver = AsyncGraphDatabase.driver(address.uri, auth=(address.user, address.password))
    async with driver, driver.session() as session:
        shown = await session.run("SHOW TRANSACTIONS YIELD currentQuery WHERE NOT currentQuery STARTS WITH 'SHOW'")
        return len(await shown.values())
