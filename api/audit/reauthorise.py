"""Reading outside a question: what a subject may see now, one slice of a document, and whether a recorded answer may
still be shown.

Every read passes the query point (which classes) and the evidence point (which items, under which obligations), on
today's facts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ai.answer.places import shape_evidence
from ai.answer.rows import row_evidence
from ai.answer.shapes import EvidenceBody
from ai.canonical import to_json
from ai.case.case import Services
from ai.governance.admission import Access, Admission, Began, admit
from ai.governance.scoping import NO_PROMPT, class_facts
from ai.governance.shapes import open_classes, shaped_scope
from ai.record.retrieval_record import Step
from ai.record.slices import admit_slice, record_slice
from api.errors import NoSuchThing
from policy.model import RequestFacts, Subject
from retrieval.errors import RecordNotFound
from retrieval.model import Computation, Evidence, EvidenceBundle, SourcedRecord
from retrieval.registry.store import Slice
from retrieval.scope import Scope, VisibilityClass

_ABSENT = "There is no such evidence."


@dataclass(frozen=True, slots=True)
class Reading:
    """The reading rights of a subject at one moment: the access that the query point gave, and the classes that it
    admits."""

    access: Access
    classes: tuple[VisibilityClass, ...]
    services: Services

    @property
    def scope(self) -> Scope:
        """The classes as a scope, each in the form in which the subject may see it; empty after a denial."""
        data = self.services.points(self.access.now_ms).data
        return shaped_scope(self.classes, subject=self.access.subject, data=data)

    async def admit(self, items: Sequence[Evidence]) -> Admission:
        """Ask the evidence point about items that were found inside the scope, and carry out its obligations."""
        return await admit(EvidenceBundle(tuple(items)), access=self.access, services=self.services)

    async def slice(self, document_id: str, locator: str) -> tuple[Slice, Admission]:
        """One slice of a document as it may be shown. Raises NoSuchThing, with one text whatever the reason is."""
        if not self.classes:
            raise NoSuchThing(_ABSENT)
        try:
            found = await self.services.store.resolve(document_id, locator, scope=self.scope)
        except RecordNotFound:
            raise NoSuchThing(_ABSENT) from None
        admission = await admit_slice(found, locator, access=self.access, services=self.services)
        if not admission.items:
            raise NoSuchThing(_ABSENT)
        return found, admission


async def reading_of(subject: Subject, *, request_id: str, services: Services, recorded: bool = False) -> Reading:
    """Ask the query point. A denial admits no class. What is `recorded` is refused once a change has overtaken it
    (`ai.record.unchanged`). Raises PolicyUnavailable, StoreUnavailable, and LedgerUnavailable for what is recorded."""
    now_ms = services.clock_ms()
    log_size = await services.ledger.size() if recorded else None
    request = RequestFacts(id=request_id)
    points = services.points(now_ms)
    held = await services.store.holdings(subject.tenant)
    known = open_classes(held, subject=subject, data=points.data, now_ms=now_ms)
    decision = await points.query(request=request, subject=subject, prompt=NO_PROMPT, classes=class_facts(known))
    admitted = set(decision.classes) if decision.allowed else set()
    classes = tuple(each for each in known if each.class_id in admitted)
    began = None if log_size is None else Began(log_size, held.corpus_version)
    return Reading(Access(subject, request, NO_PROMPT, decision, now_ms, began=began), classes, services)


async def read_slice(
    document_id: str, locator: str, *, subject: Subject, request_id: str, services: Services
) -> EvidenceBody:
    """One slice of a document, recorded in the ledger before it is returned. Raises NoSuchThing, alike for what is
    absent and what is not admitted."""
    reading = await reading_of(subject, request_id=request_id, services=services, recorded=True)
    asked_ms = services.clock_ms()
    found, admission = await reading.slice(document_id, locator)
    steps = (
        Step("policy_query", "QueryPoint", reading.access.now_ms, asked_ms),
        Step("evidence", "EvidencePoint", asked_ms, services.clock_ms()),
    )
    return await record_slice(
        found,
        admission,
        document_id=document_id,
        locator=locator,
        access=reading.access,
        scope=reading.scope,
        steps=steps,
        services=services,
    )


async def still_admitted(answer: Mapping[str, Any], recorded: Sequence[Mapping[str, Any]], *, reading: Reading) -> bool:
    """True if everything that a recorded answer shows would be admitted today, under the same obligations. `recorded`
    are the recorded runs of the evidence point."""
    shown = [*answer.get("evidence", ())]
    if not shown:
        return True
    drawn = {each["chunk_id"] for cited in _cited(answer) for each in cited.get("places", ()) if each["chunk_id"]}
    quoted = {each["chunk_id"] for each in _row_quotes(answer)}
    wanted = {record_id for item in shown for record_id in _records_of(item)} | drawn | quoted
    records = await reading.services.store.fetch(sorted(wanted), scope=reading.scope.with_aggregated)
    if set(records) != wanted:
        return False
    items = [_shown_again(item, records) for item in shown]
    beside = [shape_evidence(0, records[record_id]) for record_id in sorted(drawn)]
    beside += [row_evidence(0, records[record_id]) for record_id in sorted(quoted)]
    items += [replace(each, index=n) for n, each in enumerate(beside, len(items) + 1)]
    admission = await reading.admit(items)
    obliged = [to_json(obligation) for obligation in admission.decisions[-1].obligations]
    ids = {item.record_id for item in items}
    return len(admission.items) == len(ids) and _same_obligations(obliged, recorded, ids)


def _cited(answer: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    citations = answer.get("citations", {})
    return [*citations.values()] if isinstance(citations, Mapping) else []


def _row_quotes(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The quoted rows of what was computed; answers of version 0.2 quote none."""
    computed = {n for n, cited in answer.get("citations", {}).items() if cited["computed"] is not None}
    for sentence in answer.get("sentences", ()) if computed else ():
        yield from (each for each in sentence["citations"] if str(each["n"]) in computed and "chunk_id" in each)


