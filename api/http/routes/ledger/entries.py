"""`/api/v1/ledger`: entries, receipts, provenance and parts for those who may read them."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from api.audit.entries.contents import with_contents
from api.audit.entries.export import csv_text, damaged_json, found_json, ndjson
from api.audit.entries.records import AUDIT, Reader, entry_json
from api.audit.log.search import EntrySearch
from api.errors import ActionForbidden
from api.http.callers import SECURITY, Call, Calling
from api.schemas.errors import errors
from api.schemas.evidence import ChangedEntry, EntriesResponse, EntryResponse, FoundEntry
from api.schemas.ledger.search import EntryFilters
from api.web.answer_package import package_of
from api.wiring import open_entry_index
from ledger.merkle.tree import MAX_SIZE
from ledger.model import DamagedEntry, Entry, Kind
from ledger.provenance.document import prov_jsonld, prov_n
from ledger.search.entry_index import EntryFacts

router = APIRouter(prefix="/api/v1/ledger", tags=["ledger"], dependencies=SECURITY)
PartName = Annotated[str, Field(pattern=r"^[a-z.]{1,32}(/[1-9][0-9]{0,5})?$")]


@router.get(
    "/entries",
    operation_id="listEntries",
    summary="List or search ledger entries",
    response_model=EntriesResponse,
    responses=errors(401, 403, 422, 503),
)
async def entries(call: Calling, filters: Annotated[EntryFilters, Query()]) -> EntriesResponse | Response:
    """The tenant's entries by index, all or those that the filters name. `format` gives the page as CSV or as one JSON
    document a line; its `Link` header then leads to the next page. Needs `ledger.audit`."""
    call.caller.require(AUDIT)
    found, cursor = await _page(call, filters)
    if filters.format == "json":
        whole = [FoundEntry.model_validate(each) for each in found if "kind" in each]
        broken = [ChangedEntry.model_validate(each) for each in found if "kind" not in each]
        return EntriesResponse(entries=whole, damaged=broken, next=cursor)
    headers: dict[str, str] = {}
    if cursor is not None:
        following = filters.model_copy(update={"after": cursor}).model_dump(mode="json", exclude_unset=True)
        headers["link"] = (
            f'<{router.prefix}/entries?{urlencode(following | {"after": cursor}, doseq=True)}>; rel="next"'
        )
    if filters.format == "csv":
        table = csv_text(found, summary=filters.summary, parts=filters.parts)
        return Response(table, media_type="text/csv; charset=utf-8; header=present", headers=headers)
    return Response(ndjson(found), media_type="application/x-ndjson", headers=headers)


async def _page(call: Call, filters: EntryFilters) -> tuple[list[dict[str, Any]], int | None]:
    """One page as documents, and the cursor of the next one."""
    found, cursor = await _entries(call, filters)
    ledger = call.system.services.ledger
    documents = [
        damaged_json(entry)
        if isinstance(entry, DamagedEntry)
        else await with_contents(found_json(entry, facts), entry, ledger, summary=filters.summary, parts=filters.parts)
        for entry, facts in found
    ]
    return documents, cursor


async def _entries(
    call: Call, filters: EntryFilters
) -> tuple[list[tuple[Entry | DamagedEntry, EntryFacts | None]], int | None]:
    ledger, tenant = call.system.services.ledger, call.caller.subject.tenant
    if filters.searches:
        async with open_entry_index(call.system.configuration, origin=ledger.origin) as index:
            page = await EntrySearch(ledger, index).page(
                filters.wanted(tenant), after=filters.after, limit=filters.limit
            )
        return [*page.found], page.next
    kind = None if filters.kind is None else Kind(filters.kind)
    found = await ledger.listed(after=filters.after, limit=filters.limit, kind=kind, tenant=tenant)
    return [(each, None) for each in found], found[-1].index if len(found) == filters.limit else None


@router.get(
    "/entries/{entry_id}",
    operation_id="getEntry",
    summary="Read a ledger entry",
    responses=errors(401, 403, 404, 422, 503),
)
async def entry(entry_id: str, call: Calling) -> EntryResponse:
    """One entry: own ones, or any of the tenant with `ledger.audit`."""
    found = await _reader(call).entry(entry_id)
    return EntryResponse.model_validate(entry_json(found))


@router.delete("/entries/{entry_id}", include_in_schema=False, response_model=None)
async def erase(entry_id: str, call: Calling) -> Response:
    """Always 403: who serves requests holds no right to delete (ADR 0025). It tells an auditor what does erase."""
    call.caller.require(AUDIT)
    raise ActionForbidden(
        "Nothing is erased over HTTP. Who operates the log runs: exhibit ledger redact --entry ID --basis GROUND"
    )


@router.get(
    "/entries/{entry_id}/receipt",
    operation_id="getReceipt",
    summary="Read a receipt",
    response_class=PlainTextResponse,
    responses=errors(401, 403, 404, 422, 503),
)
async def receipt(
    entry_id: str,
    call: Calling,
    disclose: Annotated[
        list[PartName] | None, Query(max_length=64, description="only these parts or sources, such as sources/2")
    ] = None,
    size: Annotated[
        int | None,
        Query(ge=1, le=MAX_SIZE, description="against the checkpoint of this size; default: the first", examples=[12]),
    ] = None,
) -> PlainTextResponse:
    """The receipt (C2SP `tlog-proof`), which verifies offline against the log's key. It discloses question or answer
    and the cited sources, or what `disclose` names of what the caller may read."""
    text = await _reader(call).receipt(entry_id, disclose=disclose, size=size)
    return PlainTextResponse(text)


@router.get(
    "/entries/{entry_id}/package",
    operation_id="getPackage",
    summary="Read a grounded answer as one file",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}}, **errors(401, 403, 404, 422, 503)},
)
async def package(entry_id: str, call: Calling) -> Response:
    """The grounded answer as one file (zip): answer, quotes, sources, receipts, a page that verifies them offline, and
    with `ledger.audit` also bundle, decisions and provenance. The same entry at the same checkpoint has the same bytes;
    `exhibit ledger package --check` makes it again from its receipts."""
    entry, parts, asked = await _reader(call).packaged(entry_id)
    data = await package_of(entry, call.system.services.ledger, parts=parts, asked=asked)
    name = f'attachment; filename="exhibit-{entry.leaf.entry_id}.zip"'
    return Response(data, media_type="application/zip", headers={"content-disposition": name})


@router.get(
    "/entries/{entry_id}/prov",
    operation_id="getProvenance",
    summary="Read a provenance document",
    response_model=None,
    responses=errors(401, 403, 404, 422, 503),
)
async def prov(
    entry_id: str,
    call: Calling,
    form: Annotated[Literal["json", "provn", "jsonld"], Query(alias="format", description="W3C notation")] = "json",
) -> Response:
    """The provenance document (W3C PROV-JSON, as recorded; PROV-N and JSON-LD are made of it). Needs `ledger.audit`."""
    data = await _reader(call).part(entry_id, "prov")
    if form == "json":
        return Response(data, media_type="application/json")
    if form == "provn":
        return Response(prov_n(data), media_type="text/provenance-notation; charset=utf-8")
    return Response(prov_jsonld(data), media_type="application/ld+json")


@router.get(
    "/entries/{entry_id}/parts/{name:path}",
    operation_id="getPart",
    summary="Read a recorded part",
    response_model=None,
    responses=errors(401, 403, 404, 422, 503),
)
async def part(entry_id: str, name: str, call: Calling) -> Response:
    """One part as recorded: question, answer and cited sources of own entries; everything with `ledger.audit`."""
    data = await _reader(call).part(entry_id, name)
    kind = "text/plain; charset=utf-8" if name == "question" else "application/json"
    return Response(data, media_type=kind)


def _reader(call: Call) -> Reader:
    return Reader(call.caller, call.request_id, call.system.services)
