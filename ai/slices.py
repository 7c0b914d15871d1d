"""One slice of a document, as evidence and as the body that shows it."""

from __future__ import annotations

from typing import Any

from ai.model import AdmittedItem
from ai.render import locator_json
from retrieval.model import ChannelName, ChannelRank, Evidence, Record, RecordKind, SourcedRecord
from retrieval.registry.store import Slice


def slice_evidence(found: Slice, locator: str) -> Evidence:
    """The slice as the evidence point is asked about it."""
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


def slice_body(found: Slice, item: AdmittedItem, *, request_id: str, entry_id: str) -> dict[str, Any]:
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
        "redacted": [{"start": span.start, "end": span.end, "kind": span.kind} for span in item.redacted],
        "cell": found.cell if whole else None,
        "measurement": _measurement(found) if whole else None,
        "provenance": {"entry_id": entry_id, "receipt": f"/api/v1/ledger/entries/{entry_id}/receipt"},
    }


def _measurement(found: Slice) -> dict[str, Any] | None:
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
