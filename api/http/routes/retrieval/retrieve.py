"""Requirement 000: `POST /api/v1/retrieve/basic` and `/api/v1/retrieve/agentic`."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal

import structlog
from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from ai.agent.tracing import span
from ai.focus_pipeline import answer
from ai.retrieve import retrieve
from ai.search.shapes import RetrievalResult
from ai.search.surface import CHANNELS, Surface
from api.http.callers import SECURITY, Call, Calling, Meters
from api.http.client_disconnect import GONE_STATUS, while_connected
from api.http.metrics.process import Metrics
from api.http.metrics.retrieval import RequestMeasurement
from api.http.promised import promised
from api.http.views.retrieve import agentic_ask, agentic_body, basic_ask, digest_of_query, require_known
from api.schemas.errors import errors
from api.schemas.retrieval.retrieve import AgenticRequest, BasicRequest

router = APIRouter(prefix="/api/v1/retrieve", tags=["retrieve"], dependencies=SECURITY)
_log = structlog.get_logger("exhibit.retrieval")
STATUS = {"ANSWER": "ok", "ABSTAIN": "abstained", "DENY": "denied"}


@router.post(
    "/basic",
    operation_id="retrieveBasic",
    summary="Search one knowledge base",
    response_model=None,
    responses={200: {"model": RetrievalResult}, **errors(400, 401, 403, 404, 413, 415, 422, 500, 503, 504)},
)
async def basic(body: BasicRequest, call: Calling, metrics: Meters) -> JSONResponse:
    """The best passages of one knowledge base for one query, recorded before they leave."""
    ask = basic_ask(body, subject=call.caller.subject, request_id=call.request_id)
    services = call.system.services
    profile = call.system.profile("basic")
    started = time.perf_counter()
    async with counting_failures(metrics, "basic", call):
        with span("basic_retrieve", query=digest_of_query(body.query), mode=body.mode) as opened:
            done = await retrieve(ask, services=services, profile=profile, surface=Surface("basic"))
            opened.set_attribute("exhibit.results", len(done.found.results))
        require_known(done.found)
    released = await promised(timed(done.body, started), done.entry, services)
    metrics.retrieval.observe(measured_of("basic", released), tenant=call.caller.subject.tenant)
    return JSONResponse(released)


@router.post(
    "/agentic",
    operation_id="retrieveAgentic",
    summary="Search in steps, inside budgets",
    response_model=None,
    responses={200: {"model": RetrievalResult}, **errors(400, 401, 403, 404, 413, 415, 422, 500, 503, 504)},
)
async def agentic(body: AgenticRequest, request: Request, call: Calling, metrics: Meters) -> Response:
    """A cited answer from several searches, inside the budgets of the request; every step is in the response, and the
    whole is recorded before it leaves. A caller that goes away stops the work."""
    ask = agentic_ask(body, subject=call.caller.subject, request_id=call.request_id)
    services = call.system.services
    profile = replace(call.system.profile("agentic"), channels=CHANNELS[body.mode])
    started = time.perf_counter()
    async with counting_failures(metrics, "agentic", call):
        with span("agentic_retrieve", input=digest_of_query(body.query), mode=body.mode) as opened:
            answered = await while_connected(request, answer(ask, services=services, profile=profile))
            if answered is None:
                return Response(status_code=GONE_STATUS)
            opened.set_attribute("exhibit.results", len(answered.items))
        ids = sorted({item.evidence.first.record.document_id for item in answered.items})
        found = await services.store.metadata(ids, scope=answered.scope) if answered.scope and ids else {}
        elapsed_ms = round((time.perf_counter() - started) * 1000)
        told = agentic_body(answered, model=services.embedding_model, metadata=found, latency_ms=elapsed_ms)
        released = await promised(told, told["provenance"]["entry_id"], services)
    measured = measured_of("agentic", released, body.reasoning_effort)
    metrics.retrieval.observe(measured, tenant=call.caller.subject.tenant)
    log_agentic(released, body.reasoning_effort)
    return JSONResponse(released)


def log_agentic(body: dict[str, Any], effort: str) -> None:
    """Requirement 000's structured log entry."""
    searches = [sub for step in body["steps"] if step["action"] == "retrieve" for sub in step["sub_queries"]]
    _log.info(
        "agentic_retrieval_completed",
        request_id=body["request_id"],
        steps=len(body["steps"]),
        sub_queries=len(searches),
        total_results=len(body["results"]),
        total_tokens=body["total_tokens_used"],
        total_latency_ms=body["total_latency_ms"],
        truncated=body["truncated"],
        reasoning_effort=effort,
    )


def timed(body: Any, started: float) -> dict[str, Any]:
    """The body with the time it took; a basic request's only step took as long."""
    elapsed_ms = round((time.perf_counter() - started) * 1000)
    steps = [{"latency_ms": elapsed_ms, **step} for step in body["steps"]]
    return {**body, "steps": steps, "total_latency_ms": elapsed_ms}


def measured_of(mode: Literal["basic", "agentic"], body: dict[str, Any], effort: str = "none") -> RequestMeasurement:
    """Figures of a released body for the metrics."""
    return RequestMeasurement(
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
async def counting_failures(metrics: Metrics, mode: Literal["basic", "agentic"], call: Call) -> AsyncIterator[None]:
    """Counts a request that ends in an error."""
    try:
        yield
    except Exception:
        metrics.retrieval.observe(RequestMeasurement(mode=mode, status="error"), tenant=call.caller.subject.tenant)
        raise
