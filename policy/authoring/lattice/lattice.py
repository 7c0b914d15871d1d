"""Every cell of the finite domain, decided: who asks (role, groups held) times what there is (label, handling tags,
groups, tenant, lifecycle, named or not). No sample: the rule over access facts is finite, so it is tried whole.

Each cell is an item of a class. It is searched if the query point puts the class into the scope, and visible if the
evidence point, bound to that scope, admits the item and does not drop it; so an item of a class outside the scope is
hidden, whatever the evidence point would say, because no search ever finds it. Decided on the raw engine: the floor in
code must not hide a rule that lets too much through.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from policy import facts
from policy.authoring.lattice.deciding import DEADLINE_S
from policy.authoring.lattice.domain import (
    GROUP,
    LIFECYCLES,
    NOW_MS,
    OTHER_GROUP,
    OTHER_TENANT,
    SUBJECT_ID,
    TENANT,
    UNKNOWN,
    Domain,
    a_class,
    an_item,
)
from policy.canonical import encode_plain
from policy.engine import PolicyEngine
from policy.errors import PolicyUnavailable
from policy.model import Point, PromptFacts, RequestFacts, Subject
from policy.obligations import FILTER, MEETS_TAGS

AXES = ("role", "holds", "label", "handling", "groups", "tenant", "lifecycle", "named")
OPS = MEETS_TAGS
_GROUPS: Mapping[str, tuple[str, ...]] = {"none": (), "own": (GROUP,), "other": (OTHER_GROUP,)}
_TENANTS = {"own": TENANT, "other": OTHER_TENANT}
_NAMED: Mapping[str, Mapping[str, Any]] = {
    "no": {},
    "owner": {"owner_group": GROUP},
    "listed": {"allow_list": (SUBJECT_ID,)},
}
_AT_ONCE = 200
_SEARCHED, _VISIBLE, _DUTIES = 1, 2, 2  # the bits of a cell while it is decided

Value = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lattice:
    """`axes` names the values of each axis, in order. `searched`, `visible` and `obliged` are arrays over all of them,
    in the order of AXES; `obliged` has bit n set where the item is visible under the obligation OPS[n]."""

    axes: Mapping[str, tuple[Value, ...]]
    searched: NDArray[np.bool_] = field(repr=False)
    visible: NDArray[np.bool_] = field(repr=False)
    obliged: NDArray[np.uint8] = field(repr=False)

    @property
    def cells(self) -> int:
        """How many there are."""
        return self.visible.size

    def cell(self, place: Sequence[int]) -> dict[str, Any]:
        """The cell at these indices: its facts, and what was decided."""
        named: dict[str, Any] = {axis: self.axes[axis][n] for axis, n in zip(AXES, place, strict=True)}
        bits = int(self.obliged[tuple(place)])
        duties = [op for n, op in enumerate(OPS) if bits >> n & 1]
        seen = {"searched": bool(self.searched[tuple(place)]), "visible": bool(self.visible[tuple(place)])}
        return named | seen | {"obligations": duties}


def axes_of(domain: Domain) -> dict[str, tuple[Value, ...]]:
    """The values of each axis: everything that the data name, every set of tags and of groups that matter, and one
    value that the data do not know where there can be one. `own` is the group that the asker may hold."""
    return {
        "role": domain.roles,
        "holds": _subsets(("own", *domain.tag_groups)),
        "label": (*domain.labels, UNKNOWN),
        "handling": (*_subsets(domain.tags), (UNKNOWN,)),
        "groups": tuple(_GROUPS),
        "tenant": tuple(_TENANTS),
        "lifecycle": (*LIFECYCLES, UNKNOWN),
        "named": tuple(_NAMED),
    }


async def decide_lattice(engine: PolicyEngine, domain: Domain, *, at_once: int = 3) -> Lattice:
    """Decide every cell, once for all names of roles that make the same asker. Raises PolicyUnavailable where the
    engine gives no decision."""
    axes = axes_of(domain)
    shape = tuple(len(axes[axis]) for axis in AXES)
    searched, visible, obliged = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_), np.zeros(shape, np.uint8)
    there_is = _Cells.of(axes)
    slots = asyncio.Semaphore(at_once)

    async def fill(subject: Subject, places: Sequence[tuple[int, int]]) -> None:
        async with slots:
            bits = await _subject(engine, subject, there_is)
        seen = bits.reshape(shape[2:6] + shape[7:8] + shape[6:7]).swapaxes(-1, -2)
        for place in places:
            searched[place], visible[place], obliged[place] = seen & _SEARCHED, seen & _VISIBLE, seen >> _DUTIES

    await asyncio.gather(*(fill(subject, places) for subject, places in _subjects(axes, domain).items()))
    return Lattice(axes, searched, visible, obliged)


def _subjects(axes: Mapping[str, tuple[Value, ...]], domain: Domain) -> dict[Subject, list[tuple[int, int]]]:
    """Each asker, with the places of the roles and groups that make him."""
    found: dict[Subject, list[tuple[int, int]]] = {}
    for (i, role), (j, holds) in product(enumerate(axes["role"]), enumerate(axes["holds"])):
        groups = [GROUP if each == "own" else each for each in holds]
        found.setdefault(domain.asker(str(role), groups), []).append((i, j))
    return found


@dataclass(frozen=True, slots=True)
class _Cells:
    """The facts that every asker is tried on, written once: one class for every combination of access facts, in the
    order label, handling, groups, tenant, named; and of each class an item in every lifecycle, by the class's place."""

    places: Mapping[str, int]
    classes: Sequence[bytes]
    items: Sequence[Sequence[bytes]]

    @classmethod
    def of(cls, axes: Mapping[str, tuple[Value, ...]]) -> _Cells:
        """The classes and items over these values."""
        combined = product(axes["label"], axes["handling"], axes["groups"], axes["tenant"], axes["named"])
        classes = [
            a_class(
                f"c{n}",
                label=label,
                handling=handling,
                groups=_GROUPS[str(groups)],
                tenant=_TENANTS[str(tenant)],
                **_NAMED[str(named)],
            )
            for n, (label, handling, groups, tenant, named) in enumerate(combined)
        ]
        items = [
            facts.evidence_wire([an_item(f"{each.id}/{n}", each, lifecycle=x) for n, x in enumerate(axes["lifecycle"])])
            for each in classes
        ]
        return cls(
            {each.id: place for place, each in enumerate(classes)},
            [encode_plain(each) for each in facts.classes_wire(classes)],
            [[encode_plain(each) for each in of_class] for of_class in items],
        )


