"""The evidence point: asked about what was found, and its obligations carried out. Whatever is shown to a model or to a
reader passes here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from ai.case.case import Case, Services
from ai.governance.enforcement import enforce_evidence, evidence_facts
from ai.governance.scoping import class_facts, prompt_facts
from ai.governance.unasked import without_appeals
from ai.model import AdmittedItem
from policy.model import Decision, EvidenceFacts, PromptFacts, RequestFacts, Subject
from retrieval.model import EvidenceBundle, SourcedRecord


@dataclass(frozen=True, slots=True)
class Began:
    """The size of the log and the version of the tenant's corpus when a reading began."""

    log_size: int
    corpus_version: int


@dataclass(frozen=True, slots=True)
class Access:
    """The query point's decision for a subject, and the facts that every later decision is bound to. `asked` is the
    question by which appeals to the reader are withheld where a passage is shown; None withholds none. `began` is how
    log and store stood before they were read; None where nothing is recorded."""

    subject: Subject
    request: RequestFacts
    prompt: PromptFacts
    decision: Decision
    now_ms: int
    asked: str | None = None
    began: Began | None = None

    @classmethod
    def of(cls, case: Case) -> Access:
        """That of a question once its scope is decided."""
        asked = case.ask.question if case.draft_checked else None
        return cls(case.ask.subject, case.asked, prompt_facts(case), case.decided, case.now_ms, asked)


@dataclass(frozen=True, slots=True)
class Admission:
    """The admission of the evidence point: items numbered 1..n, the facts it decided over, every decision that led
    there, and the records that may not be used."""

    bundle: EvidenceBundle
    items: tuple[AdmittedItem, ...]
    facts: tuple[EvidenceFacts, ...]
    decisions: tuple[Decision, ...]
    excluded: frozenset[str]


async def admit(
    bundle: EvidenceBundle, *, access: Access, services: Services, found: Iterable[SourcedRecord] | None = None
) -> Admission:
    """One decision of the evidence point over the bundle, carried out. `found` is everything that the search found,
    where that is more than the bundle holds. Raises `PolicyError`."""
    if found is None:
        found = (record for item in bundle.items for record in (*item.records, *item.duplicates))
    classes = {record.source.visibility.class_id: record.source.visibility for record in found}
    points = services.points(access.now_ms)
    data = points.data
    facts = tuple(fact for item in bundle.items for fact in evidence_facts(item, rules=services.rules, data=data))
    decision = await points.evidence(
        request=access.request,
        subject=access.subject,
        prompt=access.prompt,
        classes=class_facts(classes[class_id] for class_id in sorted(classes)),
        evidence=facts,
        prior=access.decision,
    )
    items, refused = enforce_evidence(bundle, decision, data=data)
    if access.asked is not None:
        # half a millisecond for each sentence that was not read before
        items = await asyncio.to_thread(without_appeals, items, access.asked, data)
    return Admission(bundle, items, facts, (decision,), refused)
