"""The deterministic shell around the model: everything between the channels' runs and the released sentences.

Given the same runs, records, settings, clock and model output it gives the same bytes; that is grade R1 of replay, and
replay runs this very code. Nothing here reads a store, a channel or the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ai.agent_record import AgentRecord, Cut
from ai.case import Case, Services
from ai.catalogue import ABSTAIN, PHRASES
from ai.enforcement import answer_facts, enforce_answer, enforce_evidence, evidence_facts
from ai.generate import ModelCall
from ai.model import AdmittedItem, Draft, Outcome, Release, RenderedPrompt, Sentence
from ai.scoping import class_facts, prompt_facts
from ai.writing import Written, write
from policy.model import Decision, EvidenceFacts
from policy.points import PolicyPoints
from retrieval.bundle import Gathered, assemble, count_tokens
from retrieval.model import EvidenceBundle, Limitation, Query
from retrieval.scope import VisibilityClass

ANSWER_RUNS = 3
"""How often the answer point may run; after that the draft is given up (contracts section 9)."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What the evidence point let through: items numbered 1..n, the facts it decided over, and every decision that led
    there."""

    bundle: EvidenceBundle
    items: tuple[AdmittedItem, ...]
    facts: tuple[EvidenceFacts, ...]
    decisions: tuple[Decision, ...]
    excluded: frozenset[str]


@dataclass(frozen=True, slots=True)
class Shell:
    """Everything that a request produced, for the ledger; `release` is the part that may leave."""

    release: Release
    gathered: Gathered | None = None
    admission: Admission | None = None
    prompt: RenderedPrompt | None = None
    call: ModelCall | None = None
    draft: Draft | None = None
    answer_decisions: tuple[Decision, ...] = ()
    agent: AgentRecord | None = None

    @property
    def uncited_sentences(self) -> int:
        """How many sentences of the draft fell because they cited nothing."""
        reasons = (reason for decision in self.answer_decisions for reason in decision.reasons)
        return sum(reason.code == "UNCITED_SENTENCE" for reason in reasons)

    @property
    def written_tokens(self) -> int:
        """What prompt and answer took, by the one counter; 0 where nothing was written."""
        if self.prompt is None or self.draft is None:
            return 0
        return self.prompt.tokens + count_tokens(self.draft.completion.text)

    @property
    def items(self) -> tuple[AdmittedItem, ...]:
        """The admitted items, none for a question that ended before."""
        return () if self.admission is None else self.admission.items


async def run_shell(case: Case, gathered: Gathered, *, services: Services) -> Shell:
    """From runs to a release. Raises `PolicyError` and `AIError` when a point or the model fails."""
    points = services.points(case.now_ms)
    admission = await admit(case, gathered, points=points, services=services)
    limitations = (*case.limitations, *admission.bundle.limitations)
    if not case.profile.generates or (case.agent is not None and not case.agent.synthesize):
        return Shell(bundle_release(case, admission, limitations), gathered, admission, agent=case.agent)
    if not admission.items:
        refusal = abstention(case, limitations, (case.decided, *admission.decisions))
        return Shell(refusal, gathered, admission, agent=case.agent)
    written = await write(case, admission.items, services)
    if not isinstance(written, Written):
        return Shell(bundle_release(case, admission, limitations), gathered, admission, agent=stopped(case, written))
    prompt, draft, call = written.prompt, written.draft, written.call
    with case.watch("policy_answer"):
        release, decisions = await release_draft(case, admission, draft, limitations, points=points)
    return Shell(release, gathered, admission, prompt, call, draft, decisions, case.agent)


def stopped(case: Case, cut: Cut) -> AgentRecord | None:
    """The agent's record where a budget left no room to write: replay does not write either."""
    return None if case.agent is None else replace(case.agent, synthesize=False, cut=case.agent.cut or cut)


def search_query(case: Case) -> Query:
    """What every channel is asked: the sanitized question, its intent and the map context, inside the scope."""
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


