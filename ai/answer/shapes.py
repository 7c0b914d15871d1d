"""The shapes of the bodies that are recorded and released: the answer to a question, and one slice of a document.

Declared here once. The type checker holds what makes them (`ai.answer.render`, `ai.record.slices`) to them, and they
are the schemas of the responses.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from ai.case.agent_record import Action, CallStatus, Cut
from ai.model import ClaimKind, Verdict

OutcomeName = Literal["ANSWER", "ABSTAIN", "DENY"]
SentenceVerdict = Literal["supported", "partial", "catalogue"]
ItemKind = Literal["passage", "observation", "computed"]
ChannelLabel = Literal["neo4j", "postgis", "fulltext", "vector"]
EffectName = Literal["allow", "allow_with_obligations", "deny"]
PlaceRole = Literal["subject", "result", "input"]
NoGeometryCode = Literal["NO_PLACE", "NO_GEOMETRY"]


class Shape(TypedDict):
    """No key that is not described."""


Shape.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]


class Span(Shape):
    """Characters that were withheld, and why."""

    start: Annotated[int, Field(examples=[52])]
    end: Annotated[int, Field(examples=[70])]
    kind: Annotated[str, Field(examples=["email"])]


class Mark(Shape):
    """Characters that a link points out, end exclusive."""

    start: int
    end: int


class WireLocator(Shape):
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


class QuotedWords(Shape):
    """Words of the stored document."""

    n: Annotated[int, Field(examples=[1])]
    quote: Annotated[str, Field(examples=["By 1930, Shawnee County had 85,200 inhabitants."])]
    locator: WireLocator | None
    redacted: list[Span]


class WireQuote(QuotedWords):
    """Words that stand behind a sentence; for a computed one rows that it was computed from, or its statement where no
    row may be shown. `href` leads to them, marked in their passage; answers recorded by version 0.2 have neither that
    nor `chunk_id`."""

    chunk_id: NotRequired[str]
    href: NotRequired[str]


class WireClaim(Shape):
    """A part of a sentence that claims something: characters of its text, what the cited items say to it, and why."""

    kind: ClaimKind
    start: int
    end: int
    verdict: Verdict
    items: list[int]
    reason: str


class WireRelatedQuote(QuotedWords):
    """A quote with the title of its source, and where it can be read."""

    title: Annotated[str, Field(examples=["Population of Kansas counties, 1900-1950"])]
    href: Annotated[str, Field(examples=["/api/v1/evidence/county-population@5f3a0714704a?row=88&col=1930"])]


class WireRelated(Shape):
    """A true sentence that does not answer the question."""

    text: Annotated[str, Field(examples=["In 1930 Shawnee County had 85,200 inhabitants."])]
    citations: list[WireRelatedQuote]


class WireSentence(Shape):
    """A sentence of the answer, its support in thousandths, its quotes and its claims. `attribution` says who set the
    citations. Answers recorded by version 0.1 have neither claims nor attribution."""

    i: int
    text: str
    support_milli: int
    verdict: SentenceVerdict
    citations: list[WireQuote]
    claims: NotRequired[list[WireClaim] | None]
    attribution: NotRequired[Literal["model", "system"] | None]


class WireTime(Shape):
    """Days, both inclusive."""

    start: str
    end: str


class WireInput(Shape):
    """A row that a computation read."""

    chunk_id: str
    href: str


class WireComputed(Shape):
    """A named operation, recomputable from its inputs."""

    operation: str
    parameters: dict[str, Any]
    inputs: list[WireInput]
    input_digest: str
    result: dict[str, Any]
    statement: str


class WireSource(Shape):
    """A source of an answer, cited or not."""

    index: int
    kind: ItemKind
    source_id: str
    document_id: str
    chunk_id: str
    title: str
    channel: ChannelLabel
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


BoundingBox = Annotated[
    list[float],
    Field(min_length=4, max_length=4, description="west, south, east, north", examples=[[-96.1, 38.9, -95.5, 39.3]]),
]


class WirePlace(Shape):
    """A place that a citation speaks of."""

    place_id: Annotated[str, Field(description="its id", examples=["county:20177"])]
    name: Annotated[str, Field(description="as the source has it", examples=["Shawnee County"])]
    type: Annotated[str, Field(description="such as county, state or nation", examples=["county"])]
    role: Annotated[
        PlaceRole,
        Field(
            description="what it is to the citation: spoken of or asked about, found by a computation, or read by one"
        ),
    ]
    geometry: Annotated[
        dict[str, Any] | None, Field(description="GeoJSON, after obligations; null where nothing draws it")
    ]
    bbox: Annotated[BoundingBox | None, Field(description="box around the geometry")]
    chunk_id: Annotated[str | None, Field(description="the record that draws it")]
    layer: Annotated[str | None, Field(description="id of that record's layer", examples=["counties"])]
    href: Annotated[str | None, Field(description="where the feature is")]
    attribution: Annotated[str | None, Field(description="whom to credit beside the outline")]


class WireNoGeometry(Shape):
    """Why there is nothing to draw."""

    code: Annotated[NoGeometryCode, Field(description="no place is named, or none is drawn by any source")]
    message: Annotated[str, Field(description="the same in words")]


class WireCitation(WireSource):
    """A source that the answer cites, and where it is: `geometry` is its own, or that of the first of its places."""

    bbox: Annotated[BoundingBox | None, Field(description="box around everything that it speaks of")]
    places: Annotated[list[WirePlace], Field(description="subjects first, then results, then inputs; at most 24")]
    places_omitted: Annotated[int, Field(description="how many places there are beyond these", examples=[0])]
    no_geometry: Annotated[WireNoGeometry | None, Field(description="why `geometry` is null; null where it is not")]


class WireDuplicate(Shape):
    """A near-equal record that was folded into an item."""

    chunk_id: Annotated[str, Field(examples=["dust-bowl-story@4f1c2a9be07d#p3"])]
    source_id: Annotated[str, Field(examples=["dust-bowl-story"])]
    document_id: Annotated[str, Field(examples=["dust-bowl-story@4f1c2a9be07d"])]
    href: Annotated[str, Field(examples=["/api/v1/evidence/dust-bowl-story@4f1c2a9be07d?c=0-200"])]


class WireMetadata(Shape):
    """Further facts about an item."""

    time_range: WireTime | None
    bbox: list[Any] | None
    entity_ids: list[str]
    locator: WireLocator | None
    paths: list[list[str]]
    duplicates: list[WireDuplicate]


class WireEvidence(WireSource):
    """An admitted item, cited or not. Scores are decimal text."""

    cited: bool
    snippet: str
    redacted: list[Span]
    rank: dict[str, int]
    raw_scores: dict[str, str]
    fused_score: str
    metadata: WireMetadata


class WireLimitation(Shape):
    """Something the reader must know about what was not found or not asked."""

    channel: str | None
    code: str
    message: str


class WireReason(Shape):
    """Why a request was refused."""

    code: str
    message: str


class WireObligation(Shape):
    """The obligations on the whole request."""

    op: str
    rule: str


class WirePolicy(Shape):
    """The decisions of policy, on the level of the request and of the release."""

    effect: EffectName
    reasons: list[WireReason]
    obligations: list[WireObligation]
    bundle_digest: str | None
    engine: str | None


class WireProvenance(Shape):
    """Where the record of this answer is, and what wrote it."""

    entry_id: str
    receipt: str
    model: str | None
    model_digest: str | None
    template: str | None
    template_digest: str | None


class WireToolCall(Shape):
    """A tool call that the agent proposed, carried out or refused."""

    tool: str
    arguments: dict[str, str]
    status: CallStatus
    reason: str
    result_count: int
    iteration: int


class WireAgentSearch(Shape):
    """One search of a step."""

    text: str
    kb_id: str | None
    rationale: str
    result_count: int
    token_count: int


class WireAgentStep(Shape):
    """One step of the agent, in order."""

    action: Action
    input: str
    result_count: int
    tokens_used: int
    latency_ms: int
    sub_queries: list[WireAgentSearch]


class WireTokens(Shape):
    """Tokens of the agent's model calls, and of the evidence it holds."""

    spent: int
    held: int


