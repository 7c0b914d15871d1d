"""The cache of searches: the same answers with it and without, never across authority, and gone with a change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from api import wiring
from api.http.metrics.process import Metrics
from retrieval.bundle import gather
from retrieval.channels.fan_out import FanOut, Slots
from retrieval.channels.run_cache import Authority, RunCache
from retrieval.model import ChannelName, Hit, Limitation, Run
from tests import harness
from tests.api_world import make_world
from tests.corpora import COUNTIES, corpus, probe
from tests.fakes_retrieval import MemoryRecords, ScriptedChannel

QUESTIONS = (
    "What was the population of Shawnee County in 1930?",
    "Who kept the ferry at Lecompton?",
    "Who wrote the diary of the flood?",
    "Which surveyor answers letters?",
)
PEOPLE: tuple[dict[str, Any], ...] = (
    {"role": "public_viewer"},
    {"role": "contributor"},
    {"role": "maintainer", "groups": ("archivists",)},
    {"role": "admin", "tenant": "other"},
)
CONTENT = corpus(5, documents=6)
QUERY = probe(COUNTIES[0], 1880, CONTENT.scope())
DEADLINES = dict.fromkeys(ChannelName, 2.0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[wiring.System]:
    folder: Path = tmp_path_factory.mktemp("cache")
    world = await make_world(folder)
    async with wiring.open_system(world.configuration) as opened:
        yield opened


@pytest.mark.asyncio(loop_scope="module")
async def test_same_answers_with_and_without_whoever_asked_before(system: wiring.System) -> None:
    cache = RunCache(1000)
    cached = replace(system.services, runs=cache)
    plain = replace(system.services, runs=None)
    for _ in range(2):
        for person in PEOPLE:
            for question in QUESTIONS:
                one = await harness.ask(system, question, services=cached, **person)
                other = await harness.ask(system, question, services=plain, **person)
                assert harness.settled(one) == harness.settled(other)
    assert cache.hits >= len(QUESTIONS) * len(PEOPLE)
    assert cache.misses == len(QUESTIONS) * len(PEOPLE)


async def searched(channel: ScriptedChannel, cache: RunCache, authority: Authority, query: Any = QUERY) -> int:
    store: Any = MemoryRecords(CONTENT.sourced())
    await gather(
        query, channels=[channel], store=store, deadlines_s=DEADLINES, slots=Slots(2), cache=cache, authority=authority
    )
    return channel.begun


async def test_any_change_of_authority_corpus_or_query_searches_again() -> None:
    channel = ScriptedChannel(ChannelName.FULLTEXT, [Hit(1, CONTENT.records[0].record_id, 1.0)])
    cache, first = RunCache(10), Authority(1, "sha256:a")
    assert await searched(channel, cache, first) == 1
    assert await searched(channel, cache, first) == 1
    assert await searched(channel, cache, Authority(2, "sha256:a")) == 2
    assert await searched(channel, cache, Authority(1, "sha256:b")) == 3
    narrower = replace(QUERY, scope=replace(QUERY.scope, class_ids=frozenset(list(QUERY.scope.class_ids)[:1])))
    assert await searched(channel, cache, first, narrower) == 4
    assert await searched(channel, cache, first, replace(QUERY, documents=frozenset({"d0"}))) == 5
    assert await searched(channel, cache, first, replace(QUERY, top_k=3)) == 6
    assert (cache.hits, cache.misses) == (1, 6)


async def test_what_went_wrong_is_not_kept_and_the_oldest_goes_first() -> None:
    cache, authority = RunCache(2), Authority(1, "p")
    names = [ChannelName.FULLTEXT]
    cache.put(QUERY, names, authority, FanOut((), (Limitation("CHANNEL_TIMEOUT", "late"),), {}))
    assert cache.get(QUERY, names, authority) is None
    for top_k in (1, 2, 3):
        cache.put(replace(QUERY, top_k=top_k), names, authority, FanOut((Run(names[0], "s"),), (), {"fulltext": 2.0}))
    assert cache.get(replace(QUERY, top_k=1), names, authority) is None
    assert cache.get(replace(QUERY, top_k=3), names, authority) is not None


async def test_a_record_that_is_gone_does_not_come_out_of_the_cache() -> None:
    record = CONTENT.records[0]
    channel = ScriptedChannel(ChannelName.FULLTEXT, [Hit(1, record.record_id, 1.0)])
    cache, authority = RunCache(10), Authority(1, "p")
    await searched(channel, cache, authority)
    empty: Any = MemoryRecords({})
    again = await gather(
        QUERY, channels=[channel], store=empty, deadlines_s=DEADLINES, slots=Slots(2), cache=cache, authority=authority
    )
    assert (channel.begun, dict(again.records)) == (1, {})


async def test_no_capacity_keeps_nothing() -> None:
    channel = ScriptedChannel(ChannelName.FULLTEXT)
    cache = RunCache(0)
    assert [await searched(channel, cache, Authority(1, "p")) for _ in range(2)] == [1, 2]
    assert (cache.hits, cache.misses) == (0, 0)
    await asyncio.sleep(0)


def test_the_metrics_tell_hits_from_misses() -> None:
    metrics = Metrics()
    metrics.observe_cache(hits=3, misses=1)
    text = metrics.render().decode()
    assert 'exhibit_search_cache{result="hit"} 3.0' in text
    assert 'exhibit_search_cache{result="miss"} 1.0' in text
