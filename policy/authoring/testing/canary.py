"""The canary: what every bundle must do before it may decide anything, whatever else its rules say.

The empty input is denied at every point. From an allowed input, any one guard taken away un-admits the record that it
guarded, or denies; so a rule that fails open where a fact is missing is found by the fact that is missing. It is put to
the raw engine, without the checks of `policy.points`: the floor in code must not hide a rule without one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policy.authoring.lattice.deciding import Decide, Outcome, is_denial
from policy.authoring.lattice.domain import Document, Domain, allowed
from policy.canonical import canonical
from policy.model import Point
from policy.obligations import FILTER

EMPTY: tuple[object, ...] = ({}, [], None, "", 0, False)
JUNK: tuple[object, ...] = ({}, True, 7, "", [[]], [None])

_SUBJECT = ("subject/id", "subject/tenant", "subject/roles", "subject/clearance")
_CLASSES = tuple(f"classes/*/{key}" for key in ("id", "tenant", "collection", "label", "groups"))
_ITEM = ("id", "class_id", "tenant", "label", "handling", "groups", "lifecycle", "valid_until_ms", "sha256")
_ITEMS = tuple(f"evidence/*/{key}" for key in (*_ITEM, "indexed_sha256"))

GUARDS: Mapping[Point, tuple[str, ...]] = {
    Point.QUERY: (*_SUBJECT, *_CLASSES, "prompt/verdict"),
    Point.EVIDENCE: (*_SUBJECT, *_CLASSES, "prompt/verdict", *_ITEMS, "prior/query", "prior/admit"),
    Point.ANSWER: (*_SUBJECT, *_ITEMS, "prior/query", "prior/evidence", "prior/admit"),
}
"""The keys of the input that are guards (contracts, section 9), by point; a star stands for each element."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a sound bundle does not do. `guard` is the path that was taken away or spoilt, "" for the empty
    input; `passed` what was let through all the same."""

    point: Point
    guard: str
    what: str
    passed: tuple[str, ...] = ()

    def __str__(self) -> str:
        passed = f": {', '.join(self.passed)}" if self.passed else ""
        return f"{self.point}: {self.guard + ' ' if self.guard else ''}{self.what}{passed}"


async def canary(decide: Decide, domain: Domain) -> tuple[Finding, ...]:
    """The faults of the bundle behind `decide`; empty where there are none."""
    found: list[Finding] = []
    for point in Point:
        found += await _empty(decide, point)
        found += await guarded(decide, point, allowed(point, domain))
    return tuple(found)


async def guarded(decide: Decide, point: Point, document: Document) -> list[Finding]:
    """Each guard of an allowed input deleted, and replaced by values of other kinds."""
    cases: list[tuple[str, Document]] = [("", document)]
    for path in guard_paths(point, document):
        cases.append((f"{path} deleted", _changed(document, path, None)))
        cases += [(f"{path} spoilt", _changed(document, path, (junk,))) for junk in JUNK]
    outcomes = await decide(point, [canonical(each) for _, each in cases])
    before = reachable(point, outcomes[0])
    if not before:
        return [Finding(point, "", "the allowed input lets nothing through, so that no guard can be tried")]
    found = []
    for (guard, _), after in zip(cases[1:], outcomes[1:], strict=True):
        path, _, how = guard.partition(" ")
        passed = reachable(point, after) & _guarded_by(point, path, document, before)
        passed |= reachable(point, after) - before
        if passed:
            found.append(Finding(point, path, f"{how}, and yet let through", tuple(sorted(passed))))
    return found


def guard_paths(point: Point, document: Document) -> Iterator[str]:
    """Every guard of the document, one for each element where it has a star."""
    for guard in GUARDS[point]:
        name, _, key = guard.partition("/*/")
        yield from [guard] if not key else [f"{name}/{i}/{key}" for i in range(len(document[name]))]


def reachable(point: Point, outcome: Outcome) -> set[str]:
    """The ids that an outcome lets through: class ids at the query point, else evidence ids."""
    if isinstance(outcome, str) or is_denial(outcome):
        return set()
    if point is not Point.QUERY:
        return _named(outcome["admit"])
    duties = [each for each in outcome["obligations"] if isinstance(each, dict) and each.get("op") == FILTER]
    params = [each["params"] for each in duties if isinstance(each.get("params"), dict)]
    return {id for each in params for id in _named(each.get("classes"))}


def _named(ids: object) -> set[str]:
    """Ids as they came; a broken rule may name anything."""
    if not isinstance(ids, list):
        return set()
    return {each if isinstance(each, str) else repr(each) for each in ids}


async def _empty(decide: Decide, point: Point) -> list[Finding]:
    outcomes = await decide(point, [canonical(each) for each in EMPTY])
    allowing = [each for each, outcome in zip(EMPTY, outcomes, strict=True) if not is_denial(outcome)]
    return [Finding(point, "", f"the empty input {each!r} is not denied") for each in allowing]


def _guarded_by(point: Point, path: str, document: Document, all_of_it: set[str]) -> set[str]:
    """The input that must no longer pass without this guard: the record that it belongs to, the items of a class;
    everything, for a guard of the request."""
    name, _, place = path.partition("/")
    if name not in ("classes", "evidence"):
        return all_of_it
    record = document[name][int(place.partition("/")[0])]
    if name == "classes" and point is Point.EVIDENCE:
        return {item["id"] for item in document["evidence"] if item["class_id"] == record["id"]}
    return {record["id"]}


def _changed(document: Document, path: str, value: tuple[object] | None) -> Document:
    """A copy without the value at `path`, or with another one there."""
    changed = copy.deepcopy(document)
    *parents, last = path.split("/")
    place: Any = changed
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value[0]
    return changed
