"""The smallest change of group, purpose, role or label that would have decided otherwise.

Each change is tried on the recorded facts, by the bundle that decided them. Only changes within the authority of
whoever asks for the explanation are tried: groups that they are in, roles, purposes and labels that they reach; and
only the items that are explained get another label. So an explanation never shows a way to what they may not see
themselves, nor that there is such a thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ai.backtest.chain import Chain, PointInputs, decide_facts
from ai.explain.paths import Verdict
from policy.data import PolicyData
from policy.engine import PolicyEngine
from policy.model import ClassFacts, Subject
from policy.obligations import KEEPS_WORDS

_MOST_PAIRS = 40


@dataclass(frozen=True, slots=True)
class Change:
    """One change: `what` is group, purpose, role or label; `value` what it becomes, `-` before a group that is left."""

    what: str
    value: str


@dataclass(frozen=True, slots=True)
class Flip:
    """The changes that together turn a verdict into `becomes`."""

    changes: tuple[Change, ...]
    becomes: str


@dataclass(frozen=True, slots=True)
class Flips:
    """By the id of the item; `request` is the one that turns a refused question into an allowed one, or back."""

    items: Mapping[str, Flip]
    request: Flip | None


async def find_flips(
    facts: PointInputs, items: Mapping[str, Sequence[str]], *, engine: PolicyEngine, data: PolicyData, caller: Subject
) -> Flips:
    """For each item that the caller may see (its own facts by id) the first change that turns its verdict: single ones
    first, by how much they ask for, then pairs. Raises PolicyUnavailable."""
    points = facts.points(engine, data)
    before = await decide_facts(facts, points)
    found: dict[str, Flip] = {}
    of_request: Flip | None = None
    single = list(_changes(facts, data, caller))
    shown = frozenset(id for own in items.values() for id in own)
    pairs = [pair for pair in product(single, single) if pair[0].what == "group" and pair[1].what in ("role", "label")]
    for changes in [*((each,) for each in single), *pairs[:_MOST_PAIRS]]:
        if len(changes) > 1 and len(found) == len(items) and of_request:
            break
        after = await decide_facts(_changed(facts, changes, data, shown), points)
        if after.query.allowed is not before.query.allowed:  # turns the whole request, and says nothing of an item
            of_request = of_request or Flip(changes, "allowed" if after.query.allowed else "denied")
            continue
        for id, own in items.items():
            becomes = verdict(after, own)
            if id not in found and becomes is not verdict(before, own):
                found[id] = Flip(changes, str(becomes))
    return Flips(found, of_request)


def verdict(chain: Chain, own: Sequence[str]) -> Verdict:
    """The fate of an item in a chain, by its facts."""
    if chain.evidence is None or not set(own) <= chain.admitted:
        return Verdict.DROPPED
    duties = {each.op for each in chain.evidence.obligations if each.target.ref in own}
    return Verdict.REDACTED if duties - KEEPS_WORDS else Verdict.KEPT


def _changes(facts: PointInputs, data: PolicyData, caller: Subject) -> Iterator[Change]:
    """Single changes within the caller's authority, the smallest demand first."""
    asker, reach = facts.subject, _reach(data, caller)
    yield from (Change("group", group) for group in caller.groups if group not in asker.groups)
    yield from (Change("group", f"-{group}") for group in asker.groups)
    current = facts.request.purpose or data.default_purpose
    within = (purpose for purpose in sorted(data.purposes) if data.labels[data.purposes[purpose]] <= reach)
    yield from (Change("purpose", purpose) for purpose in within if purpose != current)
    yield from (Change("role", role) for role in _roles(asker, data, caller))
    yield from (Change("label", label) for label, rank in sorted(data.labels.items(), key=_rank) if rank <= reach)


def _rank(pair: tuple[str, int]) -> int:
    return pair[1]


def _reach(data: PolicyData, caller: Subject) -> int:
    """The rank of the caller's clearance in the bundle that decided; below every label where it had no such label."""
    return data.labels.get(caller.clearance, -1)


def _roles(asker: Subject, data: PolicyData, caller: Subject) -> list[str]:
    """Other roles that the caller's own authority covers, the nearest clearance first."""
    own, reach = data.labels[asker.clearance], _reach(data, caller)
    within = [
        name
        for name, role in data.roles.items()
        if asker.roles != (name,)
        and data.labels[role.clearance] <= reach
        and role.capabilities <= set(caller.capabilities)
    ]
    return sorted(within, key=lambda name: (abs(data.labels[data.roles[name].clearance] - own), name))


def _changed(facts: PointInputs, changes: Sequence[Change], data: PolicyData, shown: frozenset[str]) -> PointInputs:
    for change in changes:
        facts = _one(facts, change, data, shown)
    return facts


def _one(facts: PointInputs, change: Change, data: PolicyData, shown: frozenset[str]) -> PointInputs:
    asker, value = facts.subject, change.value
    match change.what:
        case "purpose":
            return replace(facts, request=replace(facts.request, purpose=value))
        case "label":
            return _relabelled(facts, value, shown)
        case "group":
            left = value.removeprefix("-")
            kept = [group for group in asker.groups if group != left]
            groups = kept if value.startswith("-") else [*kept, value]
            return replace(facts, subject=replace(asker, groups=tuple(sorted(groups))))
        case _:
            by_role = {each for role in asker.roles for each in data.roles[role].capabilities}
            subject = Subject.of(
                id=asker.id,
                tenant=asker.tenant,
                roles=(value,),
                data=data,
                groups=asker.groups,
                extra_capabilities=tuple(set(asker.capabilities) - by_role),
                session_expires_ms=asker.session_expires_ms,
            )
            return replace(facts, subject=subject.suspended() if asker.tenant_suspended else subject)


def _relabelled(facts: PointInputs, label: str, shown: frozenset[str]) -> PointInputs:
    """The facts with another label on the items that are shown, and on their classes. Another label on any other class
    could let in a collection that is told of nowhere else."""
    of_shown = {each.class_id for each in facts.evidence if each.id in shown}

    def classes(those: Sequence[ClassFacts]) -> tuple[ClassFacts, ...]:
        return tuple(replace(each, label=label) if each.id in of_shown else each for each in those)

    evidence = (replace(each, label=label) if each.id in shown else each for each in facts.evidence)
    return replace(
        facts,
        classes=classes(facts.classes),
        found_classes=classes(facts.found_classes),
        evidence=tuple(evidence),
    )
