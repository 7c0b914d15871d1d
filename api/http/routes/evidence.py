"""`GET /api/v1/evidence/{document_id}`: what a citation points at, as JSON, or as a page for a browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from ai.answer.shapes import EvidenceResponse, Mark
from api.audit.reauthorise import read_slice
from api.http.accept import wants_page
from api.http.callers import SECURITY, Calling
from api.http.promised import promised
from api.schemas.errors import errors
from api.schemas.evidence import Place
from api.web.page import page, style_policy

router = APIRouter(prefix="/api/v1", tags=["evidence"], dependencies=SECURITY)
STYLE = "evidence.css"


@router.get(
    "/evidence/{document_id}",
    operation_id="readEvidence",
    summary="Follow a citation",
    response_model=None,
    responses={200: {"model": EvidenceResponse, "content": {"text/html": {}}}, **errors(401, 403, 404, 422, 503)},
)
async def evidence(document_id: str, place: Annotated[Place, Query()], call: Calling, request: Request) -> Response:
    """The exact slice of the stored document, authorised anew, recorded in the ledger before it is sent; `mark` points
    out parts of it."""
    body = await read_slice(
        document_id,
        place.locator(),
        subject=call.caller.subject,
        request_id=call.request_id,
        services=call.system.services,
    )
    if place.mark is not None:
        body["marked"] = place.marks_in(body["locator"]["start_char"], len(body["text"]))
    if wants_page(request):
        return HTMLResponse(_page(body), headers={"content-security-policy": style_policy(STYLE)})
    released = await promised(body, body["provenance"]["entry_id"], call.system.services)
    return JSONResponse(released)


def _pieces(text: str, marked: Sequence[Mark]) -> Iterator[tuple[str, bool]]:
    """The text in order, each piece with whether it is marked."""
    at = 0
    for mark in marked:
        yield text[at : mark["start"]], False
        yield text[mark["start"] : mark["end"]], True
        at = mark["end"]
    yield text[at:], False


def _page(body: Mapping[str, Any]) -> str:
    facts = (
        ("collection", body["collection"]),
        ("source", body["source_id"]),
        ("license", body["license"]),
        ("attribution", body["attribution"]),
        ("sensitivity", body["sensitivity"]),
        ("digest", body["document_sha256"]),
        ("entry", body["provenance"]["entry_id"]),
    )
    pieces = [*_pieces(body["text"], body.get("marked", ()))]
    return page("evidence.html.j2", style=STYLE, **body, facts=facts, pieces=pieces)
