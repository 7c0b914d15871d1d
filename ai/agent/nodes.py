"""The four nodes of requirement 001. Each is a function of the state and the run it belongs to; budgets are looked at
before every step."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage

from ai.agent.planning import Grade, Plan, ProposedCall, each_tool
from ai.agent.rules import WHOLE
from ai.agent.session import AgentRun
from ai.agent.state import AgentState, ReasoningStep, SourceCitation
from ai.agent.tools import Outcome, SearchGroup
from ai.agent.tracing import span, told
from ai.answer.core import CoreResult
from ai.answer.links import evidence_href
from ai.case.agent_record import Action, AgentStep, SubQuery
from ai.errors import ModelTimeout, ModelUnavailable
from ai.model import AdmittedItem

Update = dict[str, Any]


async def analyze_query(state: AgentState, run: AgentRun) -> Update:
    """The request of a planner, and the tools to call for it. `low` effort asks for the question itself and nothing
    else."""
    query, effort = state["query"], run.case.ask.options.agent.effort
    before, spent = run.budget.elapsed_ms, run.budget.spent
    with span("decompose_query", input=told(query, in_words=run.in_words), reasoning_effort=effort) as opened:
        with run.case.watch("plan"):
            plan = await _plan(run, query)
        opened.set_attribute("exhibit.tokens", run.budget.spent - spent)
        opened.set_attribute("exhibit.results", len(plan.calls))
    step = _step(run, "decompose", query, before, spent, result_count=len({_text_of(c) for c in plan.calls}))
    run.calls += plan.model_calls
    return {
        "query_analysis": dict(plan.analysis),
        "retrieval_plan": [_plain(call) for call in plan.calls],
        "reasoning_trace": [ReasoningStep("analyze_query", plan.thought, step)],
    }


async def execute_tools(state: AgentState, run: AgentRun) -> Update:
    """Calls the planned tools, sub-queries side by side. What is not allowed is refused and logged; what the evidence
    point does not admit is not there."""
    iteration = state["iteration"] + 1
    if run.budget.stop() is not None:
        return {"retrieval_plan": [], "iteration": iteration, "needs_more_info": False}
    before, spent = run.budget.elapsed_ms, run.budget.spent
    planned = run.tools.sort([_proposed(call) for call in state["retrieval_plan"]], iteration)
    made = len(run.tool_calls)
    run.tool_calls += planned.refused
    with run.case.watch("tools"):
        orders = enumerate(planned.orders, start=run.searched + 1)
        outcomes = await asyncio.gather(*(_search(run, order, number, iteration) for number, order in orders))
    run.searched += len(planned.orders)
    kept = run.take(list(outcomes))
    if iteration == 1:  # later sub-queries follow names of the evidence, not the question
        run.widen([operation for outcome in outcomes for operation in outcome.operations])
    found = [document for documents in kept for document in documents]
    sub_queries = tuple(
        SubQuery(o.text or o.rationale, o.collection_id, o.rationale, len(docs), sum(d.tokens for d in docs))
        for o, docs in zip(outcomes, kept, strict=True)
    )
    action: Action = "retrieve"
    text = f"{len(planned.orders)} sub-queries"
    step = _step(run, action, text, before, spent, result_count=len(found), sub_queries=sub_queries)
    return {
        "documents": found,
        "tool_calls_made": run.tool_calls[made:],
        "reasoning_trace": [ReasoningStep("execute_tools", f"{len(found)} admitted results", step)],
        "retrieval_plan": [],
        "iteration": iteration,
    }


async def grade_results(state: AgentState, run: AgentRun) -> Update:
    """True if the evidence is enough. Below `high` effort one pass is all there is; at the cap there is no more."""
    options, enough = run.case.ask.options.agent, {"needs_more_info": False}
    if options.effort != "high" or run.budget.stop() is not None:
        return dict(enough)
    before, spent = run.budget.elapsed_ms, run.budget.spent
    with span("grade_results", results=len(run.documents)) as opened:
        with run.case.watch("grade"):
            grade = await _grade(run, state["query"])
        opened.set_attribute("exhibit.tokens", run.budget.spent - spent)
    run.calls += grade.model_calls
    step = _step(run, "grade", grade.thought, before, spent, result_count=len(run.documents))
    trace = [ReasoningStep("grade_results", grade.thought, step)]
    if grade.sufficient or not grade.calls:
        return enough | {"reasoning_trace": trace}
    if state["iteration"] >= state["max_iterations"]:
        run.budget.cut = run.budget.cut or "steps"
        return enough | {"reasoning_trace": trace}
    refine = _step(run, "refine", grade.thought, run.budget.elapsed_ms, run.budget.spent, result_count=len(grade.calls))
    return {
        "needs_more_info": True,
        "retrieval_plan": [_plain(call) for call in grade.calls],
        "reasoning_trace": [*trace, ReasoningStep("grade_results", "search again", refine)],
    }


async def synthesize(state: AgentState, run: AgentRun) -> Update:
    """The pipeline's own generation over the admitted evidence, with the answer point after it; or no answer, where a
    budget leaves no room for one."""
    before, spent = run.budget.elapsed_ms, run.budget.spent
    room = run.budget.stop() is None
    with span("synthesize", results=len(run.documents)) as opened:
        run.case = replace(run.case, agent=run.record(synthesize=room))
        run.core = core = await run.synthesis(run.case, run.only_admitted())
        used = core.written_tokens
        opened.set_attribute("exhibit.tokens", used)
    run.budget.spend(used)
    step = _step(run, "synthesize", state["query"], before, spent, result_count=len(core.items))
    answer, citations = answer_of(core)
    return {
        "answer": answer,
        "citations": citations,
        "messages": [AIMessage(content=answer)],
        "reasoning_trace": [ReasoningStep("synthesize", str(core.release.outcome), step)],
    }


def next_node(state: AgentState) -> str:
    """After grading: search again, or write."""
    return "execute_tools" if state["needs_more_info"] else "synthesize"


async def _plan(run: AgentRun, query: str) -> Plan:
    itself = each_tool(query, run.tools.names, WHOLE)
    if run.case.ask.options.agent.effort == "low" or run.budget.stop() is not None:
        return Plan(itself, {"intent": "single"}, "one pass")
    try:
        return await run.planner.plan(query, intent=run.case.intent, tools=run.tools.names, budget=run.budget)
    except (ModelTimeout, ModelUnavailable) as exc:
        return Plan(itself, {}, f"no plan: {exc.code}")


async def _grade(run: AgentRun, query: str) -> Grade:
    try:
        return await run.planner.grade(
            query, intent=run.case.intent, seen=run.seen(), tools=run.tools.names, budget=run.budget
        )
    except (ModelTimeout, ModelUnavailable) as exc:
        return Grade(False, f"no grade: {exc.code}")


async def _search(run: AgentRun, order: SearchGroup, number: int, iteration: int) -> Outcome:
    shown = told(order.text or order.document_id, in_words=run.in_words)
    with span(f"retrieve_subquery_{number}", input=shown) as opened:
        outcome = await run.tools.carry_out(
            order, iteration=iteration, top_k=run.case.ask.options.agent.top_k_per_step, left_s=run.budget.left_s
        )
        opened.set_attribute("exhibit.results", len(outcome.documents))
        opened.set_attribute("exhibit.tokens", sum(document.tokens for document in outcome.documents))
    return outcome


def _step(
    run: AgentRun,
    action: Action,
    text: str,
    before_ms: int,
    spent: int,
    *,
    result_count: int = 0,
    sub_queries: tuple[SubQuery, ...] = (),
) -> AgentStep:
    made = AgentStep(
        action=action,
        input=text,
        result_count=result_count,
        tokens_used=run.budget.spent - spent,
        latency_ms=max(0, run.budget.elapsed_ms - before_ms),
        sub_queries=sub_queries,
    )
    run.steps.append(made)
    return made


def _plain(call: ProposedCall) -> dict[str, Any]:
    return {"tool": call.tool, "arguments": dict(call.arguments), "rationale": call.rationale}


def _proposed(call: Mapping[str, Any]) -> ProposedCall:
    return ProposedCall(call["tool"], call["arguments"], call["rationale"])


def _text_of(call: ProposedCall) -> str:
    return call.arguments.get("query", call.arguments.get("document_id", ""))


def answer_of(core: CoreResult) -> tuple[str, list[SourceCitation]]:
    """The released answer with its Sources section, and the sources that it cites."""
    items = {item.index: item for item in core.items}
    quotes = {quote.index: quote.text for s in core.release.sentences for quote in s.quotes}
    citations = [_citation(items[index], quote) for index, quote in sorted(quotes.items()) if index in items]
    lines = " ".join(
        s.text.rstrip() + "".join(f" [{n}]" for n in dict.fromkeys(q.index for q in s.quotes))
        for s in core.release.sentences
    )
    sources = "\n".join(f"[{c.index}] {c.title} — {c.href}" for c in citations)
    return (f"{lines}\n\n**Sources**\n{sources}" if citations else lines), citations


def _citation(item: AdmittedItem, quote: str) -> SourceCitation:
    source = item.evidence.first.source
    href = evidence_href(item.evidence.first.record)
    return SourceCitation(item.index, source.title, source.document_id, item.evidence.record_id, href, quote)
