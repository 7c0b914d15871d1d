"""`POST /api/v1/ai/query`: a question in, a cited answer, an abstention or a denial out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.responses import JSONResponse, Response

from ai.focus_pipeline import answer
from api.callers import SECURITY, Calling, Meters
from api.idempotency import Repeats
from api.presence import GONE_STATUS, while_connected
from api.schemas.answer import QueryResponse
from api.schemas.ask import ask_of
from api.schemas.errors import errors
from api.schemas.query import QueryRequest

router = APIRouter(prefix="/api/v1/ai", tags=["ai"], dependencies=SECURITY)
ROUTE = "POST /api/v1/ai/query"
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="A repeat with the same body gives the same answer; with another body it is refused.",
    ),
]


@router.post(
    "/query",
    response_model=None,
    responses={200: {"model": QueryResponse}, **errors(400, 401, 403, 409, 413, 415, 422, 500, 503, 504)},
)
async def query(
    body: QueryRequest, request: Request, call: Calling, metrics: Meters, idempotency_key: IdempotencyKey = None
) -> Response:
    """Answer a question from the evidence that the caller may see, with a durable ledger entry for whatever the
    outcome is. A caller that goes away stops the work."""
    ask = ask_of(body, subject=call.caller.subject, request_id=call.request_id)
    profile = call.system.profile(body.options.profile)

    async def work() -> dict[str, Any]:
        answered = await answer(ask, services=call.system.services, profile=profile)
        metrics.observe_draft(uncited_sentences=answered.uncited_sentences)
        return dict(answered.body)

    if idempotency_key is None:
        asked = work()
    else:
        asked = Repeats(call=call, route=ROUTE).once(idempotency_key, body.model_dump(mode="json"), work)
    released = await while_connected(request, asked)
    if released is None:
        return Response(status_code=GONE_STATUS)
    metrics.observe_answer(surface="ai.query", body=released)
    return JSONResponse(released)
