"""`GET /api/v1/computations/{entry_id}/{n}`: what a computed sentence rests on, as JSON, or as a page for a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from api.audit.computations import read_computation
from api.audit.entries.records import Reader
from api.http.accept import wants_page
from api.http.callers import SECURITY, Calling
from api.http.promised import promised
from api.http.routes.evidence import STYLE
from api.schemas.computation import ComputationResponse, Rows
from api.schemas.errors import errors
from api.web.page import page, style_policy

router = APIRouter(prefix="/api/v1", tags=["evidence"], dependencies=SECURITY)
Number = Annotated[int, Path(ge=1, le=1_000, description="number of the source in the answer")]


@router.get(
    "/computations/{entry_id}/{n}",
    operation_id="readComputation",
    summary="Read how a figure was computed",
    response_model=None,
    responses={200: {"model": ComputationResponse, "content": {"text/html": {}}}, **errors(401, 403, 404, 422, 503)},
)
async def computation(
    entry_id: str, n: Number, call: Calling, request: Request, part: Annotated[Rows, Query()]
) -> Response:
    """The operation of a computed citation, its parameters, its result, and the rows that it was made from, each with
    its link; rows are authorised anew, and recorded in the ledger before they are sent. For whoever may read the
    answer."""
    reader = Reader(call.caller, call.request_id, call.system.services)
    body = await read_computation(entry_id, n, reader=reader, after=part.after, limit=part.limit)
    if wants_page(request):
        return HTMLResponse(_page(body), headers={"content-security-policy": style_policy(STYLE)})
    released = await promised(body, body["provenance"]["entry_id"], call.system.services)
    return JSONResponse(released)


def _page(body: Mapping[str, Any]) -> str:
    facts = (
        ("operation", body["operation"]),
        ("digest", body["input_digest"]),
        ("answer", body["entry_id"]),
        ("reading", body["provenance"]["entry_id"]),
    )
    return page("computation.html.j2", style=STYLE, **body, facts=facts)
