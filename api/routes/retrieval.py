"""Requirement 002: `POST /retrieval/query`."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse

from ai.passage_search import index_version, is_exhaustive, require_answer, search_profile, shape, trace_of
from ai.retrieve import Found, retrieve
from api.callers import SECURITY, Calling, Meters
from api.retrieval_views import passage_ask, passage_body, require_collection, shaping_of, weights
from api.schemas.errors import errors
from api.schemas.retrieval import RetrievalQuery, RetrievalResponse

router = APIRouter(prefix="/retrieval", tags=["retrieval"], dependencies=SECURITY)


@router.post(
    "/query",
    response_model=None,
    responses={200: {"model": RetrievalResponse}, **errors(400, 401, 403, 404, 413, 415, 422, 500, 503, 504)},
)
async def query(body: RetrievalQuery, call: Calling, metrics: Meters) -> JSONResponse:
    """Top passages: the caller's weights, filters, reranking, grouping and snippets; recorded before it leaves."""
    services = call.system.services
    ask = passage_ask(body, subject=call.caller.subject, request_id=call.request_id, model=services.embedding_model)
    shaping, (weighed, normalised) = shaping_of(body), weights(body)
    profile = search_profile(call.system.profile("basic"), weighed, top_k=body.top_k, timeout_s=body.timeout_ms / 1000)
    told = {"weights_milli": {"bm25": weighed[0], "vector": weighed[1]}, "weights_normalised": normalised}

    async def render(found: Found) -> dict[str, Any]:
        require_answer(found)
        passed = await shape(found, shaping, services)
        return passage_body(
            found,
            passed,
            model=services.embedding_model,
            version=await index_version(found.case, services),
            exhaustive=is_exhaustive(found, len(passed)),
            trace=trace_of(found, passed, told) if body.trace else None,
        )

    started = time.perf_counter()
    done = await retrieve(ask, services=services, profile=profile, render=render)
    require_collection(done.found)
    released = {**done.body, "took_ms": round((time.perf_counter() - started) * 1000)}
    metrics.retrieval.observe_query(time.perf_counter() - started)
    metrics.count_outcome(surface="retrieval.query", outcome=released["outcome"])
    return JSONResponse(released)
