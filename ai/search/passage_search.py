"""Requirement 002's search: the retrieval pipeline with the caller's weights, then rerank, grouping and snippets, all
over admitted items only."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ai.answer.evidence import search_query
from ai.case.case import Case, Services
from ai.case.profiles import KNEE_MILLI, WIDE, Profile
from ai.errors import ModelTimeout, ModelUnavailable, PromptTooLong
from ai.governance.admission import Access, admit
from ai.model import AdmittedItem
from ai.search.reads import NearbyText, Reads
from ai.search.result import Result, SearchResult
from retrieval.bundle import BundleRules, count_tokens
from retrieval.errors import ChannelTimeout, EmbedModelMismatch
from retrieval.filters import Scalar
from retrieval.model import (
    ChannelName,
    Evidence,
    EvidenceBundle,
    Limitation,
    Locator,
    Query,
    Record,
    RecordKind,
    SourcedRecord,
)
from retrieval.ranking.fusion import FusionWeights
from retrieval.ranking.rerank import RerankWeights
from retrieval.ranking.reranker import HeuristicReranker, Passage, Reranker
from retrieval.withheld import whole_words

_FULL = 1000
_SPARE = 4
_SHARE_OF_TIMEOUT = 0.8
WIDEST_TOKEN = 8
"""Characters that a token of the surroundings may take; more are not looked at."""


@dataclass(frozen=True, slots=True)
class Shaping:
    """The shaping of results. `group_field` with `per_group`, `window` and `surround` in tokens; zero or empty
    means not done. `rerank_timeout_ms` is the time that a reranker has (0: its own)."""

    top_k: int
    reranker: Reranker | None = None
    rerank_top_n: int = 0
    group_field: str = ""
    per_group: int = 0
    window: int = 0
    surround: int = 0
    rerank_timeout_ms: int = 0


@dataclass(frozen=True, slots=True)
class ShapedHit:
    """One result after shaping: its text is the document from `start_char` to `end_char`."""

    result: Result
    score: float
    rerank_milli: int | None
    text: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class ShapedHits:
    """The hits, and what the reader must know of how they came about."""

    passed: tuple[ShapedHit, ...]
    limitations: tuple[Limitation, ...] = ()


NO_ORDER = Limitation("RERANK_FALLBACK", "The reranker that was asked for gave no order; the heuristic one did.")


def search_profile(profile: Profile, weights_milli: tuple[int, int], *, top_k: int, timeout_s: float) -> Profile:
    """The channels that have a weight, fused by it, within the time that the caller gives."""
    weights = dict(zip((ChannelName.FULLTEXT, ChannelName.VECTOR), weights_milli, strict=True))
    most = _SHARE_OF_TIMEOUT * timeout_s
    return replace(
        profile,
        channels=tuple(name for name, weight in weights.items() if weight > 0),
        channel_top_k=max(24, _SPARE * top_k),
        channel_deadlines_s={name: min(s, most) for name, s in profile.channel_deadlines_s.items()},
        rules=BundleRules(
            fusion=FusionWeights(by_score=True, weights_milli=weights, knee_milli=KNEE_MILLI),
            rerank=RerankWeights(fused=_FULL, coverage=0, entity=0, time=0, direct=0),
        ),
        limits=WIDE,
    )


def require_answer(found: SearchResult) -> None:
    """Raises `EmbedModelMismatch` for a vector that the index cannot be searched with, `ChannelTimeout` where nothing
    answered in time; what did answer is a partial result."""
    gathered = found.gathered
    if gathered is None:
        return
    codes = {limitation.code for limitation in gathered.limitations}
    if found.case.ask.embedding is not None and EmbedModelMismatch.code in codes:
        raise EmbedModelMismatch("the vector is not of the model that the index holds")
    if not gathered.runs and ChannelTimeout.code in codes:
        raise ChannelTimeout(str(found.case.profile.channels[0]), "nothing answered in time")


def is_exhaustive(found: SearchResult, kept: int) -> bool:
    """True if the hits are all that match: every channel answered, none was cut, nothing was left out."""
    gathered = found.gathered
    if gathered is None or gathered.limitations or found.case.limitations:
        return False
    cut = any(len(run.hits) >= found.case.profile.channel_top_k for run in gathered.runs)
    return not cut and kept == len(found.results)


async def shape(found: SearchResult, shaping: Shaping, services: Services, reads: Reads) -> ShapedHits:
    """Rerank, group, cut to `top_k`, and make the snippets."""
    ordered, fell_back = await _reranked(found, shaping)
    grouped = _grouped(ordered, shaping)[: shaping.top_k]
    passed = tuple([await _passed(found.case, each, shaping, services, reads) for each in grouped])
    return ShapedHits(passed, (NO_ORDER,) if fell_back else ())


Scored = tuple[Result, float, int | None]


async def _reranked(found: SearchResult, shaping: Shaping) -> tuple[list[Scored], bool]:
    """The results in their new order, and whether the heuristic one had to stand in."""
    plain: list[Scored] = [(result, round(result.item.evidence.fused_score, 4), None) for result in found.results]
    if shaping.reranker is None or not plain:
        return plain, False
    best = max(result.item.evidence.fused_score for result in found.results) or 1.0
    head, tail = plain[: shaping.rerank_top_n], plain[shaping.rerank_top_n :]
    passages = [
        Passage(
            r.item.evidence.first.record.heading or "", _words(r.item), int(r.item.evidence.fused_score / best * _FULL)
        )
        for r, _, _ in head
    ]
    scores, fell_back = await _scored(shaping, search_query(found.case), passages)
    looked = [(r, milli / _FULL, milli) for (r, _, _), milli in zip(head, scores, strict=True)]
    least = min(scores) / _FULL
    below = [(r, round(min(score / best, 1.0) * least, 4), None) for r, score, _ in tail]
    return [*sorted(looked, key=lambda each: (-each[1], each[0].item.index)), *below], fell_back


async def _scored(shaping: Shaping, query: Query, passages: Sequence[Passage]) -> tuple[list[int], bool]:
    """The reranker's scores of the passages; the heuristic one's where it gives nothing in its time."""
    timeout_s = shaping.rerank_timeout_ms / 1000 if shaping.rerank_timeout_ms else None
    if shaping.reranker is not None:
        with suppress(ModelUnavailable, ModelTimeout, PromptTooLong, TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await shaping.reranker.score(query, passages), False
    return await HeuristicReranker().score(query, passages), True


def _grouped(ordered: Sequence[Scored], shaping: Shaping) -> list[Scored]:
    """At most so many of each value of the field, in order; without the field, a hit is a group of its own."""
    if not shaping.group_field:
        return list(ordered)
    counts: dict[Scalar | tuple[Scalar, ...], int] = {}
    kept = []
    for each in ordered:
        value = _value(each[0], shaping.group_field)
        if value is not None:
            counts[value] = counts.get(value, 0) + 1
            if counts[value] > shaping.per_group:
                continue
        kept.append(each)
    return kept


def _value(result: Result, field: str) -> Scalar | tuple[Scalar, ...] | None:
    return result.metadata.get(field)


def _words(item: AdmittedItem) -> str:
    return item.statement if item.statement is not None else item.text


async def _passed(case: Case, scored: Scored, shaping: Shaping, services: Services, reads: Reads) -> ShapedHit:
    result, score, milli = scored
    item = result.item
    at = item.evidence.first.record.locator
    if not shaping.window:
        return ShapedHit(result, score, milli, item.shown, at.start_char, at.end_char)
    start, end = best_window(item.text, search_query(case).text, shaping.window)
    text, first = item.shown[start:end], at.start_char + start
    if shaping.surround:
        window = (first, first + len(text))
        near = await reads.around(at_document(item), *window, WIDEST_TOKEN * shaping.surround)
        wider = (
            None
            if near is None
            else await _surrounded(case, item, near, window=window, surround=shaping.surround, services=services)
        )
        if wider is not None:
            return ShapedHit(result, score, milli, *wider)
    return ShapedHit(result, score, milli, text, first, first + len(text))


def at_document(item: AdmittedItem) -> str:
    """The document that the item stands in."""
    return item.evidence.first.record.document_id


async def _surrounded(
    case: Case, item: AdmittedItem, near: NearbyText, *, window: tuple[int, int], surround: int, services: Services
) -> tuple[str, int, int] | None:
    """The window with its surroundings, as the evidence point admits them: text beyond the passage was not decided over
    with it. None where it is not admitted."""
    base = near.start_char
    low, high = widen(near.text, window[0] - base, window[1] - base, surround)
    low, high = whole_words(near.text, low, high, places=bool(item.evidence.first.source.visibility.handling))
    slice_of = _slice_evidence(item, near, low, high)
    admission = await admit(EvidenceBundle((slice_of,)), access=Access.of(case), services=services)
    return (admission.items[0].shown, base + low, base + high) if admission.items else None


def _slice_evidence(item: AdmittedItem, near: NearbyText, low: int, high: int) -> Evidence:
    record = item.evidence.first.record
    text = near.text[low:high]
    start, before = near.start_char + low, near.start_byte + len(near.text[:low].encode())
    made = Record(
        record_id=f"slice:{record.document_id}?c={start}-{start + len(text)}",
        kind=RecordKind.PASSAGE,
        document_id=record.document_id,
        source_id=record.source_id,
        class_id=record.class_id,
        ordinal=0,
        text=text,
        locator=Locator(start, start + len(text), before, before + len(text.encode())),
    )
    return Evidence(1, made.record_id, (SourcedRecord(made, item.evidence.first.source),), item.evidence.ranks, 0.0)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every run without blanks: snippets begin and end there."""
    spans, start = [], -1
    for at, char in enumerate(text):
        if char.isspace():
            if start >= 0:
                spans.append((start, at))
            start = -1
        elif start < 0:
            start = at
    return [*spans, (start, len(text))] if start >= 0 else spans


