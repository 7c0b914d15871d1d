"""START HERE: one question, from the prompt to the released, recorded answer.

question + map context + subject
-> prompt gate -> query point (scope) -> intent -> ledger `intent`
-> four channels inside the scope -> fused bundle -> evidence point -> numbered, admitted items
-> prompt -> model -> draft -> answer point -> places of what is cited -> ledger `outcome` -> body

Everything from the bundle on, except the words of the model, is a deterministic function of recorded values: the stages
of `ai.answer.core`, which replay runs again. Every outcome is recorded; if it cannot be, nothing is released.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from ai.answer.core import (
    CoreResult,
    admit_evidence,
    ask_model,
    begin,
    bundle_evidence,
    decide_answer,
    write_prompt,
)
from ai.answer.evidence import search_query
from ai.answer.places import PlacesFound, admit_places, find_places
from ai.canonical import canonical
from ai.case.case import Case, ReleasedAnswer, RequestFault, Services
from ai.case.profiles import Profile
from ai.errors import AIError, UnknownProfile
from ai.gate import check_prompt
from ai.governance.scoping import admitted_scope, class_facts, prompt_facts, request_facts
from ai.governance.shapes import open_classes
from ai.model import Ask
from ai.record.recording import record_abandonment, record_fault, record_intent, record_outcome
from ledger.errors import LedgerError
from policy.errors import PolicyError
from retrieval.bundle import GatheredRuns, gather
from retrieval.channels.run_cache import Authority
from retrieval.errors import RetrievalError
from retrieval.model import Limitation

_READ_AT_ONCE_CHARS = 1_000  # the gate reads the worst of such texts within a few milliseconds


Step = Literal["gate", "scope", "search", "evidence", "draft", "decision"]
"""The stages that `answer` reports to whoever waits: always these, once each, in this order, whatever the outcome will
be."""


def _unheard(_: Step) -> None:
    """Nobody waits."""


async def answer(
    ask: Ask, *, services: Services, profile: Profile, tell: Callable[[Step], None] = _unheard
) -> ReleasedAnswer:
    """Answer, abstain or deny, with a durable ledger entry for whichever it is. `tell` hears each step that is done.

    Raises `LedgerUnavailable` when nothing could be recorded, and `RequestFault` (with the entry and the cause) when a
    policy engine, a model or the store of record failed: that is recorded too, and released as an error, never as an
    answer. Cancelling it stops its work, the model's included; that it was cancelled is recorded before it ends.
    """
    case = Case.of(ask, services=services, profile=profile)
    try:
        case = await check_gate(case, services)
        tell("gate")
        case = await decide_scope(case, services)
        tell("scope")
        case = await read_question(case, services)
        case = await narrow(case, services)
        case, core = await record_and_search(case, services)
        tell("search")
        core = bundle_evidence(case, core, services)
        core = await admit_evidence(case, core, services)
        tell("evidence")
        core = write_prompt(case, core, services)
        core = await ask_model(case, core, services)
        tell("draft")
        core = await decide_answer(case, core, services)
        tell("decision")
        places = await find_places(case, core, services)
        core = await admit_places(case, core, places, services)
        return await finish(case, core, places, services)
    except LedgerError:
        raise
    except asyncio.CancelledError:
        with suppress(LedgerError):  # then the intent stays without an outcome, and `ledger verify` says so
            await record_abandonment(case, services)
        raise
    except Exception as exc:
        entry = await record_fault(case, exc, services)
        if isinstance(exc, PolicyError | AIError | RetrievalError):
            raise RequestFault(ask.request_id, entry.entry_id, exc) from exc
        raise  # a bug stays a bug, but it is on the record


async def check_gate(case: Case, services: Services) -> Case:
    """The prompt gate, over the question and every string of the map context; long ones are read in a worker thread, so
    that nothing else waits for them."""
    context = case.ask.context.strings()
    with case.watch("gate"):
        if len(case.ask.question) + sum(map(len, context)) <= _READ_AT_ONCE_CHARS:
            gate = check_prompt(case.ask.question, context, rules=services.rules)
        else:
            gate = await asyncio.to_thread(check_prompt, case.ask.question, context, rules=services.rules)
    return replace(case, gate=gate)


async def decide_scope(case: Case, services: Services) -> Case:
    """The query point over the tenant's classes; the scope is what it admits, in the form in which the subject may see
    it, cut to the named collections."""
    with case.watch("policy_query"):
        tenant = case.ask.subject.tenant
        log_size = await services.ledger.size()
        held = await services.store.holdings(tenant)
        request = request_facts(case, held.collections)
        points = services.points(case.now_ms)
        known = open_classes(held, subject=case.ask.subject, data=points.data, now_ms=case.now_ms)
        decision = await points.query(
            request=request, subject=case.ask.subject, prompt=prompt_facts(case), classes=class_facts(known)
        )
    scope = admitted_scope(case.ask, decision, known, held.collections, data=points.data)
    return replace(
        case,
        request=request,
        decision=decision,
        scope=scope,
        corpus_version=held.corpus_version,
        log_size=log_size,
    )


async def read_question(case: Case, services: Services) -> Case:
    """Places, times, measures and operations, with the names of the scope only. A refused question is not read."""
    if not case.decided.allowed:
        return case
    with case.watch("intent"):
        reading = await services.vocabularies.read(
            case.question,
            case.ask.context,
            scope=case.scope,
            corpus_version=case.corpus_version,
            plan=case.ask.options.plan,
        )
    notes = tuple(reading.overridden)
    if case.sanitized:
        notes = (Limitation("PROMPT_SANITIZED", "Part of the question was an instruction and was left out."), *notes)
    return replace(case, intent=reading.intent, limitations=notes)


async def narrow(case: Case, services: Services) -> Case:
    """The documents that the request's filter over metadata leaves, inside the scope."""
    if case.ask.filters is None or not case.decided.allowed:
        return case
    with case.watch("filter"):
        return replace(case, documents=await services.store.matching(case.ask.filters, scope=case.scope))


