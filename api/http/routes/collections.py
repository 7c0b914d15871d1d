"""`GET /api/v1/collections`: the collections that the caller may use."""

from __future__ import annotations

from fastapi import APIRouter

from api.audit.reauthorise import reading_of
from api.http.callers import SECURITY, Calling
from api.schemas.errors import errors
from api.schemas.evidence import CollectionsResponse, WireCollection

router = APIRouter(prefix="/api/v1", tags=["evidence"], dependencies=SECURITY)


@router.get("/collections", operation_id="listCollections", summary="List collections", responses=errors(401, 403, 503))
async def collections(call: Calling) -> CollectionsResponse:
    """Collections in which the caller may see something, by name; others are not listed, and answer as if they did
    not exist."""
    reading = await reading_of(call.caller.subject, request_id=call.request_id, services=call.system.services)
    usable = {each.collection for each in reading.classes}
    known = await call.system.services.store.collections(call.caller.subject.tenant)
    listed = sorted((each for each in known if each.name in usable), key=lambda each: each.name)
    return CollectionsResponse(
        collections=[WireCollection(collection_id=c.collection_id, name=c.name, title=c.title) for c in listed]
    )