def best_window(text: str, query: str, tokens: int) -> tuple[int, int]:
    """The window of whole words inside `tokens` that holds most of the query's words, the first of equals; one word
    where even that is longer."""
    from retrieval.english.words import content_beginnings, occurs  # noqa: PLC0415

    spans, asked = word_spans(text), content_beginnings(query)
    if not spans:
        return 0, len(text)
    holds = [{each for each in asked if occurs(each, text[s:e].casefold())} for s, e in spans]
    best, chosen, last = -1, (0, 0), 0
    for first in range(len(spans)):
        last = max(last, first)
        while last + 1 < len(spans) and count_tokens(text[spans[first][0] : spans[last + 1][1]]) <= tokens:
            last += 1
        held = len(set().union(*holds[first : last + 1]))
        if held > best:
            best, chosen = held, (first, last)
        if last == len(spans) - 1:
            break
    return spans[chosen[0]][0], spans[chosen[1]][1]


def widen(whole: str, start: int, end: int, tokens: int) -> tuple[int, int]:
    """The range with whole words inside `tokens` more on either side."""
    base = max(0, start - WIDEST_TOKEN * tokens)
    before, after = word_spans(whole[base:start]), word_spans(whole[end : end + WIDEST_TOKEN * tokens])
    low = next((base + s for s, _ in before if count_tokens(whole[base + s : start]) <= tokens), start)
    high = next((end + e for _, e in reversed(after) if count_tokens(whole[end : end + e]) <= tokens), end)
    return low, high


def trace_of(found: SearchResult, passed: Sequence[ShapedHit], told: Mapping[str, Any]) -> dict[str, Any]:
    """The work of each stage: ranks and scores per channel, how they were brought to one scale, filters as executed.
    Its times are no part of it: those of one request are not computed again."""
    runs = () if found.admission is None else found.admission.bundle.runs
    return {
        **told,
        "filters": found.case.ask.options.search.filters,
        "channels": [
            {
                "channel": str(run.channel),
                "store": run.store,
                "hits": len(run.hits),
                "ranks": [
                    {"rank": hit.rank, "chunk_id": hit.record_id, "score": round(hit.score, 4)} for hit in run.hits
                ],
            }
            for run in runs
        ],
        "normalisation": f"score / best of the run, a hundredth of it under {KNEE_MILLI / _FULL}",
        "fused": [
            {"chunk_id": r.item.evidence.record_id, "score": round(r.item.evidence.fused_score, 4)}
            for r in found.results
        ],
        "returned": [each.result.item.evidence.record_id for each in passed],
    }
