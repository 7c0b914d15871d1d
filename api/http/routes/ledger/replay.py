"""`/api/v1/ledger/entries/{id}/replay`: what is on record, computed again."""

from __future__ import annotations

from fastapi import APIRouter

from ai.replay.replay import Grade
from api.audit.entries.records import AUDIT, Reader
from api.audit.entries.replay import replay_document, replay_entry
from api.http.callers import SECURITY, Writing
from api.schemas.errors import errors
from api.schemas.ledger.replay import ReplayRequest, ReplayResponse

router = APIRouter(prefix="/api/v1/ledger", tags=["ledger"], dependencies=SECURITY)


@router.post(
    "/entries/{entry_id}/replay",
    operation_id="replayEntry",
    summary="Compute an entry again",
    responses=errors(400, 401, 403, 404, 413, 415, 422, 500, 503),
)
async def replay(entry_id: str, body: ReplayRequest, call: Writing) -> ReplayResponse:
    """Compute an entry of the tenant again, under its own policy and settings, and grade each part. Nothing is
    recorded, and no store is asked. Needs a key and `ledger.audit`."""
    call.caller.require(AUDIT)
    await Reader(call.caller, call.request_id, call.system.services).entry(entry_id)
    report = replay_document(await replay_entry(entry_id, system=call.system, up_to=Grade(body.to)))
    return ReplayResponse.model_validate({name: told for name, told in report.items() if name != "drift"})
