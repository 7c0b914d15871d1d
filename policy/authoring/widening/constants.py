"""Inputs around every constant of the rules that differ: a name that opens a back door, a moment after which one opens.

The lattice knows the values that the data name. A rule can be about any other text or number; what it compares with is
written in it. This part samples: it cannot see a condition that is computed from no constant of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from policy import facts
from policy.authoring.deciding import by_engine
from policy.authoring.domain import NOW_MS, Domain, a_class, an_item
from policy.authoring.widening.lattice import joint_domains
from policy.authoring.widening.model import Side, Widening
from policy.bundle import read_sources
from policy.canonical import encode_plain
from policy.model import ClassFacts, EvidenceFacts, Point, PromptFacts, RequestFacts, Subject
from policy.obligations import FILTER

_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`')
_COMMENT = re.compile(r'^((?:[^"`#]|"(?:[^"\\\n]|\\.)*"|`[^`]*`)*)#.*$', re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d{1,15}(?![\w.])")
_MAX_CHARS = 60
_REQUEST = RequestFacts(id="r1")


def constants_of(text: str) -> tuple[frozenset[str], frozenset[int]]:
    """The texts and numbers that a Rego file states outside its comments."""
    bare = _COMMENT.sub(r"\1", text)
    texts = {double or raw for double, raw in _STRING.findall(bare)}
    numbers = {int(found) for found in _NUMBER.findall(_STRING.sub('""', bare))}
    return frozenset(each for each in texts if 0 < len(each) <= _MAX_CHARS), frozenset(numbers)


async def probe_constants(before: Side, after: Side) -> tuple[Widening, ...]:
    """By constant: a role that `after` shows an item to, around that constant, and `before` does not."""
    texts, numbers = changed_constants(before, after)
    if not texts and not numbers:
        return ()
    one, other = joint_domains(before, after)
    found: list[Widening] = []
    for constant, probes in (*((c, _texts(c, one)) for c in sorted(texts)), *_moments(numbers, one)):
        for role in one.roles:
            old, new = await _seen(before, one, role, probes), await _seen(after, other, role, probes)
            if any(now > then for now, then in zip(new, old, strict=True)):
                found.append(
                    Widening(f"constant {constant}: role {role}", f"{role} newly sees items around {constant!r}")
                )
                break
    return tuple(found)


def changed_constants(before: Side, after: Side) -> tuple[frozenset[str], frozenset[int]]:
    """The constants of the files that differ, those of either side."""
    old, new = (read_sources(side.folder / "rego") for side in (before, after))
    files = [path for path in {*old, *new} if path.endswith(".rego") and old.get(path) != new.get(path)]
    read = [constants_of(side[path].decode("utf-8")) for side in (old, new) for path in files if path in side]
    return frozenset[str]().union(*(t for t, _ in read)), frozenset[int]().union(*(n for _, n in read))


@dataclass(frozen=True, slots=True)
class _Probe:
    """One input at each point: who asks (as changes of the asker), when, and for which class and item."""

    of: ClassFacts
    item_id: str = "e1"
    now_ms: int = NOW_MS
    subject: Mapping[str, Any] = field(default_factory=dict)
    request: RequestFacts = _REQUEST


def _texts(constant: str, domain: Domain) -> list[_Probe]:
    """The constant, and texts that begin, end or contain it, in every place where a text can be."""
    highest = domain.labels[-1]
    probes = []
    for text in (constant, f"{constant}x", f"x{constant}", f"x{constant}x"):
        for label in (highest, domain.labels[len(domain.labels) // 2]):
            closed = a_class("k1", label=label, groups=("g-closed",))
            plain = a_class("k1", label=label)
            for base in (plain, closed):
                probes += [
                    _Probe(of=replace(base, id=text), item_id=text),
                    _Probe(of=replace(base, collection=text)),
                    _Probe(of=replace(base, owner_group=text)),
                    _Probe(of=replace(base, groups=(text,))),
                    _Probe(of=replace(base, allow_list=(text,))),
                    _Probe(of=replace(base, tenant=text)),
                    _Probe(of=base, item_id=text),
                    _Probe(of=base, subject={"id": text}),
                    _Probe(of=base, subject={"tenant": text}),
                    _Probe(of=base, subject={"groups": (text,)}),
                    _Probe(of=base, request=RequestFacts(id=text)),
                    _Probe(of=base, request=RequestFacts(id="r1", purpose=text)),
                ]
    return probes


def _moments(numbers: frozenset[int], domain: Domain) -> Iterator[tuple[str, list[_Probe]]]:
    for number in sorted(numbers):
        yield (
            str(number),
            [
                _Probe(now_ms=max(0, number + step), of=a_class("k1", label=label))
                for step in (-1, 0, 1)
                for label in domain.labels
            ],
        )


async def _seen(side: Side, domain: Domain, role: str, probes: Sequence[_Probe]) -> list[int]:
    """For each probe 2 if its item would be found and shown, 1 if it would only be searched, else 0."""
    decide = by_engine(side.engine)
    asked = [_document(Point.QUERY, probe, replace(domain.asker(role), **probe.subject)) for probe in probes]
    scoped = await decide(Point.QUERY, [encode_plain(each) for each in asked])
    within = [_admits(outcome, probe.of.id, Point.QUERY) for outcome, probe in zip(scoped, probes, strict=True)]
    asked = [_document(Point.EVIDENCE, probe, replace(domain.asker(role), **probe.subject)) for probe in probes]
    shown = await decide(Point.EVIDENCE, [encode_plain(each) for each in asked])
    return [
        inside + (inside and _admits(outcome, _item(probe).id, Point.EVIDENCE))
        for inside, outcome, probe in zip(within, shown, probes, strict=True)
    ]


def _item(probe: _Probe) -> EvidenceFacts:
    return an_item(probe.item_id, probe.of)


def _document(point: Point, probe: _Probe, subject: Subject) -> dict[str, Any]:
    document = facts.head(point, probe.now_ms, probe.request, subject)
    document["prompt"] = facts.prompt_wire(PromptFacts(chars=20, verdict="ALLOW", risk=0))
    document["classes"] = facts.classes_wire((probe.of,))
    if point is Point.EVIDENCE:
        document["evidence"] = facts.evidence_wire((_item(probe),))
        document["prior"] = {"query": "sha256:q", "admit": [probe.of.id]}
    return document


def _admits(outcome: Any, id: str, point: Point) -> bool:
    """True if a decision lets the class or the item through, whatever obligations it makes."""
    if isinstance(outcome, str) or outcome["effect"] == "deny":
        return False
    if point is Point.EVIDENCE:
        return id in outcome["admit"]
    return any(each["op"] == FILTER and id in each["params"]["classes"] for each in outcome["obligations"])