async def _subject(engine: PolicyEngine, subject: Subject, there_is: _Cells) -> NDArray[np.uint8]:
    """One byte for every class and lifecycle: searched, visible, and from bit _DUTIES on the obligations of OPS."""
    lifecycles = len(there_is.items[0])
    found = np.zeros((len(there_is.places), lifecycles), np.uint8)
    places = range(len(there_is.places))
    scope = [place for part in _parts(places, _AT_ONCE) for place in await _scope(engine, subject, there_is, part)]
    found[scope] = _SEARCHED
    for batch in _parts(scope, _AT_ONCE // lifecycles):
        for id, bits in (await _seen(engine, subject, there_is, batch)).items():
            class_id, _, n = id.partition("/")
            found[there_is.places[class_id], int(n)] |= bits
    return found


def _parts(places: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (places[start : start + size] for start in range(0, len(places), size))


async def _scope(engine: PolicyEngine, subject: Subject, there_is: _Cells, part: Sequence[int]) -> list[int]:
    decision = await _ask(engine, Point.QUERY, subject, classes=[there_is.classes[place] for place in part])
    if decision["effect"] == "deny":
        return []  # a role that may not ask
    found = [id for each in decision["obligations"] if each["op"] == FILTER for id in each["params"]["classes"]]
    return [there_is.places[id] for id in found]


async def _seen(engine: PolicyEngine, subject: Subject, there_is: _Cells, scope: Sequence[int]) -> dict[str, int]:
    """The visible ones of the items of these classes, with their bits."""
    ids = list(there_is.places)
    decision = await _ask(
        engine,
        Point.EVIDENCE,
        subject,
        {"prior": {"query": "sha256:q", "admit": [ids[place] for place in scope]}},
        classes=[there_is.classes[place] for place in scope],
        evidence=[item for place in scope for item in there_is.items[place]],
    )
    if decision["effect"] == "deny":
        return {}
    bits = dict.fromkeys(decision["admit"], _VISIBLE)
    for each in decision["obligations"]:
        id = each["target"]["ref"]
        if id in bits and each["op"] in OPS:
            bits[id] |= 1 << _DUTIES + OPS.index(each["op"])
        else:
            bits.pop(id, None)
    return bits


async def _ask(
    engine: PolicyEngine, point: Point, subject: Subject, more: Mapping[str, Any] | None = None, **lists: list[bytes]
) -> dict[str, Any]:
    """The decision over the head of an input, `more`, and lists whose members are written already."""
    document = facts.head(point, NOW_MS, RequestFacts(id="r1"), subject) | dict(more or {})
    document["prompt"] = facts.prompt_wire(PromptFacts(chars=20, verdict="ALLOW", risk=0))
    written = [b',"%b":[%b]' % (name.encode(), b",".join(members)) for name, members in lists.items()]
    asked = b"".join([encode_plain(document)[:-1], *written, b"}"])
    reply = await engine.evaluate(f"kfm/ai/{point}", asked, deadline_s=DEADLINE_S)
    results = orjson.loads(reply.results)
    if len(results) != 1 or not isinstance(results[0].get("result"), dict):
        raise PolicyUnavailable(f"the {point} point gave no decision")
    decision: dict[str, Any] = results[0]["result"]
    return decision


def _subsets(values: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(found for size in range(len(values) + 1) for found in combinations(values, size))