def _records_of(item: Mapping[str, Any]) -> list[str]:
    own = [item["chunk_id"]] if item["computed"] is None else [each["chunk_id"] for each in item["computed"]["inputs"]]
    return own + [each["chunk_id"] for each in item["metadata"]["duplicates"]]


def _shown_again(item: Mapping[str, Any], records: Mapping[str, SourcedRecord]) -> Evidence:
    computed = item["computed"]
    duplicates = tuple(records[each["chunk_id"]] for each in item["metadata"]["duplicates"])
    if computed is None:
        return Evidence(item["index"], item["chunk_id"], (records[item["chunk_id"]],), (), 0.0, None, duplicates)
    inputs = tuple(each["chunk_id"] for each in computed["inputs"])
    again = Computation(
        operation=computed["operation"],
        parameters=computed["parameters"],
        inputs=inputs,
        input_digest=computed["input_digest"],
        result=computed["result"],
        statement=computed["statement"],
    )
    return Evidence(
        item["index"], item["chunk_id"], tuple(records[each] for each in inputs), (), 0.0, again, duplicates
    )


def _same_obligations(now: Sequence[Any], recorded: Sequence[Mapping[str, Any]], ids: Collection[str]) -> bool:
    """True if the items that were shown are under the obligations that they were shown under."""
    before = [obligation for run in recorded for obligation in run["decision"]["obligations"]]
    return _on_items(now, ids) == _on_items(before, ids)


def _on_items(obligations: Sequence[Any], ids: Collection[str]) -> set[str]:
    """The obligations on these items, as text. Facts about an item's inputs and duplicates have ids that begin with
    the item's own (`ai.governance.enforcement`)."""
    own = tuple(f"{each}{mark}" for each in ids for mark in "#~")
    return {
        json.dumps([o["op"], o["target"]["ref"], o["params"]], sort_keys=True)
        for o in obligations
        if o["target"]["ref"] in ids or o["target"]["ref"].startswith(own)
    }
