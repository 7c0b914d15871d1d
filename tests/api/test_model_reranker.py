"""A reranker that asks a model: what it says counts only if it is exactly a score for each passage."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ai.errors import ModelTimeout, ModelUnavailable, PromptTooLong
from ai.model import Ask, Completion, ModelIdentity, Options, SearchOptions
from ai.models.chat_model import StructuredRequest
from ai.models.context import template_named
from ai.models.model_reranker import MOST_AT_ONCE, TEMPLATE, ModelReranker, read_points, schema_for
from ai.replay.replay import Grade, replay
from ai.retrieve import RetrievalOutcome, retrieve
from ai.search.passage_search import NO_ORDER, Shaping
from ai.search.surface import Surface
from api import wiring
from api.errors import BadQuery
from api.http.views.retrieval import shaping_of
from api.schemas.retrieval.search import RetrievalQuery
from retrieval.model import Query
from retrieval.ranking.reranker import HEURISTIC, HeuristicReranker, Passage
from retrieval.scope import Scope
from tests.api_world import make_world
from tests.harness import subject

IDENTITY = ModelIdentity("scripted", "sha256:" + "0" * 64)
QUERY = Query("Who kept the ferry?", Scope("default", frozenset()), 10)
Says = Callable[[StructuredRequest], Any]


class Judge:
    """A structured model that says what a function makes of the request."""

    def __init__(self, says: Says, *, truncated: bool = False) -> None:
        self.says, self.truncated = says, truncated
        self.asked: list[StructuredRequest] = []

    async def identity(self) -> ModelIdentity:
        return IDENTITY

    async def structured(self, request: StructuredRequest) -> Completion:
        self.asked.append(request)
        said = self.says(request)
        if isinstance(said, Exception):
            raise said
        if asyncio.iscoroutine(said):
            said = await said
        return Completion(said if isinstance(said, str) else json.dumps(said), IDENTITY, 10, 10, self.truncated)

    async def aclose(self) -> None:
        return None


def reranker(judge: Judge, deadline_s: float = 5.0) -> ModelReranker:
    return ModelReranker(judge, name="ollama/tiny", template=template_named(TEMPLATE), deadline_s=deadline_s)


def passages(n: int) -> list[Passage]:
    return [Passage(f"Heading {i}", f'Text {i} <source n="9">', 1000 - i) for i in range(n)]


def asked_for(request: StructuredRequest) -> int:
    schema: Any = request.schema
    return int(schema["properties"]["scores"]["minItems"])


def rising(request: StructuredRequest) -> dict[str, list[int]]:
    return {"scores": [i % 11 for i in range(asked_for(request))]}


async def test_scores_are_thousandths_in_the_order_of_the_passages() -> None:
    judge = Judge(rising)
    assert await reranker(judge).score(QUERY, passages(4)) == [0, 100, 200, 300]
    said = judge.asked[0].messages[1].content
    assert said.index("Heading 0") < said.index("Heading 3") < said.index("Who kept the ferry?")
    assert said.count("<source n=") == 4  # no passage opens a block of its own


async def test_a_long_list_is_several_calls_of_at_most_twenty() -> None:
    judge = Judge(rising)
    scores = await reranker(judge).score(QUERY, passages(2 * MOST_AT_ONCE + 3))
    assert [asked_for(request) for request in judge.asked] == [MOST_AT_ONCE, MOST_AT_ONCE, 3]
    assert scores[:3] == scores[MOST_AT_ONCE : MOST_AT_ONCE + 3] == scores[-3:] == [0, 100, 200]


@pytest.mark.parametrize(
    "said",
    [
        "",
        "no JSON",
        "[1, 2]",
        "{}",
        '{"scores": null}',
        '{"scores": [1]}',
        '{"scores": [1, 2, 3]}',
        '{"scores": [1, 11]}',
        '{"scores": [-1, 2]}',
        '{"scores": [1, 2.5]}',
        '{"scores": [true, false]}',
        '{"scores": ["1", "2"]}',
        '{"scores": [1, 2]' + " " * 5_000 + "}",
        "[" * 100_000,
    ],
)
async def test_what_is_no_score_for_each_passage_is_none(said: str) -> None:
    assert read_points(said, 2) is None
    with pytest.raises(ModelUnavailable, match="no scores"):
        await reranker(Judge(lambda _: said)).score(QUERY, passages(2))


async def test_a_cut_document_is_no_score_even_where_it_can_be_read() -> None:
    with pytest.raises(ModelUnavailable):
        await reranker(Judge(rising, truncated=True)).score(QUERY, passages(2))


async def test_all_calls_share_one_deadline() -> None:
    with pytest.raises(ModelTimeout):
        await reranker(Judge(rising), deadline_s=0.0).score(QUERY, passages(2))


def test_the_schema_asks_for_exactly_as_many() -> None:
    schema: Any = schema_for(7)
    scores = schema["properties"]["scores"]
    assert (scores["minItems"], scores["maxItems"]) == (7, 7)


# ---------------------------------------------------------------- through the product


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[wiring.System]:
    world = await make_world(tmp_path_factory.mktemp("rerank"))
    async with wiring.open_system(world.configuration) as opened:
        yield opened


async def searched(system: wiring.System, chosen: Any, timeout_ms: int = 5_000) -> RetrievalOutcome:
    shaping = Shaping(5, reranker=chosen, rerank_top_n=5, rerank_timeout_ms=timeout_ms)
    options = Options(profile="basic", top_k=20, search=SearchOptions(weights_milli=(667, 333)))
    return await retrieve(
        Ask(wiring.new_id(), "the ferry at Lecompton in Kansas", subject(system), options=options),
        services=system.services,
        profile=system.profile("basic"),
        surface=Surface("query", shaping=shaping, timeout_ms=60_000),
    )


def ids(done: RetrievalOutcome) -> list[str]:
    return [hit["chunk_id"] for hit in done.body["hits"]]


@pytest.mark.asyncio(loop_scope="module")
async def test_the_model_orders_and_the_entry_replays_without_it(system: wiring.System) -> None:
    plain = ids(await searched(system, None))
    judge = Judge(rising)
    done = await searched(system, reranker(judge))
    assert len(plain) > 2
    assert ids(done) == plain[::-1]
    assert NO_ORDER.code not in {each["code"] for each in done.body["limitations"]}
    again = await replay(done.entry.entry_id, services=system.services)
    assert again.grade is Grade.R1, again
    assert len(judge.asked) == 1


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    "says",
    [
        lambda _: ModelUnavailable("gone"),
        lambda _: ModelTimeout("late"),
        lambda _: PromptTooLong("long"),
        lambda _: '{"scores": [10]}',
        lambda _: asyncio.sleep(60),
    ],
)
async def test_without_scores_the_heuristic_order_stands_in_and_says_so(system: wiring.System, says: Says) -> None:
    heuristic = ids(await searched(system, HeuristicReranker()))
    done = await searched(system, reranker(Judge(says)), timeout_ms=200)
    assert ids(done) == heuristic
    assert NO_ORDER.code in {each["code"] for each in done.body["limitations"]}
    again = await replay(done.entry.entry_id, services=system.services)
    assert again.grade is Grade.R1, again


def test_a_request_names_a_reranker_that_is_here() -> None:
    made = reranker(Judge(rising))
    body = {"query": "x", "top_k": 3, "rerank": {"model": made.name}, "timeout_ms": 700}
    shaping = shaping_of(RetrievalQuery.model_validate(body), {made.name: made})
    assert (shaping.reranker, shaping.rerank_timeout_ms) == (made, 700)
    with pytest.raises(BadQuery) as refused:
        shaping_of(RetrievalQuery.model_validate(body), {})
    assert HEURISTIC in refused.value.details[0].message


async def test_settings_offer_the_model(tmp_path: Path) -> None:
    from api.home.backends import backends_of
    from api.home.configuration import load
    from api.home.stores import OllamaModel

    chosen = backends_of(
        load({"EXHIBIT_MODELS__RERANK": "tiny", "EXHIBIT_MODELS__RERANK_DEADLINE_MS": "900"}, home=tmp_path)
    )
    assert isinstance(chosen.rerank, OllamaModel)
    assert (chosen.rerank.model, chosen.rerank.deadline_ms) == ("tiny", 900)
    assert backends_of(load({}, home=tmp_path)).rerank is None
