"""Inputs around every constant of the rules that differ: a name that opens a back door, a moment after which one opens.

The lattice knows the values that the data name, and sound items. A rule can be about any other text or number; what it
compares with is written in it, or in a rule that it names. So every text stands in each place where a text can be, of a
sound item, of one that must not pass, and beside a draft that must not be released. This part samples: it cannot see a
condition that is computed from no constant of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from policy import facts
from policy.authoring.lattice.deciding import Outcome, by_engine, is_denial
from policy.authoring.lattice.domain import NOW_MS, OTHER_TENANT, Domain, a_class, an_item
from policy.authoring.widening.lattice import joint_domains
from policy.authoring.widening.model import Side, Widening
from policy.bundles.bundle import read_sources
from policy.canonical import encode_plain
from policy.model import (
    AnswerFacts,
    AppealFacts,
    ClaimFacts,
    ClassFacts,
    Finding,
    Injection,
    Point,
    PromptFacts,
    RequestFacts,
    SentenceFacts,
    Subject,
)
from policy.obligations import EVIDENCE, FILTER

_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`')
_COMMENT = re.compile(r'^((?:[^"`#]|"(?:[^"\\\n]|\\.)*"|`[^`]*`)*)#.*$', re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d{1,15}(?![\w.])")
_MAX_CHARS = 60
_MAX_LENGTH = 300  # a number may be the length of a text
_SIGN = re.compile(r"[^\w:.\- ]")
_HEAD = re.compile(r"^(?:default\s+)?([a-z_]\w*)", re.MULTILINE)
_WORD = re.compile(r"[a-z_]\w*")
_NO_NAME = re.compile(r"\b(?:input|config)(?:\.\w+)+|" + _STRING.pattern)  # what a rule reads, and what it says
_REQUEST = RequestFacts(id="r1")


def constants_of(text: str) -> tuple[frozenset[str], frozenset[int]]:
    """The texts and numbers that a Rego file states outside its comments."""
    bare = _COMMENT.sub(r"\1", text)
    texts = {double or raw for double, raw in _STRING.findall(bare)}
    numbers = {int(found) for found in _NUMBER.findall(_STRING.sub('""', bare))}
    return frozenset(each for each in texts if 0 < len(each) <= _MAX_CHARS), frozenset(numbers)


async def probe_constants(before: Side, after: Side) -> tuple[Widening, ...]:
    """By constant: a role that `after` shows an item to, lifts an obligation for, or releases a sentence to, around
    that constant, and `before` does not."""
    texts, numbers = changed_constants(before, after)
    if not texts and not numbers:
        return ()
    one, other = joint_domains(before, after)
    # Two names that both sides resolve alike are one asker.
    roles = {(one.asker(role), other.asker(role)): role for role in reversed(one.roles)}.values()
    found: list[Widening] = []
    for constant, probes in (*((c, _texts(c, one)) for c in sorted(texts)), *_numbers(numbers, one)):
        for role in roles:
            old, new = await _passed(before, one, role, probes), await _passed(after, other, role, probes)
            more = sorted({each for now, then in zip(new, old, strict=True) for each in now - then})
            if more:
                detail = f"around {constant!r}, for {role}: {', '.join(more)}"
                found.append(Widening(f"constant {constant}: role {role}", detail))
                break
    return tuple(found)


def changed_constants(before: Side, after: Side) -> tuple[frozenset[str], frozenset[int]]:
    """The constants of the rules that differ, those of either side, and of every rule that one of them names."""
    old, new = (_blocks(side.folder) for side in (before, after))
    changed = (*_named_by(old - new, old), *_named_by(new - old, new))
    found = [constants_of(block) for block in changed]
    return frozenset[str]().union(*(t for t, _ in found)), frozenset[int]().union(*(n for _, n in found))


def _blocks(folder: Path) -> frozenset[str]:
    """The paragraphs of the bundle's rules: `opa fmt` puts an empty line between two rules."""
    files = (text for path, text in read_sources(folder / "rego").items() if path.endswith(".rego"))
    return frozenset(
        block for text in files for block in re.split(r"\n\s*\n", _COMMENT.sub(r"\1", text.decode("utf-8")))
    )


def _named_by(changed: frozenset[str], blocks: frozenset[str]) -> frozenset[str]:
    """Those blocks, and every block with a rule whose name occurs in one of them."""
    heads = {block: set(_HEAD.findall(block)) for block in blocks}
    found, fresh = changed, changed
    while fresh:
        words = {word for block in fresh for word in _WORD.findall(_NO_NAME.sub(" ", block))} - {"if", "contains"}
        fresh = frozenset(block for block in blocks - found if heads[block] & words)
        found |= fresh
    return found


