"""The shapes of what the retrieval surfaces show (requirements 000 and 002), declared once: the types of what makes
them (`ai.search.bodies`), and the schemas of the responses."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from ai.answer.shapes import OutcomeName, Shape, WireAgentSearch, WireLimitation, WirePromise, WireReading
from ai.case.agent_record import Action, Cut


class WireResult(Shape):
    """One admitted item. `score` is calibrated relevance, 0 to 1."""

    chunk_id: str
    document_id: str
    text: str
    score: float
    metadata: dict[str, Any]


class SearchStep(Shape):
    """One step of a run, as it is recorded."""

    step_number: int
    action: Action
    input: str
    result_count: int
    tokens_used: int
    sub_queries: list[WireAgentSearch]


class WireStep(SearchStep):
    """One step of a run, in order."""

    latency_ms: int


class BasicBody(Shape):
    """Requirement 000's response as it is recorded: without its times."""

    request_id: str
    outcome: OutcomeName
    reason_codes: list[str]
    answer: str
    results: list[WireResult]
    steps: list[SearchStep]
    total_tokens_used: int
    truncated: bool
    truncated_reason: Cut | None
    calibration: dict[str, str]
    token_counter: str
    limitations: list[WireLimitation]
    provenance: WireReading


class RetrievalResult(BasicBody):
    """Requirement 000's response. `truncated_reason` says which limit cut something; `calibration` names the map of
    each channel, `token_counter` how tokens are counted."""

    steps: list[WireStep]  # type: ignore[misc]  # each with its time
    total_latency_ms: int
    promise: WirePromise


class Offset(Shape):
    """Characters of the stored document, end exclusive."""

    start: int
    end: int


class WireHit(Shape):
    """One hit. `text` is the document from `offset.start` to `offset.end`, with blocks where words are withheld."""

    doc_id: str
    chunk_id: str
    score: float
    raw_scores: dict[str, float]
    text: str
    offset: Offset
    metadata: dict[str, Any]


class PassageBody(Shape):
    """Requirement 002's response as it is recorded: without its times."""

    request_id: str
    outcome: OutcomeName
    reason_codes: list[str]
    hits: list[WireHit]
    exhaustive: bool
    embedding_model: str
    index_version: str
    limitations: list[WireLimitation]
    provenance: WireReading
    trace: NotRequired[dict[str, Any] | None]


class RetrievalResponse(PassageBody):
    """Requirement 002's response. `exhaustive`: the hits are all that match. `index_version` names the documents that
    could be found."""

    took_ms: int
    promise: WirePromise


class MgetBody(Shape):
    """The answer of mget as it is recorded."""

    request_id: str
    hits: list[WireHit]
    missing: list[str]
    provenance: WireReading


class MgetResponse(MgetBody):
    """The things that exist for this caller; missing ones and those of others look alike."""

    promise: WirePromise


class Expansion(Shape):
    """Another word: `of` is what it stands for, `source` where that is stated."""

    text: str
    kind: Literal["name", "spelling", "abbreviation", "related"]
    of: str
    source: str


class ExpandBody(Shape):
    """The answer of expand as it is recorded."""

    request_id: str
    expansions: list[Expansion]
    provenance: WireReading


class ExpandResponse(ExpandBody):
    """Everything that the query could also have said."""

    promise: WirePromise


class PackedSource(Shape):
    """A numbered piece of the context."""

    n: int
    doc_id: str
    chunk_id: str
    offset: Offset
    tokens: int


class PackedContext(Shape):
    """Numbered sources as one text, and what was left out for want of room."""

    context: str
    tokens: int
    sources: list[PackedSource]
    left_out: list[str]


class PackBody(PackedContext):
    """The answer of pack as it is recorded."""

    request_id: str
    token_counter: str
    provenance: WireReading


class PackResponse(PackBody):
    """A context of numbered sources under the token budget, and what was left out for want of room."""

    promise: WirePromise


class StatsBody(Shape):
    """The record of a reading of statistics: the index as this caller sees it."""

    request_id: str
    index_version: str
    documents: int
    provenance: WireReading
