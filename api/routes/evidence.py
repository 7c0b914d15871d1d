"""`GET /api/v1/evidence/{document_id}`: what a citation points at, as JSON, or as a page for a browser."""

from __future__ import annotations

from html import escape
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from api.callers import SECURITY, Caller, Open, RequestId
from api.errors import FieldProblem, RequestRejected
from api.reading import read_slice
from api.schemas.errors import errors
from api.schemas.evidence import EvidenceResponse

router = APIRouter(prefix="/api/v1", tags=["evidence"], dependencies=SECURITY)
_NAMES = ("c", "row", "col", "feature", "p")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_STYLE = "body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}blockquote{white-space:pre-wrap;overflow-wrap:anywhere}"


@router.get(
    "/evidence/{document_id}",
    response_model=None,
    responses={200: {"model": EvidenceResponse, "content": {"text/html": {}}}, **errors(401, 403, 404, 422, 503)},
)
async def evidence(
    request: Request,
    document_id: str,
    system: Open,
    caller: Caller,
    request_id: RequestId,
    c: Annotated[str | None, Query(description="characters, start-end", pattern=r"^\d{1,12}-\d{1,12}$")] = None,
    row: Annotated[int | None, Query(ge=0, le=2**31, description="data row, from 0")] = None,
    col: Annotated[str | None, Query(max_length=200, description="column, with row")] = None,
    feature: Annotated[str | None, Query(max_length=200, description="feature id")] = None,
    p: Annotated[int | None, Query(ge=1, le=1_000_000, description="page")] = None,
) -> Response:
    """The exact slice of the stored document, authorised anew, recorded in the ledger before it is sent."""
    locator = _locator(request, c=c, row=row, col=col, feature=feature, p=p)
    body = await read_slice(
        document_id, locator, subject=caller.subject, request_id=request_id, services=system.services
    )
    headers = {"vary": "accept, authorization, x-api-key", "cache-control": "no-store"}
    if _wants_page(request.headers.get("accept", "")):
        return HTMLResponse(_page(body), headers=headers | {"content-security-policy": _POLICY})
    return JSONResponse(body, headers=headers)


def _locator(request: Request, **given: Any) -> str:
    """The locator as the store reads it. Raises RequestRejected unless exactly one kind of place is given."""
    unknown = sorted(set(request.query_params) - set(_NAMES))
    kinds = [name for name in ("c", "row", "feature", "p") if given[name] is not None]
    if unknown or len(kinds) != 1 or (given["col"] is not None and kinds != ["row"]):
        problem = FieldProblem("query", "locator", "give one of c, row (with or without col), feature and p")
        raise RequestRejected("The locator is not valid.", [problem])
    return str(request.url.query)


def _wants_page(accept: str) -> bool:
    """Whether HTML is preferred over JSON: browsers name it first, programs do not name it."""
    kinds = [part.split(";")[0].strip().lower() for part in accept.split(",")]
    return "text/html" in kinds and (
        "application/json" not in kinds or kinds.index("text/html") < kinds.index("application/json")
    )


def _page(body: dict[str, Any]) -> str:
    facts = {
        "Collection": body["collection"],
        "Source": body["source_id"],
        "Licence": body["license"],
        "Attribution": body["attribution"],
        "Sensitivity": body["sensitivity"],
        "Digest of the document": body["document_sha256"],
        "Ledger entry": body["provenance"]["entry_id"],
    }
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in facts.items() if value is not None
    )
    measured = body["measurement"]
    stated = (
        ""
        if measured is None
        else f"<p>{escape(measured['place'])}: {escape(measured['value'])} {escape(measured['unit'])}</p>"
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(body["title"])}</title><style>{_STYLE}</style></head>'
        f"<body><main><h1>{escape(body['title'])}</h1>{stated}<blockquote>{escape(body['text'])}</blockquote><dl>{rows}</dl></main></body></html>"
    )
