"""Requirement 002's optional endpoints: mget, expand, feedback, stats, ablation, pack."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse

from ai.canonical import canonical
from ai.model import Ask, Options
from ai.passage_search import Passed, index_version, require_answer, search_profile, shape
from ai.retrieve import Found, known, retrieval_profile, retrieve
from api.ablation import leaderboard
from api.callers import SECURITY, Call, Calling, Meters
from api.expansion import expansions
from api.packing import packed
from api.records import Reader
from api.retrieval_views import hit_json, passage_ask, require_collection, require_tenant_of, shaping_of, weights
from api.schemas.errors import errors
from api.schemas.retrieval_more import (
    AblationRequest,
    AblationResponse,
    ExpandRequest,
    ExpandResponse,
    FeedbackRequest,
    FeedbackResponse,
    MgetRequest,
    MgetResponse,
    PackRequest,
    PackResponse,
    StatsResponse,
)
from api.version import VERSION
from ledger.model import Kind
from retrieval.bundle import TOKEN_COUNTER
from retrieval.calibration import calibrations
from retrieval.filters import EVERYTHING
from retrieval.reranker import HEURISTIC

router = APIRouter(prefix="/retrieval", tags=["retrieval"], dependencies=SECURITY)
STATUSES = (400, 401, 403, 404, 413, 415, 422, 500, 503, 504)
MGET = "documents by id"


def provenance(entry_id: str) -> dict[str, str]:
    """Where a request is recorded."""
    return {"entry_id": entry_id, "receipt": f"/api/v1/ledger/entries/{entry_id}/receipt"}


def _plain_ask(call: Call, question: str, top_k: int = 100) -> Ask:
    return Ask(call.request_id, question, call.caller.subject, options=Options(profile="basic", top_k=top_k))


@router.post("/mget", response_model=None, responses={200: {"model": MgetResponse}, **errors(*STATUSES)})
async def mget(body: MgetRequest, call: Calling) -> JSONResponse:
    """Chunks, and all passages of documents, by id; decided and recorded like a search."""
    require_tenant_of(body.tenant, call.caller.subject)

    async def render(found: Found) -> dict[str, Any]:
        hits = [hit_json(_as_is(each)) for each in found.results]
        there = {hit["chunk_id"] for hit in hits} | {hit["doc_id"] for hit in hits}
        return {
            "request_id": call.request_id,
            "hits": hits,
            "missing": [each for each in dict.fromkeys(body.ids) if each not in there],
            "provenance": provenance(found.case.entry_id),
        }

    profile = retrieval_profile(call.system.profile("basic"), "keyword", 100)
    services = call.system.services
    done = await retrieve(
        _plain_ask(call, MGET), services=services, profile=profile, render=render, finder=known(body.ids)
    )
    return JSONResponse(done.body)


def _as_is(result: Any) -> Passed:
    at = result.item.evidence.first.record.locator
    return Passed(result, result.score_milli / 1000, None, result.item.text, at.start_char, at.end_char)


@router.post("/expand", response_model=None, responses={200: {"model": ExpandResponse}, **errors(*STATUSES)})
async def expand(body: ExpandRequest, call: Calling) -> JSONResponse:
    """Other names, spellings, abbreviations and related entities, each with its source, from the caller's scope."""
    require_tenant_of(body.tenant, call.caller.subject)

    async def nothing(case: Any, services: Any) -> Found:
        del services
        return Found(case)

    async def render(found: Found) -> dict[str, Any]:
        told = await expansions(found.case, call.system.services) if found.case.decided.allowed else []
        return {"request_id": call.request_id, "expansions": told, "provenance": provenance(found.case.entry_id)}

    done = await retrieve(
        _plain_ask(call, body.query),
        services=call.system.services,
        profile=call.system.profile("basic"),
        render=render,
        finder=nothing,
    )
    return JSONResponse(done.body)


@router.post("/feedback", response_model=None, responses={200: {"model": FeedbackResponse}, **errors(*STATUSES)})
async def feedback(body: FeedbackRequest, call: Calling) -> JSONResponse:
    """A label on something that a recorded request of the caller showed; it points at that entry in the ledger."""
    require_tenant_of(body.tenant, call.caller.subject)
    services = call.system.services
    about = await Reader(principal=call.caller, services=services, request_id=call.request_id).entry(body.entry_id)
    entry_id = services.new_id()
    told = {"request_id": call.request_id, "about": body.entry_id, "provenance": provenance(entry_id)}
    label = {"surface": "feedback", "chunk_id": body.chunk_id, "label": body.label, "comment": body.comment}
    await services.ledger.record(
        Kind.RETRIEVAL,
        tenant=call.caller.subject.tenant,
        request_id=call.request_id,
        parts={"context": canonical(label), "answer": canonical(told)},
        refs=[about.ref.as_ref("about")],
        entry_id=entry_id,
    )
    return JSONResponse(told)


@router.get("/stats", response_model=None, responses={200: {"model": StatsResponse}, **errors(401, 403, 503)})
async def stats(call: Calling, metrics: Meters) -> JSONResponse:
    """What runs, what the caller could find, and how long retrieval took since the process began."""
    services = call.system.services
    kept: list[Found] = []

    async def nothing(case: Any, services: Any) -> Found:
        del services
        return Found(case)

    async def render(found: Found) -> dict[str, Any]:
        kept.append(found)
        return {"request_id": call.request_id, "provenance": provenance(found.case.entry_id)}

    await retrieve(
        _plain_ask(call, "stats"),
        services=services,
        profile=call.system.profile("basic"),
        render=render,
        finder=nothing,
    )
    scope = kept[0].case.scope
    return JSONResponse(
        {
            "software": f"exhibit/{VERSION}",
            "embedding_model": services.embedding_model,
            "index_version": await index_version(kept[0].case, services),
            "documents": len(await services.store.matching(EVERYTHING, scope=scope)),
            "calibration": dict(calibrations(services.embedding_model)),
            "rerankers": [HEURISTIC],
            "policy_bundle": call.system.engine.bundle_digest,
            "latency": metrics.retrieval.latencies(),
        }
    )


@router.post("/ablation", response_model=None, responses={200: {"model": AblationResponse}, **errors(*STATUSES)})
async def ablation(body: AblationRequest, call: Calling) -> JSONResponse:
    """Saved queries through every profile, and a leaderboard with intervals; each search is recorded."""
    require_tenant_of(body.tenant, call.caller.subject)
    rows = await leaderboard(body, call)
    return JSONResponse({"request_id": call.request_id, "queries": len(body.queries), "k": body.k, "leaderboard": rows})


@router.post("/pack", response_model=None, responses={200: {"model": PackResponse}, **errors(*STATUSES)})
async def pack(body: PackRequest, call: Calling) -> JSONResponse:
    """A search whose hits become one text of numbered sources under a token budget."""
    services = call.system.services
    ask = passage_ask(body, subject=call.caller.subject, request_id=call.request_id, model=services.embedding_model)
    shaping = shaping_of(body)
    profile = search_profile(
        call.system.profile("basic"), weights(body)[0], top_k=body.top_k, timeout_s=body.timeout_ms / 1000
    )

    async def render(found: Found) -> dict[str, Any]:
        require_answer(found)
        made = packed(await shape(found, shaping, services), body.token_budget)
        return {
            "request_id": call.request_id,
            **made,
            "token_counter": TOKEN_COUNTER,
            "provenance": provenance(found.case.entry_id),
        }

    done = await retrieve(ask, services=services, profile=profile, render=render)
    require_collection(done.found)
    return JSONResponse(done.body)
