"""Retrieval without an answer: the pipeline's own front half, ending at the admitted items, for R0 basic and R2.

Same gate, scope, intent, channels, bundle and evidence point as a question; no model. The `retrieval` entry is durable
before anything leaves.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ai.canonical import canonical, to_json
from ai.case import Case, Faulted, Services
from ai.enforcement import enforce_evidence, evidence_facts
from ai.errors import AIError
from ai.focus_pipeline import check_gate, decide_scope, narrow, read_question, search
from ai.model import AdmittedItem, Ask, Mode
from ai.profiles import ALL_CHANNELS, PASSAGES, WIDE, Profile
from ai.recording import decisions_json, intent_parts, source_json
from ai.render import evidence_json
from ai.scoping import class_facts, prompt_facts
from ai.shell import Admission, admit
from ledger.errors import LedgerError
from ledger.model import EntryRef, Kind
from policy.errors import PolicyError
from retrieval.bundle import Gathered
from retrieval.calibration import FULL_MILLI, Scale
from retrieval.errors import RetrievalError
from retrieval.filters import Metadata
from retrieval.model import ChannelName, ChannelRank, Evidence, EvidenceBundle

MOST_PASSAGES = 100

CHANNELS: Mapping[Mode, tuple[ChannelName, ...]] = {
    "keyword": (ChannelName.FULLTEXT,),
    "vector": (ChannelName.VECTOR,),
    "hybrid": ALL_CHANNELS,
}


@dataclass(frozen=True, slots=True)
class Result:
    """An admitted item with its calibrated relevance, the highest of its channels, and what each store scored."""

    item: AdmittedItem
    score_milli: int
    raw_scores: Mapping[str, float]
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to. A denied one has no results, and `reason_codes`."""

    case: Case
    results: tuple[Result, ...] = ()
    gathered: Gathered | None = None
    admission: Admission | None = None

    @property
    def reason_codes(self) -> tuple[str, ...]:
        """Why the query point refused; empty where it did not."""
        refused = () if self.case.decided.allowed else self.case.decided.reasons
        return tuple(dict.fromkeys(reason.code for reason in refused))

    @property
    def asked(self) -> tuple[ChannelName, ...]:
        """The channels that had something to look for: structured ones need a place, a time or a relation."""
        structured = bool(self.case.intent.mentions or self.case.intent.times or self.case.intent.operations)
        text = (ChannelName.FULLTEXT, ChannelName.VECTOR)
        return tuple(name for name in self.case.profile.channels if structured or name in text)


