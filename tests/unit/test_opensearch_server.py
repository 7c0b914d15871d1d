"""Whatever stands at the address, a search ends in time, in an error of the channel that says no secret."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from retrieval.errors import ChannelError, ChannelFault, ChannelTimeout, ChannelUnavailable, IndexNotReady
from retrieval.fulltext.opensearch import OpenSearchChannel
from retrieval.fulltext.opensearch_index import OpenSearchIndex
from retrieval.fulltext.opensearch_schema import IndexNames, class_key
from retrieval.fulltext.opensearch_server import Address
from retrieval.model import Query
from retrieval.scope import Scope
from tests.opensearch_liar import INFO, lying, searches
from tests.unit.test_opensearch_reply import CLASSES, hit, reply

QUERY = Query("what did the railroad move", Scope("default", frozenset(CLASSES)), 10)
PASSWORD = "hunter2 /?#%"


@asynccontextmanager
async def channel_at(url: str, deadline_s: float = 10.0) -> AsyncIterator[OpenSearchChannel]:
    channel = OpenSearchChannel.open(url, deadline_s=deadline_s)
    try:
        yield channel
    finally:
        await channel.aclose()


async def search_at(url: str, deadline_s: float = 10.0) -> list[str]:
    async with channel_at(url, deadline_s) as channel:
        return [hit.record_id for hit in (await channel.search(QUERY)).hits]


async def test_an_answer_to_what_was_asked_is_taken() -> None:
    async with lying(searches(reply(hit("b", 1.0), hit("a", 1.0)))) as liar:
        assert await search_at(liar.url) == ["a", "b"]
        assert [line.split("?")[0] for line in liar.asked] == ["GET / HTTP/1.1", "POST /_msearch"]


async def test_who_is_asked_is_looked_at_once() -> None:
    async with lying(searches(reply())) as liar, channel_at(liar.url) as channel:
        await channel.search(QUERY)
        await channel.search(QUERY)
        assert [line.split()[1].partition("?")[0] for line in liar.asked] == ["/", "/_msearch", "/_msearch"]


async def test_nobody_at_the_address(unused_tcp_port: int) -> None:
    with pytest.raises(ChannelUnavailable, match="cannot be reached"):
        await search_at(f"http://127.0.0.1:{unused_tcp_port}")


@pytest.mark.parametrize(
    ("status", "expected", "says"),
    [
        (401, ChannelUnavailable, "credentials"),
        (404, ChannelUnavailable, "lacks an index"),
        (429, ChannelUnavailable, "is overloaded"),
        (500, ChannelFault, "could not do"),
        (503, ChannelUnavailable, "not ready"),
    ],
)
async def test_a_status_that_is_no_success(status: int, expected: type[ChannelError], says: str) -> None:
    async with lying(lambda path: (status, b'{"error": {"type": "secret store text"}}')) as liar:
        with pytest.raises(expected, match=says) as caught:
            await search_at(liar.url)
        assert "store text" not in str(caught.value) and "127.0.0.1" not in str(caught.value)


@pytest.mark.parametrize(
    "info",
    [
        {"version": {"number": "8.19.0"}},
        {"version": {"number": "7.10.2", "distribution": "oss"}},
        {"version": {"number": "1.3.20", "distribution": "opensearch"}},
        {"version": {"number": "x", "distribution": "opensearch"}},
    ],
    ids=str,
)
async def test_another_product_or_version(info: object) -> None:
    async with lying(searches(reply(), info=info)) as liar:
        with pytest.raises(ChannelUnavailable, match="OpenSearch 2 or newer"):
            await search_at(liar.url)
        index = OpenSearchIndex.open(liar.url)
        with pytest.raises(ChannelUnavailable, match="OpenSearch 2 or newer"):
            await index.documents()
        await index.aclose()


@pytest.mark.parametrize("info", [[], {}, {"version": "3.8.0"}, {"version": {"number": 3}}, "x", 7, None], ids=str)
async def test_something_that_is_no_search_server(info: object) -> None:
    async with lying(searches(reply(), info=info)) as liar:
        with pytest.raises(ChannelFault):
            await search_at(liar.url)


@pytest.mark.parametrize("body", [b"<html>", b"", b"\xff\xfe", b"{", b"[" * 50_000, b"null", b'{"responses": NaN}'])
async def test_bytes_that_are_no_reply(body: bytes) -> None:
    info = json.dumps(INFO).encode()
    async with lying(lambda path: (200, info if path == "/" else body)) as liar:
        with pytest.raises(ChannelFault):
            await search_at(liar.url)


async def test_hits_of_a_hidden_class_are_a_fault() -> None:
    async with lying(searches(reply(hit("a", 1.0), hit("h", 2.0, "sha256:hidden")))) as liar:
        with pytest.raises(ChannelFault):
            await search_at(liar.url)


async def test_an_index_that_cannot_take_the_query_must_be_made_anew() -> None:
    async with lying(searches(reply(error={"type": "query_shard_exception"}, status=400))) as liar:
        with pytest.raises(IndexNotReady, match="exhibit index rebuild"):
            await search_at(liar.url)


async def test_a_lost_index_is_told_from_one_that_never_was() -> None:
    key = class_key(CLASSES[0])
    none = reply(_shards={"total": 0, "successful": 0, "failed": 0})

    def answering(stated: list[str]) -> Callable[[str], tuple[int, bytes]]:
        state = (200, {"found": True, "_source": {"keys": stated}})
        by_path = {"/": (200, INFO), "/_msearch": (200, none), f"/{IndexNames().state}/_doc/classes": state}

        def answer(path: str) -> tuple[int, bytes]:
            status, body = by_path.get(path.partition("?")[0], (200, {"x": {"aliases": {"other": {}}}}))
            return status, json.dumps(body).encode()

        return answer

    async with lying(answering([class_key("another")])) as liar:
        assert await search_at(liar.url) == []
    async with lying(answering([key])) as liar:
        with pytest.raises(IndexNotReady, match="lost"):
            await search_at(liar.url)


async def test_an_index_that_is_not_up_is_asked_again_and_not_for_ever() -> None:
    replies = [reply(error={"type": "no_shard_available_action_exception"}, status=503)] * 2 + [reply(hit("a", 1.0))]
    told = iter([INFO, *replies])
    async with lying(lambda path: (200, json.dumps(next(told)).encode())) as liar:
        assert await search_at(liar.url) == ["a"]
    async with lying(searches(replies[0])) as liar:
        with pytest.raises(ChannelUnavailable, match="not ready"):
            await search_at(liar.url)
        assert len(liar.asked) < 10


async def test_a_server_that_is_silent_costs_the_deadline_and_its_work_is_given_up() -> None:
    async with lying(lambda path: None) as liar:
        with pytest.raises(ChannelTimeout):
            await search_at(liar.url, deadline_s=0.2)
        await _until(lambda: liar.gone == 1)


async def test_a_search_that_is_left_hangs_up() -> None:
    info = json.dumps(INFO).encode()
    async with lying(lambda path: (200, info) if path == "/" else None) as liar, channel_at(liar.url) as channel:
        task = asyncio.create_task(channel.search(QUERY))
        await _until(lambda: len(liar.asked) == 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await _until(lambda: liar.gone == 1)


async def test_no_secret_and_no_question_in_errors_logs_or_reprs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with lying(lambda path: (401, b"{}")) as liar:
        url = liar.url.replace("//", "//me:hunter2%20%2F%3F%23%25@")
        with pytest.raises(ChannelUnavailable) as caught:
            await search_at(url)
        index = OpenSearchIndex.open(url)
        with pytest.raises(ChannelUnavailable):
            await index.documents()
        await index.aclose()
    told = f"{caught.value} {caplog.text} {Address.parse(url)!r}"
    assert "hunter2" not in told and "railroad" not in told


def test_an_address_is_read_once() -> None:
    parsed = Address.parse("https://me:hunter2%20%2F%3F%23%25@search.example/base/", ca_file=Path("x"))
    assert parsed == Address("search.example", 9200, True, "/base", "me", PASSWORD, Path("x"))
    assert Address.parse("http://[::1]:9201") == Address("::1", 9201, False)


async def _until(true: object) -> None:
    async with asyncio.timeout(20):
        while not true():  # type: ignore[operator]  # noqa: ASYNC110
            await asyncio.sleep(0.01)
