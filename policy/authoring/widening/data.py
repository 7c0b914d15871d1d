"""Widenings that the data show by themselves: names, clearances, permissions, capabilities, labels, purposes, handling
tags, limits, claims and appeals that are tolerated, and collections that are trusted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from policy.authoring.lattice.domain import TENANT, UNKNOWN
from policy.authoring.widening.model import Widening
from policy.bundles.bundle import Bundle
from policy.data import PolicyData
from policy.model import Subject

SECOND_PERSON = "second person: "


def need_a_second_person(names: Iterable[str], data: PolicyData) -> tuple[str, ...]:
    """The widenings among `names` that somebody else than their publisher must accept: those that the data in force
    list, and each that takes such a pattern from them."""
    patterns = (f"{SECOND_PERSON}*", *data.second_person)
    return tuple(name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns))


def data_widenings(before: Bundle, after: Bundle) -> Iterator[Widening]:
    """The widenings between the data of two bundles."""
    old, new = before.data, after.data
    yield from _labels(old, new)
    yield from _names(old, new)
    yield from _purposes(old, new)
    yield from _handling(old, new)
    yield from _limits(_raw(before), _raw(after))
    yield from _notice(_raw(before), _raw(after))
    for pattern in sorted(set(old.second_person) - set(new.second_person)):
        yield Widening(f"{SECOND_PERSON}{pattern}: removed", "these widenings needed the acceptance of a second person")


def _raw(bundle: Bundle) -> Mapping[str, Any]:
    document: Mapping[str, Any] = json.loads(bundle.data_json)
    return document["kfm"]["config"] if "kfm" in document else document


def _labels(old: PolicyData, new: PolicyData) -> Iterator[Widening]:
    for label in sorted(new.labels.keys() - old.labels.keys()):
        yield Widening(f"label {label}: new", f"{label} had no rank, so nobody saw what it marks")
    for high in old.ascending:
        lower = [low for low in old.labels if old.labels[low] < old.labels[high]]
        if high in new.labels and any(new.rank(low) >= new.labels[high] for low in lower):
            yield Widening(f"label {high}: lower", f"{high} no longer ranks above {', '.join(sorted(lower))}")


def _names(old: PolicyData, new: PolicyData) -> Iterator[Widening]:
    """Every name that a credential can carry, as what it resolves to; one that no data know is the default role."""
    for name in sorted({*old.roles, *old.aliases, *new.roles, *new.aliases, UNKNOWN}):
        before, after = _subject(name, old), _subject(name, new)
        if new.rank(after.clearance) > new.rank(before.clearance):
            yield Widening(
                f"role {name}: clearance {after.clearance}", f"{name} was cleared for {before.clearance} at most"
            )
        for capability in sorted(set(after.capabilities) - set(before.capabilities)):
            yield Widening(f"role {name}: capability {capability}", f"{name} did not hold {capability}")
        for permission in sorted(_permissions(after, new) - _permissions(before, old)):
            yield Widening(f"role {name}: permission {permission}", f"{name} did not have {permission}")


def _subject(name: str, data: PolicyData) -> Subject:
    return Subject.of(id="u1", tenant=TENANT, roles=(name,), data=data)


def _permissions(subject: Subject, data: PolicyData) -> frozenset[str]:
    return frozenset[str]().union(*(data.roles[role].permissions for role in subject.roles))


def _purposes(old: PolicyData, new: PolicyData) -> Iterator[Widening]:
    """A purpose asks for a clearance: a lower one, or a new purpose, opens it to more."""
    for name, clearance in sorted(new.purposes.items()):
        if name not in old.purposes:
            yield Widening(f"purpose {name}: new", f"the purpose {name} was refused")
        elif new.rank(clearance) < new.rank(old.purposes[name]):
            yield Widening(f"purpose {name}: needs {clearance}", f"it needed {old.purposes[name]}")
    if old.default_purpose != new.default_purpose:
        yield Widening(f"default purpose: {new.default_purpose}", f"it was {old.default_purpose}")


def _handling(old: PolicyData, new: PolicyData) -> Iterator[Widening]:
    for tag in sorted({*old.handling, *new.handling}):
        before, after = old.handling.get(tag), new.handling.get(tag)
        if before is None:
            yield Widening(f"handling {tag}: new", f"{tag} was an unknown tag, so nobody saw what it marks")
        elif after is None:
            yield Widening(f"handling {tag}: removed", f"{tag} asks for nothing any more")
        else:
            if (before.capability, before.group) != (after.capability, after.group):
                held = after.capability or after.group or "nothing"
                yield Widening(f"handling {tag}: satisfied by {held}", f"another capability or group satisfies {tag}")
            if after.obligation is not None and before.obligation != after.obligation:
                said = f"{after.obligation.op} {dict(after.obligation.params)}"
                yield Widening(f"handling {tag}: met by {after.obligation.op}", f"{tag} is met otherwise: {said}")


def _limits(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Widening]:
    before, after = old["limits"], new["limits"]
    if after["support_milli"] < before["support_milli"]:
        yield Widening("limit support_milli: lower", "sentences with less support are released")
    for name in ("datamark_milli", "injection_milli"):
        if after[name] > before[name]:
            yield Widening(f"limit {name}: higher", "text that reads more like instructions passes")
    for leak in sorted(set(old["leaks"]) - set(new["leaks"])):
        yield Widening(f"leak {leak}: removed", f"{leak} in an answer is no longer a leak")
    known = [json.dumps(each, sort_keys=True) for each in old.get("claims", {}).get("tolerated", ())]
    for each in new.get("claims", {}).get("tolerated", ()):
        if json.dumps(each, sort_keys=True) not in known:
            yield Widening(f"claims: tolerates {each['verdict']}", f"claims are tolerated that were not: {each}")
    yield from _appeals(old.get("appeals", {}), new.get("appeals", {}))


def _notice(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Widening]:
    """An answer from sources of that label on says so by a phrase of the catalogue."""
    label, phrase = new["notice"]["label"], new["notice"]["catalogue"]
    if new["labels"][label] > new["labels"].get(old["notice"]["label"], -1):
        yield Widening(f"notice: from {label}", f"answers from {old['notice']['label']} on carried a notice")
    if phrase != old["notice"]["catalogue"]:
        yield Widening(f"notice: says {phrase}", f"it said {old['notice']['catalogue']}")


def _appeals(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Widening]:
    for kind in sorted(set(new.get("tolerated", ())) - set(old.get("tolerated", ()))):
        yield Widening(f"appeals: tolerates {kind}", f"a sentence with this needed a question for it: {kind}")
    for name in sorted(_trusted(new) - _trusted(old)):
        yield Widening(f"appeals: trusts {name}", f"sentences of {name} that address the reader were removed")


def _trusted(appeals: Mapping[str, Any]) -> set[str]:
    return {name for name, rank in appeals.get("trust", {}).items() if rank >= appeals["least_trust"]}
