"""Policy's decisions carried out in code: facts in, obligations out.

`policy/` decides over facts and knows no bundle and no draft; this module makes the facts and does what the decisions
oblige to. An obligation that it does not know, or cannot carry out, drops what it is about.

Ids: the fact of an item is the item's `record_id`; a computed item has one more fact per source document of its inputs,
`<record_id>#<document_id>` (with `@<class_id>` where one document holds several classes), and an item has one per
folded duplicate, `<record_id>~<duplicate's record_id>`. An item is used only if all its facts were admitted, and a
sentence cites the item's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ai.gate import Ruleset, find_sensitive, scan_text
from ai.governance.hidden import hidden_kinds
from ai.governance.obligations import Projection, carry_out
from ai.model import AdmittedItem, Appeals, Draft, Sentence, TextSpan, blocked
from ai.text.catalogue import PHRASES
from policy.data import PolicyData
from policy.model import (
    AnswerFacts,
    AppealFacts,
    ClaimFacts,
    Decision,
    EvidenceFacts,
    Finding,
    Injection,
    Obligation,
    SentenceFacts,
)
from policy.obligations import KEEPS_WORDS
from retrieval.model import Evidence, EvidenceBundle, SourcedRecord

_LEAKS = {"canary": "canary", "system_prompt": "system_prompt_leak"}
"""The detectors' families of leak, and what the policy calls them."""


def evidence_facts(item: Evidence, *, rules: Ruleset, data: PolicyData) -> tuple[EvidenceFacts, ...]:
    """The evidence point's facts about an item; the first fact is the item's own. Text is read by the
    detectors, never passed on."""
    injection, findings = detected(item, rules=rules)
    own = _fact(_strictest(item.records, data), item.record_id, injection, findings, aggregate_n=_inputs(item))
    inputs = _inputs_by_id(item)
    folded = {duplicate_id(item, sourced): sourced for sourced in item.duplicates}
    return (own, *(_fact(s, ref, injection, (), aggregate_n=_inputs(item)) for ref, s in {**inputs, **folded}.items()))


def detected(item: Evidence, *, rules: Ruleset) -> tuple[Injection, tuple[Finding, ...]]:
    """The detectors' findings in the item's words: does it look like an instruction, and where are personal data, its
    title and names among them. A figure that rests on personal data is such wholly."""
    text, statement = _texts(item)
    read = (text, statement, item.first.source.title, item.first.record.heading)
    beside = (part for each in item.records for part in _beside(each))
    findings = tuple(finding for part in (text, statement, *beside) if part for finding in _findings(part))
    told = len(statement or text)
    findings += tuple(Finding(kind, 0, told) for kind in hidden_kinds(item))
    return _injection("\n".join(part for part in read if part), rules), findings


def _beside(each: SourcedRecord) -> tuple[str | None, ...]:
    """The words that are shown beside a record's own."""
    record, source = each.record, each.source
    return record.heading, source.title, source.attribution, *(entity.name for entity in record.entities)


@lru_cache(maxsize=8192)
def _injection(text: str, rules: Ruleset) -> Injection:
    """The injection detector's result for a text; kept, because the same passages are found again and again."""
    scan = scan_text(text, rules=rules)
    return Injection(scan.score_milli, scan.rules)


@lru_cache(maxsize=8192)
def _findings(text: str) -> tuple[Finding, ...]:
    return tuple(Finding(found.kind, found.start, found.end) for found in find_sensitive(text))


def duplicate_id(item: Evidence, duplicate: SourcedRecord) -> str:
    """The id of the fact that stands for a folded duplicate."""
    return f"{item.record_id}~{duplicate.record.record_id}"


def enforce_evidence(
    bundle: EvidenceBundle, decision: Decision, *, data: PolicyData
) -> tuple[tuple[AdmittedItem, ...], frozenset[str]]:
    """The admitted items after their obligations, numbered 1..M in the bundle's order, and the ids of the records that
    may not be used (items and folded duplicates). A decision that does not allow admits nothing."""
    if not decision.allowed:
        return (), frozenset(i.record_id for i in bundle.items)
    admit, obligations = frozenset(decision.admit), _by_target(decision.obligations)
    items: list[AdmittedItem] = []
    refused: set[str] = set()
    for evidence in bundle.items:
        kept = _folded(evidence, admit, obligations)
        refused.update(d.record.record_id for d in evidence.duplicates if d not in kept.duplicates)
        item = _admit(kept, len(items) + 1, admit, obligations, data)
        if item is None:
            refused.add(evidence.record_id)
        else:
            items.append(item)
    return tuple(items), frozenset(refused)


