"""The ledger's record of passages that were shown without an answer: their provenance, and the inputs that show them
again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ai.answer.render import evidence_json
from ai.canonical import canonical, digest_of, from_json, to_json
from ai.case.case import Case, Services
from ai.model import AdmittedItem
from ai.record.provenance import Content, agents_of, channel_searches, keyed
from ai.record.recording import ReplayInputs, decisions_json, intent_parts, source_json
from ai.record.settings import keep_settings, search_pinned
from ai.record.unchanged import record_unchanged
from ai.search.passage_search import Shaping
from ai.search.reads import SurfaceReads
from ai.search.result import SearchResult
from ai.search.surface import Surface
from ledger.model import EntryRef, Kind
from ledger.provenance.document import ProvActivity, ProvEntity, ProvFacts, prov_document
from policy.model import Decision, Subject
from retrieval.model import Query, Run
from retrieval.ranking.reranker import HEURISTIC, HeuristicReranker, Passage

SEARCH = "exhibit.search/1"
SLICE = "exhibit.slice/1"
_STAGES = {
    "gate": "PromptGate",
    "policy_query": "QueryPoint",
    "intent": "Plan",
    "filter": "Filter",
    "retrieve": "Retrieval",
    "evidence": "EvidencePoint",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A stage that ran: its name, its type in PROV, and its UTC milliseconds."""

    name: str
    type: str
    start_ms: int
    end_ms: int


# ---------------------------------------------------------------- a search


async def record_retrieval(
    found: SearchResult, surface: Surface, body: Mapping[str, Any], given: SurfaceReads, services: Services
) -> EntryRef:
    """Append the `retrieval` entry: durable when this returns. Raises `LedgerUnavailable` and
    `CorpusChanged`: then nothing may leave."""
    case = found.case
    await keep_settings(services, case.profile)
    parts = intent_parts(case) | search_parts(found, body)
    items = [result.item for result in found.results]
    parts["replay"] = canonical(search_inputs(found, surface, given, services))
    parts["prov"] = retrieval_prov(
        entry_id=case.entry_id,
        body=parts["answer"],
        items=items,
        steps=_steps(case),
        subject=case.ask.subject,
        decision=case.decided,
        services=services,
        runs=() if found.gathered is None else found.gathered.runs,
    )
    sources = [canonical(source_json(item)) for item in items]

    async def append(since: int) -> EntryRef:
        return await _append(case, parts, sources, services, since=since)

    with case.watch("ledger_retrieval"):
        return await record_unchanged(case, found.gathered, items, services, append)


async def record_retrieval_fault(case: Case, fault: Exception, services: Services) -> EntryRef:
    """Append the entry of a search whose engine or store failed."""
    body = {"request_id": case.ask.request_id, "outcome": "FAULT", "reason_codes": [getattr(fault, "code", "INTERNAL")]}
    return await _append(case, intent_parts(case) | {"answer": canonical(body)}, [], services)


async def _append(
    case: Case, parts: Mapping[str, bytes], sources: Sequence[bytes], services: Services, *, since: int | None = None
) -> EntryRef:
    return await services.ledger.record(
        Kind.RETRIEVAL,
        tenant=case.ask.subject.tenant,
        request_id=case.ask.request_id,
        parts=parts,
        sources=sources,
        entry_id=case.entry_id,
        since=since,
    )


def search_parts(found: SearchResult, body: Mapping[str, Any]) -> dict[str, bytes]:
    """The parts that replay computes again."""
    parts = {"answer": canonical(whole(body))}
    if found.gathered is not None:
        parts["candidates"] = canonical({"runs": [to_json(run) for run in found.gathered.runs]})
    if found.admission is not None:
        parts["bundle"] = canonical({"items": [evidence_json(result.item) for result in found.results]})
        parts["policy.evidence"] = canonical(decisions_json(found.admission.decisions))
    return parts


