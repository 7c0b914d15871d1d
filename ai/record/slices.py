"""One slice of a document: admitted, shown, recorded, and made again from its record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai.answer.links import receipt_href
from ai.answer.render import locator_json, spans_json
from ai.answer.shapes import EvidenceBody, WireMeasurement
from ai.canonical import canonical, from_json, to_json
from ai.case.case import Services
from ai.governance.admission import Access, Admission, admit
from ai.governance.scoping import NO_PROMPT
from ai.model import AdmittedItem
from ai.record.recording import decisions_json
from ai.record.retrieval_record import SLICE, Step, retrieval_prov
from ai.record.trace import traced
from ai.record.unchanged import record_reading
from ledger.model import EntryRef, Kind
from policy.model import ClassFacts, Decision, RequestFacts, Subject
from retrieval.model import ChannelName, ChannelRank, Evidence, EvidenceBundle, Record, RecordKind, SourcedRecord
from retrieval.registry.store import Slice
from retrieval.scope import Scope


async def admit_slice(found: Slice, locator: str, *, access: Access, services: Services) -> Admission:
    """The evidence point over the slice; without items where it may not be shown."""
    return await admit(EvidenceBundle((_evidence(found, locator),)), access=access, services=services)


async def record_slice(
    found: Slice,
    admission: Admission,
    *,
    document_id: str,
    locator: str,
    access: Access,
    scope: Scope,
    steps: Sequence[Step],
    services: Services,
) -> EvidenceBody:
    """Append the `retrieval` entry of an admitted slice; returns the body that may now leave. Raises
    `LedgerUnavailable` and `CorpusChanged`: then nothing may."""
    entry_id, (item,) = services.new_id(), admission.items
    asked = {"surface": "evidence", "document_id": document_id, "locator": locator}
    body = _body(found, item, request_id=access.request.id, entry_id=entry_id)
    parts = _parts(access, admission, body)
    inputs = {
        "v": SLICE,
        "software": services.software,
        "now_ms": access.now_ms,
        "request_id": access.request.id,
        "subject": to_json(access.subject),
        "asked": asked,
        "slice": to_json(found),
    }
    prov = retrieval_prov(
        entry_id=entry_id,
        body=parts["answer"],
        items=[item],
        steps=steps,
        subject=access.subject,
        decision=admission.decisions[-1],
        services=services,
    )
    parts |= {"context": canonical(traced(asked)), "scope": canonical({"scope": to_json(scope)}), "prov": prov}

    async def append(since: int | None) -> EntryRef:
        return await services.ledger.record(
            Kind.RETRIEVAL,
            tenant=access.subject.tenant,
            request_id=access.request.id,
            entry_id=entry_id,
            parts=parts | {"replay": canonical(inputs)},
            sources=[_source(document_id, item)],
            since=since,
        )

    await record_reading(access, services, append)
    return body


@dataclass(frozen=True, slots=True)
class SliceAgain:
    """A slice made again: its parts, and what its source and provenance are made from; `item` None where it is not
    admitted, and then there is no body."""

    parts: Mapping[str, bytes]
    subject: Subject
    decided: Decision
    item: AdmittedItem | None = None
    source: bytes = b""


async def slice_again(parts: Mapping[str, bytes], services: Services) -> SliceAgain:
    """The query point over the recorded classes, the evidence point over the recorded slice, and the body."""
    recorded, decided = json.loads(parts["replay"]), json.loads(parts["policy.query"])[0]["input"]
    now_ms, found = recorded["now_ms"], from_json(recorded["slice"], Slice)
    subject, request = from_json(recorded["subject"], Subject), RequestFacts(id=recorded["request_id"])
    decision = await services.points(now_ms).query(
        request=request,
        subject=subject,
        prompt=NO_PROMPT,
        classes=[from_json(each, ClassFacts) for each in decided["classes"]],
    )
    access = Access(subject, request, NO_PROMPT, decision, now_ms)
    admission = await admit_slice(found, recorded["asked"]["locator"], access=access, services=services)
    if not admission.items:
        return SliceAgain(_parts(access, admission, None), subject, decision)
    (item,) = admission.items
    entry_id = json.loads(parts["answer"])["provenance"]["entry_id"]
    made = _parts(access, admission, _body(found, item, request_id=request.id, entry_id=entry_id))
    source = _source(recorded["asked"]["document_id"], item)
    return SliceAgain(made, subject, admission.decisions[-1], item, source)


def _source(document_id: str, item: AdmittedItem) -> bytes:
    return canonical({"document_id": document_id, "text": item.text})


def _parts(access: Access, admission: Admission, body: EvidenceBody | None) -> dict[str, bytes]:
    parts = {
        "policy.query": canonical(decisions_json([access.decision])),
        "policy.evidence": canonical(decisions_json(admission.decisions)),
    }
    return parts if body is None else parts | {"answer": canonical(body)}


def _evidence(found: Slice, locator: str) -> Evidence:
    facts = found.facts
    record = Record(
        record_id=f"slice:{facts.document_id}?{locator}",
        kind=RecordKind.PASSAGE
        if found.locator.row is None and found.locator.feature is None
        else RecordKind.OBSERVATION,
        document_id=facts.document_id,
        source_id=facts.source_id,
        class_id=facts.visibility.class_id,
        ordinal=0,
        text=found.text,
        locator=found.locator,
    )
    rank = ChannelRank(ChannelName.FULLTEXT, "record", 1, 0.0)
    return Evidence(1, record.record_id, (SourcedRecord(record, facts),), (rank,), 0.0)


def _body(found: Slice, item: AdmittedItem, *, request_id: str, entry_id: str) -> EvidenceBody:
    """The body of `/evidence`: the words as they may be shown; cell and measurement only where nothing is withheld."""
    facts = item.evidence.first.source
    whole = not item.redacted
    return {
        "request_id": request_id,
        "document_id": facts.document_id,
        "source_id": facts.source_id,
        "title": facts.title,
        "collection": facts.collection,
        "license": facts.license,
        "attribution": facts.attribution,
        "uri": facts.uri,
        "sensitivity": facts.visibility.label,
        "document_sha256": facts.document_sha256,
        "locator": locator_json(item.evidence.first.record.locator),
        "text": item.text,
        "redacted": spans_json(item.redacted),
        "cell": found.cell if whole else None,
        "measurement": _measurement(found) if whole else None,
        "provenance": {"entry_id": entry_id, "receipt": receipt_href(entry_id)},
    }


def _measurement(found: Slice) -> WireMeasurement | None:
    measured = found.measurement
    if measured is None:
        return None
    return {
        "place": measured.place.name,
        "place_id": measured.place.entity_id,
        "measure": measured.measure,
        "value": measured.value,
        "unit": measured.unit,
        "time_range": {"start": measured.time.start.isoformat(), "end": measured.time.end.isoformat()},
    }
