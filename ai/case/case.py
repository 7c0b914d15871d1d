"""The state of one question on its way through the pipeline, and the services that it meets."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from ai.case.agent_record import AgentRecord
from ai.case.archive import Archive
from ai.case.profiles import Profile
from ai.errors import AIError
from ai.gate import GateResult, GateVerdict, Ruleset
from ai.intent.vocabulary import Vocabularies
from ai.model import CLAIMS_VERSION, AdmittedItem, Ask, ModelIdentity, Outcome
from ai.models.chat_model import ChatModel
from ai.models.context import ContextBudgets
from ai.models.reader.lazy import ClaimReader
from ledger.ledger import Ledger
from ledger.model import EntryRef
from policy.model import Decision, RequestFacts
from policy.points import PolicyPoints
from prompt_templates.loader import PromptTemplate
from retrieval.bundle import BundleLimits, BundleRules
from retrieval.channels.channel import Channel
from retrieval.channels.fan_out import Slots
from retrieval.channels.run_cache import RunCache
from retrieval.model import Intent, Limitation, Run
from retrieval.ranking.reranker import Reranker
from retrieval.registry.store import RecordStore
from retrieval.scope import Scope


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that the pipeline works with, made once by `api.wiring`. `points` gives the policy points with a fixed
    clock, so that all decisions of one request see one time, and a replay the recorded one. `canary` is the secret
    that the mark of each prompt is made from; no answer may contain that mark. `repairs` says whether `model` may try
    once more where nothing of its draft can be released, `fallback` is the model that fills in what it leaves out;
    where there is one, `judge` is asked about what `model` says in its own words; `remade` makes a model of the record
    again, where it needs no server."""

    store: RecordStore
    channels: Sequence[Channel]
    points: Callable[[int], PolicyPoints]
    model: ChatModel
    ledger: Ledger
    archive: Archive
    rules: Ruleset
    template: PromptTemplate
    bundle_rules: BundleRules
    bundle_limits: BundleLimits
    budgets: ContextBudgets
    vocabularies: Vocabularies
    slots: Slots
    clock_ms: Callable[[], int]
    new_id: Callable[[], str]
    canary: str
    software: str
    embedding_model: str = ""
    agent: Agent | None = None
    runs: RunCache | None = None
    rerankers: Mapping[str, Reranker] = field(default_factory=dict)
    fallback: ChatModel | None = None
    judge: ClaimReader | None = None
    repairs: bool = False
    remade: Callable[[ModelIdentity], ChatModel | None] = lambda _: None


def fresh_canary(secret: str, entry_id: str) -> str:
    """The mark of one request's prompt: nobody can tell it from the id without the secret."""
    return hmac.new(secret.encode(), entry_id.encode(), hashlib.sha256).hexdigest()[:20]


class Agent(Protocol):
    """Searches in steps of its own instead of asking every channel once, and ends in the same core. The composition
    root gives it, so that nothing of it is loaded before an agentic profile runs."""

    async def __call__(self, case: Case, services: Services) -> tuple[Case, Any]: ...


class Stopwatch:
    """Times stages by name: `with watch("gate"): ...`. Also keeps each stage's UTC start and end for the provenance
    document."""

    def __init__(self, clock_ms: Callable[[], int]) -> None:
        self._clock_ms = clock_ms
        self._seconds: dict[str, float] = {}
        self.spans: list[tuple[str, int, int]] = []

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started, started_ms = time.perf_counter(), self._clock_ms()
        try:
            yield
        finally:
            self._seconds[stage] = self._seconds.get(stage, 0.0) + time.perf_counter() - started
            self.spans.append((stage, started_ms, max(started_ms, self._clock_ms())))

    @classmethod
    def of_spans(cls, spans: Sequence[tuple[str, int, int]]) -> Stopwatch:
        """A watch that has timed these stages, of a run on record."""
        made = cls(lambda: 0)
        made.spans.extend(spans)
        return made

    def milliseconds(self) -> dict[str, float]:
        """Milliseconds per stage, to three places."""
        return {stage: round(seconds * 1000, 3) for stage, seconds in self._seconds.items()}


