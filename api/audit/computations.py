"""The computation behind a citation, as its answer recorded it, with the rows that it was made from as their reader may
see them today."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ai.answer.links import computation_href
from ai.answer.render import spans_json
from ai.canonical import canonical
from ai.model import AdmittedItem
from ai.replay.case import comes_to
from api.audit.entries.records import Reader
from api.audit.listing import record_listing
from api.audit.reauthorise import Reading, reading_of
from api.errors import NoSuchThing
from retrieval.model import Evidence, SourcedRecord

SURFACE = "computation"
_ABSENT = "There is no such computation."
_CHECK = (
    "The statement is a function of the operation, its parameters and the rows alone. `recomputed` says what it comes "
    "to today; `exhibit replay {entry_id}` computes it from the rows as they were recorded, and the receipt of the "
    "entry proves that they were."
)
Recomputed = Literal["same", "other", "not_possible"]


async def read_computation(entry_id: str, n: int, *, reader: Reader, after: int, limit: int) -> dict[str, Any]:
    """The computation of source `n` of a recorded answer, with `limit` rows after the first `after`; recorded when this
    returns. Raises NoSuchThing, alike for what is absent, not the caller's, not computed or no longer admitted."""
    computed = _computed(await reader.part(entry_id, "answer"), n)
    reading = await reading_of(reader.principal.subject, request_id=reader.request_id, services=reader.services)
    links = {each["chunk_id"]: str(each["href"]) for each in computed["inputs"]}
    ids = list(links)
    store = reader.services.store
    held = await store.fetch(ids, scope=reading.scope.with_aggregated)
    shown = ids[after : after + limit]
    seen = [held[id] for id in shown if id in held and held[id].record.class_id in reading.scope.class_ids]
    admission = await reading.admit([_evidence(i, each) for i, each in enumerate(seen, 1)])
    rows = {item.evidence.first.record.record_id: item for item in admission.items}
    more = after + limit < len(ids)
    body: dict[str, Any] = {
        "entry_id": entry_id,
        "n": n,
        "operation": computed["operation"],
        "parameters": computed["parameters"],
        "result": computed["result"],
        "statement": computed["statement"],
        "input_digest": computed["input_digest"],
        "inputs": [_row(id, links[id], rows.get(id)) for id in shown],
        "inputs_total": len(ids),
        "next": f"{computation_href(entry_id, n)}?after={after + limit}&limit={limit}" if more else None,
        "recomputed": _again(computed, [held[id] for id in ids if id in held]),
        "check": _CHECK.format(entry_id=entry_id),
    }
    asked = {"surface": SURFACE, "entry_id": entry_id, "n": n, "after": after, "limit": limit}
    return body | await _recorded(reading, admission.items, admission.decisions, asked, body)


def _computed(answer: bytes, n: int) -> Mapping[str, Any]:
    body = json.loads(answer) if answer else {}
    listed = body.get("evidence", ()) if isinstance(body, Mapping) else ()
    found = next((each["computed"] for each in listed if each.get("index") == n and each.get("computed")), None)
    if found is None:
        raise NoSuchThing(_ABSENT)
    return dict(found)


def _evidence(index: int, sourced: SourcedRecord) -> Evidence:
    """A row as the evidence point is asked about it."""
    return Evidence(index, sourced.record.record_id, (sourced,), (), 0.0)


def _row(record_id: str, href: str, row: AdmittedItem | None) -> dict[str, Any]:
    """A row in its own words; without them where only the figure over many may be told."""
    first = None if row is None else row.evidence.first
    return {
        "chunk_id": record_id,
        "href": href,
        "title": None if first is None else first.source.title,
        "text": None if row is None else row.text,
        "statement": None if row is None else row.statement,
        "redacted": [] if row is None else spans_json(row.redacted),
    }


def _again(computed: Mapping[str, Any], records: Sequence[SourcedRecord]) -> Recomputed:
    if len(records) != len(computed["inputs"]):
        return "not_possible"
    same = comes_to(computed, [each.record for each in records])
    return "not_possible" if same is None else "same" if same else "other"


async def _recorded(
    reading: Reading,
    items: Sequence[AdmittedItem],
    decisions: Sequence[Any],
    asked: Mapping[str, Any],
    body: Mapping[str, Any],
) -> dict[str, Any]:
    return await record_listing(reading, items, decisions, asked=asked, listed="rows", body=canonical(body))