class WireAgent(Shape):
    """The steps of the agentic profile before it wrote."""

    steps: list[WireAgentStep]
    tool_calls: list[WireToolCall]
    truncated: bool
    truncated_reason: Cut | None
    synthesized: bool
    tokens: WireTokens


class WireInterpretation(Shape):
    """How the question was read: in words, and as the operations that were asked of the structured channels, which may
    be sent back edited as `options.plan`."""

    reading: str
    plan: list[dict[str, Any]]


class AnswerBody(Shape):
    """An answer, an abstention or a denial, as it is recorded."""

    request_id: str
    outcome: OutcomeName
    reason_codes: list[str]
    answer: str
    answer_markdown: str
    sentences: list[WireSentence]
    citations: dict[str, WireCitation]
    evidence: list[WireEvidence]
    limitations: list[WireLimitation]
    policy: WirePolicy
    provenance: WireProvenance
    bbox: NotRequired[
        Annotated[
            BoundingBox | None,
            Field(description="box around everything that the citations speak of; absent without an answer"),
        ]
    ]
    related: NotRequired[list[WireRelated] | None]
    interpretation: NotRequired[WireInterpretation | None]
    agent: NotRequired[WireAgent | None]


class WirePromise(Shape):
    """The log's signed word that a checkpoint will cover the entry (`exhibit.promise/1`, docs/formats.md)."""

    v: Literal["exhibit.promise/1"]
    entry_id: str
    leaf_hash: str
    answer_digest: str
    replica: str
    rseq: int
    time: str
    merge_delay_s: int
    key: str
    signature: str


class QueryResponse(AnswerBody):
    """An answer, an abstention or a denial; all three are 200."""

    timings_ms: dict[str, float]
    promise: WirePromise


class WireMeasurement(Shape):
    """The statement of one cell; `value` is the source's decimal text."""

    place: str
    place_id: str
    measure: str
    value: str
    unit: str
    time_range: WireTime


class WireReading(Shape):
    """Where the record of this reading is."""

    entry_id: str
    receipt: str


class EvidenceBody(Shape):
    """One slice of one document, as policy lets this caller see it and as it is recorded."""

    request_id: str
    document_id: str
    source_id: str
    title: str
    collection: str
    license: str
    attribution: str | None
    uri: str | None
    sensitivity: str
    document_sha256: str
    locator: WireLocator
    text: str
    redacted: list[Span]
    cell: str | None
    measurement: WireMeasurement | None
    provenance: WireReading
    marked: NotRequired[
        Annotated[list[Mark], Field(description="the parts that `mark` names, in characters of `text`")]
    ]


class EvidenceResponse(EvidenceBody):
    """One slice of one document, as policy lets this caller see it."""

    promise: WirePromise
