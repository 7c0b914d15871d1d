"""The agentic profile of the pipeline: one run of the graph over one case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from ai.agent.budget import Budget
from ai.agent.model_planner import GRADE_TEMPLATE, PLAN_TEMPLATE, ModelPlanner
from ai.agent.planning import Planner
from ai.agent.rules import RulePlanner
from ai.agent.session import AgentRun
from ai.agent.state import Document
from ai.agent.tools import ChannelTools, Tools
from ai.answer.core import CoreResult, run_core
from ai.answer.evidence import search_query
from ai.case.case import Case, Services
from ai.models.chat_model import ChatModel, StructuredModel
from ai.models.context import template_named
from retrieval.bundle import BundleLimits, BundleRules, GatheredRuns, assemble

_SEEN = 12


def agent_run(
    case: Case, services: Services, *, tools: Tools | None = None, clock_ms: Callable[[], int] | None = None
) -> AgentRun:
    """A run over the case, with the pipeline's own end. `clock_ms` is the budgets' clock; without one it is that of the
    services, and what the request took before it came here counts."""
    budget = Budget(
        case.ask.options.agent,
        clock_ms=clock_ms or services.clock_ms,
        model_s=case.profile.model_deadline_s,
        started_ms=case.now_ms if clock_ms is None else None,
    )

    async def synthesis(done: Case, gathered: GatheredRuns) -> CoreResult:
        left = replace(done.profile, model_deadline_s=max(budget.deadline_s, 0.001))
        return await run_core(replace(done, profile=left), gathered, services=services)

    def rank(gathered: GatheredRuns, documents: dict[str, Document]) -> list[Document]:
        bundle = assemble(
            gathered.runs,
            gathered.records,
            query=search_query(case),
            rules=case.profile.rules_for(case.question, BundleRules()),
            limits=BundleLimits(_SEEN, 10**9, 10**9, 10**6),
        )
        return [documents[item.record_id] for item in bundle.items if item.record_id in documents]

    return AgentRun(
        case=case,
        planner=planner_of(services.model),
        tools=tools or ChannelTools(case, services),
        budget=budget,
        synthesis=synthesis,
        rank=rank,
        clock_ms=services.clock_ms,
    )


def planner_of(model: ChatModel) -> Planner:
    """The model's own planning where it can be held to a schema; rules where it cannot."""
    if hasattr(model, "structured"):
        return ModelPlanner(
            cast("StructuredModel", model), plan=template_named(PLAN_TEMPLATE), grade=template_named(GRADE_TEMPLATE)
        )
    return RulePlanner()
