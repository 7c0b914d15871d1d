"""Widenings over the whole lattice: every cell of the values of both bundles, decided by each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy.authoring.lattice.claims import decide_claims
from policy.authoring.lattice.domain import UNKNOWN, Domain
from policy.authoring.lattice.lattice import AXES, OPS, Lattice, decide_lattice
from policy.authoring.widening.model import Side, Widening

_ROLE, _LABEL = AXES.index("role"), AXES.index("label")


async def lattice_widenings(before: Side, after: Side) -> tuple[Widening, ...]:
    """By role and label: cells that `after` shows or searches and `before` does not, obligations that it lifts, and
    claims that it releases."""
    one, other = joint_domains(before, after)
    old, new = await decide_lattice(before.engine, one), await decide_lattice(after.engine, other)
    found = [
        *_cells(new, new.visible & ~old.visible, "sees"),
        *_cells(new, new.searched & ~old.searched & ~(new.visible & ~old.visible), "searches"),
    ]
    for n, op in enumerate(OPS):
        lifted = old.visible & new.visible & _bit(old.obliged, n) & ~_bit(new.obliged, n)
        found += _cells(new, lifted, f"is shown without {op}")
    # A purpose that is new is a widening by its name; its claims say nothing more.
    known = tuple(purpose for purpose in one.purposes if purpose in before.bundle.data.purposes)
    one, other = replace(one, purposes=known), replace(other, purposes=known)
    released = {replace(cell, released=False) for cell in await decide_claims(before.engine, one) if cell.released}
    for cell in await decide_claims(after.engine, other):
        if cell.released and replace(cell, released=False) not in released:
            found.append(
                Widening(
                    f"role {cell.role}: claims {cell.verdict}",
                    f"a {cell.kind} claim that is {cell.verdict}, from {cell.label}, for {cell.purpose}",
                )
            )
    return tuple(found)


def joint_domains(before: Side, after: Side) -> tuple[Domain, Domain]:
    """The domains of both bundles over the same values: those that either knows, names of roles included."""
    one, other = Domain.of(before.bundle), Domain.of(after.bundle)
    names = {*one.roles, *other.roles, *one.data.aliases, *other.data.aliases, UNKNOWN}
    shared: dict[str, Any] = {
        "labels": tuple(dict.fromkeys((*other.labels, *one.labels))),
        "roles": tuple(sorted(names)),
        "tags": tuple(sorted({*one.tags, *other.tags})),
        "tag_groups": tuple(sorted({*one.tag_groups, *other.tag_groups})),
        "purposes": tuple(sorted({*one.purposes, *other.purposes})),
    }
    return replace(one, **shared), replace(other, **shared)


def _bit(obliged: NDArray[np.uint8], n: int) -> NDArray[np.bool_]:
    return (obliged >> n & 1).astype(np.bool_)


def _cells(lattice: Lattice, wide: NDArray[np.bool_], does: str) -> Iterator[Widening]:
    """One widening for each role and label, with the first of its cells."""
    for i, role in enumerate(lattice.axes["role"]):
        for j, label in enumerate(lattice.axes["label"]):
            places = np.argwhere(wide[i, :, j])
            if len(places):
                first = lattice.cell([i, int(places[0][0]), j, *(int(n) for n in places[0][1:])])
                facts = ", ".join(f"{axis} {first[axis]}" for axis in AXES if axis not in ("role", "label"))
                yield Widening(f"role {role}: {does} {label}", f"{len(places):,} cells, the first: {facts}")
