"""What leaves: the wire body of contracts section 3, made from released values only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from ai.agent_record import AgentRecord
from ai.canonical import coordinate
from ai.catalogue import reason_text
from ai.model import AdmittedItem, Ask, Draft, Outcome, Quote, Release, RenderedPrompt, Sentence
from policy.model import Decision
from retrieval.model import ChannelRank, Limitation, Locator, Record, RecordKind, SourceFacts, TimeRange

SUPPORTED_MILLI = 700
"""From here on a sentence is `supported`; below it is `partial`."""

Body = dict[str, Any]

_CITATION = (
    "index", "kind", "source_id", "document_id", "chunk_id", "title", "channel", "store", "document_sha256", "href",
    "license", "attribution", "sensitivity", "uri", "geometry", "time_range", "computed",
)  # fmt: skip
"""The keys of an evidence item that its citation shows."""


def locator_query(record: Record) -> str:
    """The query part of an evidence link: `row=89&col=1930`, `feature=20177` or `c=120-480`."""
    at = record.locator
    if at.feature is not None:
        return f"feature={quote(at.feature, safe='')}"
    if at.row is not None:
        return f"row={at.row}" + ("" if at.column is None else f"&col={quote(at.column, safe='')}")
    return f"c={at.start_char}-{at.end_char}"


def evidence_href(record: Record) -> str:
    """Where the exact slice can be read, re-authorised at read."""
    return f"/api/v1/evidence/{quote(record.document_id, safe='@:')}?{locator_query(record)}"


def render_body(
    *,
    ask: Ask,
    release: Release,
    items: Sequence[AdmittedItem],
    shown: Sequence[Body],
    draft: Draft | None,
    prompt: RenderedPrompt | None,
    entry_id: str,
    agent: AgentRecord | None = None,
) -> Body:
    """The body without `timings_ms`, which is not part of what the ledger commits to. `shown` are the items as
    `evidence_json` gives them, made once because the ledger's bundle holds the same."""
    cited = {quoted.index for sentence in release.sentences for quoted in sentence.quotes}
    if release.outcome is not Outcome.ANSWER:
        shown = ()
    body: Body = {
        "request_id": ask.request_id,
        "outcome": str(release.outcome),
        "reason_codes": list(release.reason_codes),
        "answer": " ".join([*(_plain(s) for s in release.sentences), *release.notices]),
        "answer_markdown": " ".join([*(_markdown(s, items) for s in release.sentences), *release.notices]),
        "sentences": [_sentence(s) for s in release.sentences],
        "citations": {
            str(each["index"]): {key: each[key] for key in _CITATION} for each in shown if each["index"] in cited
        },
        "evidence": [each | {"cited": each["index"] in cited} for each in shown],
        "limitations": [limitation_json(limitation) for limitation in release.limitations],
        "policy": _policy(release),
        "provenance": _provenance(draft, prompt, entry_id),
    }
    return body if agent is None else body | {"agent": _agent(agent)}


def _agent(agent: AgentRecord) -> Body:
    """What an agentic profile did, and which limit cut it."""
    return {
        "steps": [
            {
                "action": step.action,
                "input": step.input,
                "result_count": step.result_count,
                "tokens_used": step.tokens_used,
                "latency_ms": step.latency_ms,
                "sub_queries": [
                    {
                        "text": sub.text,
                        "kb_id": sub.collection_id,
                        "rationale": sub.rationale,
                        "result_count": sub.result_count,
                        "token_count": sub.token_count,
                    }
                    for sub in step.sub_queries
                ],
            }
            for step in agent.steps
        ],
        "tool_calls": [
            {
                "tool": call.tool,
                "arguments": dict(call.arguments),
                "status": call.status,
                "reason": call.reason,
                "result_count": len(call.results),
                "iteration": call.iteration,
            }
            for call in agent.tool_calls
        ],
        "truncated": agent.cut is not None,
        "truncated_reason": agent.cut,
        "synthesized": agent.synthesize,
        "tokens": {"spent": agent.spent, "held": agent.held},
    }


