"""The envelope of every list of the registry, and its entry in the ledger.

The entry says who asked for what, what was decided, how many there were and how many were left out; it holds no title
and no name of what was listed, only the ids of the documents behind it and the digest of the body.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ai.answer.links import receipt_href
from ai.canonical import canonical, digest_of, to_json
from ai.case.case import Services
from ai.model import AdmittedItem
from ai.record.recording import decisions_json
from ai.record.retrieval_record import Step, retrieval_prov
from ai.record.trace import traced
from ai.record.unchanged import record_reading
from api.audit.reauthorise import Reading
from ledger.model import EntryRef, Kind
from policy.model import Decision, Subject
from retrieval.registry.assets.paging import Page, PageRequest

JsonObject = dict[str, Any]
DENIED = "POLICY_DENIED"
UNAVAILABLE = "POLICY_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something that the reader of a list has to know: a stable code and a sentence."""

    code: str
    message: str

    def to_json(self) -> JsonObject:
        """As it is sent."""
        return {"code": self.code, "message": self.message}


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of results as documents. `shown` are the items behind it, `matched` how many there were before the policy
    decided, `permission_ms` how long that took."""

    page: Page[Any]
    results: Sequence[JsonObject]
    shown: Sequence[AdmittedItem]
    decisions: Sequence[Decision]
    matched: int
    permission_ms: int
    diagnostics: Sequence[Diagnostic] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


class PermissionWatch:
    """How long policy took, in whole milliseconds: `with watch: ...`."""

    def __init__(self) -> None:
        self._spent_s = self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._spent_s += time.perf_counter() - self._started

    @property
    def ms(self) -> int:
        """The sum of all times."""
        return round(self._spent_s * 1000)


def denied_listing(wanted: PageRequest) -> Listing:
    """An empty list where the query point refused."""
    told = Diagnostic(DENIED, "Policy does not allow this query.")
    return Listing(Page((), 0, wanted.offset, None, None), (), (), (), 0, 0, (told,))


async def release(listing: Listing, asked: JsonObject, wanted: PageRequest, *, reading: Reading) -> JsonObject:
    """The envelope, recorded when this returns. Raises LedgerUnavailable and CorpusChanged: then nothing may
    leave."""
    entry_id, page = reading.services.new_id(), listing.page
    body = {
        "correlation_id": reading.access.request.id,
        "entry_id": entry_id,
        "receipt": receipt_href(entry_id),
        "success": reading.access.decision.allowed,
        "total_count": page.total,
        "returned_count": len(listing.results),
        "limit": wanted.limit,
        "offset": page.offset,
        "next_offset": page.next_offset,
        "next_cursor": page.next_cursor,
        "sort": {"by": wanted.sort_by, "order": wanted.order},
        "results": list(listing.results),
        "diagnostics": [each.to_json() for each in listing.diagnostics],
        **listing.more,
    }
    await _record(listing, asked, body, reading=reading)
    return body


async def _record(listing: Listing, asked: JsonObject, body: JsonObject, *, reading: Reading) -> None:
    access, services, total = reading.access, reading.services, listing.page.total
    answer = canonical(
        {
            "request_id": access.request.id,
            "surface": asked["surface"],
            "outcome": "LISTED" if access.decision.allowed else "DENY",
            "result_count": len(listing.results),
            "total_count": total,
            "body": digest_of(canonical(body)),
        }
    )
    audited = {"matched": listing.matched, "filtered": listing.matched - total, "permission_ms": listing.permission_ms}
    by_document: dict[str, AdmittedItem] = {}
    for item in listing.shown:
        by_document.setdefault(item.evidence.first.record.document_id, item)
    steps = (
        Step("policy_query", "QueryPoint", access.now_ms, access.now_ms),
        Step("evidence", "EvidencePoint", access.now_ms, services.clock_ms()),
    )
    parts = {
        "context": canonical(traced(asked)),
        "scope": canonical({"scope": to_json(reading.scope)}),
        "candidates": canonical({"registry": audited}),
        "policy.query": canonical(decisions_json([access.decision])),
        "policy.evidence": canonical(decisions_json(listing.decisions)),
        "answer": answer,
        "prov": retrieval_prov(
            entry_id=body["entry_id"],
            body=answer,
            items=_numbered(by_document.values()),
            steps=steps,
            subject=access.subject,
            decision=access.decision,
            services=services,
        ),
    }
    sources = [canonical({"document_id": document_id}) for document_id in by_document]

    async def append(since: int | None) -> EntryRef:
        return await services.ledger.record(
            Kind.RETRIEVAL,
            tenant=access.subject.tenant,
            request_id=access.request.id,
            entry_id=body["entry_id"],
            parts=parts,
            sources=sources,
            since=since,
        )

    await record_reading(access, services, append)


def _numbered(items: Collection[AdmittedItem]) -> list[AdmittedItem]:
    return [replace(item, index=n) for n, item in enumerate(items, 1)]


async def release_fault(
    asked: JsonObject, wanted: PageRequest, *, subject: Subject, request_id: str, services: Services
) -> JsonObject:
    """The empty envelope where policy cannot be asked, recorded when this returns."""
    entry_id = services.new_id()
    answer = {"request_id": request_id, "surface": asked["surface"], "outcome": "FAULT", "reason_codes": [UNAVAILABLE]}
    await services.ledger.record(
        Kind.RETRIEVAL,
        tenant=subject.tenant,
        request_id=request_id,
        entry_id=entry_id,
        parts={"context": canonical(traced({**asked, "subject": subject.id})), "answer": canonical(answer)},
    )
    return {
        "correlation_id": request_id,
        "entry_id": entry_id,
        "receipt": receipt_href(entry_id),
        "success": False,
        "total_count": 0,
        "returned_count": 0,
        "limit": wanted.limit,
        "offset": wanted.offset,
        "next_offset": None,
        "next_cursor": None,
        "sort": {"by": wanted.sort_by, "order": wanted.order},
        "results": [],
        "diagnostics": [Diagnostic(UNAVAILABLE, "Policy cannot be asked, so nothing is shown.").to_json()],
    }
