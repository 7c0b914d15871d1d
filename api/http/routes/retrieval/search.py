"""Requirement 002: `POST /retrieval/query`."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse

from ai.retrieve import RetrievalOutcome, retrieve
from ai.search.shapes import RetrievalResponse
from api.http.callers import SECURITY, Calling, Meters
from api.http.views.retrieval import passage_ask, require_collection, surface_of
from api.schemas.errors import errors
from api.schemas.retrieval.search import RetrievalQuery

router = APIRouter(prefix="/retrieval", tags=["retrieval"], dependencies=SECURITY)


@router.post(
    "/query",
    operation_id="queryPassages",
    summary="Search passages",
    response_model=None,
    responses={200: {"model": RetrievalResponse}, **errors(400, 401, 403, 404, 413, 415, 422, 500, 503, 504)},
)
async def query(body: RetrievalQuery, call: Calling, metrics: Meters) -> JSONResponse:
    """Top passages: the caller's weights, filters, reranking, grouping and snippets; recorded before it leaves."""
    services = call.system.services
    ask = passage_ask(body, subject=call.caller.subject, request_id=call.request_id, model=services.embedding_model)
    started = time.perf_counter()
    done = await retrieve(
        ask,
        services=services,
        profile=call.system.profile("basic"),
        surface=surface_of(body, "query", rerankers=services.rerankers),
    )
    require_collection(done.found)
    released = timed(done, started)
    metrics.retrieval.observe_query(time.perf_counter() - started, tenant=call.caller.subject.tenant)
    metrics.count_outcome(surface="retrieval.query", outcome=released["outcome"])
    return JSONResponse(released)


def timed(done: RetrievalOutcome, started: float) -> dict[str, Any]:
    """The body with its times, which are no part of the record; a trace has those of the stages."""
    body: dict[str, Any] = {**done.promised, "took_ms": round((time.perf_counter() - started) * 1000)}
    if "trace" in body:
        spent = done.found.case.watch.milliseconds()
        body["trace"] = {**body["trace"], "timings_ms": {stage: round(ms) for stage, ms in spent.items()}}
    return body
