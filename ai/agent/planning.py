"""The Planner Protocol: what to search for, and whether what was found is enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ai.agent.budget import Budget
from ai.case.agent_record import AgentCall
from retrieval.model import Intent

MAX_SUB_QUERIES = 4
MAX_PROPOSED = 32
QUERY_CHARS = 500


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """One tool call as a planner proposes it; code decides whether it is carried out. `arguments` are `query`, or
    `document_id` for a lookup."""

    tool: str
    arguments: Mapping[str, str]
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The words to search for. `whole` says that a call asks the whole question, not a part of it."""

    calls: tuple[ProposedCall, ...]
    analysis: Mapping[str, Any] = field(default_factory=dict)
    thought: str = ""
    model_calls: tuple[AgentCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Grade:
    """True if the evidence is enough; if not, what to search for next (nothing: there is nothing left to try)."""

    sufficient: bool
    thought: str
    calls: tuple[ProposedCall, ...] = ()
    model_calls: tuple[AgentCall, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannerEvidence:
    """A piece of admitted evidence as a planner reads it, best first. `direct` is a computed or observed fact that
    answers an operation of the question."""

    record_id: str
    title: str
    heading: str
    text: str
    direct: bool = False


class Planner(Protocol):
    """Plans and judges. It sees the question and admitted evidence, proposes calls, and has no tools itself.

    Never raises for what a model says: output that cannot be read is a plan for the question itself, and a grade that
    is not sufficient. Raises `ModelUnavailable`, `ModelTimeout` when the model gives nothing at all. Spends tokens only
    inside the budget that it is given.
    """

    async def plan(self, question: str, *, intent: Intent, tools: Sequence[str], budget: Budget) -> Plan: ...

    async def grade(
        self, question: str, *, intent: Intent, seen: Sequence[PlannerEvidence], tools: Sequence[str], budget: Budget
    ) -> Grade: ...


def each_tool(query: str, tools: Sequence[str], rationale: str) -> tuple[ProposedCall, ...]:
    """The same search by every searching tool."""
    return tuple(ProposedCall(tool, {"query": query[:QUERY_CHARS]}, rationale) for tool in tools)
