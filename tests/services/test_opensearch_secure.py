"""TLS, basic authentication and roles, on an OpenSearch with the security plug-in."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from opensearchpy import AsyncOpenSearch

from retrieval.errors import ChannelUnavailable
from retrieval.fulltext.opensearch import OpenSearchChannel
from retrieval.fulltext.opensearch_index import OpenSearchIndex
from tests.channel_backends import Backend
from tests.contracts.test_channel_index import CONTENT, PROBES, fill, seen
from tests.services.opensearch_backend import DEADLINE_S
from tests.services.opensearch_server import OpenSearchServer, discard, new_server

pytestmark = pytest.mark.services
READER = ("reader", "Reads-0nly-this!")


@pytest.fixture(scope="module")
def server() -> Iterator[OpenSearchServer]:
    started = new_server("secure")
    try:
        started.start()
        yield started
    finally:
        discard(started)


@asynccontextmanager
async def opened(
    server: OpenSearchServer, url: str | None = None, ca_file: Path | None = None
) -> AsyncIterator[Backend]:
    url, ca_file = url or server.url, ca_file or server.ca_file
    channel = OpenSearchChannel.open(url, ca_file=ca_file, deadline_s=DEADLINE_S)
    index = OpenSearchIndex.open(url, ca_file=ca_file)
    try:
        yield Backend(channel, index)
    finally:
        await channel.aclose()
        await index.aclose()


async def test_written_and_searched_over_tls_with_a_password(server: OpenSearchServer) -> None:
    async with opened(server) as backend:
        await fill(backend, CONTENT)
        assert any(await seen(backend))
        assert await backend.index.documents() == set(CONTENT.document_ids)
        await backend.index.remove(CONTENT.document_ids[:2])
        await backend.index.commit()
        assert await backend.index.documents() == set(CONTENT.document_ids[2:])


async def test_a_reader_searches_and_may_not_write(server: OpenSearchServer) -> None:
    """What a user needs who only answers questions: to read the indexes and their aliases."""
    async with opened(server) as backend:
        await fill(backend, CONTENT)
        expected = await seen(backend)
    await _make_reader(server)
    user, password = READER
    async with opened(server, f"https://{user}:{password}@localhost:{server.port}") as backend:
        assert await seen(backend) == expected
        with pytest.raises(ChannelUnavailable, match="does not allow"):
            await fill(backend, CONTENT)


@pytest.mark.parametrize("who", ["exhibit:wrong", "nobody:wrong", ""])
async def test_wrong_credentials_are_told_and_not_repeated(
    server: OpenSearchServer, who: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with opened(
        server, f"https://{who}@localhost:{server.port}" if who else f"https://localhost:{server.port}"
    ) as backend:
        for work in (backend.channel.search(PROBES[0]), backend.index.documents()):
            with pytest.raises(ChannelUnavailable, match="refuses the credentials") as caught:
                await work
            assert "wrong" not in f"{caught.value} {caught.value.__cause__!r} {caplog.text}"


async def test_a_certificate_that_nobody_vouches_for(server: OpenSearchServer) -> None:
    channel = OpenSearchChannel.open(server.url, deadline_s=DEADLINE_S)  # the system's authorities
    with pytest.raises(ChannelUnavailable, match="certificate"):
        await channel.search(PROBES[0])
    await channel.aclose()


async def test_a_certificate_of_another_host(server: OpenSearchServer) -> None:
    async with opened(server, server.url.replace("localhost", "127.0.0.1")) as backend:
        with pytest.raises(ChannelUnavailable, match="certificate"):
            await backend.channel.search(PROBES[0])


async def test_plain_http_to_a_tls_port(server: OpenSearchServer) -> None:
    async with opened(server, server.url.replace("https", "http")) as backend:
        with pytest.raises(ChannelUnavailable):
            await backend.channel.search(PROBES[0])


async def _make_reader(server: OpenSearchServer) -> None:
    user, password = READER
    role = {
        "cluster_permissions": ["indices:data/read/msearch"],
        "index_permissions": [
            {
                "index_patterns": ["exhibit-fulltext-*"],
                "allowed_actions": ["read", "indices:admin/aliases/get", "indices:admin/get"],
            }
        ],
    }
    async with AsyncOpenSearch(server.url, ca_certs=os.fspath(server.ca_file), timeout=DEADLINE_S) as client:
        ask, base = client.transport.perform_request, "/_plugins/_security/api"
        await ask("PUT", f"{base}/internalusers/{user}", body={"password": password})
        await ask("PUT", f"{base}/roles/{user}", body=role)
        await ask("PUT", f"{base}/rolesmapping/{user}", body={"users": [user]})
    await asyncio.sleep(1)