@dataclass(frozen=True, slots=True)
class _Probe:
    """One input at each point: who asks (as changes of the asker), when, and for which class and item. `word` is a text
    of the draft: what kind of finding, claim or verdict it has."""

    of: ClassFacts
    item_id: str = "e1"
    item: Mapping[str, Any] = field(default_factory=dict)
    now_ms: int = NOW_MS
    subject: Mapping[str, Any] = field(default_factory=dict)
    request: RequestFacts = _REQUEST
    verdict: str = "ALLOW"
    word: str = "figure"


_PERSONAL = Finding("pii.email", 0, 3)
_SPOILT: tuple[Mapping[str, Any], ...] = (
    {"lifecycle": "draft"},
    {"valid_until_ms": 1},
    {"indexed_sha256": "bb"},
    {"injection": Injection(1_000)},
    {"findings": (_PERSONAL,)},
)
"""Changes of an item after which it is not shown, or not as it is."""


def _texts(constant: str, domain: Domain) -> list[_Probe]:
    """The constant in every place where a text can be: it begins, ends and contains itself. So does what it is without
    the signs of a pattern, which a pattern may match; a longer text tells a prefix from the whole."""
    bare = _SIGN.sub("", constant) or constant
    closed = [probe for text in dict.fromkeys((constant, f"{constant}x", bare)) for probe in _closed(text, domain)]
    return [*closed, *(probe for text in dict.fromkeys((constant, bare)) for probe in _spoilt(text, domain))]


