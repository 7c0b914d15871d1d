"""Requirement 000: `POST /api/v1/retrieve/basic` and `/api/v1/retrieve/agentic`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from fastapi import APIRouter
from starlette.responses import JSONResponse

from ai.retrieve import retrieval_profile, retrieve
from ai.tracing import span
from api.callers import SECURITY, Calling, Meters
from api.metrics import Metrics
from api.retrieval_metrics import Measured
from api.retrieve_views import basic_ask, basic_body, digest_of_query, require_known
from api.schemas.errors import errors
from api.schemas.retrieve import BasicRequest, RetrievalResult

router = APIRouter(prefix="/api/v1/retrieve", tags=["retrieve"], dependencies=SECURITY)
STATUS = {"ANSWER": "ok", "ABSTAIN": "abstained", "DENY": "denied"}


@router.post(
    "/basic",
    response_model=None,
    responses={200: {"model": RetrievalResult}, **errors(400, 401, 403, 404, 413, 415, 422, 500, 503, 504)},
)
async def basic(body: BasicRequest, call: Calling, metrics: Meters) -> JSONResponse:
    """The best passages of one knowledge base for one query, recorded before they leave."""
    ask = basic_ask(body, subject=call.caller.subject, request_id=call.request_id)
    services = call.system.services
    profile = retrieval_profile(call.system.profile("basic"), body.mode, body.top_k)
    started = time.perf_counter()
    async with counting_failures(metrics, "basic"):
        with span("basic_retrieve", query=digest_of_query(body.query), mode=body.mode) as opened:
            done = await retrieve(
                ask,
                services=services,
                profile=profile,
                render=lambda found: basic_body(found, services.embedding_model),
            )
            opened.set_attribute("exhibit.results", len(done.found.results))
        require_known(done.found)
    released = timed(done.body, started)
    metrics.retrieval.observe(measured_of("basic", released))
    return JSONResponse(released)


def timed(body: Any, started: float) -> dict[str, Any]:
    """The body with the time it took; a basic request's only step took as long."""
    elapsed_ms = round((time.perf_counter() - started) * 1000)
    steps = [{"latency_ms": elapsed_ms, **step} for step in body["steps"]]
    return {**body, "steps": steps, "total_latency_ms": elapsed_ms}


def measured_of(mode: Literal["basic", "agentic"], body: dict[str, Any], effort: str = "none") -> Measured:
    """What the metrics count of a released body."""
    return Measured(
        mode=mode,
        status=STATUS[body["outcome"]],
        latency_s=body["total_latency_ms"] / 1000,
        effort=effort,
        tokens=body["total_tokens_used"],
        steps=len(body["steps"]),
        results=len(body["results"]),
        truncated=body["truncated_reason"],
    )


@asynccontextmanager
async def counting_failures(metrics: Metrics, mode: Literal["basic", "agentic"]) -> AsyncIterator[None]:
    """Counts a request that ends in an error."""
    try:
        yield
    except Exception:
        metrics.retrieval.observe(Measured(mode=mode, status="error"))
        raise
