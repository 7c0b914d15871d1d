"""Planted regressions of data: who is called what, what roles hold and are cleared for, labels and purposes, handling tags,
limits, claims, appeals and notices."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from policy.bundles.bundle import DATA_PATH, SHIPPED

Data = dict[str, Any]
DATA: dict[str, Any] = json.loads((SHIPPED / "rego" / DATA_PATH).read_text("utf-8"))
RANKS: dict[str, int] = DATA["labels"]


@dataclass(frozen=True)
class Change:
    """One regression: a change of the data, and the beginning of a name that must then be accepted."""

    name: str
    change: Callable[[Data], object]


def of_names() -> Iterator[Change]:
    """Other names of roles, and names that were none."""
    roles = DATA["roles"]
    for name in (*roles, *DATA["aliases"], "guest", "root"):
        now = roles.get(DATA["aliases"].get(name, name), roles["public_viewer"])
        for role, held in roles.items():
            if name not in roles and RANKS[held["clearance"]] > RANKS[now["clearance"]]:
                yield Change(
                    f"role {name}: clearance {held['clearance']}", lambda d, a=name, r=role: d["aliases"].update({a: r})
                )


def of_roles() -> Iterator[Change]:
    """Capabilities, clearances and permissions of roles, and roles that are new."""
    roles, capabilities = DATA["roles"], DATA["capabilities"]
    for name, role in roles.items():
        for capability in sorted(set(capabilities) - set(role["capabilities"])):
            yield Change(
                f"role {name}: capability {capability}",
                lambda d, n=name, c=capability: d["roles"][n]["capabilities"].append(c),
            )
        for label in (
            each for each in RANKS if RANKS[each] > RANKS[role["clearance"]] and name != DATA["default_role"]
        ):
            yield Change(
                f"role {name}: clearance {label}", lambda d, n=name, v=label: d["roles"][n].update(clearance=v)
            )
        if "ai.query" not in role["permissions"]:
            yield Change(
                f"role {name}: permission ai.query", lambda d, n=name: d["roles"][n]["permissions"].append("ai.query")
            )
        new = f"friend_of_{name}"
        if RANKS[role["clearance"]]:
            yield Change(f"role {new}: clearance", lambda d, n=name, f=new: d["roles"].update({f: d["roles"][n]}))


def of_labels_and_purposes() -> Iterator[Change]:
    """Labels that change places, purposes that ask for less."""
    for low, high in ((a, b) for a in RANKS for b in RANKS if RANKS[a] < RANKS[b] and a != "public"):
        yield Change(f"label {high}: lower", lambda d, a=low, b=high: d["labels"].update({a: RANKS[b], b: RANKS[a]}))
    for purpose, needs in DATA["purposes"].items():
        for label in (each for each in RANKS if RANKS[each] < RANKS[needs["clearance"]]):
            yield Change(
                f"purpose {purpose}: needs {label}", lambda d, p=purpose, v=label: d["purposes"][p].update(clearance=v)
            )
    yield Change("purpose anything: new", lambda d: d["purposes"].update(anything={"clearance": "public"}))


def of_handling() -> Iterator[Change]:
    """Tags that go, that somebody else satisfies, or that are met by less."""
    for tag, handling in DATA["handling"].items():
        yield Change(f"handling {tag}: removed", lambda d, t=tag: d["handling"].pop(t))
        yield Change(f"handling {tag}: satisfied by", lambda d, t=tag: d["handling"][t].update(capability="trace"))
        yield Change(f"handling {tag}: satisfied by", lambda d, t=tag: d["handling"][t].update(group="everyone"))
        if handling["obligation"] is None or handling["obligation"]["op"] != "datamark":
            weak = {"op": "datamark", "params": {}}
            yield Change(f"handling {tag}: met by", lambda d, t=tag, w=weak: d["handling"][t].update(obligation=w))
    for params in ({"metres": 1, "decimals": 5}, {"metres": 10_000, "decimals": 5}, {"metres": 9_999, "decimals": 1}):
        yield Change(
            "handling sensitive_location: met by",
            lambda d, p=params: d["handling"]["sensitive_location"]["obligation"].update(params=p),
        )
    for minimum in (1, 9):
        yield Change(
            "handling aggregate_only: met by",
            lambda d, m=minimum: d["handling"]["aggregate_only"]["obligation"].update(params={"minimum": m}),
        )


def of_limits_and_claims() -> Iterator[Change]:
    """Thresholds, leaks that are none any more, claims that are tolerated."""
    for value in (0, 499):
        yield Change("limit support_milli: lower", lambda d, v=value: d["limits"].update(support_milli=v))
    for name in ("datamark_milli", "injection_milli"):
        for more in (1, 200):
            yield Change(
                f"limit {name}: higher", lambda d, n=name, m=more: d["limits"].update({n: DATA["limits"][n] + m})
            )
    for leak in DATA["leaks"]:
        yield Change(f"leak {leak}: removed", lambda d, v=leak: d["leaks"].remove(v))
    for kind in ("figure", "superlative", "comparison", "event", "prose"):
        for label in RANKS:
            more = {"verdict": "not_in_source", "kinds": [kind], "label": label, "purposes": ["general"]}
            yield Change("claims: tolerates not_in_source", lambda d, m=more: d["claims"]["tolerated"].append(m))


def of_appeals() -> Iterator[Change]:
    """Kinds of appeal that stay, collections that are trusted."""
    for kind in ("contact", "credentials", "imperative", "link", "payment"):
        yield Change(f"appeals: tolerates {kind}", lambda d, k=kind: d["appeals"]["tolerated"].append(k))
    for name in ("kansas", "uploads"):
        yield Change(f"appeals: trusts {name}", lambda d, n=name: d["appeals"]["trust"].update({n: 1}))


def of_notices() -> Iterator[Change]:
    """Sources of which an answer does not say that it rests on them, a phrase that says something else, and a purpose
    that is taken for the stated one."""
    first = DATA["notice"]["label"]
    for label in (each for each in RANKS if RANKS[each] > RANKS[first]):
        yield Change(f"notice: from {label}", lambda d, v=label: d["notice"].update(label=v))
    yield Change("notice: says ABSTAIN", lambda d: d["notice"].update(catalogue="ABSTAIN"))
    for purpose in (each for each in DATA["purposes"] if each != DATA["default_purpose"]):
        yield Change(f"default purpose: {purpose}", lambda d, v=purpose: d.update(default_purpose=v))


KINDS = (of_names, of_roles, of_labels_and_purposes, of_handling, of_limits_and_claims, of_appeals, of_notices)
CHANGES = tuple(plant for kind in KINDS for plant in kind())
