"""The agent's tools: the pipeline's own channels, under the same scope, and the evidence point over every result.

A planner only proposes. What is not on the list of a run is refused and recorded, never carried out; `web_search` is
registered and off: nothing leaves this machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ai.agent.planning import MAX_SUB_QUERIES, ProposedCall
from ai.agent.state import Document
from ai.answer.evidence import admit_bundle
from ai.answer.links import evidence_href
from ai.case.agent_record import ToolCall
from ai.case.case import Case, Services
from ai.case.profiles import ALL_CHANNELS
from ai.governance.admission import Admission
from ai.model import AdmittedItem, MapContext, Mode
from ai.search.result import relevance_milli
from retrieval.algebra.operations import Operation
from retrieval.bundle import GatheredRuns, count_tokens, gather
from retrieval.model import ChannelName, Hit, Limitation, Query, Run
from retrieval.ranking.calibration import Scale
from retrieval.scope import Scope

SEARCHES: Mapping[str, tuple[ChannelName, ...]] = {
    "keyword_search": (ChannelName.FULLTEXT,),
    "vector_search": (ChannelName.VECTOR,),
    "structured_search": (ChannelName.GRAPH, ChannelName.SPATIAL),
}
LOOKUP, WEB = "document_lookup", "web_search"
REGISTERED = (*SEARCHES, LOOKUP, WEB)
OF_MODE: Mapping[Mode, tuple[str, ...]] = {
    "keyword": ("keyword_search",),
    "vector": ("vector_search",),
    "hybrid": ("keyword_search", "vector_search", "structured_search"),
}
MOST_CALLS = MAX_SUB_QUERIES * len(SEARCHES) + 1
LOOKUP_PASSAGES = 100
PART_WEIGHT_MILLI = 500


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one sub-query: admitted documents, and everything that its runs were made of. `operations` are
    those that its words ask for."""

    text: str
    rationale: str
    documents: tuple[Document, ...] = ()
    gathered: GatheredRuns | None = None
    calls: tuple[ToolCall, ...] = ()
    collection_id: str | None = None
    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchGroup:
    """One sub-query: all searches for the same words, carried out together."""

    text: str
    rationale: str
    tools: tuple[str, ...] = ()
    document_id: str = ""


@dataclass(frozen=True, slots=True)
class PlanTriage:
    """The calls of a plan that are carried out, and those that are refused."""

    orders: tuple[SearchGroup, ...]
    refused: tuple[ToolCall, ...] = field(default=())