def _closed(text: str, domain: Domain) -> Iterator[_Probe]:
    """Sound items that not everybody may see, and one that is another tenant's."""
    yield from _places(text, _Probe(of=a_class("k1", label=domain.labels[0], tenant=OTHER_TENANT)))
    for label in (domain.labels[-1], domain.labels[len(domain.labels) // 2]):
        for base in (a_class("k1", label=label), a_class("k1", label=label, groups=("g-closed",))):
            yield from _places(text, _Probe(of=base))
            yield _Probe(of=replace(base, owner_group=text))
            yield _Probe(of=replace(base, groups=(text,)))
            yield _Probe(of=replace(base, allow_list=(text,)))
            yield _Probe(of=replace(base, tenant=text))
            yield _Probe(of=replace(base, label=text))
            yield _Probe(of=replace(base, handling=(text,)))


def _spoilt(text: str, domain: Domain) -> Iterator[_Probe]:
    """Items of an open class that are not shown, or not as they are, to anybody or to some."""
    open_class = a_class("k1", label=domain.labels[0])
    for changes in (*_SPOILT, {"lifecycle": text}, {"sha256": text}, {"injection": Injection(1_000, (text,))}):
        yield from _places(text, _Probe(of=open_class, item=changes))
    for tag in domain.tags:
        yield from _places(text, _Probe(of=replace(open_class, handling=(tag,))))


def _places(text: str, probe: _Probe) -> Iterator[_Probe]:
    """The text in each place that says nothing of who may see what."""
    yield replace(probe, item_id=text)
    yield replace(probe, of=replace(probe.of, id=text), item_id=text)
    yield replace(probe, of=replace(probe.of, collection=text))
    yield replace(probe, subject={"id": text})
    yield replace(probe, subject={"tenant": text})
    yield replace(probe, subject={"groups": (text,)})
    yield replace(probe, request=RequestFacts(id=text))
    yield replace(probe, request=RequestFacts(id="r1", purpose=text))
    yield replace(probe, request=RequestFacts(id="r1", profile=text))
    asked = RequestFacts(id="r1", collections=(text,))
    yield replace(probe, of=replace(probe.of, collection=text), request=asked)
    yield replace(probe, verdict=text, word=text)


def _numbers(numbers: frozenset[int], domain: Domain) -> Iterator[tuple[str, list[_Probe]]]:
    """Each number as a moment, and as the length of a text."""
    for number in sorted(numbers):
        bases = [_Probe(of=a_class("k1", label=label)) for label in domain.labels]
        bases += [_Probe(of=a_class("k1", label=domain.labels[0], groups=("g-closed",)))]
        bases += [_Probe(of=a_class("k1", label=domain.labels[0], tenant=OTHER_TENANT))]
        bases += [_Probe(of=a_class("k1", label=domain.labels[0]), item=changes) for changes in _SPOILT]
        bases += [_Probe(of=a_class("k1", label=domain.labels[0], handling=(tag,))) for tag in domain.tags]
        probes = [replace(base, now_ms=max(0, number + step)) for step in (-1, 0, 1) for base in bases]
        if 1 < number <= _MAX_LENGTH:
            texts = ["_" * (number + step) for step in (-1, 0, 1)]
            probes += [each for text in texts for each in _closed(text, domain)]
            probes += _spoilt(texts[1], domain)
        yield str(number), probes


async def _passed(side: Side, domain: Domain, role: str, probes: Sequence[_Probe]) -> list[frozenset[str]]:
    """Everything that each probe lets through, in words that say how."""
    decide = by_engine(side.engine)
    found: dict[Point, list[Outcome]] = {}
    for point in Point:
        documents = [_document(point, each, replace(domain.asker(role), **each.subject), domain) for each in probes]
        asked = [encode_plain(each) for each in documents]
        once = list(dict.fromkeys(asked))  # what differs at one point need not at another
        decided = dict(zip(once, await decide(point, once), strict=True))
        found[point] = [decided[each] for each in asked]
    told = zip(probes, found[Point.QUERY], found[Point.EVIDENCE], found[Point.ANSWER], strict=True)
    return [frozenset(_told(probe, query, shown, released)) for probe, query, shown, released in told]


def _told(probe: _Probe, query: Outcome, shown: Outcome, released: Outcome) -> Iterator[str]:
    if _admits(query, probe.of.id, Point.QUERY):
        yield "searches"
        if _admits(shown, probe.item_id, Point.EVIDENCE) and not isinstance(shown, str):
            yield "sees"
            duties = {each["op"] for each in shown["obligations"] if each["target"]["ref"] == probe.item_id}
            yield from (f"sees without {op}" for op in EVIDENCE if op not in duties)
    if not is_denial(released) and not isinstance(released, str):
        fallen = {
            each["target"]["ref"] for each in released["obligations"] if each["op"] in ("drop_sentence", "redact")
        }
        yield from (f"is told a draft that {why}" for n, why in enumerate(_DRAFT) if str(n) not in fallen)


_DRAFT = (
    "cites nothing",
    "its evidence does not support",
    "its evidence contradicts",
    "cites what is not there",
    "leaks",
    "nobody has checked",
    "asks something of its reader",
    "nobody has searched for appeals",
    "holds personal data",
)
"""The faults of the draft's sentences, in their order."""


def _draft(cited: str, word: str) -> AnswerFacts:
    sound, none = (ClaimFacts("figure", "borne_out"),), AppealFacts()
    calls = AppealFacts((word,), (), (word,))
    sentences = (
        SentenceFacts(0, None, (), 900, claims=sound, answers=True, appeals=none),
        SentenceFacts(1, None, (cited,), 0, claims=sound, answers=True, appeals=none),
        SentenceFacts(2, None, (cited,), 900, claims=(ClaimFacts(word, "contradicted"),), answers=True, appeals=none),
        SentenceFacts(3, None, ("e-none",), 900, claims=sound, answers=True, appeals=none),
        SentenceFacts(4, None, (cited,), 900, (Finding("canary", 0, 3),), claims=sound, answers=True, appeals=none),
        SentenceFacts(5, None, (cited,), 900, claims=(ClaimFacts("figure", word),), answers=True, appeals=none),
        SentenceFacts(6, None, (cited,), 900, claims=sound, answers=True, appeals=calls),
        SentenceFacts(7, None, (cited,), 900, claims=sound, answers=True),
        SentenceFacts(8, None, (cited,), 900, (_PERSONAL,), claims=sound, answers=True, appeals=none),
    )
    return AnswerFacts(word, (1,), sentences)


def _document(point: Point, probe: _Probe, subject: Subject, domain: Domain) -> dict[str, Any]:
    document = facts.head(point, probe.now_ms, probe.request, subject)
    if point is Point.ANSWER:
        item = an_item(probe.item_id, a_class(probe.of.id, label=domain.labels[0], tenant=subject.tenant))
        document |= {"evidence": facts.evidence_wire((item,)), "answer": facts.answer_wire(_draft(item.id, probe.word))}
        document["prior"] = {"query": "sha256:q", "evidence": "sha256:e", "admit": [item.id]}
        return document
    document["prompt"] = facts.prompt_wire(PromptFacts(chars=20, verdict=probe.verdict, risk=0))
    document["classes"] = facts.classes_wire((probe.of,))
    if point is Point.EVIDENCE:
        document["evidence"] = facts.evidence_wire((an_item(probe.item_id, probe.of, **probe.item),))
        document["prior"] = {"query": "sha256:q", "admit": [probe.of.id]}
    return document


def _admits(outcome: Any, id: str, point: Point) -> bool:
    """True if a decision lets the class or the item through, whatever obligations it makes."""
    if isinstance(outcome, str) or outcome["effect"] == "deny":
        return False
    if point is Point.EVIDENCE:
        return id in outcome["admit"]
    return any(each["op"] == FILTER and id in each["params"]["classes"] for each in outcome["obligations"])
