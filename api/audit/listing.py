"""The record of a reading that lists items by id: which left, under which decisions, and the digest of the body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ai.answer.links import receipt_href
from ai.canonical import canonical, digest_of, to_json
from ai.model import AdmittedItem
from ai.record.recording import decisions_json
from ai.record.retrieval_record import Step, retrieval_prov
from ai.record.trace import traced
from ai.record.unchanged import record_reading
from api.audit.reauthorise import Reading
from ledger.model import EntryRef, Kind
from policy.model import Decision


async def record_listing(
    reading: Reading,
    items: Sequence[AdmittedItem],
    decisions: Sequence[Decision],
    *,
    asked: Mapping[str, Any],
    listed: str,
    body: bytes,
) -> dict[str, Any]:
    """Append the `retrieval` entry: what was asked, what was decided, the ids of what left, as `listed`, and the digest
    of the body; the items themselves are in documents that their ids name by content. Gives what the body says of the
    entry. Raises `LedgerUnavailable` and `CorpusChanged`: then nothing may leave."""
    access, services = reading.access, reading.services
    entry_id, now_ms = services.new_id(), services.clock_ms()
    answer = canonical(
        {
            "request_id": access.request.id,
            "surface": asked["surface"],
            listed: [item.evidence.record_id for item in items],
            "body": digest_of(body),
        }
    )
    by_document: dict[str, list[AdmittedItem]] = {}
    for item in items:
        by_document.setdefault(item.evidence.first.record.document_id, []).append(item)
    steps = (
        Step("policy_query", "QueryPoint", access.now_ms, access.now_ms),
        Step("evidence", "EvidencePoint", access.now_ms, now_ms),
    )
    parts = {
        "context": canonical(traced(asked)),
        "scope": canonical({"scope": to_json(reading.scope)}),
        "bundle": canonical({"items": [_named(item) for item in items]}),
        "policy.query": canonical(decisions_json([access.decision])),
        "policy.evidence": canonical(decisions_json(decisions)),
        "answer": answer,
        "prov": retrieval_prov(
            entry_id=entry_id,
            body=answer,
            items=[each[0] for each in by_document.values()],
            steps=steps,
            subject=access.subject,
            decision=access.decision,
            services=services,
        ),
    }
    sources = [
        canonical({"document_id": document_id, "records": [each.evidence.record_id for each in group]})
        for document_id, group in by_document.items()
    ]

    async def append(since: int | None) -> EntryRef:
        return await services.ledger.record(
            Kind.RETRIEVAL,
            tenant=access.subject.tenant,
            request_id=access.request.id,
            entry_id=entry_id,
            parts=parts,
            sources=sources,
            since=since,
        )

    await record_reading(access, services, append)
    receipt = receipt_href(entry_id)
    return {"request_id": access.request.id, "provenance": {"entry_id": entry_id, "receipt": receipt}}


def _named(item: AdmittedItem) -> dict[str, Any]:
    """The facts with which `api.audit.reauthorise` decides over the item again."""
    return {
        "index": item.index,
        "chunk_id": item.evidence.record_id,
        "computed": None,
        "metadata": {"duplicates": []},
    }
