"""Inputs, guards and patches for the policy tests: one allowed input for each point, and ways to change it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from policy.bundles.bundle import SHIPPED

VECTORS = SHIPPED / "vectors"
Document = dict[str, Any]

SUBJECT_GUARDS = ("subject/id", "subject/tenant", "subject/roles", "subject/clearance")
CLASS_GUARDS = tuple(f"classes/*/{key}" for key in ("id", "tenant", "collection", "label", "groups"))
ITEM_KEYS = (
    "id class_id tenant label handling groups lifecycle valid_until_ms sha256 indexed_sha256".split()  # noqa: SIM905
)
ITEM_GUARDS = tuple(f"evidence/*/{key}" for key in ITEM_KEYS)
# The keys that section 9 of the contracts marks as guards, by point.
GUARDS = {
    "query": (*SUBJECT_GUARDS, *CLASS_GUARDS, "prompt/verdict"),
    "evidence": (*SUBJECT_GUARDS, *CLASS_GUARDS, "prompt/verdict", *ITEM_GUARDS, "prior/query", "prior/admit"),
    "answer": (*SUBJECT_GUARDS, *ITEM_GUARDS, "prior/query", "prior/evidence", "prior/admit"),
}


def vectors(point: str) -> Document:
    """The vector file of a point: `base` input and `cases`."""
    found: Document = json.loads((VECTORS / f"{point}.json").read_text())
    return found


def base(point: str) -> Document:
    """A fresh copy of the point's allowed input."""
    found: Document = vectors(point)["base"]
    return found


JUNK = [None, True, 0, -1, 10**15, "", "x", "日本 😀", [], [None], ["g1"], [["k-pub"]], {}, {"x": "g1"}, "public", "t1"]


def damaged(draw: random.Random, document: Any) -> Any:
    """The document with up to two keys deleted or values replaced, anywhere."""
    for _ in range(draw.choice([0, 1, 1, 2])):
        place, key = draw.choice(list(places(document)))
        if draw.random() < 0.4:
            del place[key]
        else:
            place[key] = draw.choice(JUNK)
    return document


def places(value: Any) -> Any:
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return
    for key, each in items:
        yield value, key
        yield from places(each)


def expanded(document: Document, guard: str) -> Iterator[str]:
    """The guard's paths in the document, one for each element where it has a star."""
    if "*" not in guard:
        yield guard
        return
    name, _, key = guard.split("/")
    for i in range(len(document[name])):
        yield f"{name}/{i}/{key}"


def guard_paths(point: str) -> list[str]:
    """Every guard of the point's allowed input."""
    document = base(point)
    return [path for guard in GUARDS[point] for path in expanded(document, guard)]


def reachable(point: str, decision: Document) -> set[str]:
    """What a decision lets through: class ids, evidence ids, or sentence numbers that stay."""
    if decision["effect"] == "deny":
        return set()
    if point == "query":
        return {id for each in decision["obligations"] if each["op"] == "filter" for id in each["params"]["classes"]}
    return set(decision["admit"])
