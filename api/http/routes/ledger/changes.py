"""`/api/v1/ledger/entries/{id}/changes`: since when, and by what, a question is answered differently."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from api.audit.entries.bisect import changes_of_answer
from api.audit.entries.export import plain_cell
from api.audit.entries.records import AUDIT, Reader
from api.http.callers import SECURITY, Calling
from api.schemas.errors import errors
from api.schemas.ledger.difference import AnswerChanges

router = APIRouter(prefix="/api/v1/ledger", tags=["ledger"], dependencies=SECURITY)
Format = Annotated[Literal["json", "csv"], Query(description="the form of the answer")]
_COLUMNS = ("since", "entry_id", "outcome", "policy", "before_entry_id", "before_outcome", "before_policy", "causes")


@router.get(
    "/entries/{entry_id}/changes",
    operation_id="listAnswerChanges",
    summary="Since when a question is answered differently",
    response_model=AnswerChanges,
    responses=errors(401, 403, 404, 422, 500, 503),
)
async def changes(entry_id: str, call: Calling, format: Format = "json") -> AnswerChanges | Response:
    """Every entry of the question of that outcome, asked in the same way with the same rights, and each change of the
    answer with what explains it. Reads every outcome of the tenant: `exhibit ledger bisect` has no deadline. Needs
    `ledger.audit`."""
    call.caller.require(AUDIT)
    await Reader(call.caller, call.request_id, call.system.services).entry(entry_id)
    found = await changes_of_answer(call.system, entry_id)
    if format == "csv":
        return Response(_csv(found["changes"]), media_type="text/csv; charset=utf-8; header=present")
    return AnswerChanges.model_validate(found)


def _csv(changes: Sequence[Mapping[str, Any]]) -> str:
    """A row for each change (RFC 4180)."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for change in changes:
        before, after = change["before"], change["after"]
        of_after = (after["time"], after["entry_id"], after["outcome"], after["policy"])
        of_before = (before["entry_id"], before["outcome"], before["policy"])
        causes = " ".join(change["explanation"]["causes"])
        writer.writerow([plain_cell(each) for each in (*of_after, *of_before, causes)])
    return text.getvalue()
