"""What the ledger keeps of passages that were shown without an answer: their provenance, and what shows them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ai.canonical import canonical, digest_of, to_json
from ai.case import Services
from ai.model import AdmittedItem
from ledger.prov import ProvActivity, ProvAgent, ProvEntity, ProvFacts, prov_document
from policy.model import Decision, Subject

REPLAY_VERSION = "exhibit.retrieval/1"


@dataclass(frozen=True, slots=True)
class Step:
    """A stage that ran: its name, its type in PROV, and its UTC milliseconds."""

    name: str
    type: str
    start_ms: int
    end_ms: int


def retrieval_prov(
    *,
    entry_id: str,
    body: bytes,
    items: Sequence[AdmittedItem],
    steps: Sequence[Step],
    subject: Subject,
    decision: Decision,
    services: Services,
) -> bytes:
    """The provenance document of a reply that shows these items: at least one step, in the order in which they ran;
    the last one made the reply and used the items."""
    sources = tuple(f"source/{item.index}" for item in items)
    activities = [
        ProvActivity(
            f"activity/{step.name}",
            step.type,
            step.start_ms,
            max(step.start_ms, step.end_ms),
            used=sources if step is steps[-1] else (),
            agents=("agent/principal", "agent/policy") if number == 0 else ("agent/policy", "agent/software"),
            informed_by=(f"activity/{steps[number - 1].name}",) if number else (),
        )
        for number, step in enumerate(steps)
    ]
    facts = ProvFacts(
        run_id=entry_id,
        answer=ProvEntity("answer", "Answer", {"sha256": digest_of(body)}),
        entities=tuple(_source(item) for item in items),
        activities=tuple(activities),
        agents=(
            ProvAgent(
                "agent/principal",
                "Principal",
                is_person=True,
                attributes={"pseudonym": services.ledger.pseudonym("subject", subject.id)},
            ),
            ProvAgent("agent/software", "Software", attributes={"version": services.software}),
            ProvAgent("agent/policy", "PolicyBundle", attributes={"digest": decision.stamp.bundle}),
        ),
        generated_by=activities[-1].id,
        derived_from=sources,
        attributed_to=("agent/software",),
    )
    return prov_document(facts)


def retrieval_replay(
    *, items: Sequence[AdmittedItem], subject: Subject, now_ms: int, asked: Mapping[str, Any], services: Services
) -> bytes:
    """What decides and shows the same again: who asked what and when, and each record with the facts of its source.
    The records' text is left out: it is in `sources`, where it can be erased alone."""
    found = [sourced for item in items for sourced in item.evidence.records]
    records = {sourced.record.record_id: replace(sourced.record, text="") for sourced in found}
    sources = {sourced.source.document_id: sourced.source for sourced in found}
    return canonical(
        {
            "v": REPLAY_VERSION,
            "software": services.software,
            "now_ms": now_ms,
            "subject": to_json(subject),
            "asked": dict(asked),
            "records": [to_json(records[key]) for key in sorted(records)],
            "sources": [to_json(sources[key]) for key in sorted(sources)],
        }
    )


def _source(item: AdmittedItem) -> ProvEntity:
    return ProvEntity(
        f"source/{item.index}",
        "Computed" if item.evidence.computed is not None else "Source",
        {"document": item.evidence.first.source.document_sha256},
    )
