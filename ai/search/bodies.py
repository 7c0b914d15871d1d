"""The bodies of the retrieval surfaces: requirement 000's basic body and requirement 002's, without their
times. Made from what was found and read alone, so that replay makes the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ai.answer.links import evidence_href, receipt_href
from ai.answer.render import limitation_json
from ai.answer.shapes import OutcomeName, WireReading
from ai.search.passage_search import ShapedHit
from ai.search.result import Result, SearchResult
from ai.search.shapes import (
    BasicBody,
    ExpandBody,
    Expansion,
    MgetBody,
    PackBody,
    PackedContext,
    PackedSource,
    PassageBody,
    SearchStep,
    StatsBody,
    WireHit,
    WireResult,
)
from ai.text.question_kind import kind_of
from retrieval.bundle import TOKEN_COUNTER, count_tokens
from retrieval.filters import Metadata
from retrieval.model import ChannelName
from retrieval.ranking.calibration import calibrations

RAW_NAMES = {ChannelName.FULLTEXT.value: "bm25", ChannelName.VECTOR.value: "vector"}
_MILLI = 1000


def provenance_json(entry_id: str) -> WireReading:
    """Where a request is recorded."""
    return {"entry_id": entry_id, "receipt": receipt_href(entry_id)}


def basic_body(found: SearchResult, model: str) -> BasicBody:
    """Requirement 000's body of a basic request."""
    case = found.case
    searched = ", ".join(found.asked) if found.gathered is not None else ""
    routed = f", weighed for a question of kind {kind_of(case.question)}" if case.profile.routed else ""
    step: SearchStep = {
        "step_number": 1,
        "action": "retrieve",
        "input": f"{case.ask.options.search.mode} search over {searched}{routed}" if searched else "refused",
        "result_count": len(found.results),
        "tokens_used": 0,
        "sub_queries": [],
    }
    return {
        "request_id": case.ask.request_id,
        "outcome": cast("OutcomeName", str(found.outcome)),
        "reason_codes": list(found.reason_codes),
        "answer": "",
        "results": [result_json(result) for result in found.results],
        "steps": [step],
        "total_tokens_used": 0,
        "truncated": False,
        "truncated_reason": None,
        "calibration": dict(calibrations(model)),
        "token_counter": TOKEN_COUNTER,
        "limitations": [limitation_json(each) for each in found.limitations],
        "provenance": provenance_json(case.entry_id),
    }


def result_json(result: Result) -> WireResult:
    """One result of requirement 000: the words as they may be shown, and the metadata of the document beside its place
    in it."""
    item = result.item
    record, source = item.evidence.first.record, item.evidence.first.source
    return {
        "chunk_id": item.evidence.record_id,
        "document_id": source.document_id,
        "text": item.statement if item.statement is not None else item.shown,
        "score": result.score_milli / _MILLI,
        "metadata": metadata_json(result.metadata)
        | {"heading": record.heading, "href": evidence_href(record), "channels": sorted(result.raw_scores)},
    }


def metadata_json(metadata: Metadata) -> dict[str, Any]:
    """Metadata on the wire."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in metadata.items()}


def passage_body(
    found: SearchResult,
    passed: Sequence[ShapedHit],
    *,
    model: str,
    version: str,
    exhaustive: bool,
    trace: dict[str, Any] | None,
) -> PassageBody:
    """Requirement 002's body."""
    case = found.case
    body: PassageBody = {
        "request_id": case.ask.request_id,
        "outcome": cast("OutcomeName", str(found.outcome)),
        "reason_codes": list(found.reason_codes),
        "hits": [hit_json(each) for each in passed],
        "exhaustive": exhaustive,
        "embedding_model": model,
        "index_version": version,
        "limitations": [limitation_json(each) for each in found.limitations],
        "provenance": provenance_json(case.entry_id),
    }
    return body if trace is None else body | {"trace": trace}


def hit_json(passed: ShapedHit) -> WireHit:
    """One hit of requirement 002."""
    result = passed.result
    raw = {RAW_NAMES[name]: round(score, 4) for name, score in result.raw_scores.items() if name in RAW_NAMES}
    if passed.rerank_milli is not None:
        raw["rerank"] = passed.rerank_milli / _MILLI
    record, source = result.item.evidence.first.record, result.item.evidence.first.source
    return {
        "doc_id": source.document_id,
        "chunk_id": result.item.evidence.record_id,
        "score": passed.score,
        "raw_scores": raw,
        "text": passed.text,
        "offset": {"start": passed.start_char, "end": passed.end_char},
        "metadata": metadata_json(result.metadata)
        | {"heading": record.heading, "href": evidence_href(record), "relevance": result.score_milli / _MILLI},
    }


def named_body(found: SearchResult, ids: Sequence[str]) -> MgetBody:
    """The body of mget: what was asked for by id, and the ids that nothing answers to."""
    hits = [hit_json(as_it_is(each)) for each in found.results]
    there = {hit["chunk_id"] for hit in hits} | {hit["doc_id"] for hit in hits}
    return {
        "request_id": found.case.ask.request_id,
        "hits": hits,
        "missing": [each for each in dict.fromkeys(ids) if each not in there],
        "provenance": provenance_json(found.case.entry_id),
    }


def as_it_is(result: Result) -> ShapedHit:
    """A result without shaping."""
    at = result.item.evidence.first.record.locator
    return ShapedHit(result, result.score_milli / _MILLI, None, result.item.shown, at.start_char, at.end_char)


def packed_body(found: SearchResult, hits: Sequence[ShapedHit], token_budget: int) -> PackBody:
    """The body of pack."""
    return {
        "request_id": found.case.ask.request_id,
        **packed(hits, token_budget),
        "token_counter": TOKEN_COUNTER,
        "provenance": provenance_json(found.case.entry_id),
    }


def packed(hits: Sequence[ShapedHit], token_budget: int) -> PackedContext:
    """The context, its tokens and its sources: hits in their order, each whole; one that does not fit is left out, and
    a later and smaller one may still fit."""
    blocks: list[str] = []
    sources: list[PackedSource] = []
    left_out: list[str] = []
    for hit in hits:
        item = hit.result.item
        source, chunk_id = item.evidence.first.source, item.evidence.record_id
        block = f"[{len(sources) + 1}] {source.title}\n{hit.text}"
        if count_tokens("\n\n".join([*blocks, block])) > token_budget:
            left_out.append(chunk_id)
            continue
        blocks.append(block)
        sources.append(
            {
                "n": len(sources) + 1,
                "doc_id": source.document_id,
                "chunk_id": chunk_id,
                "offset": {"start": hit.start_char, "end": hit.end_char},
                "tokens": count_tokens(block),
            }
        )
    context = "\n\n".join(blocks)
    return {"context": context, "tokens": count_tokens(context), "sources": sources, "left_out": left_out}


def stats_body(found: SearchResult, version: str, documents: int) -> StatsBody:
    """Records in stats: the index as this caller sees it."""
    return {
        "request_id": found.case.ask.request_id,
        "index_version": version,
        "documents": documents,
        "provenance": provenance_json(found.case.entry_id),
    }


def expansion_body(found: SearchResult, expansions: Sequence[Mapping[str, str]]) -> ExpandBody:
    """The body of expand."""
    return {
        "request_id": found.case.ask.request_id,
        "expansions": [cast("Expansion", dict(each)) for each in expansions],
        "provenance": provenance_json(found.case.entry_id),
    }
