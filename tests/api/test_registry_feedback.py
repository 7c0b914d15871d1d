"""Feedback of requirement 004: recorded with its query and actor, queued for curators, never ranking; and the measures over it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from api.audit.registry.feedback import KINDS
from api.schemas.registry import feedback as wire
from ledger.model import Kind
from tests.api.conftest import Connect
from tests.api.test_registry import settled

pytestmark = pytest.mark.asyncio(loop_scope="session")
ROOT = "/api/v1/registry"


async def post(client: httpx.AsyncClient, path: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    response = await client.post(f"{ROOT}/{path}", json=body)
    assert response.status_code == status, response.text
    told: dict[str, Any] = response.json()
    return told


async def queue(client: httpx.AsyncClient, **given: Any) -> dict[str, Any]:
    response = await client.get(f"{ROOT}/feedback", params=given)
    assert response.status_code == 200, response.text
    wire.FeedbackQueue.model_validate(response.json())
    told: dict[str, Any] = response.json()
    return told


async def quality(client: httpx.AsyncClient) -> dict[str, Any]:
    response = await client.get(f"{ROOT}/quality")
    assert response.status_code == 200, response.text
    wire.RegistryQuality.model_validate(response.json())
    told: dict[str, Any] = response.json()
    return told


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_is_recorded_with_query_actor_and_notes(app: FastAPI, connect: Connect, kind: str) -> None:
    async with connect("viewer") as viewer, connect("archivist") as curator:
        listed = await post(viewer, "assets/query", {"limit": 1})
        remark = {"entry_id": listed["entry_id"], "kind": kind, "notes": f"so {kind}", "metadata": {"page": "3"}}
        remark |= {} if kind == "missing" else {"result": listed["results"][0]["asset_id"]}
        told = await post(viewer, "feedback", remark)
        wire.FeedbackReceipt.model_validate(told)
        shown = [e for e in (await queue(curator, kind=kind, limit=200))["results"] if e["about"] == listed["entry_id"]]
    entry = await app.state.live.system.services.ledger.entry(told["provenance"]["entry_id"])
    assert entry.leaf.kind is Kind.RETRIEVAL
    assert [(ref.rel, ref.id) for ref in entry.leaf.refs] == [("about", listed["entry_id"])]
    [waiting] = shown
    assert (waiting["kind"], waiting["notes"], waiting["metadata"], waiting["settled"]) == (
        kind,
        f"so {kind}",
        {"page": "3"},
        None,
    )
    assert waiting["subject"].startswith("key:") and waiting["result"] == remark.get("result", "")


async def test_a_stranger_may_remark_on_nothing_and_read_no_queue(connect: Connect) -> None:
    async with connect("viewer") as viewer, connect("contributor") as other, connect("stranger") as foreign:
        listed = await post(viewer, "assets/query", {"limit": 1})
        remark = {"entry_id": listed["entry_id"], "kind": "wrong"}
        for client in (other, foreign):
            assert (await post(client, "feedback", remark, 404))["error"]["code"] == "NOT_FOUND"
        told = await post(viewer, "feedback", remark)
        feedback_id = told["provenance"]["entry_id"]
        for client in (viewer, other):
            for response in (
                await client.get(f"{ROOT}/feedback"),
                await client.get(f"{ROOT}/quality"),
                await client.post(f"{ROOT}/feedback/{feedback_id}/settle", json={"settlement": "accepted"}),
            ):
                assert (response.status_code, response.json()["error"]["code"]) == (403, "FORBIDDEN")
        assert feedback_id not in json.dumps(await queue(foreign, limit=200))
        await post(foreign, f"feedback/{feedback_id}/settle", {"settlement": "accepted"}, 404)
        await post(foreign, f"feedback/{listed['entry_id']}/settle", {"settlement": "accepted"}, 404)


async def test_a_curator_sees_no_remark_on_what_lies_above_them(connect: Connect) -> None:
    """The archivists' paper is confidential: remarks of those who saw it are for those alone who may see it too."""
    async with connect("archivist") as archivist, connect("viewer") as viewer:
        above = await post(archivist, "assets/query", {"text": "diary flood"})
        assert [each["asset_id"] for each in above["results"]] == ["diary"]
        told = await post(archivist, "feedback", {"entry_id": above["entry_id"], "kind": "stale", "notes": "the diary"})
        assert told["provenance"]["entry_id"] in json.dumps(await queue(archivist, kind="stale", limit=200))
        below = await viewer.get(f"{ROOT}/feedback")
    assert below.status_code == 403 and "diary" not in below.text


