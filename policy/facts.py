"""Facts -> the input document `exhibit.policy.input/1`: guards always present, what is unknown absent, no text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from policy.canonical import whole, whole_or_none
from policy.errors import InputRejected
from policy.model import (
    AnswerFacts,
    AppealFacts,
    ClassFacts,
    Decision,
    EvidenceFacts,
    Finding,
    Point,
    PromptFacts,
    RequestFacts,
    SentenceFacts,
    Subject,
)

SCHEMA = "exhibit.policy.input/1"
MAX_CLASSES = 10_000
MAX_EVIDENCE = 2_000
MAX_SENTENCES = 500

Document = dict[str, Any]


def head(point: Point, now_ms: int, request: RequestFacts, subject: Subject) -> Document:
    """The head of every input."""
    wire: Document = {"id": request.id, "profile": request.profile, "collections": list(request.collections)}
    if request.purpose:
        wire["purpose"] = request.purpose
    return {
        "schema": SCHEMA,
        "point": str(point),
        "now_ms": whole(now_ms),
        "request": wire,
        "subject": subject_wire(subject),
    }


def subject_wire(subject: Subject) -> Document:
    """The subject as the rules see it; of its tenant it says only that it is suspended, where it is."""
    suspended = {"tenant_suspended": True} if subject.tenant_suspended else {}
    return {
        "id": subject.id,
        "tenant": subject.tenant,
        "roles": list(subject.roles),
        "groups": list(subject.groups),
        "capabilities": list(subject.capabilities),
        "clearance": subject.clearance,
        "session_expires_ms": whole_or_none(subject.session_expires_ms),
        **suspended,
    }


def prompt_wire(prompt: PromptFacts) -> Document:
    """The gate's result."""
    classes = [
        {"class": each.name, "score_milli": whole(each.score_milli), "rules": list(each.rules)}
        for each in prompt.classes
    ]
    return {"chars": whole(prompt.chars), "verdict": prompt.verdict, "risk": whole(prompt.risk), "classes": classes}


def classes_wire(classes: Sequence[ClassFacts]) -> list[Document]:
    """Visibility classes. Raises InputRejected for too many of them or an id that stands twice."""
    _bounded("classes", (each.id for each in classes), len(classes), MAX_CLASSES)
    return [
        {
            "id": each.id,
            "tenant": each.tenant,
            "collection": each.collection,
            "label": each.label,
            "handling": list(each.handling),
            "groups": list(each.groups),
            "owner_group": each.owner_group,
            "allow_list": list(each.allow_list),
        }
        for each in classes
    ]


def evidence_wire(evidence: Sequence[EvidenceFacts]) -> list[Document]:
    """Found items. Raises InputRejected for too many of them or an id that stands twice."""
    _bounded("evidence", (each.id for each in evidence), len(evidence), MAX_EVIDENCE)
    return [_item(each) for each in evidence]


def answer_wire(answer: AnswerFacts) -> Document:
    """A draft. Raises InputRejected for too many sentences."""
    _bounded("sentences", (str(each.i) for each in answer.sentences), len(answer.sentences), MAX_SENTENCES)
    sentences = [_sentence(each) for each in answer.sentences]
    return {"model": answer.model, "markers": [whole(each) for each in answer.markers], "sentences": sentences}


def prior_wire(prior: Decision) -> Document:
    """The decision of the point before: its digest, and the ids that it let through."""
    if prior.point is Point.QUERY:
        return {"query": prior.digest, "admit": list(prior.classes)}
    return {"query": prior.input["prior"]["query"], "evidence": prior.digest, "admit": list(prior.admit)}


def _item(item: EvidenceFacts) -> Document:
    wire: Document = {
        "id": item.id,
        "class_id": item.class_id,
        "tenant": item.tenant,
        "label": item.label,
        "handling": list(item.handling),
        "groups": list(item.groups),
        "lifecycle": item.lifecycle,
        "valid_until_ms": whole_or_none(item.valid_until_ms),
        "sha256": item.sha256,
        "indexed_sha256": item.indexed_sha256,
        "findings": _findings(item.findings),
        "injection": {"score_milli": whole(item.injection.score_milli), "rules": list(item.injection.rules)},
    }
    if item.precision_m is not None:
        wire["precision_m"] = whole(item.precision_m)
    if item.aggregate_n is not None:
        wire["aggregate_n"] = whole(item.aggregate_n)
    return wire


def _sentence(sentence: SentenceFacts) -> Document:
    wire: Document = {
        "i": whole(sentence.i),
        "catalogue": sentence.catalogue,
        "citations": list(sentence.citations),
        "support_milli": whole(sentence.support_milli),
        "findings": _findings(sentence.findings),
    }
    if sentence.claims is not None:
        wire["claims"] = [{"kind": each.kind, "verdict": each.verdict} for each in sentence.claims]
        wire["answers"] = sentence.answers
    if sentence.appeals is not None:
        wire["appeals"] = _appeals(sentence.appeals)
    return wire


def _appeals(appeals: AppealFacts) -> Document:
    return {
        "kinds": list(appeals.kinds),
        "asked": list(appeals.asked),
        "collections": list(appeals.collections),
        "quoted": appeals.quoted,
    }


def _findings(findings: Iterable[Finding]) -> list[Document]:
    return [{"kind": each.kind, "start": whole(each.start), "end": whole(each.end)} for each in findings]


def _bounded(what: str, ids: Iterable[str], count: int, limit: int) -> None:
    if count > limit:
        raise InputRejected(f"{count} {what} are more than {limit}")
    if len(set(ids)) != count:
        raise InputRejected(f"an id occurs twice among the {what}")
