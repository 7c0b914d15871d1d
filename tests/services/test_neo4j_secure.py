"""TLS on a real Neo4j: an authority of one's own, no other certificate, no other host, nothing in the clear."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from api import wiring
from api.home.backends import backends_of
from api.home.configuration import load
from api.home.stores import Neo4j
from retrieval.errors import ChannelUnavailable
from retrieval.graph.neo4j import Neo4jChannel
from retrieval.graph.neo4j_answers import Neo4jAnswers
from retrieval.graph.neo4j_index import Neo4jIndex
from tests.corpora import corpus, probes
from tests.services.certificates import self_signed
from tests.services.channel_faults import SHORT_S, refused
from tests.services.neo4j_server import Neo4jServer, discard, new_server

# The driver does not close the socket of a TLS handshake that fails or is left; what is collected of it says so.
pytestmark = [pytest.mark.services, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]
CONTENT = corpus(41, documents=6)
PROBE = probes(CONTENT, top_k=20)[0]


@pytest.fixture(autouse=True)
def _collected_here() -> Iterator[None]:
    """Sockets that the driver leaves are collected in the test that left them."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def server() -> Iterator[Neo4jServer]:
    started = new_server()
    self_signed(started.folder / "certificates")
    try:
        started.start()
        yield started
    finally:
        discard(started)


def encrypted(server: Neo4jServer, scheme: str = "bolt+s") -> str:
    return server.address.uri.replace("bolt", scheme)


@asynccontextmanager
async def channel_on(server: Neo4jServer, uri: str, ca_file: Path | None) -> AsyncIterator[Neo4jChannel]:
    user, password = server.address.user, server.address.password
    channel = Neo4jChannel.open(uri, user, password, ca_file=ca_file, deadline_s=SHORT_S)
    try:
        yield channel
    finally:
        await channel.aclose()


def authority(server: Neo4jServer) -> Path:
    return server.folder / "certificates/server.pem"


@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+s"])
async def test_written_and_searched_with_an_authority_of_ones_own(server: Neo4jServer, scheme: str) -> None:
    uri, user, password = encrypted(server, scheme), server.address.user, server.address.password
    index = Neo4jIndex.open(uri, user, password, ca_file=authority(server))
    await index.add(CONTENT.batch())
    await index.commit()
    assert await index.documents() == set(CONTENT.document_ids)
    await index.aclose()
    channel = Neo4jChannel.open(uri, user, password, ca_file=authority(server), deadline_s=60.0)
    assert (await channel.search(PROBE)).hits
    await channel.aclose()
    answers = Neo4jAnswers.open(uri, user, password, ca_file=authority(server), deadline_s=60.0)
    assert await answers.position("none") == -1
    await answers.aclose()


async def test_a_certificate_that_nobody_vouches_for(server: Neo4jServer, tmp_path: Path) -> None:
    other, _ = self_signed(tmp_path)
    for ca_file in (None, other):
        async with channel_on(server, encrypted(server), ca_file) as channel:
            error = await refused(channel, PROBE)
        assert isinstance(error, ChannelUnavailable)
        assert "certificate" in error.message


async def test_a_certificate_of_another_host(server: Neo4jServer) -> None:
    uri = encrypted(server).replace("127.0.0.1", "localhost")
    async with channel_on(server, uri, authority(server)) as channel:
        assert isinstance(await refused(channel, PROBE), ChannelUnavailable)


async def test_a_server_that_speaks_tls_alone_is_not_asked_in_the_clear(server: Neo4jServer) -> None:
    async with channel_on(server, server.address.uri, None) as channel:
        assert isinstance(await refused(channel, PROBE), ChannelUnavailable)


@pytest.mark.parametrize("uri", ["bolt://127.0.0.1", "neo4j://127.0.0.1", "bolt+ssc://127.0.0.1"])
def test_authorities_beside_an_address_that_is_not_verified_are_refused(uri: str, tmp_path: Path) -> None:
    authorities, _ = self_signed(tmp_path)
    with pytest.raises(ChannelUnavailable, match=r"bolt\+s"):
        Neo4jChannel.open(uri, "neo4j", "secret", ca_file=authorities)


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_a_file_that_holds_no_authorities(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_bytes(content)
    with pytest.raises(ChannelUnavailable, match="authorities"):
        Neo4jChannel.open("bolt+s://127.0.0.1", "neo4j", "secret", ca_file=tmp_path / "ca.pem")


async def test_the_setting_reaches_every_side(server: Neo4jServer, tmp_path: Path) -> None:
    environment = {
        "NEO4J_URI": encrypted(server),
        "NEO4J_PASSWORD": server.address.password,
        "EXHIBIT_STORES__NEO4J_CA_FILE": str(authority(server)),
    }
    configuration = load(environment, home=tmp_path)
    graph = backends_of(configuration).graph
    assert isinstance(graph, Neo4j)
    assert graph.ca_file == authority(server)
    async with wiring.open_indexes(configuration) as (_, _, indexes):
        assert await indexes[0].documents() == set(CONTENT.document_ids)
