"""From what the channels found to admitted evidence: the bundle, and the evidence point over it."""

from __future__ import annotations

from dataclasses import replace

from ai.case.case import Case, Services
from ai.governance.admission import Access, Admission, admit
from policy.model import Decision
from retrieval.bundle import GatheredRuns, assemble
from retrieval.model import EvidenceBundle, Limitation, Query


def search_query(case: Case) -> Query:
    """The query that every channel receives: the sanitized question, its intent and the map context, inside the
    scope."""
    context = case.ask.context
    return Query(
        text=case.question,
        scope=case.scope,
        top_k=case.profile.channel_top_k,
        intent=case.intent,
        bbox=context.bbox,
        geometry=context.geometry,
        layers=context.active_layers,
        documents=case.documents,
        embedding=case.ask.embedding,
    )


def make_bundle(
    case: Case,
    gathered: GatheredRuns,
    services: Services,
    *,
    query: Query | None = None,
    top_k: int | None = None,
    excluded: frozenset[str] = frozenset(),
) -> EvidenceBundle:
    """The numbered evidence of what was found, without the excluded records. `query` and `top_k` are those of a part of
    the question, where only that was searched for."""
    with case.watch("bundle"):
        return assemble(
            gathered.runs,
            gathered.records,
            query=query or search_query(case),
            rules=case.profile.rules_for(case.question, services.bundle_rules),
            limits=replace(case.profile.limits or services.bundle_limits, max_items=top_k or case.ask.options.top_k),
            excluded=excluded,
            limitations=gathered.limitations,
        )


async def admit_bundle(
    case: Case,
    gathered: GatheredRuns,
    services: Services,
    *,
    query: Query | None = None,
    top_k: int | None = None,
    bundle: EvidenceBundle | None = None,
) -> Admission:
    """The evidence point over the bundle. The records that it refuses are taken out of the runs and the bundle is made
    again, so that the result equals that of a corpus without them; each round excludes at least one record, so this
    ends. The scope should have kept them out of the search: whatever is excluded here is counted as an incident."""
    excluded: frozenset[str] = frozenset()
    decisions: tuple[Decision, ...] = ()
    while True:
        if bundle is None:
            bundle = make_bundle(case, gathered, services, query=query, top_k=top_k, excluded=excluded)
        with case.watch("evidence"):
            admission = await admit(bundle, access=Access.of(case), services=services, found=gathered.records.values())
        decisions = (*decisions, *admission.decisions)
        if not decisions[-1].allowed:
            return replace(admission, bundle=replace(bundle, items=()), decisions=decisions, excluded=excluded)
        if not admission.excluded:
            told = _unmade_by(admission.bundle.limitations, excluded)
            bundle = replace(admission.bundle, limitations=told)
            return replace(admission, bundle=bundle, decisions=decisions, excluded=excluded)
        excluded, bundle = excluded | admission.excluded, None


def _unmade_by(limitations: tuple[Limitation, ...], excluded: frozenset[str]) -> tuple[Limitation, ...]:
    """The limitations, without those that state figures where a record that may not be used was among the found."""
    if not excluded:
        return limitations
    return tuple(each for each in limitations if each.code != "CONFLICTING_OBSERVATIONS")
