"""`/api/v1/registry/feedback` and `/quality` (requirement 004): remarks on what was shown, their queue, measures."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import JSONResponse

from api.audit.entries.records import Reader
from api.audit.reauthorise import Reading, reading_of
from api.audit.registry.feedback import (
    CURATE,
    FeedbackKind,
    Remark,
    give,
    queue_of,
    remark_json,
    remarks,
    settle,
)
from api.audit.registry.quality import quality_of
from api.http.callers import SECURITY, Call, Calling
from api.http.promised import promised
from api.schemas.errors import errors
from api.schemas.registry.feedback import (
    FeedbackQueue,
    FeedbackReceipt,
    FeedbackSettlement,
    RegistryFeedbackRequest,
    RegistryQuality,
    SettlementReceipt,
)

router = APIRouter(prefix="/api/v1/registry", tags=["registry"], dependencies=SECURITY)
STATUSES = (400, 401, 403, 404, 413, 415, 422, 500, 503)
FeedbackId = Annotated[str, Path(max_length=64, description="id of a remark")]
_HEADERS = {"vary": "authorization, x-api-key", "cache-control": "no-store"}


@router.post(
    "/feedback",
    operation_id="giveRegistryFeedback",
    summary="Remark on what was shown",
    response_model=None,
    responses={200: {"model": FeedbackReceipt}, **errors(*STATUSES)},
)
async def feedback(body: RegistryFeedbackRequest, call: Calling) -> JSONResponse:
    """A remark on a recorded request of the caller. It waits for a curator and never changes a ranking by itself."""
    remark = Remark(body.entry_id, body.kind, body.result, body.notes, body.metadata)
    return await _released(await give(remark, reader=_reader(call)), call)


@router.get(
    "/feedback",
    operation_id="listFeedback",
    summary="Remarks that wait for a curator",
    response_model=None,
    responses={200: {"model": FeedbackQueue}, **errors(401, 403, 422, 503)},
)
async def queue(
    call: Calling,
    kind: Annotated[
        FeedbackKind | None, Query(description="only this kind; absent: all that ask for something")
    ] = None,
    settled: Annotated[Literal["true", "false"], Query(description="those that a curator has settled")] = "false",
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> JSONResponse:
    """The tenant's remarks, oldest first. Needs `registry.curate`."""
    call.caller.require(CURATE)
    given = await remarks(await _reading(call))
    found = queue_of(given, kind=kind, settled=settled == "true")
    shown = [remark_json(each) for each in found[offset : offset + limit]]
    following = offset + len(shown) if shown and offset + len(shown) < len(found) else None
    body = {"total_count": len(found), "returned_count": len(shown), "offset": offset, "next_offset": following}
    return JSONResponse({**body, "results": shown}, headers=_HEADERS)


@router.post(
    "/feedback/{feedback_id}/settle",
    operation_id="settleFeedback",
    summary="Settle a remark",
    response_model=None,
    responses={200: {"model": SettlementReceipt}, **errors(*STATUSES)},
)
async def settlement(feedback_id: FeedbackId, body: FeedbackSettlement, call: Calling) -> JSONResponse:
    """A curator has dealt with a remark; recorded. Needs `registry.curate`."""
    told = await settle(feedback_id, body.settlement, body.notes, reader=_reader(call))
    return await _released(told, call)


@router.get(
    "/quality",
    operation_id="getRegistryQuality",
    summary="How good retrieval is",
    response_model=None,
    responses={200: {"model": RegistryQuality}, **errors(401, 403, 503)},
)
async def quality(call: Calling) -> JSONResponse:
    """Measures over feedback and over the registry's queries. Needs `registry.curate`."""
    call.caller.require(CURATE)
    return JSONResponse(await quality_of(await _reading(call)), headers=_HEADERS)


async def _released(told: dict[str, Any], call: Call) -> JSONResponse:
    return JSONResponse(await promised(told, told["provenance"]["entry_id"], call.system.services), headers=_HEADERS)


async def _reading(call: Call) -> Reading:
    return await reading_of(
        call.caller.subject, request_id=call.request_id, services=call.system.services, recorded=True
    )


def _reader(call: Call) -> Reader:
    return Reader(principal=call.caller, services=call.system.services, request_id=call.request_id)
