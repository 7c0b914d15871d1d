"""START HERE: one question, from the prompt to the released, recorded answer.

question + map context + subject
-> prompt gate -> query point (scope) -> intent -> ledger `intent`
-> four channels inside the scope -> fused bundle -> evidence point -> numbered, admitted items
-> prompt -> model -> draft -> answer point -> ledger `outcome` -> body

Everything from the bundle on, except the model's words, is a deterministic function of recorded values (`ai.shell`),
which is what replay runs again. Every outcome is recorded; if it cannot be, nothing is released.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

from ai.case import Answered, Case, Faulted, Services
from ai.catalogue import reason_text
from ai.errors import AIError, UnknownProfile
from ai.intent import read_intent
from ai.model import Ask, Outcome, Release, Sentence
from ai.profiles import Profile
from ai.prompt_gate import check_prompt
from ai.recording import record_abandonment, record_fault, record_intent, record_outcome
from ai.scoping import admitted_scope, class_facts, prompt_facts, request_facts
from ai.shell import Shell, run_shell, search_query
from ledger.errors import LedgerError
from policy.errors import PolicyError
from retrieval.bundle import Gathered, gather
from retrieval.errors import RetrievalError
from retrieval.model import Limitation
from retrieval.run_cache import Authority


async def answer(ask: Ask, *, services: Services, profile: Profile) -> Answered:
    """Answer, abstain or deny, with a durable ledger entry for whichever it is.

    Raises `LedgerUnavailable` when nothing could be recorded, and `Faulted` (with the entry and the cause) when a
    policy engine, a model or the store of record failed: that is recorded too, and released as an error, never as an
    answer. Cancelling it stops its work, the model's included; that it was cancelled is recorded before it ends.
    """
    case = Case.of(ask, services=services, profile=profile)
    try:
        case = check_gate(case, services)
        case = await decide_scope(case, services)
        case = await read_question(case, services)
        case = await narrow(case, services)
        if case.profile.agentic and case.decided.allowed:
            case, shell = await search_in_steps(case, services)
        else:
            case, gathered = await record_and_search(case, services)
            shell = refused(case) if gathered is None else await run_shell(case, gathered, services=services)
        return await finish(case, shell, services)
    except LedgerError:
        raise
    except asyncio.CancelledError:
        with suppress(LedgerError):  # then the intent stays without an outcome, and `ledger verify` says so
            await record_abandonment(case, services)
        raise
    except Exception as exc:
        entry = await record_fault(case, exc, services)
        if isinstance(exc, PolicyError | AIError | RetrievalError):
            raise Faulted(ask.request_id, entry.entry_id, exc) from exc
        raise  # a bug stays a bug, but it is on the record


def check_gate(case: Case, services: Services) -> Case:
    """The prompt gate, over the question and every string of the map context."""
    with case.watch("gate"):
        gate = check_prompt(case.ask.question, case.ask.context.strings(), rules=services.rules)
    return replace(case, gate=gate)


async def decide_scope(case: Case, services: Services) -> Case:
    """The query point over the tenant's classes; the scope is what it admits, cut to the named collections."""
    with case.watch("policy_query"):
        tenant = case.ask.subject.tenant
        held = await services.store.holdings(tenant)
        request = request_facts(case, held.collections)
        decision = await services.points(case.now_ms).query(
            request=request, subject=case.ask.subject, prompt=prompt_facts(case), classes=class_facts(held.classes)
        )
    scope = admitted_scope(case.ask, decision, held.classes, held.collections)
    return replace(case, request=request, decision=decision, scope=scope, corpus_version=held.corpus_version)


async def read_question(case: Case, services: Services) -> Case:
    """Places, times, measures and operations, with the names of the scope only. A refused question is not read."""
    if not case.decided.allowed:
        return case
    with case.watch("intent"):
        vocabulary = await services.vocabularies.of(case.scope, corpus_version=case.corpus_version)
        reading = read_intent(
            case.question, case.ask.context, gazetteer=vocabulary.gazetteer, measures=vocabulary.measures
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


async def record_and_search(case: Case, services: Services) -> tuple[Case, Gathered | None]:
    """The `intent` entry and, unless the query point has refused, the search beside it: a search only reads, and what
    it finds goes nowhere before the entry is durable. The stage `ledger_intent` is what the request waits for it."""
    recording = asyncio.create_task(record_intent(case, services))
    try:
        gathered = await search(case, services) if case.decided.allowed else None
    finally:  # a search that fails is recorded too
        with case.watch("ledger_intent"):
            recorded = await recording
    return recorded, gathered


async def search_in_steps(case: Case, services: Services) -> tuple[Case, Shell]:
    """An agentic profile: the intent is durable before its first model call, and the agent ends in the same shell."""
    if services.agent is None:
        raise UnknownProfile("this process has no agent", field="options.profile")
    with case.watch("ledger_intent"):
        case = await record_intent(case, services)
    return await services.agent(case, services)


async def search(case: Case, services: Services) -> Gathered:
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


def refused(case: Case) -> Shell:
    """The outcome of a question that ends at the query point."""
    codes = tuple(dict.fromkeys(reason.code for reason in case.decided.reasons))
    sentences = tuple(
        Sentence(i=i, text=reason_text(code), markers=(), catalogue=f"deny.{code}") for i, code in enumerate(codes)
    )
    return Shell(release=Release(Outcome.DENY, codes, sentences, (), decisions=(case.decided,)))


async def finish(case: Case, shell: Shell, services: Services) -> Answered:
    """Record the outcome, then let it go. A `LedgerUnavailable` here means that nothing is released."""
    with case.watch("ledger_outcome"):
        body, entry = await record_outcome(case, shell, services)
    return Answered(
        body=body | {"timings_ms": case.watch.milliseconds()},
        outcome=shell.release.outcome,
        entry=entry,
        uncited_sentences=shell.uncited_sentences,
        items=shell.items,
        runs=() if shell.gathered is None else shell.gathered.runs,
        written_tokens=shell.written_tokens,
        scope=case.scope,
    )
