"""The wire body of contracts section 3, made from released values only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ai.answer.claims.check import head_of
from ai.answer.links import computation_href, evidence_href, locator_query, marked_href, receipt_href
from ai.answer.located import PlacedItem, around, bbox_of, located_json, read_geometry
from ai.answer.rows import row_quotes
from ai.answer.shapes import (
    AnswerBody,
    ChannelLabel,
    EffectName,
    ItemKind,
    OutcomeName,
    SentenceVerdict,
    Span,
    WireAgent,
    WireCitation,
    WireClaim,
    WireComputed,
    WireDuplicate,
    WireEvidence,
    WireInterpretation,
    WireLimitation,
    WireLocator,
    WireObligation,
    WirePolicy,
    WireProvenance,
    WireQuote,
    WireRelated,
    WireSentence,
    WireSource,
    WireTime,
)
from ai.canonical import plan_json
from ai.case.agent_record import AgentRecord
from ai.model import AdmittedItem, Ask, Claim, Draft, Outcome, Quote, Release, RenderedPrompt, Sentence, TextSpan
from ai.text.catalogue import reason_text
from policy.model import Decision
from policy.obligations import PUBLIC, QUERY
from retrieval.english.pronouns import parted
from retrieval.model import ChannelRank, Intent, Limitation, Locator, Record, RecordKind, SourceFacts, TimeRange

_DOTTED = re.compile(r"(?<![^\W\d_])[^\W\d_]\.[^\W\d_]\.\Z")
SUPPORTED_MILLI = 700
"""From here on a sentence is `supported`; below it is `partial`."""


def render_body(
    *,
    ask: Ask,
    release: Release,
    items: Sequence[AdmittedItem],
    shown: Sequence[WireEvidence],
    draft: Draft | None,
    prompt: RenderedPrompt | None,
    entry_id: str,
    agent: AgentRecord | None = None,
    placed: Sequence[PlacedItem] | None = None,
    interpretation: WireInterpretation | None = None,
    rows: Mapping[str, AdmittedItem] | None = None,
    whole: bool = True,
) -> AnswerBody:
    """The body without `timings_ms`, which is not part of what the ledger commits to. `shown` are the items as
    `evidence_json` gives them, made once because the ledger's bundle holds the same; `placed` says where the cited ones
    are (None: no answer, or a record of a version that did not say); `rows` are those to quote of what was
    computed (None: a record of a version whose links led to passages alone); `whole`: an abbreviation at the end of a
    sentence keeps its stop."""
    sources = {item.index: item for item in items}
    cited = {quoted.index for sentence in release.sentences for quoted in sentence.quotes}
    if release.outcome is not Outcome.ANSWER:
        shown = ()
    body: AnswerBody = {
        "request_id": ask.request_id,
        "outcome": cast("OutcomeName", str(release.outcome)),
        "reason_codes": list(release.reason_codes),
        "answer": " ".join([*(_plain(s, whole) for s in release.sentences), *release.notices]),
        "answer_markdown": " ".join(
            [*(_markdown(s, sources, rows, whole) for s in release.sentences), *release.notices]
        ),
        "sentences": [_sentence(s, sources, rows) for s in release.sentences],
        "citations": {str(each["index"]): _cited(each) for each in shown if each["index"] in cited},
        "evidence": [each | {"cited": each["index"] in cited} for each in shown],
        "limitations": [limitation_json(limitation) for limitation in release.limitations],
        "policy": _policy(release),
        "provenance": _provenance(draft, prompt, entry_id),
    }
    if rows is not None:
        _mark_passages(body, release, sources)
    _name_headings(body, release, sources)
    if placed is not None:
        for each in placed:
            key = str(each.item.index)
            body["citations"][key] = located_json(body["citations"][key], each)
        body["bbox"] = around([citation["bbox"] for citation in body["citations"].values()])
    if release.related:
        body["related"] = _related(release, items)
    if interpretation is not None:
        body["interpretation"] = interpretation
    return body if agent is None else body | {"agent": _agent(agent)}


def interpretation_of(intent: Intent) -> WireInterpretation | None:
    """How the question was read, in words and as a plan; None where no operation was asked for, and in records of
    versions that did not say so."""
    if not intent.reading:
        return None
    return {"reading": intent.reading, "plan": plan_json(intent.operations)}


def _agent(agent: AgentRecord) -> WireAgent:
    """The steps of an agentic profile, and the limit that cut it."""
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


def limitation_json(limitation: Limitation) -> WireLimitation:
    """A limitation on the wire; `channel` is null where no channel is meant."""
    return {"channel": limitation.channel, "code": limitation.code, "message": limitation.message}


def locator_json(locator: Locator) -> WireLocator:
    """A locator on the wire, every key present."""
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


def spans_json(spans: Sequence[TextSpan]) -> list[Span]:
    """The notice of withheld parts, on the wire."""
    return [{"start": span.start, "end": span.end, "kind": span.kind} for span in spans]


def _plain(sentence: Sentence, whole: bool) -> str:
    return marked(sentence.text, sentence.markers, whole=whole)


def marked(text: str, markers: Iterable[int], *, whole: bool = True) -> str:
    """A sentence as the answer has it, with its markers."""
    marks = " ".join(f"[{n}]" for n in markers)
    return _with_marks(text, f" {marks}" if marks else "", whole)


def _markdown(
    sentence: Sentence, sources: Mapping[int, AdmittedItem], rows: Mapping[str, AdmittedItem] | None, whole: bool
) -> str:
    marks = "".join(f"【{n}†{_place(sources[n], rows is not None)}】" for n in sentence.markers)
    return _with_marks(sentence.text, f" {marks}" if marks else "", whole)


def _place(item: AdmittedItem, proved: bool) -> str:
    """The name of a source in Markdown: its place in its document, or the computation."""
    if proved and item.evidence.computed is not None:
        return item.evidence.record_id
    record = item.evidence.first.record
    return f"{record.document_id}#{locator_query(record)}"


def _with_marks(text: str, marks: str, whole: bool) -> str:
    """Markers stand before the final stop, as in "... in 1930 [1]."; the stop of an abbreviation stays with it."""
    body = text.rstrip()
    if whole and marks and _DOTTED.search(body):
        return f"{body}{marks}."
    if body.endswith((".", "!", "?")) and not body.endswith("..."):
        return body[:-1] + marks + body[-1]
    return body + marks


def _sentence(
    sentence: Sentence, sources: Mapping[int, AdmittedItem], rows: Mapping[str, AdmittedItem] | None
) -> WireSentence:
    quotes = [_quote(q) for q in sentence.quotes]
    if rows is not None:
        quotes = [each for q in sentence.quotes for each in _linked(q, sources, rows)]
    body: WireSentence = {
        "i": sentence.i,
        "text": sentence.text,
        "support_milli": sentence.support_milli,
        "verdict": _verdict(sentence),
        "citations": quotes,
    }
    if sentence.claims is None:  # a record of version 0.1
        return body
    return body | {"claims": claims_json(sentence.claims), "attribution": sentence.attribution}


def claims_json(claims: Sequence[Claim]) -> list[WireClaim]:
    """Claims on the wire: where they stand in the sentence, what the items say to them, and why in words."""
    return [
        {
            "kind": claim.kind,
            "start": claim.start,
            "end": claim.end,
            "verdict": claim.verdict,
            "items": list(claim.items),
            "reason": claim.reason,
        }
        for claim in claims
    ]


def _related(release: Release, items: Sequence[AdmittedItem]) -> list[WireRelated]:
    """True sentences beside the point, each with its quotes and where they can be read."""
    by_index = {item.index: item.evidence.first for item in items}
    return [
        {
            "text": sentence.text,
            "citations": [
                {
                    "n": q.index,
                    "quote": q.text,
                    "locator": None if q.locator is None else locator_json(q.locator),
                    "redacted": spans_json(q.redacted),
                    "title": by_index[q.index].source.title,
                    "href": evidence_href(by_index[q.index].record),
                }
                for q in sentence.quotes
            ],
        }
        for sentence in release.related
    ]


def _verdict(sentence: Sentence) -> SentenceVerdict:
    if sentence.catalogue is not None:
        return "catalogue"
    return "supported" if sentence.support_milli >= SUPPORTED_MILLI else "partial"


def _quote(quoted: Quote) -> WireQuote:
    return {
        "n": quoted.index,
        "quote": quoted.text,
        "locator": None if quoted.locator is None else locator_json(quoted.locator),
        "redacted": spans_json(quoted.redacted),
    }


def _linked(quoted: Quote, sources: Mapping[int, AdmittedItem], rows: Mapping[str, AdmittedItem]) -> list[WireQuote]:
    """A quote with its link; for what was computed the rows behind it, or its statement where none may be shown."""
    item = sources[quoted.index]
    found = [(row, replace(quote, index=quoted.index)) for row, quote in row_quotes(item, rows)]
    linked: list[WireQuote] = []
    for each, quote in found or [(item, quoted)]:
        record = each.evidence.first.record
        if each.evidence.computed is not None:
            linked.append(_quote(quote))
            continue
        href = marked_href(record, _spans(quote, {quote.index: each}))
        linked.append({**_quote(quote), "chunk_id": record.record_id, "href": href})
    return linked


def _mark_passages(body: AnswerBody, release: Release, sources: Mapping[int, AdmittedItem]) -> None:
    """Lets the link of each cited passage mark everything that is quoted of it."""
    marks: dict[int, list[tuple[int, int]]] = {}
    for quoted in (each for sentence in release.sentences for each in sentence.quotes):
        marks.setdefault(quoted.index, []).extend(_spans(quoted, sources))
    for n, spans in marks.items():
        if spans:
            body["citations"][str(n)]["href"] = marked_href(sources[n].evidence.first.record, spans)


def _name_headings(body: AnswerBody, release: Release, sources: Mapping[int, AdmittedItem]) -> None:
    """Names the date or version over a cited passage, which no quote of it holds, where a sentence says it."""
    heads: dict[int, str] = {}
    told = ((q, sentence) for sentence in release.sentences if sentence.claims for q in sentence.quotes)
    for quoted, sentence in told:
        head = head_of(sources[quoted.index])
        said = (head.when or head.version) if head else ""
        if head and said in sentence.text and said not in quoted.text:
            heads[quoted.index] = head.text
    for n, heading in heads.items():
        body["citations"][str(n)]["title"] += f" — {heading}"


def _spans(quoted: Quote, sources: Mapping[int, AdmittedItem]) -> list[tuple[int, int]]:
    """The spans that a link to a quote marks: the quote, where it is a part of a passage."""
    record, at = sources[quoted.index].evidence.first.record, quoted.locator
    if at is None or record.kind is not RecordKind.PASSAGE or record.statement is not None:
        return []
    whole = (record.locator.start_char, record.locator.end_char)
    return [] if (at.start_char, at.end_char) == whole else [(at.start_char, at.end_char)]


def _cited(item: WireEvidence) -> WireCitation:
    """The part of an item that its citation shows."""
    shown: Mapping[str, object] = item
    return cast("WireCitation", {key: shown[key] for key in WireSource.__annotations__})


def _source(item: AdmittedItem, entry_id: str | None) -> WireSource:
    record, source = item.evidence.first.record, item.evidence.first.source
    computed = entry_id is not None and item.evidence.computed is not None
    return {
        "index": item.index,
        "kind": _kind(item),
        "source_id": source.source_id,
        "document_id": source.document_id,
        "chunk_id": item.evidence.record_id,
        "title": _title(item),
        "channel": cast("ChannelLabel", str(item.evidence.ranks[0].channel)),
        "store": item.evidence.ranks[0].store,
        "document_sha256": source.document_sha256,
        "href": computation_href(entry_id or "", item.index) if computed else evidence_href(record),
        "license": source.license,
        "attribution": source.attribution,
        "sensitivity": item.label,
        "uri": source.uri,
        "geometry": read_geometry(item.geometry),
        "time_range": _time_range(record.time),
        "computed": _computed(item),
    }


def _title(item: AdmittedItem) -> str:
    """The title of the source, and whom a passage means by its pronoun: a sentence of it may begin with that."""
    record, title = item.evidence.first.record, item.evidence.first.source.title
    _, known = parted(f" > {record.heading or ''}")
    return title if known is None or item.redacted else f"{title} — {known.said}"


def evidence_json(item: AdmittedItem, *, entry_id: str | None = None) -> WireEvidence:
    """An admitted item on the wire: what a citation shows, and how it was found. `cited` is set where it is known. With
    `entry_id` a computed item leads to its computation in the record of the answer, else to its first input."""
    record = item.evidence.first.record
    return {
        **_source(item, entry_id),
        "cited": False,
        "snippet": item.statement if item.statement is not None else item.shown,
        "redacted": spans_json(item.withheld),
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
    geometry = read_geometry(item.geometry)
    return None if geometry is None else bbox_of(geometry)


def _duplicate(record: Record, source: SourceFacts) -> WireDuplicate:
    return {
        "chunk_id": record.record_id,
        "source_id": source.source_id,
        "document_id": source.document_id,
        "href": evidence_href(record),
    }


def _kind(item: AdmittedItem) -> ItemKind:
    if item.evidence.computed is not None:
        return "computed"
    return "passage" if item.evidence.first.record.kind is RecordKind.PASSAGE else "observation"


def _computed(item: AdmittedItem) -> WireComputed | None:
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


def _time_range(time: TimeRange | None) -> WireTime | None:
    return None if time is None else {"start": time.start.isoformat(), "end": time.end.isoformat()}


def _score(rank: ChannelRank) -> str:
    return _decimal(rank.score)


def _decimal(value: float) -> str:
    """Scores as decimal text: what is recorded must not depend on a reader's float."""
    return f"{value:.6f}"