class Tools(Protocol):
    """The tools that execute_tools works with. `sort` is pure; `carry_out` returns admitted documents only, and a
    failure as an outcome."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def sort(self, plan: Sequence[ProposedCall], iteration: int) -> PlanTriage: ...

    async def carry_out(self, order: SearchGroup, *, iteration: int, top_k: int, left_s: float) -> Outcome: ...


def sort_plan(plan: Sequence[ProposedCall], allowed: Sequence[str], iteration: int) -> PlanTriage:
    """The allow-list: known tools of this run, at most so many calls; everything else is refused with a code."""
    orders: dict[tuple[str, str], SearchGroup] = {}
    refused: list[ToolCall] = []
    for number, call in enumerate(plan):
        reason = _refusal(call, allowed, number)
        if reason:
            refused.append(ToolCall(call.tool[:64], dict(call.arguments), "refused", reason, (), iteration))
            continue
        document = call.arguments.get("document_id", "") if call.tool == LOOKUP else ""
        text = call.arguments.get("query", "")
        held = orders.get((text, document), SearchGroup(text, call.rationale, (), document))
        orders[text, document] = replace(held, tools=tuple(dict.fromkeys((*held.tools, call.tool))))
    return PlanTriage(tuple(orders.values()), tuple(refused))


def _refusal(call: ProposedCall, allowed: Sequence[str], number: int) -> str:
    if call.tool == WEB:
        return "WEB_SEARCH_OFF"
    if call.tool not in REGISTERED:
        return "UNKNOWN_TOOL"
    if call.tool not in allowed:
        return "TOOL_NOT_OFFERED"
    if call.tool == LOOKUP and "document_id" not in call.arguments:
        return "ARGUMENT_MISSING"
    if call.tool != LOOKUP and "query" not in call.arguments:
        return "ARGUMENT_MISSING"
    return "TOO_MANY_CALLS" if number >= MOST_CALLS else ""


class ChannelTools:
    """`Tools` over the services' channels for one case."""

    def __init__(self, case: Case, services: Services) -> None:
        self._case, self._services = case, services
        self._searches = OF_MODE[case.ask.options.search.mode]

    @property
    def names(self) -> tuple[str, ...]:
        """The searching tools of this run's mode."""
        return self._searches

    def sort(self, plan: Sequence[ProposedCall], iteration: int) -> PlanTriage:
        """See `sort_plan`."""
        return sort_plan(plan, (*self._searches, LOOKUP), iteration)

    async def carry_out(self, order: SearchGroup, *, iteration: int, top_k: int, left_s: float) -> Outcome:
        """Search inside the scope, then ask the evidence point; nothing that it does not admit is in the outcome.
        Raises `PolicyError` and `StoreUnavailable`; a channel's failure or a time-out is a limitation."""
        query = await self._query(order, top_k)
        try:
            async with asyncio.timeout(left_s):
                if order.document_id:
                    gathered, routed = await self._look_up(order.document_id), None
                else:
                    gathered, routed = await self._search(query, order)
        except TimeoutError:
            calls = tuple(
                ToolCall(tool, self._arguments(order), "failed", "LATENCY", (), iteration) for tool in order.tools
            )
            return Outcome(order.text, order.rationale, calls=calls)
        admission = await admit_bundle(
            self._case,
            gathered,
            self._services,
            query=query,
            top_k=LOOKUP_PASSAGES if order.document_id else top_k,
        )
        outcome = self._outcome(order, gathered, admission, iteration, routed)
        return replace(outcome, operations=query.intent.operations)

    async def _query(self, order: SearchGroup, top_k: int) -> Query:
        case = self._case
        text = order.text or case.question
        intent = case.intent
        if text != case.question:
            read = await self._services.vocabularies.read(
                text, MapContext(), scope=case.scope, corpus_version=case.corpus_version
            )
            intent = read.intent
        return Query(text, case.scope, max(24, 2 * top_k), intent, documents=case.documents)

    async def _search(self, query: Query, order: SearchGroup) -> tuple[GatheredRuns, str | None]:
        """All channels of the tools at once. Where the evidence lies in one collection by far, the search is that
        collection's: routing by content."""
        names = {name for tool in order.tools for name in SEARCHES[tool]}
        channels = [c for c in self._services.channels if c.name in names and c.name in ALL_CHANNELS]
        gathered = await gather(
            query,
            channels=channels,
            store=self._services.store,
            deadlines_s=self._case.profile.channel_deadlines_s,
            slots=self._services.slots,
        )
        return await self._routed(gathered)

    async def _routed(self, gathered: GatheredRuns) -> tuple[GatheredRuns, str | None]:
        known = await self._services.store.collections(self._case.scope.tenant)
        chosen = route(gathered)
        if chosen is None:
            return gathered, None
        kept = {key: found for key, found in gathered.records.items() if found.source.collection == chosen}
        ids = {each.name: each.collection_id for each in known}
        return replace(gathered, records=kept), ids.get(chosen)

    async def _look_up(self, document_id: str) -> GatheredRuns:
        """All passages of one document of the scope; a document of others is as if it were not there."""
        scope: Scope = self._case.scope
        among = self._case.documents
        ids = (
            ()
            if among is not None and document_id not in among
            else await self._services.store.passages(document_id, scope=scope)
        )
        records = await self._services.store.fetch(ids[:LOOKUP_PASSAGES], scope=scope) if ids else {}
        hits = tuple(Hit(rank, record_id, 1 / rank) for rank, record_id in enumerate(records, start=1))
        return GatheredRuns((Run(ChannelName.FULLTEXT, "record", hits),), records)

    def _outcome(
        self, order: SearchGroup, gathered: GatheredRuns, admission: Admission, iteration: int, routed: str | None
    ) -> Outcome:
        scale = Scale.of(self._services.embedding_model, gathered.runs)
        documents = tuple(document_of(self._case, item, scale) for item in admission.items)
        weight = self._weight(order, documents)
        runs = tuple(replace(run, weight_milli=weight) for run in gathered.runs)
        answered = {str(run.channel) for run in gathered.runs}
        limitations = {limitation.channel for limitation in gathered.limitations}
        calls = []
        for tool in order.tools:
            names = {str(name) for name in SEARCHES.get(tool, ())}
            failed = bool(names) and not names & answered and bool(names & limitations)
            calls.append(
                ToolCall(
                    tool,
                    self._arguments(order),
                    "failed" if failed else "ok",
                    "CHANNEL_FAILED" if failed else "",
                    tuple(document.record_id for document in documents),
                    iteration,
                )
            )
        return Outcome(order.text, order.rationale, documents, replace(gathered, runs=runs), tuple(calls), routed)

    def _weight(self, order: SearchGroup, documents: Sequence[Document]) -> int:
        """The whole question counts in full, a part of it half as much, and by how sure its best result is."""
        if order.text == self._case.question:
            return 1000
        return PART_WEIGHT_MILLI * max((document.score_milli for document in documents), default=0) // 1000

    @staticmethod
    def _arguments(order: SearchGroup) -> dict[str, str]:
        return {"document_id": order.document_id} if order.document_id else {"query": order.text}


def route(gathered: GatheredRuns) -> str | None:
    """The collection that holds nearly all of what was found, weighed by reciprocal rank; None where several do."""
    mass: dict[str, float] = {}
    for run in gathered.runs:
        for hit in run.hits:
            found = gathered.records.get(hit.record_id)
            if found is not None:
                mass[found.source.collection] = mass.get(found.source.collection, 0.0) + 1 / (1 + hit.rank)
    if len(mass) < 2:
        return next(iter(mass), None)
    best = max(mass, key=lambda name: (mass[name], name))
    return best if mass[best] * 10 >= sum(mass.values()) * 8 else None


def document_of(case: Case, item: AdmittedItem, scale: Scale) -> Document:
    """An admitted item as the agent's nodes see it: in its words after the obligations."""
    record, source = item.evidence.first.record, item.evidence.first.source
    text = item.statement if item.statement is not None else item.text
    return Document(
        record_id=item.evidence.record_id,
        document_id=source.document_id,
        title=source.title,
        heading=record.heading or "",
        text=text,
        score_milli=relevance_milli(case, item, scale),
        tokens=count_tokens(text),
        href=evidence_href(record),
    )


def failures(outcomes: Sequence[Outcome]) -> tuple[Limitation, ...]:
    """The limitations of the channels, each once."""
    found = (limitation for outcome in outcomes if outcome.gathered for limitation in outcome.gathered.limitations)
    return tuple(dict.fromkeys(found))
