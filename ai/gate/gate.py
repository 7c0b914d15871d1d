"""The prompt gate: one question in, a verdict out. Pure and deterministic.

A first filter. The boundary that holds is the scope (what can be found at all) and the answer point (what may be said).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ai.gate.detect import Hit, class_scores, combine, find_hits, is_attack
from ai.gate.errors import WorkLimitExceeded
from ai.gate.linear import Work
from ai.gate.model import ClassScore, GateReason, GateResult, GateVerdict, Redaction
from ai.gate.rules import Place, Ruleset

MASK = "***"
_MIN_WORDS = 3
_UNREAD = GateReason(
    code="GATE_WORK_LIMIT", rule="WORK_LIMIT", message="Reading the text takes more work than the gate allows."
)
_SENTENCE_END = re.compile(r"(?<![.!?;])[.!?;]++[\"'”’)\]]*+(?=\s|$)|[。！？；]+|[\r\n\x0b\x0c\x85\u2028\u2029]+")
_WORD = re.compile(r"\w+")
_CLAUSE = re.compile(r"[\s,;:.\-–—]*(?:\b(?:and|then|also|now|but|und|et|y|e|и)\b[\s,]*){0,3}", re.IGNORECASE)
_ASKS = re.compile(
    r"\W*(?:please\s+|tell me\s+|and\s+|so\s+)*(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|did"
    r"|does|do|has|have|had|can|could|list|name|find|compare|count|show me|give me|tell me|in (?:which|what)"
    r"|wer|wann|wo|warum|welche[rsnm]?|wie|qui|que|quoi|quand|ou|pourquoi|quel(?:le)?s?|combien|comment"
    r"|quien|cuando|donde|cual(?:es)?|cuant[oa]s?|como|chi|quando|dove|quale|quanti|quem|onde|qual"
    r"|in welche[mnr]?|en (?:quelle?|que)|a che|кто|что|когда|где|почему|какой|какая|какое|сколько)\b"
    r"|[^.!?。]{0,40}(?:谁|什么|何时|哪里|哪|多少|何|几)",
    re.IGNORECASE,
)


def check_prompt(question: str, context_strings: Sequence[str] = (), *, rules: Ruleset) -> GateResult:
    """The verdict on a question and the map strings (place, layers) that go with it.

    REJECT when the text is essentially an attack or a map string is one; SANITIZE when a question remains once the
    sentences that attack are cut and profane words are masked; ALLOW else, slurs in quotations included. Never raises
    on any `str`: empty, too long, control characters and lone surrogates are refused at the edge (VALIDATION_FAILED).
    What takes more work than the rules allow is a REJECT of its own code, `GATE_WORK_LIMIT`.
    """
    try:
        return _checked(question, context_strings, rules, Work(rules.thresholds.max_work))
    except WorkLimitExceeded:
        result = _result(GateVerdict.REJECT, question, "", rules=rules, reasons=(_UNREAD,))
        return replace(result, risk=100)


def _checked(question: str, context_strings: Sequence[str], rules: Ruleset, work: Work) -> GateResult:
    hits = find_hits(question, rules=rules, place=Place.QUESTION, work=work)
    context_hits = [
        hit for text in context_strings for hit in find_hits(text, rules=rules, place=Place.QUESTION, work=work)
    ]
    if not hits and not context_hits:
        return _result(GateVerdict.ALLOW, question, question, rules=rules)
    classes = class_scores(hits)
    if _attack_milli(class_scores(context_hits)) >= rules.thresholds.act_milli:
        reasons = _reasons(context_hits, rules, prefix="GATE_CONTEXT_")
        return _result(
            GateVerdict.REJECT, question, "", rules=rules, classes=class_scores([*hits, *context_hits]), reasons=reasons
        )
    redactions = _redactions(question, hits, classes, rules, work)
    if redactions is None:
        return _result(GateVerdict.REJECT, question, "", rules=rules, classes=classes, reasons=_reasons(hits, rules))
    if not redactions:
        return _result(GateVerdict.ALLOW, question, question, rules=rules, classes=classes)
    return _result(
        GateVerdict.SANITIZE,
        question,
        redact(question, redactions),
        rules=rules,
        classes=classes,
        redactions=redactions,
        reasons=_reasons(hits, rules),
    )


def redact(text: str, redactions: Sequence[Redaction]) -> str:
    """The text with the redactions (ordered, without overlap) carried out."""
    parts: list[str] = []
    at = 0
    for redaction in redactions:
        parts.extend((text[at : redaction.start], redaction.replacement))
        at = redaction.end
    return "".join((*parts, text[at:]))


def _result(
    verdict: GateVerdict,
    question: str,
    sanitized: str,
    *,
    rules: Ruleset,
    classes: tuple[ClassScore, ...] = (),
    reasons: tuple[GateReason, ...] = (),
    redactions: tuple[Redaction, ...] = (),
) -> GateResult:
    risk = combine(score.score_milli for score in classes) // 10
    return GateResult(verdict, sanitized, reasons, risk, redactions, classes, rules.label, len(question))


def _attack_milli(classes: Sequence[ClassScore]) -> int:
    return combine(score.score_milli for score in classes if is_attack(score.name))


def _reasons(hits: Sequence[Hit], rules: Ruleset, *, prefix: str = "GATE_") -> tuple[GateReason, ...]:
    """One reason for each rule, by rule."""
    seen = {hit.rule.id: hit.rule for hit in hits}
    return tuple(
        GateReason(prefix + rule.name.upper().replace(".", "_"), rule.id, rules.messages[rule.name])
        for _, rule in sorted(seen.items())
    )


def _redactions(
    question: str, hits: Sequence[Hit], classes: Sequence[ClassScore], rules: Ruleset, work: Work
) -> tuple[Redaction, ...] | None:
    """The spans to cut and mask so that a clean question remains; None when none does."""
    limits = rules.thresholds
    masks = [hit for hit in hits if hit.rule.mask]
    attacks = [hit for hit in hits if is_attack(hit.rule.name)]
    if _attack_milli(classes) < limits.act_milli:
        plans: list[list[Redaction]] = [[]]
    elif _is_hopeless(classes, limits.reject_milli, limits.reject_classes):
        return None
    else:
        plans = [_cut_sentences(question, attacks), _cut_clauses(question, attacks)]
    for cuts in plans:
        redactions = _merge([*cuts, *(Redaction(hit.start, hit.end, hit.rule.id, MASK) for hit in masks)])
        kept = redact(question, redactions)
        if not redactions or (_is_clean(kept, rules, work) and (not cuts or _is_question(kept, limits.keep_max_chars))):
            return redactions
    return None


def _is_hopeless(classes: Sequence[ClassScore], reject_milli: int, reject_classes: int) -> bool:
    attacks = [score for score in classes if is_attack(score.name)]
    return len(attacks) >= reject_classes and _attack_milli(attacks) >= reject_milli


def _is_clean(text: str, rules: Ruleset, work: Work) -> bool:
    """True if what remains would be allowed by itself."""
    hits = find_hits(text, rules=rules, place=Place.QUESTION, work=work)
    return not any(hit.rule.mask for hit in hits) and _attack_milli(class_scores(hits)) < rules.thresholds.act_milli


def _is_question(text: str, max_chars: int) -> bool:
    """True if what remains beside an attack asks something: short, and a sentence of it begins like a question."""
    if len(text) > max_chars or (text.isascii() and len(_WORD.findall(text)) < _MIN_WORDS):
        return False
    return any(_ASKS.match(text, start) for start, _ in _sentences(text))


def _cut_sentences(question: str, attacks: Sequence[Hit]) -> list[Redaction]:
    """Each sentence that an attack touches, whole."""
    return [
        Redaction(start, end, hit.rule.id, "")
        for start, end in _sentences(question)
        for hit in attacks
        if hit.start < end and start < hit.end
    ]


def _cut_clauses(question: str, attacks: Sequence[Hit]) -> list[Redaction]:
    """From the start of the sentence to the end of the attack and the word that ties the rest to it."""
    cuts: list[Redaction] = []
    for start, end in _sentences(question):
        touching = [hit for hit in attacks if hit.start < end and start < hit.end]
        if touching:
            last = max(touching, key=lambda hit: hit.end)
            tie = _CLAUSE.match(question, min(last.end, end))
            cuts.append(Redaction(start, max(min(last.end, end), tie.end() if tie else 0), last.rule.id, ""))
    return cuts


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Spans that cover the text, each a sentence with the blanks behind it."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        end = match.end()
        while end < len(text) and text[end].isspace():
            end += 1
        if end > start:
            yield start, end
        start = max(start, end)
    if start < len(text):
        yield start, len(text)


def _merge(redactions: Sequence[Redaction]) -> tuple[Redaction, ...]:
    """Ordered and without overlap: what touches a cut is part of it; a mask inside a mask is one mask."""
    merged: list[Redaction] = []
    for redaction in sorted(redactions, key=lambda item: (item.start, -item.end, item.rule)):
        if not merged or redaction.start >= merged[-1].end:
            merged.append(redaction)
        elif redaction.end > merged[-1].end:
            last = merged[-1]
            merged[-1] = Redaction(last.start, redaction.end, last.rule, min(last.replacement, redaction.replacement))
    return tuple(merged)
