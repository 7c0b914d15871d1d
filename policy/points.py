"""The three policy points: facts in, checked decisions out.

A decision that could not be made at all (time-out, trap, engine gone) raises PolicyUnavailable. A decision that was
made but cannot be trusted is returned as a denial with a code POLICY_DECISION_INVALID.*, because a refusal is an
outcome and must be recorded. The engine's scope and admitted ids are also intersected, in code, with tenant and
clearance: a wrong rule cannot widen what those allow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from policy import facts
from policy.canonical import canonical, digest, encode_plain
from policy.checks import INVALID, CheckedDecision, UntrustedReply, check, single_result
from policy.data import PolicyData
from policy.engine import PolicyEngine, Reply
from policy.errors import InputRejected, PolicyUnavailable
from policy.model import (
    AnswerFacts,
    ClassFacts,
    Decision,
    Effect,
    EvidenceFacts,
    Point,
    PromptFacts,
    Reason,
    RequestFacts,
    Stamp,
    Subject,
    Target,
)


class PolicyPoints:
    """Decides at the query, evidence and answer points. `deadline_s` holds for each decision; `clock_ms` is UTC."""

    def __init__(
        self, *, engine: PolicyEngine, clock_ms: Callable[[], int], deadline_s: float, data: PolicyData
    ) -> None:
        self._engine = engine
        self._clock_ms = clock_ms
        self._deadline_s = deadline_s
        self._data = data

    @property
    def data(self) -> PolicyData:
        """The labels, tags and thresholds that are decided by."""
        return self._data

    async def query(
        self, *, request: RequestFacts, subject: Subject, prompt: PromptFacts, classes: Sequence[ClassFacts]
    ) -> Decision:
        """Which visibility classes may this subject search? Raises PolicyUnavailable, InputRejected."""
        asked = facts.head(Point.QUERY, self._clock_ms(), request, subject)
        asked |= {"prompt": facts.prompt_wire(prompt), "classes": facts.classes_wire(classes)}
        decision = await self._decide(Point.QUERY, asked, self._engine.bundle_digest)
        kept = {each.id for each in classes if self._may_hold(subject, each.tenant, each.label, each)}
        return replace(decision, classes=tuple(each for each in decision.classes if each in kept))

    async def evidence(
        self,
        *,
        request: RequestFacts,
        subject: Subject,
        prompt: PromptFacts,
        classes: Sequence[ClassFacts],
        evidence: Sequence[EvidenceFacts],
        prior: Decision,
    ) -> Decision:
        """Which of the found items may be used, and how?

        `prior` is the query decision. Raises PolicyUnavailable, InputRejected.
        """
        asked = facts.head(Point.EVIDENCE, self._clock_ms(), request, subject)
        asked |= {"prompt": facts.prompt_wire(prompt), "classes": facts.classes_wire(classes)}
        asked |= {"evidence": facts.evidence_wire(evidence)}
        decision = await self._follow(Point.EVIDENCE, asked, prior, Point.QUERY)
        by_id = {each.id: each for each in classes}
        kept = {
            each.id
            for each in evidence
            if each.class_id in prior.classes
            and self._may_hold(subject, each.tenant, each.label, by_id.get(each.class_id))
        }
        return replace(decision, admit=tuple(each for each in decision.admit if each in kept))

    async def answer(
        self,
        *,
        request: RequestFacts,
        subject: Subject,
        evidence: Sequence[EvidenceFacts],
        answer: AnswerFacts,
        prior: Decision,
    ) -> Decision:
        """Which sentences may leave, and how?

        `prior` is the evidence decision. Raises PolicyUnavailable, InputRejected.
        """
        asked = facts.head(Point.ANSWER, self._clock_ms(), request, subject)
        cited = {each for sentence in answer.sentences for each in sentence.citations}
        used = [each for each in evidence if each.id in cited]  # an item that nobody cites has no bearing
        asked |= {"evidence": facts.evidence_wire(used), "answer": facts.answer_wire(answer)}
        return await self._follow(Point.ANSWER, asked, prior, Point.EVIDENCE)

    async def allow_answer(self, text: str) -> bool:
        """Requirement 003's rule: does the text carry at least one citation marker?

        False for whatever is not a plain true.
        """
        try:
            reply = await self._ask("kfm/ai/allow_answer", canonical({"answer": text}))
            return reply.bundle_digest == self._engine.bundle_digest and single_result(reply.results) is True
        except (UntrustedReply, InputRejected):
            return False

    async def _follow(self, point: Point, asked: facts.Document, prior: Decision, expected: Point) -> Decision:
        """Decide on top of `prior`: an allowing decision of the point before, for the same request and subject."""
        bound = prior.allowed and prior.point is expected
        bound = bound and all(prior.input[key] == asked[key] for key in ("request", "subject"))
        if not bound:
            return self._denied(point, asked, "PRIOR_MISMATCH")
        return await self._decide(point, asked | {"prior": facts.prior_wire(prior)}, prior.stamp.bundle)

    async def _decide(self, point: Point, asked: facts.Document, bundle_digest: str) -> Decision:
        text = encode_plain(asked)
        reply = await self._ask(f"kfm/ai/{point}", text)
        try:
            checked = check(reply, point=point, asked=asked, bundle_digest=bundle_digest)
        except UntrustedReply as exc:
            return self._denied(point, asked, str(exc))
        stamp = Stamp(reply.bundle_digest, reply.engine or self._engine.name, digest(text))
        return self._decision(point, asked, stamp, checked)

    async def _ask(self, entrypoint: str, text: bytes) -> Reply:
        """The engine's reply within the deadline, whatever the engine does."""
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._engine.evaluate(entrypoint, text, deadline_s=self._deadline_s)
        except PolicyUnavailable:
            raise
        except TimeoutError as exc:
            raise PolicyUnavailable(f"no policy decision within {self._deadline_s:g} s") from exc
        except Exception as exc:
            raise PolicyUnavailable(f"the policy engine failed: {type(exc).__name__}") from exc

    def _may_hold(self, subject: Subject, tenant: str, label: str, visibility: ClassFacts | None) -> bool:
        """The floor under every rule: own tenant, label within the clearance or, where named, one step above."""
        rank, reach = self._data.labels.get(label), self._data.labels.get(subject.clearance)
        if rank is None or reach is None or visibility is None or not tenant == subject.tenant == visibility.tenant:
            return False
        named = subject.id in visibility.allow_list or visibility.owner_group in subject.groups
        return rank <= reach + named

    def _decision(self, point: Point, asked: facts.Document, stamp: Stamp, checked: CheckedDecision) -> Decision:
        return Decision(
            point=point,
            effect=checked.effect,
            reasons=checked.reasons,
            obligations=checked.obligations,
            admit=checked.admit,
            classes=checked.classes,
            stamp=stamp,
            input=asked,
            document=checked.document,
        )

    def _denied(self, point: Point, asked: facts.Document, problem: str) -> Decision:
        """A denial made here and not by the bundle: rule P00."""
        reason = Reason("P00", f"{INVALID}.{problem}", "deny", Target("request", ""), {})
        wire = {
            "rule": reason.rule,
            "code": reason.code,
            "severity": "deny",
            "target": {"kind": "request", "ref": ""},
            "params": {},
        }
        document = {"effect": "deny", "reasons": [wire], "obligations": [], "admit": []}
        stamp = Stamp(self._engine.bundle_digest, self._engine.name, digest(encode_plain(asked)))
        return self._decision(point, asked, stamp, CheckedDecision(Effect.DENY, (reason,), (), (), (), document))
