"""The LangGraph state machine of requirement 001, and `build_graph()` for those who want it on its own.

    from ai.agent.graph import build_graph, create_initial_state

    graph = build_graph()
    result = graph.invoke(create_initial_state("How does KServe autoscaling work?"))

The graph never bypasses the pipeline: invoked on its own it runs as the agentic profile, with the prompt gate and the
query point before it, the answer point after it, and its entries in the ledger.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from ai.agent import nodes
from ai.agent.home import AgentHome, registered_home
from ai.agent.run import agent_run
from ai.agent.session import AgentRun
from ai.agent.state import AgentState, create_initial_state
from ai.answer.core import CoreResult
from ai.case.case import Case, ReleasedAnswer, Services
from ai.case.profiles import AGENTIC
from ai.focus_pipeline import answer
from ai.model import AgentOptions, Ask, Options

__all__ = ["AgentGraph", "build_graph", "compiled_graph", "create_initial_state", "run_agent", "run_graph"]

T = TypeVar("T")
Node = Callable[[AgentState, AgentRun], Awaitable[dict[str, Any]]]
NODES: dict[str, Node] = {
    "analyze_query": nodes.analyze_query,
    "execute_tools": nodes.execute_tools,
    "grade_results": nodes.grade_results,
    "synthesize": nodes.synthesize,
}
_STEPS_PER_ITERATION = 2
_STEPS_BESIDE = 8


@cache
def compiled_graph() -> CompiledStateGraph[AgentState, AgentRun, AgentState, AgentState]:
    """The graph: analyze_query -> execute_tools -> grade_results -> (execute_tools | synthesize)."""
    graph = StateGraph(AgentState, context_schema=AgentRun)
    for name, node in NODES.items():
        graph.add_node(name, _bound(node))
    graph.add_edge(START, "analyze_query")
    graph.add_edge("analyze_query", "execute_tools")
    graph.add_edge("execute_tools", "grade_results")
    graph.add_conditional_edges("grade_results", nodes.next_node, ["execute_tools", "synthesize"])
    graph.add_edge("synthesize", END)
    return graph.compile()


def _bound(node: Node) -> Any:
    async def bound(state: AgentState, runtime: Runtime[AgentRun]) -> dict[str, Any]:
        return await node(state, runtime.context)

    return bound


async def run_graph(run: AgentRun, state: AgentState) -> tuple[Case, CoreResult, AgentState]:
    """One run of the graph from `state`; what it came to is in the core."""
    limit = _STEPS_BESIDE + _STEPS_PER_ITERATION * state["max_iterations"]
    final = await compiled_graph().ainvoke(state, context=run, config={"recursion_limit": limit})
    if run.core is None:
        raise AssertionError("the graph ended without a synthesis")
    return run.case, run.core, cast("AgentState", final)


async def run_agent(case: Case, services: Services) -> tuple[Case, CoreResult]:
    """The agentic profile of the pipeline: the case and its core after the graph has run. Raises `PolicyError`,
    `RetrievalError`, `AIError`."""
    options = case.ask.options.agent
    cap = options.max_steps if options.effort == "high" else 1
    case, core, _ = await run_graph(agent_run(case, services), create_initial_state(case.question, cap))
    return case, core


@dataclass(frozen=True, slots=True)
class AgentGraph:
    """The agent on its own. `home` opens what it works with for each invocation, and says who is asking."""

    home: Callable[[], AgentHome]

    def invoke(self, state: AgentState) -> AgentState:
        """As `ainvoke`, from code that is not asynchronous."""
        return _finished(self.ainvoke(state))

    async def ainvoke(self, state: AgentState) -> AgentState:
        """The final state. Raises what the pipeline raises (`ai.focus_pipeline.answer`)."""
        async with self.home() as (services, subject):
            kept: list[AgentState] = []

            async def agent(case: Case, services: Services) -> tuple[Case, CoreResult]:
                case, core, final = await run_graph(agent_run(case, services), state)
                kept.append(final)
                return case, core

            ask = Ask(services.new_id(), state["query"], subject, options=_options(state))
            told = await answer(ask, services=replace(services, agent=agent), profile=AGENTIC)
            return kept[0] if kept else _refused(state, told)

    def get_graph(self) -> Any:
        """The drawable graph."""
        return compiled_graph().get_graph()


def build_graph(home: Callable[[], AgentHome] | None = None) -> AgentGraph:
    """The agent. Without `home` it works on the registered one: the default home folder, as the public viewer."""
    return AgentGraph(home or registered_home)


def _options(state: AgentState) -> Options:
    return Options(
        profile="agentic", top_k=20, agent=AgentOptions(effort="high", max_steps=min(20, state["max_iterations"]))
    )


def _refused(state: AgentState, told: ReleasedAnswer) -> AgentState:
    """The state of a question that the gate or the query point refused."""
    return {**state, "answer": str(told.body["answer"]), "needs_more_info": False}


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, also where a loop runs already: then in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    kept: list[T] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            kept.append(asyncio.run(work))
        except BaseException as exc:
            faults.append(exc)

    thread = threading.Thread(target=run, name="agent")
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return kept[0]