def limitation_json(limitation: Limitation) -> Body:
    """A limitation on the wire; `channel` is null where no channel is meant."""
    return {"channel": limitation.channel, "code": limitation.code, "message": limitation.message}


def locator_json(locator: Locator | None) -> Body | None:
    """A locator on the wire, every key present; null for a computed item, which is no slice of anything."""
    if locator is None:
        return None
    return {
        "start_char": locator.start_char,
        "end_char": locator.end_char,
        "start_byte": locator.start_byte,
        "end_byte": locator.end_byte,
        "page": locator.page,
        "row": locator.row,
        "column": locator.column,
        "feature": locator.feature,
    }


def _plain(sentence: Sentence) -> str:
    marks = " ".join(f"[{n}]" for n in sentence.markers)
    return _with_marks(sentence.text, f" {marks}" if marks else "")


def _markdown(sentence: Sentence, items: Sequence[AdmittedItem]) -> str:
    by_index = {item.index: item.evidence.first.record for item in items}
    marks = "".join(f"【{n}†{by_index[n].document_id}#{locator_query(by_index[n])}】" for n in sentence.markers)
    return _with_marks(sentence.text, f" {marks}" if marks else "")


def _with_marks(text: str, marks: str) -> str:
    """Markers stand before the final stop, as in "... in 1930 [1]."."""
    body = text.rstrip()
    if body.endswith((".", "!", "?")) and not body.endswith("..."):
        return body[:-1] + marks + body[-1]
    return body + marks


def _sentence(sentence: Sentence) -> Body:
    return {
        "i": sentence.i,
        "text": sentence.text,
        "support_milli": sentence.support_milli,
        "verdict": _verdict(sentence),
        "citations": [_quote(q) for q in sentence.quotes],
    }


def _verdict(sentence: Sentence) -> str:
    if sentence.catalogue is not None:
        return "catalogue"
    return "supported" if sentence.support_milli >= SUPPORTED_MILLI else "partial"


def _quote(quoted: Quote) -> Body:
    return {
        "n": quoted.index,
        "quote": quoted.text,
        "locator": locator_json(quoted.locator),
        "redacted": [{"start": span.start, "end": span.end, "kind": span.kind} for span in quoted.redacted],
    }


def _citation(item: AdmittedItem) -> Body:
    record, source = item.evidence.first.record, item.evidence.first.source
    return {
        "index": item.index,
        "kind": _kind(item),
        "source_id": source.source_id,
        "document_id": source.document_id,
        "chunk_id": item.evidence.record_id,
        "title": source.title,
        "channel": str(item.evidence.ranks[0].channel),
        "store": item.evidence.ranks[0].store,
        "document_sha256": source.document_sha256,
        "href": evidence_href(record),
        "license": source.license,
        "attribution": source.attribution,
        "sensitivity": _label(item),
        "uri": source.uri,
        "geometry": _geometry(item),
        "time_range": _time_range(record.time),
        "computed": _computed(item),
    }


def evidence_json(item: AdmittedItem) -> Body:
    """An admitted item on the wire: what a citation shows, and how it was found. `cited` is set where it is known."""
    record = item.evidence.first.record
    return {
        **_citation(item),
        "cited": False,
        "snippet": item.statement if item.statement is not None else item.text,
        "redacted": [{"start": span.start, "end": span.end, "kind": span.kind} for span in item.redacted],
        "rank": {str(rank.channel): rank.rank for rank in item.evidence.ranks},
        "raw_scores": {str(rank.channel): _score(rank) for rank in item.evidence.ranks},
        "fused_score": _decimal(item.evidence.fused_score),
        "metadata": {
            "time_range": _time_range(record.time),
            "bbox": _bbox(item),
            "entity_ids": [entity.entity_id for entity in record.entities],
            "locator": locator_json(record.locator),
            "paths": [list(rank.path) for rank in item.evidence.ranks if rank.path],
            "duplicates": [_duplicate(d.record, d.source) for d in item.evidence.duplicates],
        },
    }


