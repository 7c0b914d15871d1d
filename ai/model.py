"""Values of the pipeline: what is asked, what was admitted, what a model drafted, what is released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from policy.model import Decision, Subject
from retrieval.algebra.operations import Operation
from retrieval.filters import Filter
from retrieval.model import EntityRef, Evidence, Limitation, Locator, TimeRange
from retrieval.withheld import BLOCK

CLAIMS_VERSION = 18
"""Raised with every change of what is checked in a draft or said of what it cites; recorded with each request, so that
what a release recorded replays as it was. Kept are 0, that of release 0.1.0, by which nothing is checked, and this one:
those between were never released (ADR 0111)."""
KEPT_CLAIMS = frozenset({0, CLAIMS_VERSION})
"""The versions by which drafts are checked."""

DEFAULT_MODEL = "extractive"
"""The name of the default model."""

ProfileName = Literal["basic", "agentic", "focus"]
DraftingMode = Literal["free", "select", "compose"]
"""How a model may write. `free`: text with numbers in it; `select`: it only picks from numbered sentences; `compose`:
sentences, each with its sources, as JSON. Whatever the mode, what it writes is checked."""

_MODES: Mapping[str, DraftingMode] = {
    "focus_select": "select",
    "focus_select_base": "select",
    "focus_compose": "compose",
}


def mode_of(template: str) -> DraftingMode:
    """The mode that a prompt template asks for: `focus_select/v1` lets the model pick; others leave it free."""
    return _MODES.get(template.partition("/")[0], "free")


class Outcome(StrEnum):
    """How a question ended."""

    ANSWER = "ANSWER"
    ABSTAIN = "ABSTAIN"
    DENY = "DENY"


@dataclass(frozen=True, slots=True)
class MapContext:
    """The state of the map when the question was asked. The question wins where they disagree."""

    place: str | None = None
    place_id: str | None = None
    bbox: tuple[float, float, float, float] | None = None
    geometry: str | None = None
    time: TimeRange | None = None
    active_layers: tuple[str, ...] = ()
    story_node_id: str | None = None

    def strings(self) -> tuple[str, ...]:
        """Every free string of the context, for the prompt gate."""
        named = (self.place, self.place_id, self.story_node_id, *self.active_layers)
        return tuple(s for s in named if s)


Mode = Literal["keyword", "vector", "hybrid"]
Effort = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a retrieval surface searches (requirements 000 and 002). `threshold_milli` is the least calibrated relevance
    of a result, `filters` the filter as canonical JSON, for the record; `weights_milli` those of full text and
    vectors."""

    mode: Mode = "hybrid"
    threshold_milli: int = 0
    filters: str = ""
    weights_milli: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The bounds of an agentic run (requirement 000): retrieval steps, results of each sub-query, tokens,
    milliseconds."""

    effort: Effort = "medium"
    max_steps: int = 5
    top_k_per_step: int = 5
    token_budget: int = 8000
    max_latency_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class Options:
    """How to answer. `collections` are names or ids that narrow the search (empty: all that the subject may use).
    `plan` are operations that are asked in place of those that are read from the question."""

    profile: ProfileName = "focus"
    top_k: int = 8
    max_tokens: int = 700
    temperature_milli: int = 0
    seed: int | None = None
    collections: tuple[str, ...] = ()
    search: SearchOptions = SearchOptions()
    agent: AgentOptions = AgentOptions()
    plan: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: parsed, and asked by a known subject. `request_id` is made by the server. `filters` narrows the
    search to documents whose metadata it holds for; `embedding` is a vector of the caller's own."""

    request_id: str
    question: str
    subject: Subject
    context: MapContext = MapContext()
    options: Options = Options()
    purpose: str = "research"
    session_id: str | None = None
    filters: Filter | None = None
    embedding: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Characters of a text, end exclusive, and why they are marked."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class AdmittedItem:
    """An item that the evidence point admitted, after its obligations. `index` is the citation number, fixed before
    generation; `label` the highest of its inputs, since it is as sensitive as what it was made from.

    `text` is the evidence's own text with redacted spans replaced by a block of the same length (so offsets hold);
    `statement` likewise says what a row, cell, feature or computation states. `geometry` is GeoJSON text, generalised
    if so obliged. `appeals` are the sentences of the text that ask something of the reader for which the question did
    not ask: a model may read them, a reader is not shown them.
    """

    index: int
    evidence: Evidence
    text: str
    statement: str | None
    redacted: tuple[TextSpan, ...] = ()
    geometry: str | None = None
    datamarked: bool = False
    appeals: tuple[TextSpan, ...] = ()
    label: str = field(kw_only=True)

    @property
    def shown(self) -> str:
        """The text as a reader is shown it."""
        return blocked(self.text, self.appeals)

    @property
    def withheld(self) -> tuple[TextSpan, ...]:
        """The spans of the text that are withheld from what is shown."""
        return (*self.redacted, *self.appeals) if self.appeals else self.redacted


def blocked(text: str, spans: Sequence[TextSpan]) -> str:
    """`text` with every span replaced by a block of the same length; spans that overlap or reach out of the text are
    cut to it."""
    chars = list(text)
    for span in spans:
        start, end = max(0, span.start), min(len(chars), span.end)
        if start < end:
            chars[start:end] = BLOCK * (end - start)
    return "".join(chars)


