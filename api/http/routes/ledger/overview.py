"""`/api/v1/ledger` as a whole, for auditors: what there is to search for, and how the log is."""

from __future__ import annotations

import asyncio
import csv
import io
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from api.audit.entries.export import plain_cell
from api.audit.entries.records import AUDIT
from api.audit.log.facets import named_counts
from api.audit.log.health import LogHealth, log_health
from api.audit.log.search import EntrySearch
from api.audit.reauthorise import reading_of
from api.http.callers import SECURITY, Calling
from api.schemas.errors import errors
from api.schemas.ledger.search import FacetFilters, FacetsResponse, LogHealthResponse
from api.wiring import open_entry_index, trust_policy
from ledger.search.entry_index import EntryCounts

router = APIRouter(prefix="/api/v1/ledger", tags=["ledger"], dependencies=SECURITY)
_FACET_VALUES = 50


@router.get(
    "/facets",
    operation_id="countEntries",
    summary="Count what a search finds",
    response_model=FacetsResponse,
    responses=errors(401, 403, 422, 503),
)
async def facets(call: Calling, filters: Annotated[FacetFilters, Query()]) -> FacetsResponse | Response:
    """How many of the tenant's entries match, by kind, outcome, rule or reason code, model, source admitted or cited,
    place, who asked (as a pseudonym) and day; each value narrows a search of entries. Sources and places are those that
    the caller may see. `format` gives the counts as CSV. Needs `ledger.audit`."""
    call.caller.require(AUDIT)
    services, subject = call.system.services, call.caller.subject
    ledger = services.ledger
    async with open_entry_index(call.system.configuration, origin=ledger.origin) as index:
        counts, complete = await EntrySearch(ledger, index).counts(filters.wanted(subject.tenant))
    reading = await reading_of(subject, request_id=call.request_id, services=services)
    counts = await named_counts(counts, reading=reading, ledger=ledger)
    if filters.format == "csv":
        return Response(_csv(counts), media_type="text/csv; charset=utf-8; header=present")
    shown = [
        {"name": name, "values": [{"value": value, "count": count} for value, count in values[:_FACET_VALUES]]}
        for name, values in counts.values.items()
    ]
    return FacetsResponse.model_validate({"entries": counts.entries, "complete": complete, "facets": shown})


@router.get("/health", operation_id="getLogHealth", summary="The health of the log", responses=errors(401, 403, 503))
async def health(call: Calling) -> LogHealthResponse:
    """The log's latest checkpoint, the witnesses that cosigned, what is unsigned, and the tenant's requests without an
    outcome, as far as it is known without reading the whole log. Needs `ledger.audit`."""
    call.caller.require(AUDIT)
    services, configuration = call.system.services, call.system.configuration
    async with open_entry_index(configuration, origin=services.ledger.origin) as index:
        indexed = await index.position()
    found = await log_health(
        services.ledger,
        tenant=call.caller.subject.tenant,
        policy=await asyncio.to_thread(trust_policy, configuration.settings),
        at_ms=services.clock_ms(),
    )
    return _document(found, indexed)


def _document(found: LogHealth, indexed: int) -> LogHealthResponse:
    checkpoint = found.checkpoint
    told = {
        "origin": found.origin,
        "at_ms": found.at_ms,
        "entries": found.entries,
        "indexed": indexed,
        "checkpoint": checkpoint
        and {"size": checkpoint.head.size, "root": checkpoint.head.root.hex(), "newest_ms": found.newest_ms},
        "unsigned": found.unsigned,
        "unsigned_since_ms": found.unsigned_since_ms,
        "witnesses": [
            {"name": each.name, "key": each.key, "size": each.size, "cosigned_ms": each.cosigned_ms}
            for each in found.witnesses
        ],
        "quorum": found.quorum,
        "open_requests": [{"entry_id": each.leaf.entry_id, "t_ms": each.leaf.t_ms} for each in found.open],
        "gaps": list(found.gaps),
    }
    return LogHealthResponse.model_validate(told)


def _csv(counts: EntryCounts) -> str:
    """Every value with its count as a table (RFC 4180)."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("facet", "value", "count"))
    for name, values in counts.values.items():
        writer.writerows((name, plain_cell(value), count) for value, count in values)
    return text.getvalue()
