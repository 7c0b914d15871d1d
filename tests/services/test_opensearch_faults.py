"""What the full-text channel does when its OpenSearch is killed, paused or started again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from opensearchpy import AsyncOpenSearch

from retrieval.errors import ChannelTimeout
from retrieval.fulltext.opensearch import OpenSearchChannel
from retrieval.fulltext.opensearch_index import OpenSearchIndex
from retrieval.fulltext.opensearch_reply import read_reply
from tests.corpora import corpus, probes
from tests.services.channel_faults import SHORT_S, commit_made_again, refused, unavailable_and_found_again
from tests.services.opensearch_backend import DEADLINE_S
from tests.services.opensearch_server import OpenSearchServer, discard, new_server

pytestmark = pytest.mark.services
CONTENT = corpus(41, documents=6)
PROBE = probes(CONTENT, top_k=20)[0]
PATIENCE_S = (
    5 * DEADLINE_S
)  # to prepare and to look, while others use the machine; what is left undone would take longer


@pytest.fixture(scope="module")
def server() -> Iterator[OpenSearchServer]:
    """A server of this module's own, because it is killed."""
    started = new_server()
    try:
        started.start()
        asyncio.run(_fill(started))
        yield started
    finally:
        started.resume()
        discard(started)


async def _fill(server: OpenSearchServer) -> None:
    index = OpenSearchIndex.open(server.url)
    await index.add(CONTENT.batch())
    await index.commit()
    await index.aclose()


@asynccontextmanager
async def channel_on(server: OpenSearchServer, deadline_s: float = DEADLINE_S) -> AsyncIterator[OpenSearchChannel]:
    channel = OpenSearchChannel.open(server.url, deadline_s=deadline_s)
    try:
        yield channel
    finally:
        await channel.aclose()


async def test_a_paused_server_is_a_timeout_and_goes_on_afterwards(server: OpenSearchServer) -> None:
    async with channel_on(server) as patient, channel_on(server, SHORT_S) as channel:
        run = await patient.search(PROBE)
        assert run.hits
        server.pause()
        try:
            errors = await asyncio.gather(*(refused(channel, PROBE) for _ in range(4)))
            assert {type(error) for error in errors} == {ChannelTimeout}
        finally:
            server.resume()
        assert await patient.search(PROBE) == run


async def test_a_search_that_is_left_stops_on_the_server(server: OpenSearchServer) -> None:
    """What the server does for a caller who hangs up and for one whose time is over, shown on a search that would take
    hours; it looks whether it is still wanted every few thousand documents."""
    loop = "double x = 0; for (int i = 0; i < 2000; i++) { x += Math.sin(i) } return x > 0 ? x : 0"
    query = {"script_score": {"query": {"match_all": {}}, "script": {"source": loop}}}
    body = [{"index": "slow"}, {"query": query}]
    async with AsyncOpenSearch(server.url, timeout=PATIENCE_S, max_retries=0) as client:
        rows = [f"{json.dumps({'index': {}})}\n{json.dumps({'n': n})}\n" for n in range(100_000)]
        for first in range(0, len(rows), 10_000):  # the transport warns of a body of more than a mebibyte
            told = await client.bulk(body="".join(rows[first : first + 10_000]), index="slow")
            assert told["errors"] is False
        await client.indices.refresh(index="slow")
        search = asyncio.create_task(client.msearch(body=body * 4_000, params={"max_concurrent_searches": 1}))
        await _until(lambda: _searches(client), wanted=True)
        assert not search.done()
        search.cancel()
        await asyncio.gather(search, return_exceptions=True)
        await _until(lambda: _searches(client), wanted=False)  # long before it would have found anything
        told = await client.msearch(body=body * 3, params={"cancel_after_time_interval": "500ms"})
        with pytest.raises(ChannelTimeout):
            read_reply(told, class_ids=("any",), size=10, words=1)
        await client.indices.delete(index="slow")


async def test_a_killed_server_is_unavailable_and_found_again_when_it_is_back(server: OpenSearchServer) -> None:
    await unavailable_and_found_again(server, partial(channel_on, server), PROBE, deadline_s=DEADLINE_S)


async def test_a_commit_that_a_kill_interrupts_can_be_made_again(server: OpenSearchServer) -> None:
    more = corpus(42, documents=3, prefix="m")
    await commit_made_again(server, OpenSearchIndex.open(server.url), there=CONTENT, more=more)


async def _searches(client: AsyncOpenSearch) -> int:
    """How many searches the server works on and has not been told to stop."""
    told = await client.tasks.list(params={"actions": "indices:data/read/search*"})
    tasks = [task for node in told["nodes"].values() for task in node["tasks"].values()]
    return sum(not task["cancelled"] for task in tasks)


async def _until(count: Callable[[], Awaitable[int]], *, wanted: bool) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while bool(await count()) != wanted:  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.05)
