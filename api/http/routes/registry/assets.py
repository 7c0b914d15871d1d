"""`/api/v1/registry` (requirement 004): assets, the entities that they name, the relationships that they state, and
where these lead."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.responses import JSONResponse

from api.audit.reauthorise import Reading, reading_of
from api.audit.registry.assets import query_assets, read_asset
from api.audit.registry.entities import query_entities
from api.audit.registry.envelope import JsonObject, release_fault
from api.audit.registry.paths import query_paths
from api.audit.registry.relationships import query_relationships
from api.http.callers import SECURITY, Call, Calling
from api.http.promised import promised
from api.schemas.errors import errors
from api.schemas.registry.bodies import (
    AssetQueryResult,
    AssetRead,
    ContextEntityQueryResult,
    PathQueryResult,
    RelationshipQueryResult,
)
from api.schemas.registry.requests import (
    AssetQueryRequest,
    ContextEntityQueryRequest,
    PathQueryRequest,
    RelationshipQueryRequest,
)
from policy.errors import PolicyUnavailable
from retrieval.registry.assets.paging import PageRequest

router = APIRouter(prefix="/api/v1/registry", tags=["registry"], dependencies=SECURITY)
STATUSES = (400, 401, 403, 413, 415, 422, 500, 503)
SourceId = Annotated[str, Path(max_length=200, description="id of an asset", examples=["county-population"])]
_HEADERS = {"vary": "authorization, x-api-key", "cache-control": "no-store"}


@router.post(
    "/assets/query",
    operation_id="queryAssets",
    summary="Query assets",
    response_model=None,
    responses={200: {"model": AssetQueryResult}, **errors(*STATUSES)},
)
async def assets(body: AssetQueryRequest, call: Calling) -> JSONResponse:
    """Assets by filters and words, as the caller may see them; decided over one by one and recorded before they leave.
    Where policy cannot be asked or refuses, the page is empty and says so."""
    wanted = body.query()
    return await _told(call, lambda reading: query_assets(wanted, reading=reading), wanted.asked(), wanted.page)


@router.post(
    "/entities/query",
    operation_id="queryContextEntities",
    summary="Query contextual entities",
    response_model=None,
    responses={200: {"model": ContextEntityQueryResult}, **errors(*STATUSES)},
)
async def entities(body: ContextEntityQueryRequest, call: Calling) -> JSONResponse:
    """Contextual entities by type, name, reference and metadata, from the documents that the caller may see."""
    wanted = body.query()
    return await _told(call, lambda reading: query_entities(wanted, reading=reading), wanted.asked(), wanted.page)


@router.post(
    "/relationships/query",
    operation_id="queryRelationships",
    summary="Query relationships",
    response_model=None,
    responses={200: {"model": RelationshipQueryResult}, **errors(*STATUSES)},
)
async def relationships(body: RelationshipQueryRequest, call: Calling) -> JSONResponse:
    """Relationships by their ends, predicate, time and asset, each with the record that states it."""
    wanted = body.query()
    return await _told(call, lambda reading: query_relationships(wanted, reading=reading), wanted.asked(), wanted.page)


@router.post(
    "/paths/query",
    operation_id="queryPaths",
    summary="Walk over relationships",
    response_model=None,
    responses={200: {"model": PathQueryResult}, **errors(*STATUSES, 504)},
)
async def paths(body: PathQueryRequest, call: Calling) -> JSONResponse:
    """Entities that relationships lead to over several hops, ranked by a random walk, each with the best path to it.
    Only relationships that the caller may see are walked over."""
    wanted = body.query()
    return await _told(call, lambda reading: query_paths(wanted, reading=reading), wanted.asked(), wanted.page)


@router.get(
    "/assets/{asset_id}",
    operation_id="getAsset",
    summary="Read one asset",
    response_model=None,
    responses={200: {"model": AssetRead}, **errors(401, 403, 404, 422, 500, 503)},
)
async def asset(asset_id: SourceId, call: Calling) -> JSONResponse:
    """One asset with its entities and relationships. What may not be seen answers as if it did not exist."""
    return await _released(await read_asset(asset_id, reading=await _reading(call)), call)


async def _reading(call: Call) -> Reading:
    return await reading_of(
        call.caller.subject, request_id=call.request_id, services=call.system.services, recorded=True
    )


async def _told(
    call: Call, query: Callable[[Reading], Awaitable[JsonObject]], asked: dict[str, Any], page: PageRequest
) -> JSONResponse:
    """The envelope of a query; an empty one, recorded too, where policy cannot be asked."""
    try:
        body = await query(await _reading(call))
    except PolicyUnavailable:
        subject, services = call.caller.subject, call.system.services
        body = await release_fault(asked, page, subject=subject, request_id=call.request_id, services=services)
    return await _released(body, call)


async def _released(body: JsonObject, call: Call) -> JSONResponse:
    return JSONResponse(await promised(body, body["entry_id"], call.system.services), headers=_HEADERS)
