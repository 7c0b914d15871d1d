"""Requirement 002: every request field has its effect or is refused by name; offsets are exact; facts are true."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter

from ai.search.shapes import RetrievalResponse
from ledger.model import Kind

pytestmark = pytest.mark.asyncio(loop_scope="session")
URL = "/retrieval/query"
QUERY = "population of Shawnee County in 1930"


async def search(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    response = await client.post(URL, json={"query": QUERY, "top_k": 5, **fields})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    TypeAdapter(RetrievalResponse).validate_python(body)
    return body


def ids(body: dict[str, Any]) -> list[str]:
    return [hit["chunk_id"] for hit in body["hits"]]


async def test_a_hit_has_every_field_and_its_text_is_the_document(app: FastAPI, client: httpx.AsyncClient) -> None:
    body = await search(client)
    first = body["hits"][0]
    assert "Shawnee County" in first["text"]
    assert first["raw_scores"].keys() == {"bm25", "vector"}
    assert first["metadata"]["source_id"] == "county-population"
    system = app.state.live.system
    classes = await system.services.store.classes("default")
    from retrieval.scope import Scope

    whole = await system.services.store.document(first["doc_id"], scope=Scope.of("default", classes))
    for hit in body["hits"]:
        if hit["doc_id"] == first["doc_id"]:
            assert whole.text[hit["offset"]["start"] : hit["offset"]["end"]] == hit["text"]
    scores = [hit["score"] for hit in body["hits"]]
    assert scores == sorted(scores, reverse=True)


async def test_weights_choose_the_channels_and_their_say(client: httpx.AsyncClient) -> None:
    text = await search(client, hybrid={"bm25": 1.0, "vector": 0.0})
    vector = await search(client, hybrid={"bm25": 0.0, "vector": 1.0})
    assert {name for hit in text["hits"] for name in hit["raw_scores"]} == {"bm25"}
    assert {name for hit in vector["hits"] for name in hit["raw_scores"]} == {"vector"}
    mostly = await search(client, hybrid={"bm25": 0.9, "vector": 0.1}, trace=True)
    assert (mostly["trace"]["weights_milli"], mostly["trace"]["weights_normalised"]) == (
        {"bm25": 900, "vector": 100},
        False,
    )
    odd = await search(client, hybrid={"bm25": 0.4, "vector": 0.1}, trace=True)
    assert (odd["trace"]["weights_milli"], odd["trace"]["weights_normalised"]) == ({"bm25": 800, "vector": 200}, True)


async def test_a_vector_of_the_callers_own_is_searched_with(app: FastAPI, client: httpx.AsyncClient) -> None:
    system = app.state.live.system
    [channel] = [c for c in system.services.channels if c.name == "vector"]
    inner = getattr(channel, "_channel", channel)
    embedding = [float(x) for x in (await inner._embedder.embed([QUERY]))[0]]
    model = system.services.embedding_model
    own = await search(client, query=None, vector={"embedding": embedding, "model": model})
    same = await search(client, hybrid={"bm25": 0, "vector": 1})
    assert ids(own) == ids(same)
    assert own["embedding_model"] == model
    short = await search(client, vector={"model": model.partition("@")[0]})
    assert short["hits"]


@pytest.mark.parametrize(
    "vector", [{"model": "e5-large-v2"}, {"embedding": [0.1, 0.2]}, {"embedding": [0.1] * 256, "model": "e5"}]
)
async def test_another_model_or_dimension_is_a_mismatch(client: httpx.AsyncClient, vector: dict[str, Any]) -> None:
    response = await client.post(URL, json={"query": QUERY, "top_k": 5, "vector": vector})
    assert (response.status_code, response.json()["error"]["code"]) == (422, "EMBED_MODEL_MISMATCH")


async def test_filters_narrow(client: httpx.AsyncClient) -> None:
    only = await search(client, query="county letters", filters={"eq": {"source_id": "contact"}})
    assert {hit["metadata"]["source_id"] for hit in only["hits"]} == {"contact"}
    either = await search(
        client,
        query="county letters survey",
        top_k=100,
        filters={"any": [{"eq": {"source_id": "contact"}}, {"in": {"source_id": ["county-population"]}}]},
    )
    assert {hit["metadata"]["source_id"] for hit in either["hits"]} == {"contact", "county-population"}
    none = await search(client, filters={"exists": {"namespace": True}})
    assert (none["hits"], none["outcome"]) == ([], "ABSTAIN")


async def test_rerank_looks_again_and_says_so(client: httpx.AsyncClient) -> None:
    body = await search(client, rerank={"enabled": True, "top_n": 3})
    assert [("rerank" in hit["raw_scores"]) for hit in body["hits"]] == [True, True, True, False, False]
    scores = [hit["score"] for hit in body["hits"]]
    assert scores == sorted(scores, reverse=True)


async def test_groups_bound_what_one_document_may_take(client: httpx.AsyncClient) -> None:
    body = await search(client, query="county letters survey", top_k=10, group_by={"field": "doc_id", "per_group": 2})
    counts = [sum(hit["doc_id"] == each for hit in body["hits"]) for each in {hit["doc_id"] for hit in body["hits"]}]
    assert max(counts) == 2 and len(counts) > 1
    assert body["exhaustive"] is False


@pytest.mark.parametrize(("window", "surround"), [(3, 0), (5, 10), (1, 1), (400, 40)])
async def test_snippets_are_whole_words_inside_their_tokens(
    app: FastAPI, client: httpx.AsyncClient, window: int, surround: int
) -> None:
    from retrieval.bundle import count_tokens
    from retrieval.scope import Scope

    system = app.state.live.system
    scope = Scope.of("default", await system.services.store.classes("default"))
    body = await search(
        client,
        query="letters of the surveyor of Wabaunsee County",
        span={"window_tokens": window, "surround_tokens": surround},
    )
    for hit in body["hits"]:
        whole = (await system.services.store.document(hit["doc_id"], scope=scope)).text
        start, end = hit["offset"]["start"], hit["offset"]["end"]
        exact = whole[start:end]
        assert len(exact) == len(hit["text"])
        assert exact == hit["text"] or "█" in hit["text"]
        assert (start == 0 or whole[start - 1].isspace()) and (end == len(whole) or whole[end].isspace())
        assert count_tokens(exact) <= window + 2 * surround + 2 or len(exact.split()) == 1
    assert "survey@example.org" not in str(body)


async def test_a_timeout_gives_what_there_is_or_says_so(client: httpx.AsyncClient, app: FastAPI) -> None:
    body = {"query": QUERY, "top_k": 5, "timeout_ms": 60_000}
    assert (await client.post(URL, json=body)).status_code == 200
    response = await client.post(URL, json=body | {"timeout_ms": 1})
    assert response.status_code in (200, 504)
    if response.status_code == 504:
        assert response.json()["error"]["code"] == "TIMEOUT"
    else:
        assert response.json()["exhaustive"] is False or response.json()["limitations"] == []


async def test_collections_narrow_and_unknown_and_forbidden_answer_alike(connect: Any) -> None:
    async with connect("viewer") as viewer:
        assert (await search(viewer, collection="kansas"))["hits"]
        told = []
        for name in ("archive", "no-such"):
            response = await viewer.post(URL, json={"query": QUERY, "top_k": 5, "collection": name})
            told.append((response.status_code, response.json()["error"]["code"], response.json()["error"]["message"]))
    assert told[0] == told[1] == (404, "NOT_FOUND", "There is no such collection.")


async def test_exhaustive_and_the_index_version_are_true(connect: Any) -> None:
    async with connect("viewer") as below, connect("archivist") as above:
        every = await search(below, query="Wabaunsee", top_k=100, hybrid={"bm25": 1, "vector": 0})
        few = await search(below, query="county", top_k=1, hybrid={"bm25": 1, "vector": 0})
        assert (every["exhaustive"], few["exhaustive"]) == (True, False)
        again = await search(below)
        more = await search(above)
    assert every["index_version"] == few["index_version"] == again["index_version"] != more["index_version"]


async def test_the_trace_shows_every_stage_and_only_when_asked(client: httpx.AsyncClient) -> None:
    plain = await search(client)
    assert "trace" not in plain
    body = await search(client, trace=True, filters={"eq": {"source_id": "county-population"}})
    trace = body["trace"]
    assert trace["filters"] == '{"eq":{"source_id":"county-population"}}'
    assert trace["documents_after_filters"] == 1
    assert [c["channel"] for c in trace["channels"]] == ["fulltext", "vector"]
    assert trace["returned"] == ids(body)
    assert {r["chunk_id"] for c in trace["channels"] for r in c["ranks"]} >= set(ids(body))


async def test_the_request_is_recorded(app: FastAPI, client: httpx.AsyncClient) -> None:
    body = await search(client)
    entry = await app.state.live.system.services.ledger.entry(body["provenance"]["entry_id"])
    assert entry.leaf.kind is Kind.RETRIEVAL


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "top_k"),
    ({"query": QUERY}, "top_k"),
    ({"top_k": 5}, ""),
    ({"query": "", "top_k": 5}, "query"),
    ({"query": 1, "top_k": 5}, "query"),
    ({"query": "x" * 4001, "top_k": 5}, "query"),
    ({"query": QUERY, "top_k": 0}, "top_k"),
    ({"query": QUERY, "top_k": 101}, "top_k"),
    ({"query": QUERY, "top_k": 5, "hybrid": {"bm25": 2}}, "hybrid.bm25"),
    ({"query": QUERY, "top_k": 5, "hybrid": {"bm25": 0, "vector": 0}}, "hybrid"),
    ({"query": QUERY, "top_k": 5, "hybrid": {"splade": 1}}, "hybrid.splade"),
    ({"query": QUERY, "top_k": 5, "vector": {"embedding": []}}, "vector.embedding"),
    ({"query": QUERY, "top_k": 5, "vector": {"embedding": ["a"]}}, "vector.embedding.0"),
    ({"query": QUERY, "top_k": 5, "filters": {"regex": {"a": "b"}}}, "filters"),
    ({"query": QUERY, "top_k": 5, "filters": {"lang": "en"}}, "filters"),
    ({"query": QUERY, "top_k": 5, "filters": []}, "filters"),
    ({"query": QUERY, "top_k": 5, "rerank": {"enabled": True, "model": "cross-encoder/x"}}, "rerank.model"),
    ({"query": QUERY, "top_k": 5, "rerank": {"top_n": 0}}, "rerank.top_n"),
    ({"query": QUERY, "top_k": 5, "group_by": {"per_group": 1}}, "group_by.field"),
    ({"query": QUERY, "top_k": 5, "group_by": {"field": "a b"}}, "group_by.field"),
    ({"query": QUERY, "top_k": 5, "span": {"window_tokens": 0}}, "span.window_tokens"),
    ({"query": QUERY, "top_k": 5, "timeout_ms": 0}, "timeout_ms"),
    ({"query": QUERY, "top_k": 5, "trace": 1}, "trace"),
    ({"query": QUERY, "top_k": 5, "mmr": True}, "mmr"),
]


@pytest.mark.parametrize(("body", "field"), BAD, ids=str)
async def test_what_has_no_meaning_is_refused_by_name(
    client: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    response = await client.post(URL, json=body)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "BAD_REQUEST"), response.text
    assert any(each["field"].startswith(field) for each in error["details"]), error


async def test_another_tenant_is_forbidden(client: httpx.AsyncClient) -> None:
    assert (await search(client, tenant="default"))["hits"]
    response = await client.post(URL, json={"query": QUERY, "top_k": 5, "tenant": "other"})
    assert (response.status_code, response.json()["error"]["code"]) == (403, "FORBIDDEN")
