"""Roles against labels and handling tags: what each role sees of an open item of the home tenant, as query point and
evidence point decide it, the floor in code included."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from policy.authoring.lattice.domain import Domain, a_class, an_item
from policy.model import ClassFacts, EvidenceFacts, PromptFacts, RequestFacts, Subject
from policy.obligations import DROP
from policy.points import PolicyPoints

HIDDEN = "hidden"
VISIBLE = "visible"


@dataclass(frozen=True, slots=True)
class Matrix:
    """`cells` has, by role, for every label and then for every tag (on an item of the lowest label), `visible`,
    `hidden`, or the obligations under which it is shown, joined by `+`."""

    labels: tuple[str, ...]
    tags: tuple[str, ...]
    cells: Mapping[str, tuple[str, ...]]


async def decide_matrix(points: PolicyPoints, domain: Domain) -> Matrix:
    """Decide every cell. Raises PolicyUnavailable."""
    classes = [a_class(f"label-{n}", label=label) for n, label in enumerate(domain.labels)]
    classes += [a_class(f"tag-{n}", label=domain.labels[0], handling=(tag,)) for n, tag in enumerate(domain.tags)]
    items = [an_item(each.id, each) for each in classes]
    rows = await asyncio.gather(*(decide_row(points, domain.asker(role), classes, items) for role in domain.roles))
    return Matrix(domain.labels, domain.tags, dict(zip(domain.roles, rows, strict=True)))


async def decide_row(
    points: PolicyPoints, asker: Subject, classes: Sequence[ClassFacts], items: Sequence[EvidenceFacts]
) -> tuple[str, ...]:
    """The cells of one asker: `items` has one item of each class, of the same id. Raises PolicyUnavailable."""
    request, prompt = RequestFacts(id="matrix"), PromptFacts(chars=0, verdict="ALLOW", risk=0)
    query = await points.query(request=request, subject=asker, prompt=prompt, classes=tuple(classes))
    searched = tuple(each for each in classes if query.allowed and each.id in query.classes)
    if not searched:
        return tuple(HIDDEN for _ in classes)
    ids = {each.id for each in searched}
    found = tuple(each for each in items if each.id in ids)
    decided = await points.evidence(
        request=request, subject=asker, prompt=prompt, classes=searched, evidence=found, prior=query
    )
    duties: dict[str, list[str]] = {}
    for each in decided.obligations:
        duties.setdefault(each.target.ref, []).append(each.op)
    admitted = decided.admit if decided.allowed else ()
    return tuple(_cell(sorted(set(duties.get(each.id, ()))), shown=each.id in admitted) for each in classes)


def _cell(duties: Sequence[str], *, shown: bool) -> str:
    if not shown or DROP in duties:
        return HIDDEN
    return "+".join(duties) or VISIBLE
