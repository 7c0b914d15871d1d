"""`/api/v1/ledger/difference`: two entries beside each other, for those who may read both."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.audit.entries.difference import difference
from api.audit.entries.records import Reader
from api.http.callers import SECURITY, Calling
from api.schemas.errors import errors
from api.schemas.ledger.difference import DifferenceResponse

router = APIRouter(prefix="/api/v1/ledger", tags=["ledger"], dependencies=SECURITY)
EntryId = Annotated[str, Query(pattern=r"^[0-9a-f-]{36}$", description="id of an entry")]


@router.get(
    "/difference",
    operation_id="compareEntries",
    summary="Compare two entries",
    responses=errors(401, 403, 404, 422, 503),
)
async def compare(call: Calling, a: EntryId, b: EntryId) -> DifferenceResponse:
    """The differences between two entries, and, with `ledger.audit` and where both can be replayed, which of them
    explains the answer. Without it: question, answer and cited sources of own entries."""
    reader = Reader(call.caller, call.request_id, call.system.services)
    return DifferenceResponse.model_validate(await difference(call.system, a, b, reader=reader))
