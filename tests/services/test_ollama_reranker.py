"""The reranker on a real Ollama: the tiny model is held to exactly one whole number for each passage, and a search that
names it ends with its order or, where it gives none in time, with the heuristic one and a limitation."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ai.model import Ask, Options, SearchOptions
from ai.replay.replay import Grade, replay
from ai.retrieve import retrieve
from ai.search.passage_search import NO_ORDER, Shaping
from ai.search.surface import Surface
from api import wiring
from api.wiring.circuits import RERANKER
from retrieval.model import Query
from retrieval.ranking.reranker import Passage
from retrieval.scope import Scope
from tests.harness import subject
from tests.services.ollama_home import FERRY, environment, make_home, opened
from tests.services.ollama_server import CHAT, Models

pytestmark = pytest.mark.services
NAME = f"ollama/{CHAT}"


def variables(url: str, deadline_ms: int = 120_000) -> dict[str, str]:
    return environment(url) | {
        "EXHIBIT_MODELS__RERANK": CHAT,
        "EXHIBIT_MODELS__RERANK_DEADLINE_MS": str(deadline_ms),
    }


async def search(system: wiring.System) -> tuple[list[str], set[str], str]:
    shaping = Shaping(5, reranker=system.services.rerankers[NAME], rerank_top_n=5)
    done = await retrieve(
        Ask(
            wiring.new_id(),
            FERRY,
            subject(system),
            options=Options(profile="basic", search=SearchOptions(weights_milli=(667, 333))),
        ),
        services=system.services,
        profile=system.profile("basic"),
        surface=Surface("query", shaping=shaping, timeout_ms=60_000),
    )
    hits = [hit["chunk_id"] for hit in done.body["hits"]]
    return hits, {each["code"] for each in done.body["limitations"]}, done.entry.entry_id


async def test_every_passage_gets_a_whole_number_and_a_short_time_the_heuristic_order(
    ollama: Models, tmp_path: Path
) -> None:
    home = await make_home(tmp_path / "home")
    async with opened(home, variables(ollama.url)) as system:
        judge = system.services.rerankers[NAME]
        passages = [
            Passage(f"Ferry {n}", "William Nace kept the ferry at Lecompton in 1856.", 1000 - n) for n in range(3)
        ]
        scores = await judge.score(Query(FERRY, Scope("default", frozenset()), 3), passages)
        assert len(scores) == 3
        assert all(0 <= each <= 1000 and each % 100 == 0 for each in scores)
        hits, limitations, entry_id = await search(system)
        assert hits
        assert NO_ORDER.code not in limitations
        assert (await replay(entry_id, services=system.services)).grade is Grade.R1
    async with opened(home, variables(ollama.url, deadline_ms=1)) as hurried:
        again, limitations, entry_id = await search(hurried)
        assert sorted(again) == sorted(hits)
        assert NO_ORDER.code in limitations
        assert (await replay(entry_id, services=hurried.services)).grade is Grade.R1
        assert hurried.circuits.states()[RERANKER] in {"closed", "open", "half-open"}
    assert await asyncio.to_thread((home / "ledger.sqlite").exists)