def answer_facts(draft: Draft, sentences: Sequence[Sentence], items: Sequence[AdmittedItem]) -> AnswerFacts:
    """The answer point's facts about the sentences that remain: they are numbered by their place, as the
    policy demands. A marker that names no item becomes a citation that nothing admits."""
    ids = {item.index: item.evidence.record_id for item in items}
    return AnswerFacts(
        model=draft.completion.model.name,
        markers=tuple(sorted({n for s in sentences for n in (*s.markers, *s.unknown_markers)})),
        sentences=tuple(sentence_facts(place, sentence, ids) for place, sentence in enumerate(sentences)),
    )


@dataclass(frozen=True, slots=True)
class EnforcedSentences:
    """Sentences and notices after the obligations of one answer decision. Equal to what went in when there was nothing
    to do."""

    sentences: tuple[Sentence, ...]
    notices: tuple[str, ...]


def enforce_answer(
    sentences: tuple[Sentence, ...], notices: tuple[str, ...], decision: Decision
) -> EnforcedSentences | None:
    """Carry out an answer decision over the sentences that it was made for (its targets are their places). None:
    abstain.

    Sentences keep their `i` and their citation numbers. A notice is appended as a sentence of the fixed catalogue, so
    that the next run of the point sees it.
    """
    if not decision.allowed:
        return None
    kept: dict[int, Sentence] = dict(enumerate(sentences))
    quoted: set[int] = set()
    appended: list[Sentence] = []
    for obligation in decision.obligations:
        place = (
            int(obligation.target.ref)
            if obligation.target.kind == "sentence" and obligation.target.ref.isdigit()
            else None
        )
        match obligation.op:
            case "drop_sentence" if place is not None:
                kept.pop(place, None)
            case "redact" if place is not None:
                if place in kept:
                    kept[place] = _redacted(kept[place], obligation.params)
            case "mark_quotation" if place is not None:
                quoted.add(place)
            case "append_notice" if obligation.params.get("catalogue") in PHRASES:
                appended.append(_notice(str(obligation.params["catalogue"]), (*sentences, *appended)))
            case _:
                return None
    # Last, because it moves what the other obligations are about.
    told = (_quoted(each) if place in quoted else each for place, each in kept.items())
    return EnforcedSentences((*told, *appended), notices)


def _texts(item: Evidence) -> tuple[str, str | None]:
    if item.computed is not None:
        return "", item.computed.statement
    return item.first.record.text, item.first.record.statement


def _strictest(records: Sequence[SourcedRecord], data: PolicyData) -> SourcedRecord:
    """The record whose label is the highest."""
    return max(records, key=lambda s: data.rank(s.source.visibility.label))


def _inputs(item: Evidence) -> int | None:
    return None if item.computed is None else len(item.records)


def _inputs_by_id(item: Evidence) -> dict[str, SourcedRecord]:
    """The inputs of a computed item by their document, and by their class where a document has several; none of another
    item."""
    if item.computed is None:
        return {}
    classes: dict[str, set[str]] = {}
    for sourced in item.records:
        classes.setdefault(sourced.record.document_id, set()).add(sourced.record.class_id)
    found: dict[str, SourcedRecord] = {}
    for sourced in item.records:
        document, own = sourced.record.document_id, sourced.record.class_id
        found[f"{item.record_id}#{document}" + (f"@{own}" if len(classes[document]) > 1 else "")] = sourced
    return found


def _fact(
    sourced: SourcedRecord, ref: str, injection: Injection, findings: tuple[Finding, ...], *, aggregate_n: int | None
) -> EvidenceFacts:
    record, source = sourced.record, sourced.source
    access = source.visibility
    return EvidenceFacts(
        id=ref,
        class_id=record.class_id if record.class_id == access.class_id else "",
        tenant=access.tenant,
        label=access.label,
        handling=access.handling,
        groups=access.groups,
        lifecycle=str(source.lifecycle),
        valid_until_ms=source.valid_until_ms,
        sha256=source.document_sha256,
        indexed_sha256=source.indexed_sha256,
        injection=injection,
        precision_m=None if record.geometry is None else 0,
        aggregate_n=aggregate_n,
        findings=findings,
    )


