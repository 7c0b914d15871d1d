"""`/api/v1/ledger` as C2SP `tlog-tiles` has it: checkpoint, verifier keys and hash tiles for everyone, entry bundles
for who audits the log."""

from __future__ import annotations

import gzip
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from api.audit.entries.records import AUDIT
from api.errors import ActionForbidden, NoSuchThing
from api.http.callers import SECURITY, Call, Calling, Open
from api.schemas.errors import errors
from ledger.entry.leaf import parse_leaf
from ledger.errors import EntryNotFound, MalformedNote
from ledger.ledger import SYSTEM_TENANT, Ledger
from ledger.merkle.tiles import Tile, parse_bundle, parse_tile_path
from ledger.merkle.tree import MAX_SIZE

router = APIRouter(prefix="/api/v1/ledger", tags=["ledger"], dependencies=SECURITY)
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable"}
_NO_TILE = "There is no such tile."


@router.get(
    "/checkpoint",
    operation_id="getCheckpoint",
    summary="The latest checkpoint",
    response_class=PlainTextResponse,
    responses=errors(503),
)
async def checkpoint(system: Open) -> PlainTextResponse:
    """The latest signed checkpoint (C2SP `tlog-checkpoint`), with its cosignatures."""
    return PlainTextResponse((await system.services.ledger.latest_checkpoint()).text)


@router.get(
    "/checkpoints/{size}",
    operation_id="getCheckpointOfSize",
    summary="An earlier checkpoint",
    response_class=PlainTextResponse,
    responses=errors(404, 422, 503),
)
async def checkpoint_of(size: Annotated[int, Path(ge=0, le=MAX_SIZE)], system: Open) -> PlainTextResponse:
    """The checkpoint of exactly that size, such as the one that an entry had seen."""
    try:
        found = await system.services.ledger.checkpoint_of(size)
    except EntryNotFound:
        raise NoSuchThing("No checkpoint of that size was signed.") from None
    return PlainTextResponse(found.text)


@router.get("/vkey", operation_id="getVerifierKey", summary="The verifier key", response_class=PlainTextResponse)
async def vkey(system: Open) -> PlainTextResponse:
    """The verifier key that signs now (C2SP `signed-note`)."""
    return PlainTextResponse(system.services.ledger.vkey + "\n")


@router.get("/vkeys", operation_id="listVerifierKeys", summary="All verifier keys", response_class=PlainTextResponse)
async def vkeys(system: Open) -> PlainTextResponse:
    """Every verifier key that has signed, oldest first, one a line."""
    return PlainTextResponse("".join(f"{each}\n" for each in system.services.ledger.vkeys))


@router.get(
    "/tile/entries/{path:path}",
    operation_id="getEntryBundle",
    summary="An entry bundle",
    response_model=None,
    responses=errors(401, 403, 404, 422, 503),
)
async def entries(path: str, call: Calling, request: Request) -> Response:
    """An entry bundle: the bytes of up to 256 leaves. Needs `ledger.audit` in the tenant `exhibit.system`, or in the
    one tenant that all of them are of."""
    call.caller.require(AUDIT)
    tile, ledger = _tile(f"tile/entries/{path}"), call.system.services.ledger
    data = await _read(ledger, f"tile/entries/{path}")
    _require_log_auditor(call, parse_bundle(data, width=tile.width))
    headers = {"cache-control": "private, max-age=31536000, immutable", "vary": "accept-encoding, authorization"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        data, headers["content-encoding"] = gzip.compress(data, 1, mtime=0), "gzip"
    return Response(data, media_type="application/octet-stream", headers=headers)


@router.get(
    "/tile/{path:path}",
    operation_id="getTile",
    summary="A hash tile",
    response_model=None,
    responses=errors(404, 422, 503),
)
async def tile(path: str, system: Open) -> Response:
    """A tile of up to 256 hashes, full or partial, as far as the latest checkpoint reaches."""
    _tile(f"tile/{path}")
    data = await _read(system.services.ledger, f"tile/{path}")
    return Response(data, media_type="application/octet-stream", headers=_FOR_EVER)


def _tile(path: str) -> Tile:
    try:
        return parse_tile_path(path)
    except MalformedNote:
        raise NoSuchThing(_NO_TILE) from None


async def _read(ledger: Ledger, path: str) -> bytes:
    try:
        return await ledger.tile(path)
    except EntryNotFound:
        raise NoSuchThing(_NO_TILE) from None


def _require_log_auditor(call: Call, leaves: tuple[bytes, ...]) -> None:
    """Leaves of other tenants show when and how often they ask: only who audits the log as a whole sees those."""
    ledger, tenant = call.system.services.ledger, call.caller.subject.tenant
    mine = {ledger.pseudonym("tenant", each) for each in (tenant, SYSTEM_TENANT)}
    if tenant != SYSTEM_TENANT and not {parse_leaf(leaf).tenant for leaf in leaves} <= mine:
        raise ActionForbidden(f"This needs the capability {AUDIT} in the tenant {SYSTEM_TENANT}.")