async def record_and_search(case: Case, services: Services) -> tuple[Case, CoreResult]:
    """The `intent` entry and, unless the query point has refused, the search beside it: a search only reads, and what
    it finds goes nowhere before the entry is durable. The stage `ledger_intent` is what the request waits for it."""
    if case.profile.agentic and case.decided.allowed:
        return await search_in_steps(case, services)
    recording = asyncio.create_task(record_intent(case, services))
    try:
        gathered = await search(case, services) if case.decided.allowed else None
    finally:  # a search that fails is recorded too
        with case.watch("ledger_intent"):
            recorded = await recording
    return recorded, begin(recorded, gathered)


async def search_in_steps(case: Case, services: Services) -> tuple[Case, CoreResult]:
    """An agentic profile: the intent is durable before its first model call, and the agent, which reads the evidence
    on its way, has run the stages of the core when it ends."""
    if services.agent is None:
        raise UnknownProfile("this process has no agent", field="options.profile")
    with case.watch("ledger_intent"):
        case = await record_intent(case, services)
    return await services.agent(case, services)


async def search(case: Case, services: Services) -> GatheredRuns:
    """The channels of the profile, in parallel, inside the scope."""
    channels = [channel for channel in services.channels if channel.name in case.profile.channels]
    with case.watch("retrieve"):
        return await gather(
            search_query(case),
            channels=channels,
            store=services.store,
            deadlines_s=case.profile.channel_deadlines_s,
            slots=services.slots,
            cache=services.runs,
            authority=Authority(case.corpus_version, case.decided.stamp.bundle),
        )


async def finish(case: Case, core: CoreResult, places: PlacesFound | None, services: Services) -> ReleasedAnswer:
    """Record the outcome, then let it go with the log's promise. A `LedgerUnavailable` here means that nothing is
    released."""
    with case.watch("ledger_outcome"):
        body, entry = await record_outcome(case, core, places, services)
    with case.watch("ledger_promise"):
        promise = await services.ledger.promise(entry, answer=canonical(body))
    return ReleasedAnswer(
        body=body | {"timings_ms": case.watch.milliseconds(), "promise": promise.as_json()},
        outcome=core.release.outcome,
        entry=entry,
        uncited_sentences=core.uncited_sentences,
        refused_late=core.refused_late,
        items=core.items,
        runs=() if core.gathered is None else core.gathered.runs,
        written_tokens=core.written_tokens,
        scope=case.scope,
    )