def whole(value: Any) -> Any:
    """The JSON value with whole numbers written as integers, as RFC 8785 writes them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: whole(each) for name, each in value.items()}
    return [whole(each) for each in value] if isinstance(value, list | tuple) else value


def search_inputs(found: SearchResult, surface: Surface, given: SurfaceReads, services: Services) -> dict[str, Any]:
    """The inputs of the deterministic part of a search, beside what other parts hold."""
    case = found.case
    inputs = ReplayInputs.of(
        case,
        found.gathered,
        software=services.software,
        profile=case.ask.options.profile,
        pinned=search_pinned(case.profile, services),
    )
    embedding = case.ask.embedding
    told: dict[str, Any] = to_json(inputs)
    return told | {
        "v": SEARCH,
        "surface": surface_json(surface),
        "given": to_json(given),
        "embedding": None if embedding is None else [repr(each) for each in embedding],
    }


def surface_json(surface: Surface) -> dict[str, Any]:
    """The surface; a reranker goes by its name."""
    shaping = surface.shaping
    told: dict[str, Any] = to_json(replace(surface, shaping=None))
    if shaping is not None:
        named = "" if shaping.reranker is None else shaping.reranker.name
        told["shaping"] = to_json(replace(shaping, reranker=None)) | {"reranker": named}
    return told


def surface_of(told: Mapping[str, Any]) -> Surface:
    """The inverse. Raises ValueError or `cattrs.BaseValidationError`."""
    shaping = told["shaping"]
    plain = from_json({**told, "shaping": None}, Surface)
    if shaping is None:
        return plain
    named = str(shaping["reranker"])
    reranker = None if not named else HeuristicReranker() if named == HEURISTIC else _NamedReranker(named)
    return replace(plain, shaping=replace(from_json({**shaping, "reranker": None}, Shaping), reranker=reranker))


@dataclass(frozen=True, slots=True)
class _NamedReranker:
    """A reranker of which only the name is on record; its scores are read, never made."""

    name: str

    async def score(self, query: Query, passages: Sequence[Passage]) -> list[int]:
        raise AssertionError("a recorded reranker is not asked")


def _steps(case: Case) -> list[Step]:
    """The stages that ran, in order; one that ran more than once from its first start to its last end."""
    spans: dict[str, tuple[int, int]] = {}
    for stage, start, end in case.watch.spans:
        if stage in _STAGES:
            spans[stage] = (spans[stage][0] if stage in spans else start, end)
    return [Step(stage, _STAGES[stage], start, end) for stage, (start, end) in spans.items()]


# ---------------------------------------------------------------- provenance


def retrieval_prov(
    *,
    entry_id: str,
    body: bytes,
    items: Sequence[AdmittedItem],
    steps: Sequence[Step],
    subject: Subject,
    decision: Decision,
    services: Services,
    runs: Sequence[Run] = (),
    content: Content | None = None,
) -> bytes:
    """The provenance document of a reply that shows these items: at least one step, in the order in which they ran;
    the last one made the reply and used the items. Each run is a search of its own, inside the step `retrieve`."""
    content = content or keyed(services.ledger, entry_id)
    sources = tuple(f"source/{item.index}" for item in items)
    activities = [
        ProvActivity(
            f"activity/{step.name}",
            step.type,
            step.start_ms,
            max(step.start_ms, step.end_ms),
            used=sources if step is steps[-1] else (),
            agents=("agent/principal", "agent/policy") if number == 0 else ("agent/policy", "agent/software"),
            informed_by=(f"activity/{steps[number - 1].name}",) if number else (),
        )
        for number, step in enumerate(steps)
    ]
    made_by = activities[-1].id
    facts = ProvFacts(
        run_id=entry_id,
        answer=ProvEntity("answer", "Answer", content("sha256", digest_of(body))),
        entities=tuple(_source(item, content) for item in items),
        activities=(*activities, *_searches(runs, steps)),
        agents=agents_of(subject, decision, services),
        generated_by=made_by,
        derived_from=sources,
        attributed_to=("agent/software",),
    )
    return prov_document(facts)


def _searches(runs: Sequence[Run], steps: Sequence[Step]) -> list[ProvActivity]:
    """One activity per run, informed by the step that asked for it."""
    asked = next((step for step in steps if step.name == "retrieve"), None)
    if asked is None:
        return []
    span = asked.start_ms, max(asked.start_ms, asked.end_ms)
    return channel_searches(runs, span, informed_by="activity/retrieve")


def _source(item: AdmittedItem, content: Content) -> ProvEntity:
    return ProvEntity(
        f"source/{item.index}",
        "Computed" if item.evidence.computed is not None else "Source",
        content("document", item.evidence.first.source.document_sha256),
    )