async def admit(
    case: Case,
    gathered: Gathered,
    *,
    points: PolicyPoints,
    services: Services,
    query: Query | None = None,
    top_k: int | None = None,
) -> Admission:
    """The evidence point over the bundle. What it refuses is taken out of the runs and the bundle made again, so that
    the result equals the one of a corpus without it; this ends, because each round excludes at least one record.
    `query` and `top_k` are those of a part of the question, where only that was searched for."""
    classes = _classes_of(gathered)
    asked, most = query or search_query(case), top_k or case.ask.options.top_k
    excluded: frozenset[str] = frozenset()
    decisions: tuple[Decision, ...] = ()
    while True:
        with case.watch("bundle"):
            bundle = assemble(
                gathered.runs,
                gathered.records,
                query=asked,
                rules=case.profile.rules_for(case.question, services.bundle_rules),
                limits=replace(case.profile.limits or services.bundle_limits, max_items=most),
                excluded=excluded,
                limitations=gathered.limitations,
            )
        with case.watch("evidence"):
            facts = tuple(fact for item in bundle.items for fact in evidence_facts(item, rules=services.rules))
            decision = await points.evidence(
                request=case.asked,
                subject=case.ask.subject,
                prompt=prompt_facts(case),
                classes=class_facts(classes),
                evidence=facts,
                prior=case.decided,
            )
            decisions = (*decisions, decision)
            if not decision.allowed:
                return Admission(replace(bundle, items=()), (), facts, decisions, excluded)
            items, refused = enforce_evidence(bundle, decision)
            if not refused:
                return Admission(bundle, items, facts, decisions, excluded)
        excluded |= refused


async def release_draft(
    case: Case, admission: Admission, draft: Draft, limitations: tuple[Limitation, ...], *, points: PolicyPoints
) -> tuple[Release, tuple[Decision, ...]]:
    """The answer point, at most three runs: obligations are carried out and what remains is decided again; only an
    allow without new obligations releases."""
    sentences: tuple[Sentence, ...] = draft.sentences
    notices: tuple[str, ...] = ()
    before = (case.decided, *admission.decisions)
    decisions: tuple[Decision, ...] = ()
    for _ in range(ANSWER_RUNS):
        decision = await points.answer(
            request=case.asked,
            subject=case.ask.subject,
            evidence=admission.facts,
            answer=answer_facts(draft, sentences, admission.items),
            prior=admission.decisions[-1],
        )
        decisions = (*decisions, decision)
        if not decision.allowed:
            break
        carried = enforce_answer(sentences, notices, decision)
        if carried is None:
            break
        if (carried.sentences, carried.notices) == (sentences, notices):
            return _released(case, sentences, notices, limitations, (*before, *decisions)), decisions
        sentences, notices = carried.sentences, carried.notices
        if not sentences:
            break
    return abstention(case, limitations, (*before, *decisions)), decisions


def _released(
    case: Case,
    sentences: tuple[Sentence, ...],
    notices: tuple[str, ...],
    limitations: tuple[Limitation, ...],
    decisions: tuple[Decision, ...],
) -> Release:
    """Sentences that are all fixed phrases say that there is no answer; that is an abstention, whoever wrote them."""
    if all(sentence.catalogue is not None for sentence in sentences):
        return abstention(case, limitations, decisions)
    return Release(Outcome.ANSWER, (), sentences, limitations, notices, decisions)


def bundle_release(case: Case, admission: Admission, limitations: tuple[Limitation, ...]) -> Release:
    """The end of a profile that does not generate: the admitted bundle, without a sentence."""
    decisions = (case.decided, *admission.decisions)
    if not admission.items:
        return abstention(case, limitations, decisions)
    return Release(Outcome.ANSWER, (), (), limitations, (), decisions)


def abstention(case: Case, limitations: tuple[Limitation, ...], decisions: tuple[Decision, ...]) -> Release:
    """No answer, and what would help to find one. The same for what does not exist and for what was not admitted."""
    phrase = Sentence(i=0, text=PHRASES[ABSTAIN], markers=(), catalogue=ABSTAIN)
    return Release(Outcome.ABSTAIN, ("INSUFFICIENT_EVIDENCE",), (phrase,), (*limitations, *advice(case)), (), decisions)


def advice(case: Case) -> tuple[Limitation, ...]:
    """What the question leaves open, as a limitation; read from the question and its context alone."""
    missing = []
    if not case.intent.mentions and case.ask.context.place is None and case.ask.context.bbox is None:
        missing.append("a place")
    if not case.intent.times:
        missing.append("a time")
    if not case.ask.context.active_layers and not case.ask.options.collections:
        missing.append("a layer or collection")
    if not missing:
        return ()
    return (Limitation("CLARIFICATION_HELPS", f"It may help to name {' or '.join(missing)}."),)


def _classes_of(gathered: Gathered) -> Sequence[VisibilityClass]:
    """The classes of everything that was found, by id."""
    found: Mapping[str, VisibilityClass] = {
        s.source.visibility.class_id: s.source.visibility for s in gathered.records.values()
    }
    return [found[class_id] for class_id in sorted(found)]