def _by_target(obligations: Iterable[Obligation]) -> Mapping[str, tuple[Obligation, ...]]:
    found: dict[str, tuple[Obligation, ...]] = {}
    for obligation in obligations:
        found[obligation.target.ref] = (*found.get(obligation.target.ref, ()), obligation)
    return found


def _folded(item: Evidence, admit: frozenset[str], obligations: Mapping[str, tuple[Obligation, ...]]) -> Evidence:
    """The item with those duplicates that were admitted as they are; one under an obligation is left out, since only
    its link is shown."""
    ids = {id(d): duplicate_id(item, d) for d in item.duplicates}
    kept = tuple(
        d
        for d in item.duplicates
        if ids[id(d)] in admit and all(o.op in KEEPS_WORDS for o in obligations.get(ids[id(d)], ()))
    )
    return item if len(kept) == len(item.duplicates) else replace(item, duplicates=kept)


def _admit(
    item: Evidence,
    index: int,
    admit: frozenset[str],
    obligations: Mapping[str, tuple[Obligation, ...]],
    data: PolicyData,
) -> AdmittedItem | None:
    ids = (item.record_id, *sorted(_inputs_by_id(item)))
    if not admit.issuperset(ids):
        return None
    due = [o for ref in ids for o in obligations.get(ref, ())]
    text, statement = _texts(item)
    label = _strictest(item.records, data).source.visibility.label
    return carry_out(Projection(item, text, statement), due, index=index, label=label)


def sentence_facts(place: int, sentence: Sentence, ids: Mapping[int, str]) -> SentenceFacts:
    """The answer point's facts about one sentence; `ids` are the cited facts by marker."""
    unknown = tuple(f"unknown:{n}" for n in (*sentence.unknown_markers, *(n for n in sentence.markers if n not in ids)))
    return SentenceFacts(
        i=place,
        catalogue=sentence.catalogue,
        citations=(*dict.fromkeys(ids[n] for n in sentence.markers if n in ids), *dict.fromkeys(unknown)),
        support_milli=sentence.support_milli,
        findings=tuple(
            Finding(_LEAKS.get(f.kind.partition(".")[0], f.kind), f.start, f.end) for f in sentence.findings
        ),
        claims=None if sentence.claims is None else tuple(ClaimFacts(c.kind, c.verdict) for c in sentence.claims),
        answers=sentence.answers,
        appeals=None if sentence.appeals is None else _appeal_facts(sentence.appeals),
    )


def _appeal_facts(appeals: Appeals) -> AppealFacts:
    return AppealFacts(appeals.kinds, appeals.asked, appeals.collections, appeals.quoted)


def _quoted(sentence: Sentence) -> Sentence:
    """The sentence in quotation marks, with what is known of its characters moved by one."""
    claims = sentence.claims
    return replace(
        sentence,
        text=f"“{sentence.text}”",
        findings=tuple(replace(f, start=f.start + 1, end=f.end + 1) for f in sentence.findings),
        claims=claims and tuple(replace(c, start=c.start + 1, end=c.end + 1) for c in claims),
        appeals=None if sentence.appeals is None else replace(sentence.appeals, quoted=True),
    )


def _redacted(sentence: Sentence, params: Mapping[str, object]) -> Sentence:
    start, end = params.get("start"), params.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(sentence.text):
        return replace(sentence, text=blocked(sentence.text, [TextSpan(0, len(sentence.text), "all")]), findings=())
    span = TextSpan(start, end, str(params.get("kind", "")))
    left = tuple(f for f in sentence.findings if not (start <= f.start and f.end <= end))
    return replace(sentence, text=blocked(sentence.text, [span]), findings=left)


def _notice(key: str, before: Sequence[Sentence]) -> Sentence:
    return Sentence(i=max((s.i for s in before), default=-1) + 1, text=PHRASES[key], markers=(), catalogue=key)
