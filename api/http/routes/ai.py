"""`POST /api/v1/ai/query`: a question in, a cited answer, an abstention or a denial out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.responses import JSONResponse, Response

from ai.answer.shapes import QueryResponse
from ai.focus_pipeline import answer
from api.http.callers import SECURITY, Calling, Meters
from api.http.client_disconnect import GONE_STATUS, while_connected
from api.http.idempotency import IdempotencyKeys
from api.http.map.geojson import GEOJSON, answer_collection
from api.http.promised import promised
from api.http.views.geojson import GeoJson
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
        examples=["ask-2026-11-23-0001"],
    ),
]


_OBJECT = {"schema": {"type": "object", "description": "the answer as a FeatureCollection"}}


def prefers_geojson(accept: str) -> bool:
    """True if GeoJSON is named, and before JSON."""
    kinds = [part.split(";")[0].strip().lower() for part in accept.split(",")]
    return GEOJSON in (kinds[: kinds.index("application/json")] if "application/json" in kinds else kinds)


@router.post(
    "/query",
    operation_id="askQuestion",
    summary="Ask",
    response_model=None,
    responses={
        200: {"model": QueryResponse, "content": {GEOJSON: {"schema": {"type": "object"}}}},
        **errors(400, 401, 403, 409, 413, 415, 422, 500, 503, 504),
    },
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
        metrics.observe_draft(uncited_sentences=answered.uncited_sentences, refused_late=answered.refused_late)
        if answered.scope is not None:
            metrics.observe_scope(
                answered.scope.shapes, warned=call.system.configuration.settings.retrieval.warned_shapes
            )
        return dict(answered.body)

    if idempotency_key is None:
        asked = work()
    else:
        # The form of an answer is not part of what is asked; a plan, if there is one, is.
        unsaid = {"format"} if body.options.plan else {"format", "plan"}
        said = body.model_dump(mode="json", exclude={"options": unsaid})
        asked = IdempotencyKeys(call=call, route=ROUTE).once(idempotency_key, said, work)
    released = await while_connected(request, asked)
    if released is None:
        return Response(status_code=GONE_STATUS)
    metrics.observe_answer(surface="ai.query", body=released)
    if body.options.format == "FeatureCollection" or prefers_geojson(request.headers.get("accept", "")):
        collection = answer_collection(released)
        told = await promised(collection, collection["provenance"]["entry_id"], call.system.services)
        return GeoJson(told, headers={"vary": "accept"})
    return JSONResponse(released, headers={"vary": "accept"})