@dataclass(frozen=True, slots=True)
class PromptSource:
    """A numbered source in its own words, exactly as admitted; the prompt prints them neutralised. `direct` marks a
    computed or observed fact that answers an operation of the intent; `entities` are those its record declares."""

    index: int
    kind: Literal["passage", "observation", "computed"]
    title: str
    text: str
    statement: str | None
    direct: bool = False
    entities: tuple[EntityRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """A sentence that a model may pick by its `number`, in the words of the source `index`."""

    number: int
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """The exact text that a model is given. `template` is `focus_mode/v2`, `template_digest` of its bytes. `offers` are
    the sentences that it may pick, where it only picks."""

    system: str
    prompt: str
    template: str
    template_digest: str
    sources: tuple[PromptSource, ...]
    tokens: int
    offers: tuple[Offer, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model answered. `digest` pins weights or, for a model without weights, code and parameters."""

    name: str
    digest: str
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SentenceChance:
    """The chance in thousandths, as a reader told it, that a sentence answers: by the number of its source and the
    place in it where the sentence starts."""

    index: int
    start: int
    milli: int


@dataclass(frozen=True, slots=True)
class SourceReading:
    """How a reader read the sources: `reader` is the digest of its weights and calibration, `answered_milli` the
    chance that any sentence answers, `least_milli` the least at which there is an answer. `sentences` are those that
    it read to the end, best first."""

    reader: str
    answered_milli: int
    least_milli: int
    sentences: tuple[SentenceChance, ...]


@dataclass(frozen=True, slots=True)
class ClaimChance:
    """The chance in thousandths, as a reader told it, that a source bears a sentence of a draft out; `start` is where
    the sentence of the source begins that does most for it."""

    text: str
    index: int
    start: int
    milli: int


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """How a reader judged sentences of a draft that no source has in like words: `reader` is the digest of its weights
    and calibration, `least_milli` the least chance at which a sentence is borne out."""

    reader: str
    least_milli: int
    claims: tuple[ClaimChance, ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's whole output; `truncated` when a token limit cut it; `reading` where a reader chose its sentences;
    `judged` where one judged what it says in its own words."""

    text: str
    model: ModelIdentity
    prompt_tokens: int
    output_tokens: int
    truncated: bool = False
    reading: SourceReading | None = None
    judged: ClaimReading | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the stored document that stand behind a sentence; copied by the system, never by a model. `redacted` are
    spans inside `text`. A computed item has no words of its own: its quote is its statement, and its locator None."""

    index: int
    text: str
    locator: Locator | None
    redacted: tuple[TextSpan, ...] = ()


ClaimKind = Literal["figure", "event", "superlative", "comparison", "negation", "quotation", "prose", "paraphrase"]
"""`paraphrase`: a whole sentence, in words that no source has, which a reader judged."""
Verdict = Literal["borne_out", "judged", "contradicted", "not_in_source", "not_checkable"]
"""`judged`: borne out by a reader's judgement, at the stated rate, and by no words."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A part of a sentence that claims something, and what the items say to it. `items` are those that bear it out or
    contradict it, `reason` says in words why it is not borne out."""

    kind: ClaimKind
    start: int
    end: int
    verdict: Verdict
    items: tuple[int, ...] = ()
    reason: str = ""

    @property
    def holds(self) -> bool:
        """True if it is borne out, by words or by a reader."""
        return self.verdict in {"borne_out", "judged"}


def hold(claims: Sequence[Claim]) -> bool:
    """True if there are claims, and all of them hold."""
    return bool(claims) and all(claim.holds for claim in claims)


@dataclass(frozen=True, slots=True)
class Appeals:
    """The appeals of a sentence, which ask something of its reader or give the reader something to act on
    (`ai.gate.appeals`): the kinds, those that the question asked for, the collections of what it cites, and whether it
    is marked as a quotation."""

    kinds: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    quoted: bool = False

    @property
    def welcome(self) -> bool:
        """True if the question asked for all of it."""
        return set(self.kinds) <= set(self.asked)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the draft without its markers. `markers` are the admitted items it cites, `unknown_markers` numbers
    that name none. `catalogue` is the id of the fixed phrase it equals, if any. `findings` are what the detectors saw
    in it. `claims` are None where they were not checked: in records of earlier versions. `attribution` says who chose
    the markers, `answers` whether it says something of what was asked. `appeals` None: they were not looked for.
    `parts`: of several questions in one, the numbers of those that its words alone say something of."""

    i: int
    text: str
    markers: tuple[int, ...]
    unknown_markers: tuple[int, ...] = ()
    quotes: tuple[Quote, ...] = ()
    support_milli: int = 0
    catalogue: str | None = None
    findings: tuple[TextSpan, ...] = ()
    claims: tuple[Claim, ...] | None = None
    attribution: Literal["model", "system"] = "model"
    answers: bool = True
    appeals: Appeals | None = None
    parts: tuple[int, ...] = ()

    @property
    def holds(self) -> bool:
        """True if it was checked and everything that it claims holds."""
        return hold(self.claims or ())


@dataclass(frozen=True, slots=True)
class Repair:
    """The second call for one draft: the prompt with what fell of the first and why, and what the model made of it."""

    prompt: str
    template: str
    template_digest: str
    completion: Completion


@dataclass(frozen=True, slots=True)
class Draft:
    """A model's output as sentences with citations and support; nothing of it is released before the answer point
    allows it. `filled` is what the default model wrote where that, or a part of it, was missing. `fault` says why an
    output that should have followed a schema holds no sentences. `repair` is the model's second try."""

    sentences: tuple[Sentence, ...]
    completion: Completion
    filled: Completion | None = None
    fault: str = ""
    repair: Repair | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """The content that may leave: after the answer point, or a refusal before it. `decisions` are all policy decisions
    of the request, in order. `related` are true sentences beside the point, shown with an abstention."""

    outcome: Outcome
    reason_codes: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    limitations: tuple[Limitation, ...]
    notices: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    related: tuple[Sentence, ...] = ()
