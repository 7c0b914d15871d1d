"""Policy over HTTP: for authors and maintainers, without releasing or recording anything."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from api.schemas.policy import BundleResponse, DecisionsResponse, EvaluateResponse
from policy.authoring.testing.vectors import patched
from policy.bundles.bundle import load_bundle
from tests.api_world import FERRY, POPULATION
from tests.policy_world import base

pytestmark = pytest.mark.asyncio(loop_scope="session")
EVALUATE, BUNDLE, DECISIONS = "/api/v1/policy/evaluate", "/api/v1/policy/bundle", "/api/v1/policy/decisions"
DIGEST = load_bundle().digest


@pytest.mark.parametrize("key", ["author", "archivist"])
async def test_authors_and_maintainers_evaluate(connect: Any, key: str) -> None:
    async with connect(key) as client:
        response = await client.post(EVALUATE, json={"point": "evidence", "input": base("evidence")})
    assert response.status_code == 200
    body = EvaluateResponse.model_validate(response.json())
    assert (body.effect, body.stamp.bundle) == ("allow", DIGEST)
    assert body.admit == sorted(each["id"] for each in base("evidence")["evidence"])


async def test_a_reason_comes_with_its_readers_text(connect: Any) -> None:
    asked = patched(base("query"), [["set", "subject/id", ""]])
    async with connect("author") as client:
        body = (await client.post(EVALUATE, json={"point": "query", "input": asked})).json()
    [reason] = body["reasons"]
    assert (body["effect"], reason["rule"]) == ("deny", "Q02")
    assert reason["text"] == "The account has no valid identity, role or clearance."


@pytest.mark.parametrize("asked", [{}, [], None, "", 0, {"evidence": 1, "request": 7, "answer": [], "prior": "x"}])
@pytest.mark.parametrize("point", ["query", "evidence", "answer"])
async def test_what_is_no_input_is_denied(connect: Any, point: str, asked: object) -> None:
    async with connect("author") as client:
        response = await client.post(EVALUATE, json={"point": point, "input": asked})
    assert (response.status_code, response.json()["effect"]) == (200, "deny")


@pytest.mark.parametrize("key", [None, "viewer", "contributor", "operator", "auditor"])
async def test_nobody_else(connect: Any, key: str | None) -> None:
    async with connect(key) as client:
        answers = [
            await client.post(EVALUATE, json={"point": "query", "input": base("query")}),
            await client.get(BUNDLE),
            await client.get(f"{DECISIONS}/x"),
        ]
    assert [(a.status_code, a.json()["error"]["code"]) for a in answers] == [(403, "FORBIDDEN")] * 3
    assert not any(DIGEST in a.text for a in answers)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "VALIDATION_FAILED"),
        ({"point": "query"}, 422, "VALIDATION_FAILED"),
        ({"point": "elsewhere", "input": {}}, 422, "VALIDATION_FAILED"),
        ({"point": "query", "input": {}, "bundle": "x"}, 422, "VALIDATION_FAILED"),
        ({"point": "query", "input": {"now_ms": 0.5}}, 422, "VALIDATION_FAILED"),
        ({"point": "query", "input": {"now_ms": 2**53}}, 422, "VALIDATION_FAILED"),
        ({"point": "query", "input": {"é": 1}}, 422, "VALIDATION_FAILED"),
    ],
)
async def test_what_cannot_be_evaluated(connect: Any, body: object, status: int, code: str) -> None:
    async with connect("author") as client:
        response = await client.post(EVALUATE, json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [(b"{", "application/json", 400), (b"", "application/json", 400), (b"{}", "text/plain", 415)],
)
async def test_what_is_no_request(connect: Any, content: bytes, kind: str, status: int) -> None:
    async with connect("author") as client:
        response = await client.post(EVALUATE, content=content, headers={"content-type": kind})
    assert response.status_code == status


async def test_evaluating_records_nothing(connect: Any, app: Any) -> None:
    ledger = app.state.live.system.services.ledger
    before = await ledger.checkpoint()
    async with connect("author") as client:
        await client.post(EVALUATE, json={"point": "query", "input": base("query")})
        await client.get(BUNDLE)
    assert await ledger.checkpoint() == before


async def test_the_bundle_names_its_rules_and_their_owners(connect: Any) -> None:
    async with connect("author") as client:
        body = BundleResponse.model_validate((await client.get(BUNDLE)).json())
    assert (body.bundle_digest, body.shadow) == (DIGEST, None)
    assert {rule.id for rule in body.rules} >= {"Q01", "E05", "A12"}
    assert all(rule.owner and rule.reader for rule in body.rules)


# ------------------------------------------------------------------------------------------------------- decision by id


async def asked(client: httpx.AsyncClient, question: str = POPULATION) -> str:
    body = (await client.post("/api/v1/ai/query", json={"question": question})).json()
    entry_id: str = body["provenance"]["entry_id"]
    return entry_id


async def read(client: httpx.AsyncClient, entry_id: str) -> DecisionsResponse:
    response = await client.get(f"{DECISIONS}/{entry_id}")
    assert response.status_code == 200, response.text
    return DecisionsResponse.model_validate(response.json())


async def test_an_auditing_author_reads_every_decision_with_its_input(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("policy-auditor") as auditor:
        found = await read(auditor, await asked(viewer))
    assert [each.point for each in found.decisions] == ["query", "evidence", "answer"]
    assert all(each.stamp.bundle == DIGEST and each.input is not None for each in found.decisions)
    assert found.decisions[1].input is not None
    assert found.decisions[1].input["prior"]["query"] == found.decisions[0].digest


async def test_an_author_reads_the_decisions_of_own_requests_and_no_input(connect: Any) -> None:
    async with connect("author") as author:
        found = await read(author, await asked(author, FERRY))
    assert found.decisions[0].effect != "deny"
    for each in found.decisions:
        assert each.input is None
        targets = [reason.target for reason in each.reasons]
        assert all(t.kind in ("request", "answer", "collection") or t.ref in each.admit for t in targets)


async def test_an_author_reads_the_decisions_of_own_searches(connect: Any) -> None:
    async with connect("author") as author:
        listed = (await author.post("/retrieval/query", json={"query": POPULATION, "top_k": 3})).json()
        found = await read(author, listed["provenance"]["entry_id"])
    assert [(each.point, each.effect, each.input) for each in found.decisions] == [
        ("query", "allow", None),
        ("evidence", "allow", None),
    ]
    assert {hit["chunk_id"] for hit in listed["hits"]} <= set(found.decisions[1].admit)


async def test_an_author_does_not_read_those_of_others(connect: Any) -> None:
    async with connect("viewer") as viewer, connect("author") as author, connect("stranger") as stranger:
        entry_id = await asked(viewer)
        answers = [await author.get(f"{DECISIONS}/{entry_id}"), await stranger.get(f"{DECISIONS}/{entry_id}")]
        absent = await author.get(f"{DECISIONS}/0199aaaa-0000-7000-8000-000000000000")
    assert [a.status_code for a in (*answers, absent)] == [404, 404, 404]
    bodies = [{k: v for k, v in a.json()["error"].items() if k != "request_id"} for a in (*answers, absent)]
    assert bodies[0] == bodies[1] == bodies[2]


async def test_a_refused_question_has_one_decision(connect: Any) -> None:
    async with connect("policy-auditor") as auditor:
        body = (
            await auditor.post(
                "/api/v1/ai/query", json={"question": POPULATION, "options": {"collections": ["no-such"]}}
            )
        ).json()
        found = await read(auditor, body["provenance"]["entry_id"])
    assert [(each.point, each.effect) for each in found.decisions] == [("query", "deny")]
    assert [reason.code for reason in found.decisions[0].reasons] == ["COLLECTION_UNAVAILABLE"]
