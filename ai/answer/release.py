"""The answer point over a draft, and the releases that a question can end with."""

from __future__ import annotations

from dataclasses import replace

from ai.answer.parts import parts_left, rows_left
from ai.answer.unread import not_understood
from ai.case.case import Case, Services
from ai.governance.admission import Admission
from ai.governance.enforcement import answer_facts, enforce_answer
from ai.model import Draft, Outcome, Release, Sentence
from ai.text.catalogue import ABSTAIN, PHRASES, reason_text
from policy.model import Decision
from retrieval.model import Intent, Limitation

ANSWER_RUNS = 3
"""How often the answer point may run; after that the draft is given up (contracts section 9)."""
BESIDE_THE_POINT = "A17"
"""The rule by which an answer is given up though what it says is true."""
UNASKED_APPEAL = "A19"
"""The rule by which a sentence falls for what it asks of its reader."""
APPEAL_WITHHELD = "APPEAL_WITHHELD"


async def release_draft(
    case: Case, admission: Admission, draft: Draft, services: Services
) -> tuple[Release, tuple[Decision, ...]]:
    """The answer point, at most three runs: obligations are carried out and what remains is decided again; only an
    allow without new obligations releases."""
    sentences: tuple[Sentence, ...] = draft.sentences
    notices: tuple[str, ...] = ()
    before = (case.decided, *admission.decisions)
    decisions: tuple[Decision, ...] = ()
    points = services.points(case.now_ms)
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
            related = _related(sentences, decision)
            return _abstention(
                case, admission, (*before, *decisions), related, _withheld(draft, decisions[0])
            ), decisions
        if (carried.sentences, carried.notices) == (sentences, notices):
            release = _released(case, admission, sentences, notices, (*before, *decisions))
            if release.outcome is not Outcome.ANSWER:
                return release, decisions
            left = parts_left(case, draft, release.sentences)
            left += rows_left(case, admission.items, release.sentences)
            return replace(release, limitations=(*release.limitations, *left)), decisions
        sentences, notices = carried.sentences, carried.notices
        if not sentences:
            break
    return _abstention(case, admission, (*before, *decisions), withheld=_withheld(draft, decisions[0])), decisions


def bundle_release(case: Case, admission: Admission) -> Release:
    """The end of a question for which nothing is written: the admitted bundle, without a sentence."""
    decisions = (case.decided, *admission.decisions)
    if not admission.items:
        return _abstention(case, admission, decisions)
    return Release(Outcome.ANSWER, (), (), _limitations(case, admission), (), decisions)


def refusal(case: Case) -> Release:
    """The end of a question that the query point denies."""
    codes = tuple(dict.fromkeys(reason.code for reason in case.decided.reasons))
    sentences = tuple(
        Sentence(i=i, text=reason_text(code), markers=(), catalogue=f"deny.{code}") for i, code in enumerate(codes)
    )
    return Release(Outcome.DENY, codes, sentences, (), decisions=(case.decided,))


def _released(
    case: Case,
    admission: Admission,
    sentences: tuple[Sentence, ...],
    notices: tuple[str, ...],
    decisions: tuple[Decision, ...],
) -> Release:
    """Sentences that are all fixed phrases say that there is no answer; that is an abstention, whoever wrote them."""
    if all(sentence.catalogue is not None for sentence in sentences):
        return _abstention(case, admission, decisions)
    return Release(Outcome.ANSWER, (), sentences, _limitations(case, admission), notices, decisions)


def _related(sentences: tuple[Sentence, ...], decision: Decision) -> tuple[Sentence, ...]:
    """Findings beside the point: the sentences that would have been released had one of them answered. Nothing
    where the decision asks for more than that some fall."""
    ops = {obligation.op for obligation in decision.obligations}
    beside = any(o.op == "abstain" and o.rule == BESIDE_THE_POINT for o in decision.obligations)
    if not beside or not ops <= {"abstain", "drop_sentence"}:
        return ()
    fallen = {o.target.ref for o in decision.obligations if o.op == "drop_sentence"}
    return tuple(s for n, s in enumerate(sentences) if str(n) not in fallen and s.catalogue is None and not s.findings)


def _withheld(draft: Draft, decision: Decision) -> tuple[Limitation, ...]:
    """A limitation where a sentence answers that the first decision drops for what it asks of its reader: it was
    admitted, so that there is such a one is no secret."""
    unasked = {o.target.ref for o in decision.obligations if o.op == "drop_sentence" and o.rule == UNASKED_APPEAL}
    if not any(each.answers and str(n) in unasked for n, each in enumerate(draft.sentences)):
        return ()
    told = (
        "A source answers this together with a link, a contact, a payment or an order that the question does not ask "
        "for, so it is not repeated here. Ask for that too (a telephone number, whom to call, what to pay) to be told."
    )
    return (Limitation(APPEAL_WITHHELD, told),)


def _abstention(
    case: Case,
    admission: Admission,
    decisions: tuple[Decision, ...],
    related: tuple[Sentence, ...] = (),
    withheld: tuple[Limitation, ...] = (),
) -> Release:
    """No answer, and what would help to find one. The same for what does not exist and for what was not admitted."""
    phrase = Sentence(i=0, text=PHRASES[ABSTAIN], markers=(), catalogue=ABSTAIN)
    limitations = (*_limitations(case, admission), *not_understood(case), *withheld, *_advice(case, admission))
    return Release(Outcome.ABSTAIN, ("INSUFFICIENT_EVIDENCE",), (phrase,), limitations, (), decisions, related)


def abstention(case: Case, admission: Admission) -> Release:
    """The end of a question that nothing admitted may answer."""
    return _abstention(case, admission, (case.decided, *admission.decisions))


def _limitations(case: Case, admission: Admission) -> tuple[Limitation, ...]:
    return (*case.limitations, *admission.bundle.limitations)


def _advice(case: Case, admission: Admission) -> tuple[Limitation, ...]:
    """The part that the question leaves open, as a limitation; read from the question and its context alone. Nothing
    for a question of texts: a place does not help to find out how to descale a machine. A layer or collection is named
    where what was admitted is of several, or on a map."""
    if case.draft_checked and not _speaks_of_the_map(case.intent):
        return ()
    missing = []
    if not case.intent.mentions and case.ask.context.place is None and case.ask.context.bbox is None:
        missing.append("a place")
    if not case.intent.times:
        missing.append("a time")
    chosen = case.ask.context.active_layers or case.ask.options.collections
    if not chosen and (not case.draft_checked or _may_choose(admission)):
        missing.append("a layer or collection")
    if not missing:
        return ()
    return (Limitation("CLARIFICATION_HELPS", f"It may help to name {' or '.join(missing)}."),)


def _may_choose(admission: Admission) -> bool:
    """True if the admitted items are of several collections, or some of a layer."""
    records = [record for item in admission.items for record in item.evidence.records]
    layers = any(each.record.geometry is not None for each in records)
    return layers or len({each.source.collection for each in records}) > 1


def _speaks_of_the_map(intent: Intent) -> bool:
    """True for a question that names a place or a thing of the corpus, a time or a measure, or asks for figures or
    rows."""
    named = any(mention.candidates for mention in intent.mentions)
    return bool(named or intent.times or intent.measures or intent.operations or intent.unread)
