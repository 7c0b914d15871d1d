"""One run of the agent: what it works with, and what it gathers on its way. Nodes read it; only they change it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ai.agent.budget import Budget
from ai.agent.planning import Planner, PlannerEvidence
from ai.agent.state import Document
from ai.agent.tools import Outcome, Tools, failures
from ai.answer.core import CoreResult
from ai.case.agent_record import AgentCall, AgentRecord, AgentStep, ToolCall
from ai.case.case import Case
from retrieval.algebra.operations import Operation
from retrieval.bundle import GatheredRuns
from retrieval.ranking.calibration import FULL_MILLI


class Synthesis(Protocol):
    """The pipeline's own end: evidence point, generation, answer point."""

    async def __call__(self, case: Case, gathered: GatheredRuns, /) -> CoreResult: ...


class Ranking(Protocol):
    """The admitted documents that were found so far, best first."""

    def __call__(self, gathered: GatheredRuns, documents: dict[str, Document], /) -> list[Document]: ...


@dataclass(slots=True)
class AgentRun:
    """`synthesis` ends the run; `rank` orders what was found, for the planner. `in_words` puts texts into spans."""

    case: Case
    planner: Planner
    tools: Tools
    budget: Budget
    synthesis: Synthesis
    rank: Ranking
    clock_ms: Callable[[], int]
    in_words: bool = False
    steps: list[AgentStep] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    calls: list[AgentCall] = field(default_factory=list)
    gathered: GatheredRuns = field(default_factory=lambda: GatheredRuns((), {}))
    documents: dict[str, Document] = field(default_factory=dict)
    searched: int = 0
    core: CoreResult | None = None

    def take(self, outcomes: list[Outcome]) -> list[list[Document]]:
        """Adds what sub-queries found, in their order, as far as the budget holds it; returns what was new or again
        found, per sub-query."""
        kept: list[list[Document]] = []
        for outcome in outcomes:
            fitting = [d for d in outcome.documents if d.record_id in self.documents or self.budget.hold(d.tokens)]
            for document in fitting:
                self.documents.setdefault(document.record_id, document)
            self.tool_calls += outcome.calls
            kept.append(fitting)
        found = [outcome.gathered for outcome in outcomes if outcome.gathered is not None]
        self.gathered = GatheredRuns(
            (*self.gathered.runs, *(run for each in found for run in each.runs)),
            {**self.gathered.records, **{key: record for each in found for key, record in each.records.items()}},
            tuple(dict.fromkeys((*self.gathered.limitations, *failures(outcomes)))),
        )
        return kept

    def widen(self, operations: Sequence[Operation]) -> None:
        """Adds what parts of the question ask for to what the whole was read as: each has its direct answer."""
        intent = self.case.intent
        together = tuple(dict.fromkeys((*intent.operations, *operations)))
        if together != intent.operations:
            self.case = replace(self.case, intent=replace(intent, operations=together))

    def seen(self) -> list[PlannerEvidence]:
        """The admitted evidence, best first, as the planner reads it."""
        ranked = self.rank(self.gathered, self.documents)
        direct = bool(self.case.intent.operations)
        return [
            PlannerEvidence(d.record_id, d.title, d.heading, d.text, direct and d.score_milli == FULL_MILLI)
            for d in ranked
        ]

    def only_admitted(self) -> GatheredRuns:
        """The gathered runs, cut to the records that the evidence point admitted and the budget held."""
        kept = {
            key: record for key, record in self.gathered.records.items() if key in self.documents or self._is_input(key)
        }
        return replace(self.gathered, records=kept)

    def _is_input(self, record_id: str) -> bool:
        """True if an admitted computed item stands on the record."""
        return any(
            hit.record_id in self.documents and record_id in hit.computed.inputs
            for run in self.gathered.runs
            for hit in run.hits
            if hit.computed is not None
        )

    def record(self, *, synthesize: bool) -> AgentRecord:
        """The run as it is recorded."""
        return AgentRecord(
            steps=tuple(self.steps),
            tool_calls=tuple(self.tool_calls),
            calls=tuple(self.calls),
            cut=self.budget.cut,
            spent=self.budget.spent,
            held=self.budget.held,
            synthesize=synthesize,
        )