def _policy(release: Release) -> WirePolicy:
    last = release.decisions[-1] if release.decisions else None
    return {
        "effect": "deny" if last is None or release.outcome is Outcome.DENY else _effect(release.decisions),
        "reasons": [{"code": code, "message": reason_text(code)} for code in release.reason_codes],
        "obligations": _released_obligations(release),
        "bundle_digest": None if last is None else last.stamp.bundle,
        "engine": None if last is None else last.stamp.engine,
    }


def _effect(decisions: Sequence[Decision]) -> EffectName:
    carried = any(o.op not in QUERY for d in decisions for o in d.obligations)
    return "allow_with_obligations" if carried else "allow"


def _released_obligations(release: Release) -> list[WireObligation]:
    """Request-level obligations only; those on items that were filtered are nobody's business."""
    notices = {(o.op, o.rule) for d in release.decisions for o in d.obligations if o.op in PUBLIC}
    return [{"op": op, "rule": rule} for op, rule in sorted(notices)] if release.outcome is not Outcome.DENY else []


def _provenance(draft: Draft | None, prompt: RenderedPrompt | None, entry_id: str) -> WireProvenance:
    model = None if draft is None else (draft.filled or draft.completion).model
    return {
        "entry_id": entry_id,
        "receipt": receipt_href(entry_id),
        "model": None if model is None else model.name,
        "model_digest": None if model is None else model.digest,
        "template": None if prompt is None else prompt.template,
        "template_digest": None if prompt is None else prompt.template_digest,
    }
