"""`/livez`, `/readyz`, `/version`, `/metrics`: for operators and their probes."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from api.errors import ActionForbidden
from api.home.version import VERSION
from api.http.callers import SECURITY, Caller, Meters, Open
from api.http.health import examine, state_of
from api.schemas.errors import errors
from api.schemas.evidence import ReadyResponse

router = APIRouter(tags=["operations"])
OPERATE = "ops.metrics"


@router.get("/livez", operation_id="getLiveness", summary="The process runs")
async def livez() -> dict[str, str]:
    """The process runs."""
    return {"status": "alive"}


@router.get(
    "/readyz",
    operation_id="getReadiness",
    summary="Each part and its state",
    response_model=None,
    responses={200: {"model": ReadyResponse}, 503: {"model": ReadyResponse}},
)
async def readyz(system: Open) -> JSONResponse:
    """Each part by name, state and latency. 503 only when nothing could be answered; degraded is not dead."""
    parts = await examine(system)
    state = state_of(parts)
    told = {
        name: {"store": part.store, "state": "up" if part.ok else "down", "latency_ms": part.latency_ms}
        | ({"circuit": part.circuit} if part.circuit else {})
        | ({"code": part.code} if part.code else {})
        | ({"problem": part.problem} if part.problem else {})
        for name, part in parts.items()
    }
    return JSONResponse({"status": state, "parts": told}, 503 if state == "unavailable" else 200)


@router.get("/version", operation_id="getVersion", summary="The version")
async def version(system: Open) -> dict[str, str]:
    """The running versions: software, policy bundle, prompt template, log."""
    return {
        "name": "exhibit",
        "version": VERSION,
        "policy_bundle": system.engine.bundle_digest,
        "template": system.services.template.name,
        "template_digest": system.services.template.digest,
        "log": system.services.ledger.origin,
    }


@router.get(
    "/metrics",
    operation_id="getMetrics",
    summary="Metrics in the exposition format",
    response_model=None,
    dependencies=SECURITY,
    responses=errors(401, 403),
)
async def metrics(request: Request, caller: Caller, meters: Meters, system: Open) -> Response:
    """Prometheus metrics: from loopback, or with `ops.metrics`."""
    del request
    if not caller.loopback and not caller.may(OPERATE):
        raise ActionForbidden(f"This needs the capability {OPERATE}.")
    if system.services.runs is not None:
        meters.observe_cache(hits=system.services.runs.hits, misses=system.services.runs.misses)
    meters.observe_unpublished(system.services.ledger.unpublished_ms)
    return Response(meters.render(), media_type="text/plain; version=0.0.4; charset=utf-8")