async def test_what_is_settled_leaves_the_queue_and_stays_on_record(app: FastAPI, connect: Connect) -> None:
    async with connect("viewer") as viewer, connect("archivist") as curator:
        listed = await post(viewer, "assets/query", {"limit": 2})
        told = await post(viewer, "feedback", {"entry_id": listed["entry_id"], "kind": "unsafe", "notes": "look"})
        feedback_id = told["provenance"]["entry_id"]
        assert feedback_id in json.dumps(await queue(curator, kind="unsafe", limit=200))
        done = await post(curator, f"feedback/{feedback_id}/settle", {"settlement": "accepted", "notes": "withdrawn"})
        wire.SettlementReceipt.model_validate(done)
        assert feedback_id not in json.dumps(await queue(curator, kind="unsafe", limit=200))
        [kept] = [
            e for e in (await queue(curator, settled="true", limit=200))["results"] if e["feedback_id"] == feedback_id
        ]
    assert kept["settled"] == "accepted"
    ledger = app.state.live.system.services.ledger
    entry = await ledger.entry(done["provenance"]["entry_id"])
    assert [(ref.rel, ref.id) for ref in entry.leaf.refs] == [("settles", feedback_id)]


async def test_feedback_never_ranks(connect: Connect) -> None:
    async with connect("viewer") as viewer:
        query = {"text": "population county", "include": ["snippets"]}
        before = await post(viewer, "assets/query", query)
        search = {"query": "population of Shawnee County", "top_k": 5}
        hits = (await viewer.post("/retrieval/query", json=search)).json()["hits"]
        for kind in ("wrong", "unsafe", "stale"):
            for result in ("county-population", hits[0]["chunk_id"]):
                await post(viewer, "feedback", {"entry_id": before["entry_id"], "kind": kind, "result": result})
        after = await post(viewer, "assets/query", query)
        assert settled(after | {"promise": before["promise"]}) == settled(before)
        assert (await viewer.post("/retrieval/query", json=search)).json()["hits"] == hits


async def test_quality_measures_feedback_and_retrievals(connect: Connect) -> None:
    async with connect("viewer") as viewer, connect("archivist") as curator:
        before = await quality(curator)
        nothing = await post(viewer, "assets/query", {"text": "zzzz"})
        assert nothing["total_count"] == 0
        listed = await post(viewer, "assets/query", {})
        for kind, result in (("useful", "a"), ("useful", "b"), ("wrong", "c"), ("missing", "")):
            await post(viewer, "feedback", {"entry_id": listed["entry_id"], "kind": kind, "result": result})
        answer = (
            await viewer.post(
                "/api/v1/ai/query", json={"question": "What was the population of Shawnee County in 1930?"}
            )
        ).json()
        await post(viewer, "feedback", {"entry_id": answer["provenance"]["entry_id"], "kind": "useful", "result": "1"})
        after = await quality(curator)
    assert after["feedback"]["useful"] - before["feedback"]["useful"] == 3
    assert after["feedback"]["missing"] - before["feedback"]["missing"] == 1
    assert after["feedback_open"] - before["feedback_open"] == 2
    assert after["retrievals"] - before["retrievals"] == 2
    assert after["citation_precision_milli"] == 1000
    assert 0 < after["precision_milli"] < 1000 and 0 < after["zero_results_milli"] < 1000
    times = after["permission_ms"]
    assert 0 <= times["p50"] <= times["p95"] <= times["most"]


@pytest.mark.parametrize(
    "body",
    [{}, {"entry_id": "x"}, {"entry_id": "x", "kind": "great"}, {"entry_id": "", "kind": "useful"}, {"entry_id": "x", "kind": "useful", "rank": 1},
     {"entry_id": "x", "kind": "useful", "metadata": {"a": 1}}, {"entry_id": "x", "kind": "useful", "metadata": {"a b": "c"}},
     {"entry_id": "x", "kind": "useful", "notes": "a\u0000b"}, {"entry_id": "x", "kind": "useful", "notes": "x" * 2001}],
)  # fmt: skip
async def test_what_has_no_meaning_is_refused(client: httpx.AsyncClient, body: dict[str, Any]) -> None:
    assert (await post(client, "feedback", body, 422))["error"]["code"] == "VALIDATION_FAILED"
