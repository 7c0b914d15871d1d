"""`/api/v1/ledger`: entries, receipts, provenance and parts for those who may read them; checkpoint and verifier key
for everyone."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import PlainTextResponse, Response

from api.callers import SECURITY, Call, Calling, Open
from api.records import AUDIT, Reader, entry_json
from api.schemas.errors import errors
from api.schemas.evidence import EntriesResponse, EntryResponse
from ledger.model import Kind

router = APIRouter(prefix="/api/v1/ledger", tags=["ledger"], dependencies=SECURITY)
KindName = Literal["intent", "outcome", "retrieval", "redaction", "key", "config", "incident"]
_NO_STORE = {"cache-control": "no-store"}


@router.get("/entries", responses=errors(401, 403, 422, 503))
async def entries(
    call: Calling,
    after: Annotated[int, Query(ge=-1, le=2**62, description="cursor: entries above this index")] = -1,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    kind: KindName | None = None,
) -> EntriesResponse:
    """The tenant's entries by index. Needs `ledger.audit`."""
    call.caller.require(AUDIT)
    found = await call.system.services.ledger.entries(
        after=after, limit=limit, kind=None if kind is None else Kind(kind), tenant=call.caller.subject.tenant
    )
    listed = [EntryResponse.model_validate(entry_json(entry)) for entry in found]
    return EntriesResponse(entries=listed, next=found[-1].index if len(found) == limit else None)


@router.get("/entries/{entry_id}", responses=errors(401, 403, 404, 422, 503))
async def entry(entry_id: str, call: Calling) -> EntryResponse:
    """One entry: own ones, or any of the tenant with `ledger.audit`."""
    found = await _reader(call).entry(entry_id)
    return EntryResponse.model_validate(entry_json(found))


@router.get("/entries/{entry_id}/receipt", response_class=PlainTextResponse, responses=errors(401, 403, 404, 422, 503))
async def receipt(entry_id: str, call: Calling) -> PlainTextResponse:
    """The receipt (C2SP `tlog-proof`), which verifies offline against the log's key."""
    text = await _reader(call).receipt(entry_id)
    return PlainTextResponse(text, headers=_NO_STORE)


@router.get("/entries/{entry_id}/prov", response_model=None, responses=errors(401, 403, 404, 422, 503))
async def prov(entry_id: str, call: Calling) -> Response:
    """The provenance document (W3C PROV-JSON). Needs `ledger.audit`."""
    data = await _reader(call).part(entry_id, "prov")
    return Response(data, media_type="application/json", headers=_NO_STORE)


@router.get("/entries/{entry_id}/parts/{name:path}", response_model=None, responses=errors(401, 403, 404, 422, 503))
async def part(entry_id: str, name: str, call: Calling) -> Response:
    """One part as recorded: question, answer and cited sources of own entries; everything with `ledger.audit`."""
    data = await _reader(call).part(entry_id, name)
    kind = "text/plain; charset=utf-8" if name == "question" else "application/json"
    return Response(data, media_type=kind, headers=_NO_STORE)


@router.get("/checkpoint", response_class=PlainTextResponse, responses=errors(503))
async def checkpoint(system: Open) -> PlainTextResponse:
    """The signed checkpoint of the log's head (C2SP `tlog-checkpoint`)."""
    return PlainTextResponse(await system.services.ledger.checkpoint(), headers=_NO_STORE)


@router.get("/vkey", response_class=PlainTextResponse)
async def vkey(system: Open) -> PlainTextResponse:
    """The log's verifier key (C2SP `signed-note`)."""
    return PlainTextResponse(system.services.ledger.vkey + "\n")


def _reader(call: Call) -> Reader:
    return Reader(call.caller, call.request_id, call.system.services)
