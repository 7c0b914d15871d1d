"""Reading outside a question: what a subject may see now, one slice of a document, and whether a recorded answer may
still be shown.

Every read passes the query point (which classes) and the evidence point (which items, under which obligations), on
today's facts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ai.canonical import canonical, to_json
from ai.case import Services
from ai.enforcement import enforce_evidence, evidence_facts
from ai.model import AdmittedItem
from ai.recording import decisions_json
from ai.retrieval_record import Step, retrieval_prov, slice_inputs
from ai.scoping import NO_PROMPT, class_facts
from ai.slices import slice_body, slice_evidence
from api.errors import NoSuchThing
from ledger.model import Kind
from policy.model import Decision, RequestFacts, Subject
from retrieval.errors import RecordNotFound
from retrieval.model import Computed, Evidence, EvidenceBundle, SourcedRecord
from retrieval.registry.store import Slice
from retrieval.scope import Scope, VisibilityClass

_ABSENT = "There is no such evidence."


@dataclass(frozen=True, slots=True)
class Access:
    """What the query point admits of a tenant for a subject, at one moment."""

    subject: Subject
    now_ms: int
    request: RequestFacts
    decision: Decision
    classes: tuple[VisibilityClass, ...]
    scope: Scope


async def access_of(subject: Subject, *, request_id: str, services: Services) -> Access:
    """Ask the query point. A denial gives the empty scope. Raises PolicyUnavailable, StoreUnavailable."""
    now_ms = services.clock_ms()
    request = RequestFacts(id=request_id)
    known = await services.store.classes(subject.tenant)
    decision = await services.points(now_ms).query(
        request=request, subject=subject, prompt=NO_PROMPT, classes=class_facts(known)
    )
    admitted = set(decision.classes) if decision.allowed else set()
    classes = tuple(each for each in known if each.class_id in admitted)
    return Access(subject, now_ms, request, decision, classes, Scope.of(subject.tenant, classes))


async def admit(
    access: Access, items: Sequence[Evidence], services: Services
) -> tuple[Decision, tuple[AdmittedItem, ...]]:
    """Ask the evidence point about items that were found inside the scope, and carry out its obligations."""
    found = {
        s.source.visibility.class_id: s.source.visibility for item in items for s in (*item.records, *item.duplicates)
    }
    facts = tuple(fact for item in items for fact in evidence_facts(item, rules=services.rules))
    decision = await services.points(access.now_ms).evidence(
        request=access.request,
        subject=access.subject,
        prompt=NO_PROMPT,
        classes=class_facts(found.values()),
        evidence=facts,
        prior=access.decision,
    )
    admitted, _ = enforce_evidence(EvidenceBundle(tuple(items)), decision)
    return decision, admitted


async def read_slice(
    document_id: str, locator: str, *, subject: Subject, request_id: str, services: Services
) -> dict[str, Any]:
    """One slice of a document, recorded in the ledger before it is returned. Raises NoSuchThing, alike for what is
    absent and what is not admitted."""
    access = await access_of(subject, request_id=request_id, services=services)
    asked_ms = services.clock_ms()
    found, item, decision = await admitted_slice(document_id, locator, access=access, services=services)
    entry_id = services.new_id()
    body = slice_body(found, item, request_id=request_id, entry_id=entry_id)
    asked = {"surface": "evidence", "document_id": document_id, "locator": locator}
    steps = (
        Step("policy_query", "QueryPoint", access.now_ms, asked_ms),
        Step("evidence", "EvidencePoint", asked_ms, services.clock_ms()),
    )
    await services.ledger.record(
        Kind.RETRIEVAL,
        tenant=subject.tenant,
        request_id=request_id,
        entry_id=entry_id,
        parts={
            "context": canonical(asked),
            "scope": canonical({"scope": to_json(access.scope)}),
            "policy.query": canonical(decisions_json([access.decision])),
            "policy.evidence": canonical(decisions_json([decision])),
            "answer": canonical(body),
            "prov": retrieval_prov(
                entry_id=entry_id,
                body=canonical(body),
                items=[item],
                steps=steps,
                subject=subject,
                decision=decision,
                services=services,
            ),
            "replay": slice_inputs(
                found=found,
                asked=asked,
                subject=subject,
                now_ms=access.now_ms,
                request_id=request_id,
                services=services,
            ),
        },
        sources=[canonical({"document_id": document_id, "text": item.text})],
    )
    return body


async def admitted_slice(
    document_id: str, locator: str, *, access: Access, services: Services
) -> tuple[Slice, AdmittedItem, Decision]:
    """One slice as it may be shown. Raises NoSuchThing, with one text whatever the reason is."""
    if not access.scope.class_ids:
        raise NoSuchThing(_ABSENT)
    try:
        found = await services.store.resolve(document_id, locator, scope=access.scope)
    except RecordNotFound:
        raise NoSuchThing(_ABSENT) from None
    decision, admitted = await admit(access, [slice_evidence(found, locator)], services)
    if not admitted:
        raise NoSuchThing(_ABSENT)
    return found, admitted[0], decision


async def still_admitted(
    answer: Mapping[str, Any], recorded: Sequence[Mapping[str, Any]], *, access: Access, services: Services
) -> bool:
    """Whether everything that a recorded answer shows would be admitted today, under the same obligations. `recorded`
    are the recorded runs of the evidence point."""
    shown = [*answer.get("evidence", ())]
    if not shown:
        return True
    wanted = {record_id for item in shown for record_id in _records_of(item)}
    records = await services.store.fetch(sorted(wanted), scope=access.scope)
    if set(records) != wanted:
        return False
    decision, admitted = await admit(access, [_shown_again(item, records) for item in shown], services)
    obliged = [to_json(obligation) for obligation in decision.obligations]
    return len(admitted) == len(shown) and _same_obligations(obliged, recorded, {item["chunk_id"] for item in shown})


def _records_of(item: Mapping[str, Any]) -> list[str]:
    own = [item["chunk_id"]] if item["computed"] is None else [each["chunk_id"] for each in item["computed"]["inputs"]]
    return own + [each["chunk_id"] for each in item["metadata"]["duplicates"]]


def _shown_again(item: Mapping[str, Any], records: Mapping[str, SourcedRecord]) -> Evidence:
    computed = item["computed"]
    duplicates = tuple(records[each["chunk_id"]] for each in item["metadata"]["duplicates"])
    if computed is None:
        return Evidence(item["index"], item["chunk_id"], (records[item["chunk_id"]],), (), 0.0, None, duplicates)
    inputs = tuple(each["chunk_id"] for each in computed["inputs"])
    again = Computed(
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
    """Whether the items that were shown are under the obligations that they were shown under."""
    before = recorded[-1]["decision"]["obligations"] if recorded else []
    return _on_items(now, ids) == _on_items(before, ids)


def _on_items(obligations: Sequence[Any], ids: Collection[str]) -> set[str]:
    """The obligations on these items, as text. Facts about an item's inputs and duplicates have ids that begin with
    the item's own (`ai.enforcement`)."""
    own = tuple(f"{each}{mark}" for each in ids for mark in "#~")
    return {
        json.dumps([o["op"], o["target"]["ref"], o["params"]], sort_keys=True)
        for o in obligations
        if o["target"]["ref"] in ids or o["target"]["ref"].startswith(own)
    }
