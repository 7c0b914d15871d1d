"""The ledger's record of a question: the parts of its `intent` and `outcome` entries, as exact bytes.

`deterministic_parts` is computed again by replay and compared byte for byte; so nothing in it may depend on time,
chance or order of arrival. Times stand in `prov` alone, and the entry id and request id in the body are those of the
recorded request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ai.answer.core import CoreResult
from ai.answer.places import PlacesFound
from ai.answer.render import claims_json, evidence_json, interpretation_of, locator_json, render_body
from ai.answer.shapes import AnswerBody, WireEvidence
from ai.canonical import canonical, to_json
from ai.case.agent_record import AgentCall, AgentRecord
from ai.case.case import Case, Services
from ai.model import AdmittedItem, Options, Sentence
from ai.record.provenance import run_facts
from ai.record.settings import keep_settings, pinned
from ai.record.trace import traced
from ai.record.unchanged import record_unchanged
from ledger.model import EntryRef, Kind
from ledger.provenance.document import prov_document
from policy.model import Decision, Subject
from retrieval.bundle import GatheredRuns
from retrieval.model import Intent, Limitation, Record, SourcedRecord, SourceFacts
from retrieval.scope import Scope

FAULT = "FAULT"
CANCELLED = "CANCELLED"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReplayInputs:
    """The inputs of the deterministic core, beside what other parts hold. The question and its context are parts of
    the `intent` entry; the runs are `candidates`; the model's output is in `calls`."""

    software: str
    request_id: str
    entry_id: str
    now_ms: int
    subject: Subject
    purpose: str
    options: Options
    profile: str
    scope: Scope
    intent: Intent
    limitations: tuple[Limitation, ...]
    found_limitations: tuple[Limitation, ...]
    records: tuple[Record, ...]
    sources: tuple[SourceFacts, ...]
    canary: str
    pinned: Mapping[str, str]
    agent: AgentRecord | None = None
    claims_version: int = 0
    places: PlacesFound | None = None

    @classmethod
    def of(
        cls,
        case: Case,
        gathered: GatheredRuns | None,
        *,
        software: str,
        profile: str,
        pinned: Mapping[str, str],
        canary: str = "",
        agent: AgentRecord | None = None,
        places: PlacesFound | None = None,
    ) -> ReplayInputs:
        """Those of a question and of what was found for it, if anything was looked for; `sourced` is the way back."""
        found = [] if gathered is None else [gathered.records[key] for key in sorted(gathered.records)]
        return cls(
            software=software,
            request_id=case.ask.request_id,
            entry_id=case.entry_id,
            now_ms=case.now_ms,
            subject=case.ask.subject,
            purpose=case.ask.purpose,
            options=case.ask.options,
            profile=profile,
            scope=case.scope,
            intent=case.intent,
            limitations=case.limitations,
            found_limitations=() if gathered is None else gathered.limitations,
            records=tuple(sourced.record for sourced in found),
            sources=tuple({sourced.source.document_id: sourced.source for sourced in found}.values()),
            canary=canary,
            pinned=pinned,
            agent=agent,
            claims_version=case.claims_version,
            places=places,
        )

    def sourced(self) -> dict[str, SourcedRecord]:
        """The records by id, each with the facts of its source; these are kept once per document, because many
        records share one. Raises ValueError for a record whose document has none."""
        facts = {source.document_id: source for source in self.sources}
        if any(record.document_id not in facts for record in self.records):
            raise ValueError("a recorded record has no source")
        return {record.record_id: SourcedRecord(record, facts[record.document_id]) for record in self.records}


async def record_intent(case: Case, services: Services) -> Case:
    """Append the `intent` entry: durable when this returns, which is before anything that was found is decided over or
    shown to a model."""

    async def append() -> None:
        case.on_record.intent = await services.ledger.record(
            Kind.INTENT, tenant=case.ask.subject.tenant, request_id=case.ask.request_id, parts=intent_parts(case)
        )

    await _to_its_end(append())
    return case


