"""`GET /api/v1/corpus`: the corpus for its curators."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from api.audit.corpus import corpus_of, versions_csv
from api.http.callers import SECURITY, Calling
from api.schemas.corpus import CorpusResponse
from api.schemas.errors import errors

router = APIRouter(prefix="/api/v1", tags=["corpus"], dependencies=SECURITY)
CURATE = "registry.curate"
CSV = "text/csv; charset=utf-8; header=present"
CorpusForm = Annotated[
    Literal["json", "csv"], Query(alias="format", description="`csv` gives the versions as a table", examples=["csv"])
]


@router.get(
    "/corpus",
    operation_id="getCorpus",
    summary="The corpus as its curators see it",
    response_model=CorpusResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}, **errors(401, 403, 422, 503)},
)
async def corpus(call: Calling, form: CorpusForm = "json") -> CorpusResponse | Response:
    """Sources with their versions, labels and counts, ingest runs with the fate of each file, and for every class the
    roles that see it: all of it inside the caller's own scope. Needs `registry.curate`."""
    call.caller.require(CURATE)
    found = await corpus_of(
        call.caller.subject, request_id=call.request_id, data=call.system.data, services=call.system.services
    )
    if form == "csv":
        return Response(versions_csv(found), media_type=CSV)
    return CorpusResponse.model_validate(found)