def _bbox(item: AdmittedItem) -> list[float] | None:
    """West, south, east, north of the geometry as it is shown, that is after generalisation."""
    if item.geometry is None:
        return None
    points = list(_points(_geometry(item)))
    lons, lats = [lon for lon, _ in points], [lat for _, lat in points]
    return [min(lons), min(lats), max(lons), max(lats)] if points else None


def _geometry(item: AdmittedItem) -> Any:
    """The GeoJSON object, its numbers such that they are recorded exactly."""
    return None if item.geometry is None else json.loads(item.geometry, parse_float=coordinate)


def _points(geometry: Any) -> Iterator[tuple[float, float]]:
    """Every position of a GeoJSON geometry."""
    if isinstance(geometry, dict):
        for part in geometry.get("geometries", [geometry.get("coordinates", [])]):
            yield from _points(part)
    elif geometry and not isinstance(geometry[0], list | dict):
        yield geometry[0], geometry[1]
    else:
        for part in geometry:
            yield from _points(part)


def _duplicate(record: Record, source: SourceFacts) -> Body:
    return {
        "chunk_id": record.record_id,
        "source_id": source.source_id,
        "document_id": source.document_id,
        "href": evidence_href(record),
    }


def _kind(item: AdmittedItem) -> str:
    if item.evidence.computed is not None:
        return "computed"
    return "passage" if item.evidence.first.record.kind is RecordKind.PASSAGE else "observation"


def _label(item: AdmittedItem) -> str:
    """The highest label of the inputs: an output is as sensitive as what it was made from."""
    order = ("public", "internal", "confidential", "restricted")
    return max((sourced.source.visibility.label for sourced in item.evidence.records), key=order.index)


def _computed(item: AdmittedItem) -> Body | None:
    computed = item.evidence.computed
    if computed is None:
        return None
    return {
        "operation": computed.operation,
        "parameters": dict(computed.parameters),
        "inputs": [{"chunk_id": s.record.record_id, "href": evidence_href(s.record)} for s in item.evidence.records],
        "input_digest": computed.input_digest,
        "result": dict(computed.result),
        "statement": computed.statement,
    }


def _time_range(time: TimeRange | None) -> Body | None:
    return None if time is None else {"start": time.start.isoformat(), "end": time.end.isoformat()}


def _score(rank: ChannelRank) -> str:
    return _decimal(rank.score)


def _decimal(value: float) -> str:
    """Scores as decimal text: what is recorded must not depend on a reader's float."""
    return f"{value:.6f}"


def _policy(release: Release) -> Body:
    last = release.decisions[-1] if release.decisions else None
    return {
        "effect": "deny" if last is None or release.outcome is Outcome.DENY else _effect(release.decisions),
        "reasons": [{"code": code, "message": reason_text(code)} for code in release.reason_codes],
        "obligations": _released_obligations(release),
        "bundle_digest": None if last is None else last.stamp.bundle,
        "engine": None if last is None else last.stamp.engine,
    }


def _effect(decisions: Sequence[Decision]) -> str:
    carried = any(o.op != "neutralise_prompt" for d in decisions for o in d.obligations)
    return "allow_with_obligations" if carried else "allow"


def _released_obligations(release: Release) -> list[Body]:
    """Request-level obligations only; those on items that were filtered are nobody's business."""
    notices = {
        (o.op, o.rule)
        for d in release.decisions
        for o in d.obligations
        if o.op in {"neutralise_prompt", "append_notice"}
    }
    return [{"op": op, "rule": rule} for op, rule in sorted(notices)] if release.outcome is not Outcome.DENY else []


def _provenance(draft: Draft | None, prompt: RenderedPrompt | None, entry_id: str) -> Body:
    model = None if draft is None else draft.completion.model
    return {
        "entry_id": entry_id,
        "receipt": f"/api/v1/ledger/entries/{entry_id}/receipt",
        "model": None if model is None else model.name,
        "model_digest": None if model is None else model.digest,
        "template": None if prompt is None else prompt.template,
        "template_digest": None if prompt is None else prompt.template_digest,
    }
