"""The planner that asks a model, held to a JSON schema while it writes. Its output is untrusted: it is parsed into
proposals, bounded in size and number, and code decides what is carried out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from ai.agent.budget import Budget
from ai.agent.planning import (
    MAX_PROPOSED,
    MAX_SUB_QUERIES,
    QUERY_CHARS,
    Grade,
    Plan,
    PlannerEvidence,
    ProposedCall,
    each_tool,
)
from ai.agent.rules import WHOLE
from ai.case.agent_record import AgentCall
from ai.model import PromptSource
from ai.models.chat_model import Message, StructuredModel, StructuredRequest
from ai.models.context import neutralise
from prompt_templates.loader import PromptTemplate
from retrieval.bundle import count_tokens
from retrieval.model import Intent

if TYPE_CHECKING:
    from jinja2 import Template

PLAN_TEMPLATE, GRADE_TEMPLATE = "analyze/v1", "grade/v1"
OUTPUT_TOKENS = 400
OUTPUT_CHARS = 16_000
EVIDENCE_CHARS = 800
_THOUGHT_CHARS = 300
USES: Mapping[str, str] = {
    "vector_search": "open-ended questions, by meaning",
    "keyword_search": "names, dates and exact words",
    "structured_search": "places, figures, borders and what was true in a year",
    "document_lookup": "all passages of one document, by its id",
    "web_search": "not available",
}
_CALL: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "tool": {"type": "string"},
        "query": {"type": "string"},
        "document_id": {"type": "string"},
        "rationale": {"type": "string"},
    },
    "required": ["tool", "query", "rationale"],
}
_CALLS: Mapping[str, object] = {"type": "array", "items": _CALL, "maxItems": MAX_SUB_QUERIES}
PLAN_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "intent": {"type": "string"},
        "concepts": {"type": "array", "items": {"type": "string"}},
        "sub_queries": _CALLS,
    },
    "required": ["intent", "concepts", "sub_queries"],
}
GRADE_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"sufficient": {"type": "boolean"}, "missing": {"type": "string"}, "sub_queries": _CALLS},
    "required": ["sufficient", "missing", "sub_queries"],
}


class ModelPlanner:
    """A `Planner` on a `StructuredModel`, with versioned prompts."""

    def __init__(self, model: StructuredModel, *, plan: PromptTemplate, grade: PromptTemplate) -> None:
        self._model = model
        self._plan, self._grade = plan, grade

    async def plan(self, question: str, *, intent: Intent, tools: Sequence[str], budget: Budget) -> Plan:
        """See `Planner`. What cannot be read, or proposes nothing, is a search for the question itself."""
        del intent
        call, said = await self._ask("plan", question, (), tools=tools, budget=budget)
        itself = each_tool(question, tools, WHOLE)
        proposed = proposals(said)
        if said is None or not proposed:
            return Plan(itself, {}, "the plan could not be read", _made(call))
        analysis = {
            "intent": _text(said, "intent", _THOUGHT_CHARS),
            "concepts": [c[:QUERY_CHARS] for c in _list(said, "concepts") if isinstance(c, str)][:MAX_PROPOSED],
        }
        return Plan((*itself, *proposed), analysis, "planned by the model", _made(call))

    async def grade(
        self, question: str, *, intent: Intent, seen: Sequence[PlannerEvidence], tools: Sequence[str], budget: Budget
    ) -> Grade:
        """See `Planner`. Only a readable `true` over some evidence is sufficient."""
        del intent
        call, said = await self._ask("grade", question, seen, tools=tools, budget=budget)
        if said is None:
            return Grade(False, "the grade could not be read", (), _made(call))
        if said.get("sufficient") is True and seen:
            return Grade(True, "the model finds the evidence sufficient", (), _made(call))
        return Grade(False, _text(said, "missing", _THOUGHT_CHARS), proposals(said), _made(call))

    async def _ask(
        self,
        purpose: Literal["plan", "grade"],
        question: str,
        seen: Sequence[PlannerEvidence],
        *,
        tools: Sequence[str],
        budget: Budget,
    ) -> tuple[AgentCall | None, Mapping[str, Any] | None]:
        """One call, if it fits what is left; evidence is dropped from the end until it does."""
        template = self._plan if purpose == "plan" else self._grade
        while True:
            system, prompt = render(template, question, seen, tools)
            room = budget.left_tokens - count_tokens(system) - count_tokens(prompt)
            if room >= OUTPUT_TOKENS // 4:
                break
            if not seen:
                budget.cut = budget.cut or "budget"
                return None, None
            seen = seen[:-1]
        most = min(OUTPUT_TOKENS, room)
        completion = await self._model.structured(
            StructuredRequest(
                messages=(Message("system", system), Message("user", prompt)),
                schema=PLAN_SCHEMA if purpose == "plan" else GRADE_SCHEMA,
                max_tokens=most,
                temperature_milli=0,
                seed=0,
                deadline_s=max(budget.deadline_s, 0.001),
            )
        )
        heard = completion.text[: 4 * most]
        budget.spend(count_tokens(system) + count_tokens(prompt) + min(most, count_tokens(heard)))
        told = replace(completion, text=heard, truncated=completion.truncated or heard != completion.text)
        call = AgentCall(purpose, system, prompt, template.name, template.digest, most, told)
        return call, None if told.truncated else read_object(told.text)


def _made(call: AgentCall | None) -> tuple[AgentCall, ...]:
    return () if call is None else (call,)


def read_object(text: str) -> Mapping[str, Any] | None:
    """The JSON object that a model wrote; None for anything else, or for more than it was allowed."""
    if len(text) > OUTPUT_CHARS:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def proposals(said: Mapping[str, Any] | None) -> tuple[ProposedCall, ...]:
    """The calls that a model proposed, whatever their tools: what is none is left out, what is too much is cut."""
    found: list[ProposedCall] = []
    for each in _list(said, "sub_queries")[:MAX_PROPOSED]:
        if not isinstance(each, dict):
            continue
        tool, query, document = (_text(each, name, QUERY_CHARS) for name in ("tool", "query", "document_id"))
        arguments = {name: value for name, value in (("query", query), ("document_id", document)) if value.strip()}
        if tool and arguments:
            found.append(ProposedCall(tool, arguments, _text(each, "rationale", _THOUGHT_CHARS)))
    return tuple(found)


def _list(said: Mapping[str, Any] | None, name: str) -> list[Any]:
    value = None if said is None else said.get(name)
    return value if isinstance(value, list) else []


def _text(said: Mapping[str, Any], name: str, limit: int) -> str:
    value = said.get(name)
    plain = value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
    return plain[:limit].replace("\x00", " ")


def render(
    template: PromptTemplate, question: str, seen: Sequence[PlannerEvidence], tools: Sequence[str]
) -> tuple[str, str]:
    """System and user part; nothing of others can close its block."""
    compiled = _compiled(template)
    sources = [
        PromptSource(n, "passage", neutralise(piece.title), neutralise(piece.text[:EVIDENCE_CHARS]), None)
        for n, piece in enumerate(seen, start=1)
    ]
    uses = [(tool, USES[tool]) for tool in (*tools, "document_lookup") if tool in USES]
    values = compiled.new_context({"question": neutralise(question), "sources": sources, "tools": uses})
    return "".join(compiled.blocks["system"](values)), "".join(compiled.blocks["prompt"](values))


@cache
def _compiled(template: PromptTemplate) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    return Environment(autoescape=False, undefined=StrictUndefined).from_string(template.text)  # noqa: S701  plain text; values pass `neutralise`
