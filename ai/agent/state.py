"""The agent's state: the twelve keys of requirement 001, with their reducers."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.graph.message import add_messages

from ai.case.agent_record import AgentStep, ToolCall

MAX_ITERATIONS = 3


@dataclass(frozen=True, slots=True)
class Document:
    """An admitted piece of evidence, in its words after the obligations. `score_milli` is its calibrated relevance."""

    record_id: str
    document_id: str
    title: str
    heading: str
    text: str
    score_milli: int
    tokens: int
    href: str


@dataclass(frozen=True, slots=True)
class ReasoningStep:
    """One visible step: the node that made it, what it came to, and its numbers."""

    node: str
    thought: str
    step: AgentStep


@dataclass(frozen=True, slots=True)
class SourceCitation:
    """A source that the answer cites, by its number."""

    index: int
    title: str
    document_id: str
    chunk_id: str
    href: str
    quote: str


def merge_documents(held: Sequence[Document], new: Sequence[Document]) -> list[Document]:
    """Each record once, in the order in which it was first found, with the best of its scores."""
    merged = {document.record_id: document for document in held}
    for document in new:
        before = merged.get(document.record_id)
        if before is None or document.score_milli > before.score_milli:
            merged[document.record_id] = document
    return list(merged.values())


class AgentState(TypedDict):
    """The state that the nodes read and write. Lists with a reducer grow; other keys are replaced."""

    messages: Annotated[list[BaseMessage], add_messages]
    query: str
    query_analysis: dict[str, Any]
    retrieval_plan: list[dict[str, Any]]
    documents: Annotated[list[Document], merge_documents]
    reasoning_trace: Annotated[list[ReasoningStep], operator.add]
    tool_calls_made: Annotated[list[ToolCall], operator.add]
    citations: list[SourceCitation]
    answer: str
    iteration: int
    max_iterations: int
    needs_more_info: bool


def create_initial_state(query: str, max_iterations: int = MAX_ITERATIONS) -> AgentState:
    """The state before anything has happened. Raises ValueError for a blank query or a cap below one."""
    if not query.strip():
        raise ValueError("the query is empty")
    if max_iterations < 1:
        raise ValueError("max_iterations is at least 1")
    return AgentState(
        messages=[HumanMessage(content=query)],
        query=query,
        query_analysis={},
        retrieval_plan=[],
        documents=[],
        reasoning_trace=[],
        tool_calls_made=[],
        citations=[],
        answer="",
        iteration=0,
        max_iterations=max_iterations,
        needs_more_info=False,
    )
