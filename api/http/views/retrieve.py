"""Requirement 000's requests as the pipeline's values, and what it found as requirement 000's body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ai.canonical import digest_of
from ai.case.case import ReleasedAnswer
from ai.model import AdmittedItem, AgentOptions, Ask, Options, SearchOptions
from ai.search.bodies import result_json
from ai.search.result import Result, SearchResult
from api.errors import ActionForbidden, NoSuchThing
from api.schemas.retrieval.retrieve import AgenticRequest, BasicRequest
from policy.model import Subject
from retrieval.bundle import TOKEN_COUNTER
from retrieval.filters import Metadata, canonical_filter, parse_filter
from retrieval.ranking.calibration import Scale, calibrations

UNKNOWN_BASE = "COLLECTION_UNAVAILABLE"
_MILLI = 1000
RESULTS_PER_STEP = 4


def basic_ask(request: BasicRequest, *, subject: Subject, request_id: str) -> Ask:
    """The request as the pipeline takes it. Raises ActionForbidden for another tenant, FilterInvalid."""
    require_tenant(request.tenant_id, subject)
    return Ask(
        request_id=request_id,
        question=request.query,
        subject=subject,
        options=Options(
            profile="basic",
            top_k=request.top_k,
            collections=(request.kb_id.lower(),),
            search=SearchOptions(
                mode=request.mode,
                threshold_milli=round(request.similarity_threshold * _MILLI),
                filters=canonical_filter(request.filters) if request.filters else "",
            ),
        ),
        filters=parse_filter(request.filters, shorthand=True) if request.filters else None,
    )


def agentic_ask(request: AgenticRequest, *, subject: Subject, request_id: str) -> Ask:
    """The request as the pipeline takes it. Raises ActionForbidden for another tenant, FilterInvalid."""
    require_tenant(request.tenant_id, subject)
    return Ask(
        request_id=request_id,
        question=request.query,
        subject=subject,
        options=Options(
            profile="agentic",
            top_k=min(100, RESULTS_PER_STEP * request.top_k_per_step),
            collections=tuple(kb_id.lower() for kb_id in request.kb_ids),
            search=SearchOptions(
                mode=request.mode, filters=canonical_filter(request.filters) if request.filters else ""
            ),
            agent=AgentOptions(
                effort=request.reasoning_effort,
                max_steps=request.max_steps,
                top_k_per_step=request.top_k_per_step,
                token_budget=request.token_budget,
                max_latency_ms=request.max_latency_ms,
            ),
        ),
        filters=parse_filter(request.filters, shorthand=True) if request.filters else None,
    )


def agentic_body(
    answered: ReleasedAnswer, *, model: str, metadata: Mapping[str, Metadata], latency_ms: int
) -> dict[str, Any]:
    """Requirement 000's body of an agentic request. Results stand in the order of their numbers: `[Source 1]` is the
    first. Raises NoSuchThing for an unknown knowledge base."""
    body = answered.body
    if UNKNOWN_BASE in body["reason_codes"]:
        raise NoSuchThing("There is no such knowledge base.")
    agent = body.get("agent")
    scale = Scale.of(model, answered.runs)
    return {
        "request_id": body["request_id"],
        "outcome": body["outcome"],
        "reason_codes": body["reason_codes"],
        "answer": with_source_markers(body["sentences"]),
        "results": [
            result_json(
                Result(
                    item,
                    item_relevance(item, scale),
                    {str(r.channel): r.score for r in item.evidence.ranks},
                    metadata.get(item.evidence.first.record.document_id, {}),
                )
            )
            for item in answered.items
        ],
        "steps": [
            {"step_number": number, **step}
            for number, step in enumerate([*(agent["steps"] if agent else ()), *_written(answered, agent)], start=1)
        ],
        "total_tokens_used": _tokens(answered, agent),
        "total_latency_ms": latency_ms,
        "truncated": bool(agent and agent["truncated"]),
        "truncated_reason": agent["truncated_reason"] if agent else None,
        "calibration": dict(calibrations(model)),
        "token_counter": TOKEN_COUNTER,
        "limitations": body["limitations"],
        "provenance": {name: body["provenance"][name] for name in ("entry_id", "receipt")},
    }


def with_source_markers(sentences: Sequence[Mapping[str, Any]]) -> str:
    """The released sentences with requirement 000's `[Source N]` markers, before the final stop."""
    told = []
    for sentence in sentences:
        text = sentence["text"].rstrip()
        marks = "".join(f" [Source {n}]" for n in dict.fromkeys(each["n"] for each in sentence["citations"]))
        stop = text[-1:] if text.endswith((".", "!", "?")) else ""
        told.append(text.removesuffix(stop) + marks + stop if stop else text + marks)
    return " ".join(told)


def _written(answered: ReleasedAnswer, agent: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    if agent is None or not answered.written_tokens:
        return []
    elapsed = answered.body["timings_ms"]
    return [
        {
            "action": "synthesize",
            "input": f"{len(answered.items)} sources",
            "result_count": len(answered.body["citations"]),
            "tokens_used": answered.written_tokens,
            "latency_ms": round(sum(elapsed.get(stage, 0.0) for stage in ("context", "generate", "policy_answer"))),
            "sub_queries": [],
        }
    ]


def _tokens(answered: ReleasedAnswer, agent: Mapping[str, Any] | None) -> int:
    """Tokens of all model calls; where nothing was written, of the evidence that waited for it."""
    if agent is None:
        return 0
    held = 0 if answered.written_tokens else agent["tokens"]["held"]
    return int(agent["tokens"]["spent"]) + answered.written_tokens + held


def item_relevance(item: AdmittedItem, scale: Scale) -> int:
    """An item's calibrated relevance by its channels; a computed one is an answer."""
    if item.evidence.computed is not None:
        return _MILLI
    return max((scale.relevance_milli(rank) for rank in item.evidence.ranks), default=0)


def require_tenant(named: str, subject: Subject) -> None:
    """Raises ActionForbidden where the body names another tenant than the credential's."""
    if named != subject.tenant:
        raise ActionForbidden("The tenant in the request is not that of the credential.")


def require_known(found: SearchResult) -> None:
    """Raises NoSuchThing where a knowledge base is unknown or not for this caller: they answer alike."""
    if UNKNOWN_BASE in found.reason_codes:
        raise NoSuchThing("There is no such knowledge base.")


def digest_of_query(query: str) -> str:
    """A query as logs and spans name it."""
    return digest_of(query.encode("utf-8", "replace"))
