"""A table of who sees what, read and written by people who know no Rego: `vectors/access.toml` of a bundle.

    [principal.visitor]                 a name, and who that is: role, groups, tenant ("own" or another), id
    role = "public_viewer"

    [resource.mounds]                   a name, and what it is: label, handling, groups, tenant, lifecycle,
    label = "public"                    owner_group, allow_list
    handling = ["sensitive_location"]

    [sees.visitor]                      what each principal sees of each resource: `visible`, `hidden`, or the
    mounds = "generalise_geometry"      obligations under which it is shown, sorted and joined by `+`

Every cell must be stated. It is decided as a request is: query point, evidence point, and the floor in code.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy.authoring.lattice.domain import NOW_MS, SUBJECT_ID, TENANT, a_class, an_item
from policy.authoring.lattice.matrix import HIDDEN, VISIBLE, decide_row
from policy.authoring.testing.vectors import VectorsInvalid
from policy.bundles.bundle import Bundle
from policy.engine import PolicyEngine
from policy.model import ClassFacts, EvidenceFacts, Subject
from policy.obligations import MEETS_TAGS
from policy.points import PolicyPoints

FILE = "access.toml"
_DEADLINE_S = 5.0
_TEXTS, _LISTS = {"role", "tenant", "id", "label", "lifecycle", "owner_group"}, {"groups", "handling", "allow_list"}
_PRINCIPAL = {"role", "tenant", "id", "groups"}
_RESOURCE = {"label", "handling", "groups", "tenant", "lifecycle", "owner_group", "allow_list"}


@dataclass(frozen=True, slots=True)
class Resource:
    """A thing that there may be to see: its class, and an item of it."""

    held: ClassFacts
    item: EvidenceFacts


@dataclass(frozen=True, slots=True)
class AccessTable:
    """`cells` says what each principal is expected to see of each resource, by both names."""

    principals: Mapping[str, Subject]
    resources: Mapping[str, Resource]
    cells: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class CellResult:
    """One cell: what is stated, and what was decided."""

    principal: str
    resource: str
    stated: str
    decided: str

    @property
    def passed(self) -> bool:
        """True if the bundle decides what the table states."""
        return self.stated == self.decided

    def __str__(self) -> str:
        return f"{self.principal}, {self.resource}: stated {self.stated}, decided {self.decided}"


def read_table(folder: Path, bundle: Bundle) -> AccessTable | None:
    """The table below `folder`, which holds vectors; None where there is none. Raises VectorsInvalid."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise VectorsInvalid(f"{FILE}: {exc}") from exc
    return parse_table(document, bundle)


def parse_table(document: Mapping[str, Any], bundle: Bundle) -> AccessTable:
    """The table of a document. Raises VectorsInvalid for what is unknown, not stated, or of the wrong kind."""
    _known("the file", document, {"principal", "resource", "sees"})
    principals = {name: _principal(name, each, bundle) for name, each in _section(document, "principal").items()}
    resources = {name: _resource(name, each, bundle) for name, each in _section(document, "resource").items()}
    rows = _section(document, "sees")
    _known("sees", rows, set(principals))
    cells = {}
    for principal in principals:
        row = rows.get(principal, {})
        _known(f"sees.{principal}", row, set(resources))
        for resource in resources:
            cells[principal, resource] = _stated(f"sees.{principal}.{resource}", row.get(resource))
    return AccessTable(principals, resources, cells)


async def try_table(table: AccessTable, bundle: Bundle, engine: PolicyEngine) -> tuple[CellResult, ...]:
    """Decide every cell; `engine` serves the bundle. Raises PolicyUnavailable."""
    points = PolicyPoints(engine=engine, clock_ms=lambda: NOW_MS, deadline_s=_DEADLINE_S, data=bundle.data)
    classes, items = [each.held for each in table.resources.values()], [each.item for each in table.resources.values()]
    found = []
    for principal, subject in table.principals.items():
        row = await decide_row(points, subject, classes, items)
        for resource, decided in zip(table.resources, row, strict=True):
            found.append(CellResult(principal, resource, table.cells[principal, resource], decided))
    return tuple(found)


def _principal(name: str, given: Any, bundle: Bundle) -> Subject:
    told = _record(f"principal.{name}", given, _PRINCIPAL)
    role = told.get("role", "")
    if bundle.data.aliases.get(role, role) not in bundle.data.roles:
        raise VectorsInvalid(f"{FILE}: principal.{name}: there is no role {role!r}")
    return Subject.of(
        id=told.get("id", SUBJECT_ID),
        tenant=_tenant(told),
        roles=(role,),
        groups=told.get("groups", ()),
        data=bundle.data,
    )


def _resource(name: str, given: Any, bundle: Bundle) -> Resource:
    told = _record(f"resource.{name}", given, _RESOURCE)
    data = bundle.data
    if unknown := {told.get("label", "")} - set(data.labels) or set(told.get("handling", ())) - set(data.handling):
        raise VectorsInvalid(f"{FILE}: resource.{name}: {sorted(unknown)[0]!r} is not a label or tag of the data")
    facts = {key: value for key, value in told.items() if key != "lifecycle"} | {"tenant": _tenant(told)}
    held = a_class(f"resource:{name}", **facts)
    return Resource(held, an_item(held.id, held, lifecycle=told.get("lifecycle", "active")))


def _tenant(told: Mapping[str, Any]) -> str:
    named = str(told.get("tenant", "own"))
    return TENANT if named == "own" else f"{TENANT}:{named}"


def _stated(place: str, value: object) -> str:
    parts = value.split("+") if isinstance(value, str) else []
    obliged = parts == sorted(set(parts)) and {*parts} <= {*MEETS_TAGS} and bool(parts)
    if value not in (VISIBLE, HIDDEN) and not obliged:
        known = ", ".join((VISIBLE, HIDDEN, *sorted(MEETS_TAGS)))
        raise VectorsInvalid(f"{FILE}: {place} must be stated, and is one of {known}, several joined by +")
    return str(value)


def _section(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = document.get(name)
    if not isinstance(found, dict) or not found:
        raise VectorsInvalid(f"{FILE}: there is no [{name}.NAME]")
    return found


def _record(place: str, given: Any, known: set[str]) -> dict[str, Any]:
    _known(place, given, known)
    for key, value in given.items():
        texts = [value] if key in _TEXTS else value
        if (key in _LISTS and not isinstance(value, list)) or not all(type(each) is str for each in texts):
            raise VectorsInvalid(f"{FILE}: {place}.{key} is {'a list of texts' if key in _LISTS else 'a text'}")
    return {key: tuple(value) if key in _LISTS else value for key, value in given.items()}


def _known(place: str, given: Any, known: set[str]) -> None:
    if not isinstance(given, dict):
        raise VectorsInvalid(f"{FILE}: {place} is a table")
    if unknown := sorted(given.keys() - known):
        raise VectorsInvalid(f"{FILE}: {place}: {unknown[0]!r} is not known; known: {', '.join(sorted(known))}")
