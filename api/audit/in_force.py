"""The entry that says that a change of what a tenant holds is in force: from it on no reply is recorded that rests on
what the change took away (`ai.record.unchanged`)."""

from __future__ import annotations

from api.wiring import new_id
from ledger.canonical import canonical_json
from ledger.ledger import Ledger
from ledger.model import EntryRef, Kind

MADE_VERSION = "exhibit.source.made/1"


async def record_made(ledger: Ledger, tenant: str, source_id: str, *, ordered: str | None) -> EntryRef:
    """Record that a change is in force, whether it took anything away or not; `ordered` is the entry that ordered it.
    Raises LedgerUnavailable."""
    detail = canonical_json({"v": MADE_VERSION, "source_id": source_id, "ordered": ordered})
    return await ledger.record(Kind.CONFIG, tenant=tenant, request_id=new_id(), parts={"detail": detail})
