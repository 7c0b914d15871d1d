"""The response of `POST /api/v1/ai/query` as it is described to clients. Bodies are rendered by `ai.render`; tests
hold them to this."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Closed(BaseModel):
    """No field that is not described."""

    model_config = ConfigDict(extra="forbid")


class Span(Closed):
    """Characters that were withheld, and why."""

    start: int
    end: int
    kind: str


class WireLocator(Closed):
    """Where a slice stands: character and byte offsets into the stored text, end exclusive; page, row, column or
    feature where it has one."""

    start_char: int
    end_char: int
    start_byte: int
    end_byte: int
    page: int | None
    row: int | None
    column: str | None
    feature: str | None


class WireQuote(Closed):
    """Words of the stored document that stand behind a sentence."""

    n: int
    quote: str
    locator: WireLocator | None
    redacted: list[Span]


class WireSentence(Closed):
    """A sentence of the answer, its support in thousandths and its quotes."""

    i: int
    text: str
    support_milli: int
    verdict: Literal["supported", "partial", "catalogue"]
    citations: list[WireQuote]


class WireTime(Closed):
    """Days, both inclusive."""

    start: str
    end: str


class WireInput(Closed):
    """A row that a computation read."""

    chunk_id: str
    href: str


class WireComputed(Closed):
    """A named operation, recomputable from its inputs."""

    operation: str
    parameters: dict[str, Any]
    inputs: list[WireInput]
    input_digest: str
    result: dict[str, Any]
    statement: str


class WireCitation(Closed):
    """A source that the answer cites."""

    index: int
    kind: Literal["passage", "observation", "computed"]
    source_id: str
    document_id: str
    chunk_id: str
    title: str
    channel: Literal["neo4j", "postgis", "fulltext", "vector"]
    store: str
    document_sha256: str
    href: str
    license: str
    attribution: str | None
    sensitivity: str
    uri: str | None
    geometry: dict[str, Any] | None
    time_range: WireTime | None
    computed: WireComputed | None


class WireDuplicate(Closed):
    """A near-equal record that was folded into an item."""

    chunk_id: str
    source_id: str
    document_id: str
    href: str


class WireMetadata(Closed):
    """What else is known of an item."""

    time_range: WireTime | None
    bbox: list[Any] | None
    entity_ids: list[str]
    locator: WireLocator | None
    paths: list[list[str]]
    duplicates: list[WireDuplicate]


class WireEvidence(WireCitation):
    """An admitted item, cited or not. Scores are decimal text."""

    cited: bool
    snippet: str
    redacted: list[Span]
    rank: dict[str, int]
    raw_scores: dict[str, str]
    fused_score: str
    metadata: WireMetadata


class WireLimitation(Closed):
    """Something the reader must know about what was not found or not asked."""

    channel: str | None
    code: str
    message: str


class WireReason(Closed):
    """Why a request was refused."""

    code: str
    message: str


class WireObligation(Closed):
    """What policy obliged the whole request to."""

    op: str
    rule: str


class WirePolicy(Closed):
    """What policy decided, on the level of the request and of what was released."""

    effect: Literal["allow", "allow_with_obligations", "deny"]
    reasons: list[WireReason]
    obligations: list[WireObligation]
    bundle_digest: str | None
    engine: str | None


class WireProvenance(Closed):
    """Where the record of this answer is, and what wrote it."""

    entry_id: str
    receipt: str
    model: str | None
    model_digest: str | None
    template: str | None
    template_digest: str | None


class WireToolCall(Closed):
    """A tool call that the agent proposed, carried out or refused."""

    tool: str
    arguments: dict[str, str]
    status: Literal["ok", "refused", "failed"]
    reason: str
    result_count: int
    iteration: int


class WireAgentSearch(Closed):
    """One search of a step."""

    text: str
    kb_id: str | None
    rationale: str
    result_count: int
    token_count: int


class WireAgentStep(Closed):
    """One step of the agent, in order."""

    action: Literal["decompose", "retrieve", "grade", "refine", "synthesize"]
    input: str
    result_count: int
    tokens_used: int
    latency_ms: int
    sub_queries: list[WireAgentSearch]


class WireTokens(Closed):
    """Tokens of the agent's model calls, and of the evidence it holds."""

    spent: int
    held: int


class WireAgent(Closed):
    """What the agentic profile did before it wrote."""

    steps: list[WireAgentStep]
    tool_calls: list[WireToolCall]
    truncated: bool
    truncated_reason: Literal["budget", "latency", "steps"] | None
    synthesized: bool
    tokens: WireTokens


class QueryResponse(Closed):
    """An answer, an abstention or a denial; all three are 200."""

    request_id: str
    outcome: Literal["ANSWER", "ABSTAIN", "DENY"]
    reason_codes: list[str]
    answer: str
    answer_markdown: str
    sentences: list[WireSentence]
    citations: dict[str, WireCitation]
    evidence: list[WireEvidence]
    limitations: list[WireLimitation]
    policy: WirePolicy
    provenance: WireProvenance
    timings_ms: dict[str, float]
    agent: WireAgent | None = None
