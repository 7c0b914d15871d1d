"""A recorded request decided again, by another bundle: each point bound to what the point before decides now.

The points and the carrying out of obligations on sentences are those of the pipeline. What the record does not hold is
not made up: nothing is searched, no draft is written, and no text is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ai.answer.release import ANSWER_RUNS
from ai.backtest.record import RecordedDecision, RecordedRequest
from ai.canonical import from_json
from ai.governance.enforcement import enforce_answer, sentence_facts
from ai.model import Appeals, Claim, ClaimKind, Sentence, TextSpan, Verdict
from policy.data import PolicyData
from policy.engine import PolicyEngine
from policy.model import (
    AnswerFacts,
    AppealFacts,
    ClaimFacts,
    ClassFacts,
    Decision,
    EvidenceFacts,
    PromptClass,
    PromptFacts,
    RequestFacts,
    SentenceFacts,
    Subject,
)
from policy.obligations import DROP
from policy.points import PolicyPoints

DEADLINE_S = 30.0
_UNKNOWN = "unknown:"


@dataclass(frozen=True, slots=True)
class Chain:
    """The bundle's decisions now. `evidence` None: the query point denied, or nothing had been found; `answers` empty:
    there is no draft on record. `kept` are the places in the draft of the sentences that would leave, None where there
    is no draft."""

    query: Decision
    evidence: Decision | None = None
    answers: tuple[Decision, ...] = ()
    kept: frozenset[int] | None = None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All of them, in order."""
        return (self.query, *(() if self.evidence is None else (self.evidence,)), *self.answers)

    @property
    def admitted(self) -> frozenset[str]:
        """The ids of the facts that may be used."""
        if self.evidence is None or not self.evidence.allowed:
            return frozenset()
        dropped = {each.target.ref for each in self.evidence.obligations if each.op == DROP}
        return frozenset(self.evidence.admit) - dropped


@dataclass(frozen=True, slots=True)
class PointInputs:
    """The inputs of the query and the evidence point, as values that can be asked again with one of them changed."""

    now_ms: int
    request: RequestFacts
    subject: Subject
    prompt: PromptFacts
    classes: tuple[ClassFacts, ...]
    found_classes: tuple[ClassFacts, ...]
    evidence: tuple[EvidenceFacts, ...]

    def points(self, engine: PolicyEngine, data: PolicyData) -> PolicyPoints:
        """The points over that engine, at the recorded time."""
        return PolicyPoints(engine=engine, clock_ms=lambda: self.now_ms, deadline_s=DEADLINE_S, data=data)


def facts_of(request: RecordedRequest, *, data: PolicyData, before: PolicyData) -> PointInputs:
    """The facts on record, with the asker as `data` make it; `before` are the data of the recorded bundle, which tell
    the capabilities of the asker's key from those of its roles."""
    asked = request.query.input
    return PointInputs(
        now_ms=int(asked["now_ms"]),
        request=from_json(asked["request"], RequestFacts),
        subject=asker_of(asked["subject"], data=data, before=before),
        prompt=_prompt(asked["prompt"]),
        classes=_classes(request.query),
        found_classes=_classes(request.evidence[0]) if request.evidence else (),
        evidence=evidence_of(request),
    )


async def decide_facts(facts: PointInputs, points: PolicyPoints) -> Chain:
    """The query point and, bound to it, the evidence point. Raises PolicyUnavailable."""
    query = await points.query(request=facts.request, subject=facts.subject, prompt=facts.prompt, classes=facts.classes)
    if not query.allowed or not facts.evidence:
        return Chain(query)
    evidence = await points.evidence(
        request=facts.request,
        subject=facts.subject,
        prompt=facts.prompt,
        classes=facts.found_classes,
        evidence=facts.evidence,
        prior=query,
    )
    return Chain(query, evidence)


async def decide_again(
    request: RecordedRequest, *, engine: PolicyEngine, data: PolicyData, before: PolicyData
) -> Chain:
    """The request under the bundle that `engine` serves, whose data are `data`. Raises PolicyUnavailable."""
    facts = facts_of(request, data=data, before=before)
    points = facts.points(engine, data)
    chain = await decide_facts(facts, points)
    if chain.evidence is None or not chain.evidence.allowed or not request.answer:
        return chain
    return await _answers(chain, request, points=points, facts=facts, prior=chain.evidence)