async def record_outcome(
    case: Case, core: CoreResult, places: PlacesFound | None, services: Services
) -> tuple[AnswerBody, EntryRef]:
    """Append the `outcome` entry and return the body that may now leave. Raises `LedgerUnavailable` and
    `CorpusChanged`: then nothing may."""
    await keep_settings(services, case.profile)
    shown = shown_items(case, core)
    body = body_of(case, core, shown)
    parts = deterministic_parts(core, body, shown)
    parts["replay"] = canonical(to_json(replay_inputs(case, core, services, places)))
    parts["prov"] = prov_document(run_facts(case, core, parts["answer"], services))

    async def append(since: int) -> EntryRef:
        return await _append_outcome(case, parts, source_parts(core), services, since=since)

    return body, await record_unchanged(case, core.gathered, (*core.items, *core.rows.values()), services, append)


async def record_fault(case: Case, fault: Exception, services: Services) -> EntryRef:
    """Append the outcome of a request whose engine, model or store failed; and its intent, if it did not come to
    that."""
    return await _record_failure(case, getattr(fault, "code", "INTERNAL"), services)


async def record_abandonment(case: Case, services: Services) -> None:
    """Append the outcome of a request that was cancelled, because its caller has gone or the process ends; nothing
    where the outcome stands already. Runs to its end even if it is cancelled itself."""
    if case.on_record.outcome is None:
        await _to_its_end(_record_failure(case, CANCELLED, services))


async def _record_failure(case: Case, code: str, services: Services) -> EntryRef:
    if case.on_record.intent is None:
        await record_intent(case, services)
    body = {"request_id": case.ask.request_id, "outcome": FAULT, "reason_codes": [code]}
    return await _append_outcome(case, {"answer": canonical(body)}, [], services)


async def _append_outcome(
    case: Case, parts: Mapping[str, bytes], sources: Sequence[bytes], services: Services, *, since: int | None = None
) -> EntryRef:
    intent = case.on_record.intent

    async def append() -> EntryRef:
        case.on_record.outcome = await services.ledger.record(
            Kind.OUTCOME,
            tenant=case.ask.subject.tenant,
            request_id=case.ask.request_id,
            parts=parts,
            sources=sources,
            refs=[] if intent is None else [intent.as_ref("intent")],
            entry_id=case.entry_id,
            since=since,
        )
        return case.on_record.outcome

    return await _to_its_end(append())


