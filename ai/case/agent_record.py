"""The record of an agentic run: its steps, its tool calls, its model calls, and where a limit cut it.

Values only. To the deterministic core they are given, like the runs of the channels: replay reads them back and does
not plan again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ai.model import Completion

Action = Literal["decompose", "retrieve", "grade", "refine", "synthesize"]
Cut = Literal["budget", "latency", "steps"]
CallStatus = Literal["ok", "refused", "failed"]
CONTEXT_SHARE_MILLI = 700
"""The share of the token budget that evidence may take (requirement 000)."""
OUTPUT_SHARE_MILLI = 500
"""The share of what is left that the answer may take (requirement 000)."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that was proposed, carried out or not. `reason` is a code; `results` the admitted records."""

    tool: str
    arguments: Mapping[str, str]
    status: CallStatus
    reason: str = ""
    results: tuple[str, ...] = ()
    iteration: int = 0


@dataclass(frozen=True, slots=True)
class SubQuery:
    """One search: its words, its collection (None: all), and what was admitted."""

    text: str
    collection_id: str | None
    rationale: str
    result_count: int
    token_count: int


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One step, in order. Tokens are those spent in it."""

    action: Action
    input: str
    result_count: int = 0
    tokens_used: int = 0
    latency_ms: int = 0
    sub_queries: tuple[SubQuery, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A model call of the agent: what it was for, what went in, what came out."""

    purpose: Literal["plan", "grade"]
    system: str
    prompt: str
    template: str
    template_digest: str
    max_tokens: int
    completion: Completion


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """A whole run up to its synthesis. `spent` counts the tokens of its model calls; `synthesize` says whether there
    was time and budget left to write an answer."""

    steps: tuple[AgentStep, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    calls: tuple[AgentCall, ...] = ()
    cut: Cut | None = None
    spent: int = 0
    held: int = 0
    synthesize: bool = True
    names: Mapping[str, str] = field(default_factory=dict)


def context_tokens(budget: int) -> int:
    """How many tokens of evidence a run with this budget may hold."""
    return budget * CONTEXT_SHARE_MILLI // 1000


def output_tokens(left: int) -> int:
    """How long an answer may be when so many tokens are left."""
    return left * OUTPUT_SHARE_MILLI // 1000
