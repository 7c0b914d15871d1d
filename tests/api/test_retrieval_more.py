"""Requirement 002's optional endpoints."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter

from ai.search import shapes
from api.schemas.retrieval import more as wire
from ledger.model import Kind
from retrieval.bundle import count_tokens

pytestmark = pytest.mark.asyncio(loop_scope="session")
QUERY = "population of Shawnee County in 1930"


async def post(client: httpx.AsyncClient, path: str, body: dict[str, Any], model: Any = None) -> dict[str, Any]:
    response = await client.post(f"/retrieval/{path}", json=body)
    assert response.status_code == 200, response.text
    told: dict[str, Any] = response.json()
    if model is not None:
        TypeAdapter(model).validate_python(told)
    return told


async def search(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    return await post(client, "query", {"query": QUERY, "top_k": 5, **fields})


async def test_mget_gives_documents_and_chunks_and_nothing_hidden(connect: Any) -> None:
    async with connect("viewer") as below, connect("archivist") as above:
        hit = (await search(below))["hits"][0]
        letters = (await search(below, query="surveyor letters", filters={"eq": {"source_id": "contact"}}))["hits"][0]
        diary = (await search(above, query="diary of the flood", filters={"eq": {"source_id": "diary"}}))["hits"][0]
        asked = [hit["chunk_id"], letters["doc_id"], diary["chunk_id"], diary["doc_id"], "no-such-id"]
        body = await post(below, "mget", {"ids": asked}, shapes.MgetResponse)
        full = await post(above, "mget", {"ids": asked}, shapes.MgetResponse)
    assert body["missing"] == [diary["chunk_id"], diary["doc_id"], "no-such-id"]
    assert body["hits"][0]["chunk_id"] == hit["chunk_id"]
    assert body["hits"][0]["text"] == hit["text"]
    assert {h["doc_id"] for h in body["hits"]} == {hit["doc_id"], letters["doc_id"]}
    assert "survey@example.org" not in json.dumps(body)
    assert full["missing"] == ["no-such-id"]


async def test_expand_names_the_source_of_every_word(client: httpx.AsyncClient) -> None:
    body = await post(
        client, "expand", {"query": "ploughs and gray marshals in Kansas, Shawnee County"}, shapes.ExpandResponse
    )
    told = {(e["text"], e["kind"]): e["source"] for e in body["expansions"]}
    assert told["Kans.", "abbreviation"] == "abbreviations"
    assert told["grey", "spelling"] == "spellings"
    assert all(e["source"] and e["of"] for e in body["expansions"])
    assert "Esther" not in json.dumps(body)


async def test_feedback_is_recorded_beside_what_it_is_about(app: FastAPI, connect: Any) -> None:
    async with connect("viewer") as viewer, connect("contributor") as other:
        searched = await search(viewer)
        label = {
            "entry_id": searched["provenance"]["entry_id"],
            "chunk_id": searched["hits"][0]["chunk_id"],
            "label": "relevant",
        }
        body = await post(viewer, "feedback", label, wire.FeedbackResponse)
        stranger = await other.post("/retrieval/feedback", json=label)
    ledger = app.state.live.system.services.ledger
    entry = await ledger.entry(body["provenance"]["entry_id"])
    assert entry.leaf.kind is Kind.RETRIEVAL
    assert [(ref.rel, ref.id) for ref in entry.leaf.refs] == [("about", searched["provenance"]["entry_id"])]
    assert json.loads(await ledger.part(entry.leaf.entry_id, "context"))["label"] == "relevant"
    assert stranger.status_code == 404


async def test_stats_are_true(app: FastAPI, client: httpx.AsyncClient) -> None:
    searched = await search(client)
    response = await client.get("/retrieval/stats")
    body = response.json()
    wire.StatsResponse.model_validate(body)
    assert body["embedding_model"] == searched["embedding_model"] == app.state.live.system.services.embedding_model
    assert body["index_version"] == searched["index_version"]
    assert body["documents"] == 3
    query = body["latency"]["query"]
    assert query["count"] >= 1 and query["buckets"]["+Inf"] == query["count"]


async def test_ablation_ranks_profiles_on_saved_queries(client: httpx.AsyncClient) -> None:
    gold = (await search(client, hybrid={"bm25": 1, "vector": 0}))["hits"][0]
    letters = (await search(client, query="surveyor letters", filters={"eq": {"source_id": "contact"}}))["hits"][0]
    request = {
        "queries": [
            {"query": QUERY, "relevant": [gold["chunk_id"]]},
            {"query": "surveyor letters", "relevant": [letters["doc_id"]]},
        ],
        "profiles": [{"name": "text", "hybrid": {"bm25": 1, "vector": 0}}, {"name": "both", "rerank": True}],
        "k": 5,
    }
    body = await post(client, "ablation", request, wire.AblationResponse)
    rows = {row["name"]: row for row in body["leaderboard"]}
    assert rows["text"]["ndcg"]["mean"] == rows["text"]["mrr"]["mean"] == rows["text"]["recall"]["mean"] == 1.0
    assert rows["text"]["against_first"]["mean"] == 0
    means = [row["ndcg"]["mean"] for row in body["leaderboard"]]
    assert means == sorted(means, reverse=True)


@pytest.mark.parametrize("budget", [50, 120, 4_000])
async def test_pack_fits_its_budget(client: httpx.AsyncClient, budget: int) -> None:
    body = await post(client, "pack", {"query": QUERY, "top_k": 20, "token_budget": budget}, shapes.PackResponse)
    assert body["tokens"] == count_tokens(body["context"]) <= budget
    assert [source["n"] for source in body["sources"]] == list(range(1, len(body["sources"]) + 1))
    assert len(body["sources"]) + len(body["left_out"]) <= 20
    if budget == 4_000:
        assert "[1] " in body["context"] and not body["left_out"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("mget", {}),
        ("mget", {"ids": []}),
        ("mget", {"ids": ["x"] * 101}),
        ("mget", {"ids": ["x"], "other": 1}),
        ("expand", {"query": ""}),
        ("feedback", {"entry_id": "x", "chunk_id": "y", "label": "great"}),
        ("ablation", {"queries": [], "profiles": []}),
        ("ablation", {"queries": [{"query": "x", "relevant": []}], "profiles": [{"name": "a"}]}),
        ("pack", {"query": "x", "top_k": 5, "token_budget": 1}),
        ("pack", {"query": "x", "top_k": 5, "filters": {"like": {"a": 1}}}),
    ],
)
async def test_what_has_no_meaning_is_bad(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> None:
    response = await client.post(f"/retrieval/{path}", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "BAD_REQUEST")


@pytest.mark.parametrize("path", ["query", "mget", "pack"])
async def test_a_receipt_of_a_search_is_its_askers(connect: Any, path: str) -> None:
    async with connect("viewer") as viewer, connect("contributor") as other:
        body = (
            {"query": QUERY, "top_k": 3} if path != "mget" else {"ids": [(await search(viewer))["hits"][0]["chunk_id"]]}
        )
        told = await post(viewer, path, body)
        receipt = await viewer.get(told["provenance"]["receipt"])
        assert (await other.get(told["provenance"]["receipt"])).status_code == 404
    assert receipt.status_code == 200, receipt.text
    assert "c2sp.org/tlog-proof" in receipt.text