@dataclass(slots=True)
class DurableRecord:
    """The durable part of a request. One for all its cases, so that whatever ends the request knows, wherever it
    was."""

    intent: EntryRef | None = None
    outcome: EntryRef | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One question and what is known of it so far. `now_ms` is the one clock value of the request; `documents` are
    those that a filter of the request left (None: no filter), `agent` what an agentic profile did before it wrote,
    `log_size` the log's size before the store was first read, `claims_version` how its draft is checked, `canary` the
    mark of its own prompt."""

    ask: Ask
    profile: Profile
    now_ms: int
    watch: Stopwatch
    gate: GateResult | None = None
    request: RequestFacts | None = None
    decision: Decision | None = None
    scope: Scope = field(default_factory=lambda: Scope("", frozenset()))
    corpus_version: int = 0
    log_size: int = 0
    intent: Intent = field(default_factory=Intent)
    limitations: tuple[Limitation, ...] = ()
    documents: frozenset[str] | None = None
    agent: AgentRecord | None = None
    on_record: DurableRecord = field(default_factory=DurableRecord)
    entry_id: str = ""
    claims_version: int = CLAIMS_VERSION
    canary: str = ""

    @classmethod
    def of(cls, ask: Ask, *, profile: Profile, services: Services) -> Case:
        """The case at its start; the outcome's entry id is chosen now, because the body names it."""
        entry_id = services.new_id()
        return cls(
            ask=ask,
            profile=profile,
            now_ms=services.clock_ms(),
            watch=Stopwatch(services.clock_ms),
            entry_id=entry_id,
            canary=fresh_canary(services.canary, entry_id),
        )

    @property
    def question(self) -> str:
        """The question as every later stage sees it: sanitized."""
        return self.checked.sanitized

    @property
    def checked(self) -> GateResult:
        """The gate's result; asking for it before the gate has run is a bug."""
        if self.gate is None:
            raise AssertionError("the prompt gate has not run")
        return self.gate

    @property
    def draft_checked(self) -> bool:
        """True unless it was asked of release 0.1.0, which checked no claims of a draft."""
        return self.claims_version > 0

    @property
    def decided(self) -> Decision:
        """The query point's decision; asking for it before is a bug."""
        if self.decision is None:
            raise AssertionError("the query point has not decided")
        return self.decision

    @property
    def asked(self) -> RequestFacts:
        """The request facts that the query point decided over; later points are bound to the same."""
        if self.request is None:
            raise AssertionError("the query point has not decided")
        return self.request

    @property
    def sanitized(self) -> bool:
        """True if the gate cut something out."""
        return self.checked.verdict is GateVerdict.SANITIZE


@dataclass(frozen=True, slots=True)
class ReleasedAnswer:
    """The released answer: the wire body, and how it ended. `uncited_sentences` counts what fell from the draft for
    want of a citation, `refused_late` what the scope should have kept out of the search; both stay inside. `items` are
    the admitted evidence, `runs` where it was found, for surfaces that list it; `written_tokens` what prompt and answer
    took."""

    body: Mapping[str, Any]
    outcome: Outcome
    entry: EntryRef
    uncited_sentences: int = 0
    refused_late: int = 0
    items: tuple[AdmittedItem, ...] = ()
    runs: tuple[Run, ...] = ()
    written_tokens: int = 0
    scope: Scope | None = None


class RequestFault(AIError):
    """A stage failed; the failure is recorded under `entry_id`, its cause is `__cause__` and gives the code."""

    def __init__(self, request_id: str, entry_id: str, cause: Exception) -> None:
        super().__init__(str(cause))
        self.request_id = request_id
        self.entry_id = entry_id
        self.code = getattr(cause, "code", "INTERNAL")
