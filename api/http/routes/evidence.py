"""`GET /api/v1/evidence/{document_id}`: what a citation points at, as JSON, or as a page for a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from ai.answer.shapes import EvidenceResponse
from api.audit.reauthorise import read_slice
from api.http.callers import SECURITY, Calling
from api.schemas.errors import errors
from api.schemas.evidence import Place
from api.web.page import page, style_policy

router = APIRouter(prefix="/api/v1", tags=["evidence"], dependencies=SECURITY)
_STYLE = "evidence.css"


@router.get(
    "/evidence/{document_id}",
    response_model=None,
    responses={200: {"model": EvidenceResponse, "content": {"text/html": {}}}, **errors(401, 403, 404, 422, 503)},
)
async def evidence(document_id: str, place: Annotated[Place, Query()], call: Calling, request: Request) -> Response:
    """The exact slice of the stored document, authorised anew, recorded in the ledger before it is sent."""
    body = await read_slice(
        document_id,
        place.locator(),
        subject=call.caller.subject,
        request_id=call.request_id,
        services=call.system.services,
    )
    if _wants_page(request.headers.get("accept", "")):
        return HTMLResponse(_page(body), headers={"content-security-policy": style_policy(_STYLE)})
    return JSONResponse(body)


def _wants_page(accept: str) -> bool:
    """True if HTML is preferred over JSON: browsers name it first, programs do not name it."""
    kinds = [part.split(";")[0].strip().lower() for part in accept.split(",")]
    before_json = kinds[: kinds.index("application/json")] if "application/json" in kinds else kinds
    return "text/html" in before_json


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
    return page("evidence.html.j2", style=_STYLE, **body, facts=facts)