Finder = Callable[[Case, Services], Awaitable["Found"]]
Render = Callable[[Found], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What leaves: the surface's body, and where it is recorded."""

    body: Mapping[str, Any]
    found: Found
    entry: EntryRef


def retrieval_profile(profile: Profile, mode: Mode, top_k: int) -> Profile:
    """The profile of a result list of so many items in this mode."""
    return replace(
        profile, channels=CHANNELS[mode], channel_top_k=max(24, 2 * top_k), rules=profile.rules or PASSAGES, limits=WIDE
    )


async def retrieve(
    ask: Ask, *, services: Services, profile: Profile, render: Render, finder: Finder | None = None
) -> Retrieved:
    """Search, decide, record, and only then give back what `render` makes of it. `finder` stands in for the search.

    Raises `LedgerUnavailable` when nothing could be recorded, and `Faulted` when an engine or a store failed; that is
    recorded too.
    """
    case = Case.of(ask, services=services, profile=profile)
    try:
        case = check_gate(case, services)
        case = await decide_scope(case, services)
        case = await read_question(case, services)
        case = await narrow(case, services)
        found = await (finder or find)(case, services)
        body = await render(found)
        return Retrieved(body, found, await record(found, body, services))
    except LedgerError:
        raise
    except Exception as exc:
        entry = await _record_fault(case, exc, services)
        if isinstance(exc, PolicyError | AIError | RetrievalError):
            raise Faulted(ask.request_id, entry.entry_id, exc) from exc
        raise


async def find(case: Case, services: Services) -> Found:
    """The admitted results, in order; none where the query point refused."""
    if not case.decided.allowed:
        return Found(case)
    gathered = await search(case, services)
    admission = await admit(case, gathered, points=services.points(case.now_ms), services=services)
    results = await results_of(case, gathered, admission.items, services)
    kept = tuple(r for r in results if r.score_milli >= case.ask.options.search.threshold_milli)
    return Found(case, kept, gathered, admission)


def known(ids: Sequence[str]) -> Finder:
    """A finder of what the caller names: chunks, and all passages of documents, in the order of the names. What is not
    there and what is not admitted is left out alike."""

    async def named(case: Case, services: Services) -> Found:
        if not case.decided.allowed:
            return Found(case)
        wanted: list[str] = []
        for each in dict.fromkeys(ids):
            wanted += (await services.store.passages(each, scope=case.scope))[:MOST_PASSAGES] or (each,)
        records = await services.store.fetch(wanted, scope=case.scope)
        rank = ChannelRank(ChannelName.FULLTEXT, "record", 1, 0.0)
        items = tuple(
            Evidence(n, record_id, (record,), (rank,), 0.0) for n, (record_id, record) in enumerate(records.items(), 1)
        )
        facts = tuple(fact for item in items for fact in evidence_facts(item, rules=services.rules))
        decision = await services.points(case.now_ms).evidence(
            request=case.asked,
            subject=case.ask.subject,
            prompt=prompt_facts(case),
            classes=class_facts({r.source.visibility.class_id: r.source.visibility for r in records.values()}.values()),
            evidence=facts,
            prior=case.decided,
        )
        bundle = EvidenceBundle(items)
        admitted, refused = enforce_evidence(bundle, decision, rules=services.rules)
        gathered = Gathered((), records)
        admission = Admission(bundle, admitted, facts, (decision,), refused)
        return Found(case, await results_of(case, gathered, admitted, services), gathered, admission)

    return named


async def results_of(
    case: Case, gathered: Gathered, items: tuple[AdmittedItem, ...], services: Services
) -> tuple[Result, ...]:
    """The items with their scores and the metadata of their documents."""
    scale = Scale.of(services.embedding_model, gathered.runs)
    ids = {item.evidence.first.record.document_id for item in items}
    metadata = await services.store.metadata(sorted(ids), scope=case.scope) if ids else {}
    return tuple(
        Result(
            item=item,
            score_milli=relevance_milli(case, item, scale),
            raw_scores={str(rank.channel): rank.score for rank in item.evidence.ranks},
            metadata=metadata.get(item.evidence.first.record.document_id, {}),
        )
        for item in items
    )


def relevance_milli(case: Case, item: AdmittedItem, scale: Scale) -> int:
    """The item's calibrated relevance: the highest of its channels; a computed result or the very cell that was asked
    for is relevant as such."""
    from ai.context import is_direct  # noqa: PLC0415 - the prompt's machinery; a text search needs none of it

    if case.intent.operations and is_direct(item, case.intent):
        return FULL_MILLI
    return max((scale.relevance_milli(rank) for rank in item.evidence.ranks), default=0)


async def record(found: Found, body: Mapping[str, Any], services: Services) -> EntryRef:
    """Append the `retrieval` entry: durable when this returns. Raises `LedgerUnavailable`: then nothing may leave."""
    case, admission = found.case, found.admission
    parts = intent_parts(case) | {"answer": canonical(body)}
    if found.gathered is not None:
        parts["candidates"] = canonical({"runs": [to_json(run) for run in found.gathered.runs]})
    if admission is not None:
        parts["bundle"] = canonical({"items": [evidence_json(r.item) for r in found.results]})
        parts["policy.evidence"] = canonical(decisions_json(admission.decisions))
    with case.watch("ledger_retrieval"):
        return await services.ledger.record(
            Kind.RETRIEVAL,
            tenant=case.ask.subject.tenant,
            request_id=case.ask.request_id,
            parts=parts,
            sources=[canonical(source_json(result.item)) for result in found.results],
            entry_id=case.entry_id,
        )


async def _record_fault(case: Case, fault: Exception, services: Services) -> EntryRef:
    body = {"request_id": case.ask.request_id, "outcome": "FAULT", "reason_codes": [getattr(fault, "code", "INTERNAL")]}
    return await services.ledger.record(
        Kind.RETRIEVAL,
        tenant=case.ask.subject.tenant,
        request_id=case.ask.request_id,
        parts=intent_parts(case) | {"answer": canonical(body)},
        entry_id=case.entry_id,
    )