async def _to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`. A cancellation waits for its end: nobody could tell otherwise whether the entry exists."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # the caller has gone; whoever asks `on_record` sees that it does not stand
        raise


def shown_items(case: Case, core: CoreResult) -> list[WireEvidence]:
    """The admitted items as body and bundle hold them."""
    entry_id = case.entry_id if case.draft_checked else None
    return [evidence_json(item, entry_id=entry_id) for item in core.items]


def body_of(case: Case, core: CoreResult, shown: Sequence[WireEvidence]) -> AnswerBody:
    """The wire body without timings."""
    return render_body(
        ask=case.ask,
        release=core.release,
        items=core.items,
        shown=shown,
        draft=core.draft,
        prompt=core.prompt,
        entry_id=case.entry_id,
        agent=core.agent,
        placed=core.placed,
        interpretation=interpretation_of(case.intent),
        rows=core.rows if case.draft_checked else None,
        whole=case.draft_checked,
    )


def intent_parts(case: Case) -> dict[str, bytes]:
    """The parts of an `intent` entry. The question is the original one: what was asked, not what the gate made of
    it."""
    ask = case.ask
    context = {
        "context": to_json(ask.context),
        "options": to_json(ask.options),
        "purpose": ask.purpose,
        "session_id": ask.session_id,
        "subject": ask.subject.id,
    }
    parts = {"question": ask.question.encode("utf-8"), "context": canonical(traced(context))}
    parts["scope"] = canonical(
        {"scope": to_json(case.scope), "gate": None if case.gate is None else to_json(case.gate)}
    )
    if case.decision is not None:
        parts["policy.query"] = canonical(decisions_json([case.decision]))
    return parts


def deterministic_parts(core: CoreResult, body: AnswerBody, shown: Sequence[WireEvidence]) -> dict[str, bytes]:
    """The parts of an `outcome` entry that replay computes again."""
    gathered, admission = core.gathered, core.admission
    parts: dict[str, bytes] = {"answer": canonical(body)}
    if gathered is not None:
        parts["candidates"] = canonical({"runs": [to_json(run) for run in gathered.runs]})
    if admission is not None:
        parts["bundle"] = canonical({"items": list(shown), "excluded": sorted(admission.excluded)})
        parts["policy.evidence"] = canonical(decisions_json((*admission.decisions, *core.place_decisions)))
    calls = [] if core.agent is None else [agent_call_json(call) for call in core.agent.calls]
    if core.call is not None:
        calls.append(call_json(core))
    if calls:
        parts["calls"] = canonical(calls)
    if core.answer_decisions:
        parts["policy.answer"] = canonical(decisions_json(core.answer_decisions))
    return parts


def decisions_json(decisions: Sequence[Decision]) -> list[Any]:
    """Every run of a policy point: its input, its decision, its stamp."""
    return [{"input": decision.input, **decision.record()} for decision in decisions]


def source_json(item: AdmittedItem) -> dict[str, Any]:
    """One admitted source, enough to check a quote against: text after obligations, place in the document, digest of
    the document."""
    record, source = item.evidence.first.record, item.evidence.first.source
    return {
        "index": item.index,
        "record_id": item.evidence.record_id,
        "document_id": source.document_id,
        "document_sha256": source.document_sha256,
        "title": source.title,
        "locator": None if item.evidence.computed is not None else locator_json(record.locator),
        "text": item.text,
        "statement": item.statement,
    }


def source_parts(core: CoreResult) -> list[bytes]:
    """The parts `sources/n` of an `outcome` entry, in order; replay computes them again."""
    return [canonical(source) for source in (*map(source_json, core.items), *drawn_json(core))]


def drawn_json(core: CoreResult) -> list[dict[str, Any]]:
    """The documents that draw the places of the cited items, and those whose rows are quoted of what was computed,
    after the sources themselves: what is shown of a document is found where that is erased."""
    drawn = (place.drawn_by for placed in core.placed or () for place in placed.places if place.geometry is not None)
    shown = {each.record.record_id: each for each in drawn if each is not None}
    return [
        {"record_id": record_id, "document_id": each.source.document_id, "role": "place"}
        for record_id, each in shown.items()
    ] + [
        {"record_id": record_id, "document_id": row.evidence.first.record.document_id, "role": "row"}
        for record_id, row in core.rows.items()
    ]


def agent_call_json(call: AgentCall) -> dict[str, Any]:
    """A model call of the agent, told from the one that writes by its purpose."""
    return {
        "purpose": call.purpose,
        "system": call.system,
        "prompt": call.prompt,
        "template": call.template,
        "template_digest": call.template_digest,
        "options": {"max_tokens": call.max_tokens, "temperature_milli": 0, "seed": 0},
        "completion": to_json(call.completion),
    }


def call_json(core: CoreResult) -> dict[str, Any]:
    """The model call: the prompt's bytes, the options, the whole output, the model's identity."""
    call, prompt, draft = core.call, core.prompt, core.draft
    if call is None or prompt is None or draft is None:
        raise AssertionError("there was no model call")
    body = {
        "system": prompt.system,
        "prompt": prompt.prompt,
        "template": prompt.template,
        "template_digest": prompt.template_digest,
        "options": {"max_tokens": call.max_tokens, "temperature_milli": call.temperature_milli, "seed": call.seed},
        "completion": to_json(draft.completion),
    }
    if call.mode != "free":
        body |= {"mode": call.mode}
    if draft.repair is not None:
        body |= {"repair": to_json(draft.repair)}
    if draft.filled is not None:
        body |= {"filled": to_json(draft.filled)}
    checked = [sentence for sentence in draft.sentences if sentence.claims is not None]
    return body | {"sentences": [checked_json(sentence) for sentence in checked]} if checked else body


def checked_json(sentence: Sentence) -> dict[str, Any]:
    """A sentence of the draft, fallen or not, as it was checked: what it claims, and who set its numbers."""
    return {
        "i": sentence.i,
        "text": sentence.text,
        "markers": list(sentence.markers),
        "attribution": sentence.attribution,
        "answers": sentence.answers,
        "claims": claims_json(sentence.claims or ()),
    }


def replay_inputs(case: Case, core: CoreResult, services: Services, places: PlacesFound | None = None) -> ReplayInputs:
    """The inputs of the core."""
    return ReplayInputs.of(
        case,
        core.gathered,
        software=services.software,
        profile=case.profile.name,
        canary=case.canary or services.canary,
        pinned=pinned(services, case.profile),
        agent=None if core.agent is None else replace(core.agent, calls=()),
        places=places,
    )