def evidence_of(request: RecordedRequest) -> tuple[EvidenceFacts, ...]:
    """Everything that the evidence point was ever asked about, each fact once. It is asked anew after items were left
    out, and then about what took their place."""
    found = {str(each["id"]): each for run in reversed(request.evidence) for each in run.input["evidence"]}
    return tuple(from_json(each, EvidenceFacts) for each in found.values())


async def _answers(
    chain: Chain, request: RecordedRequest, *, points: PolicyPoints, facts: PointInputs, prior: Decision
) -> Chain:
    """The answer point over the recorded draft, as `ai.answer.release.release_draft` runs it."""
    draft = request.answer[0].input["answer"]
    ids = _cited_ids(draft["sentences"])
    sentences = tuple(_sentence(each, ids) for each in draft["sentences"])
    numbers = dict(enumerate(ids, start=1))
    decisions: tuple[Decision, ...] = ()
    for _ in range(ANSWER_RUNS):
        asked = tuple(sentence_facts(place, each, numbers) for place, each in enumerate(sentences))
        answer = AnswerFacts(model=str(draft["model"]), markers=tuple(draft["markers"]), sentences=asked)
        decision = await points.answer(
            request=facts.request, subject=facts.subject, evidence=facts.evidence, answer=answer, prior=prior
        )
        decisions = (*decisions, decision)
        carried = enforce_answer(sentences, (), decision) if decision.allowed else None
        if carried is None or not carried.sentences:
            break
        if carried.sentences == sentences:
            return replace(chain, answers=decisions, kept=frozenset(each.i for each in sentences if each.markers))
        sentences = carried.sentences
    return replace(chain, answers=decisions, kept=frozenset())


def _cited_ids(sentences: Sequence[Mapping[str, Any]]) -> list[str]:
    cited = (str(id) for each in sentences for id in each["citations"] if not str(id).startswith(_UNKNOWN))
    return list(dict.fromkeys(cited))


def _sentence(wire: Mapping[str, Any], ids: Sequence[str]) -> Sentence:
    """A recorded sentence with blanks in the place of its text, which no rule reads; long enough for its findings."""
    facts = from_json(wire, SentenceFacts)
    known = [id for id in facts.citations if id in ids]
    unknown = [id.removeprefix(_UNKNOWN) for id in facts.citations if id not in ids]
    return Sentence(
        i=facts.i,
        text=" " * max((each.end for each in facts.findings), default=1),
        markers=tuple(ids.index(id) + 1 for id in known),
        unknown_markers=tuple(int(n) if n.lstrip("-").isdigit() else 0 for n in unknown),
        support_milli=facts.support_milli,
        catalogue=facts.catalogue,
        findings=tuple(TextSpan(each.start, each.end, each.kind) for each in facts.findings),
        claims=None if facts.claims is None else tuple(_claim(each) for each in facts.claims),
        answers=facts.answers,
        appeals=None if facts.appeals is None else _appeals(facts.appeals),
    )


def _appeals(facts: AppealFacts) -> Appeals:
    return Appeals(facts.kinds, facts.asked, facts.collections, facts.quoted)


def _claim(facts: ClaimFacts) -> Claim:
    """A recorded claim; what it said of which characters no rule reads."""
    return Claim(cast("ClaimKind", facts.kind), 0, 0, cast("Verdict", facts.verdict))


def _classes(decision: RecordedDecision) -> tuple[ClassFacts, ...]:
    return tuple(from_json(each, ClassFacts) for each in decision.input["classes"])


def asker_of(wire: Mapping[str, Any], *, data: PolicyData, before: PolicyData) -> Subject:
    """The asker as these data make it: the same roles and groups, and what its key held beyond its roles."""
    recorded = from_json(wire, Subject)
    by_role = {each for role in recorded.roles if role in before.roles for each in before.roles[role].capabilities}
    asker = Subject.of(
        id=recorded.id,
        tenant=recorded.tenant,
        roles=recorded.roles,
        data=data,
        groups=recorded.groups,
        extra_capabilities=tuple(set(recorded.capabilities) - by_role),
        session_expires_ms=recorded.session_expires_ms,
    )
    return asker.suspended() if recorded.tenant_suspended else asker


def _prompt(wire: Mapping[str, Any]) -> PromptFacts:
    classes = tuple(
        PromptClass(str(each["class"]), int(each["score_milli"]), tuple(each["rules"])) for each in wire["classes"]
    )
    return PromptFacts(chars=int(wire["chars"]), verdict=str(wire["verdict"]), risk=int(wire["risk"]), classes=classes)
