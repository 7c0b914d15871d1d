"""The form in which a subject may see each access class, decided before anything is searched.

What depends on the subject and on stored facts alone is decided here, from the policy's data: a class that has expired
or has not begun is not even asked about; a handling tag that the subject does not satisfy makes geometry coarse, or
leaves the records to aggregates, or shuts them out. No rule can widen that: the query point decides over what is left,
and the evidence point, which decides over each item, must find nothing left to do.
"""

from __future__ import annotations

from collections.abc import Iterable

from policy.data import PolicyData, TagDuty
from policy.model import Subject
from retrieval.registry.store import Holdings
from retrieval.scope import Scope, VisibilityClass


def open_classes(held: Holdings, *, subject: Subject, data: PolicyData, now_ms: int) -> tuple[VisibilityClass, ...]:
    """The classes that the query point is asked about: those in force, without those of which the subject could only
    see aggregates over too few places. The others are as if they did not exist."""
    return tuple(
        each
        for each in held.classes
        if each.in_force(now_ms) and held.places.get(each.class_id, 0) >= (_minimum(_duties(each, subject, data)) or 0)
    )


def shaped_scope(classes: Iterable[VisibilityClass], *, subject: Subject, data: PolicyData) -> Scope:
    """The scope of the classes that the query point admits. A class with a tag that is not satisfied, and that no
    obligation stands for, is left out."""
    seen: set[str] = set()
    coarse: set[tuple[str, int, int]] = set()
    aggregates: set[tuple[str, int]] = set()
    for each in classes:
        duties = _duties(each, subject, data)
        if duties is None or each.tenant != subject.tenant:
            continue
        least, grid = _minimum(duties), _grid(duties)
        if least is not None:
            aggregates.add((each.class_id, least))
            continue
        seen.add(each.class_id)
        if grid is not None:
            coarse.add((each.class_id, *grid))
    return Scope(subject.tenant, frozenset(seen), frozenset(coarse), frozenset(aggregates))


def _duties(held: VisibilityClass, subject: Subject, data: PolicyData) -> tuple[TagDuty, ...] | None:
    """The obligations of the tags that the subject does not satisfy; None where one has no obligation."""
    found: list[TagDuty] = []
    for tag in held.handling:
        rule = data.handling.get(tag)
        if rule is not None and (rule.capability in subject.capabilities or rule.group in subject.groups):
            continue
        if rule is None or rule.obligation is None:
            return None
        found.append(rule.obligation)
    return tuple(found)


def _minimum(duties: tuple[TagDuty, ...] | None) -> int | None:
    """The least number of places of an aggregate, where there may only be aggregates."""
    found = [_whole(duty, "minimum") for duty in duties or () if duty.op == "aggregate_only"]
    return max(found, default=None)


def _grid(duties: tuple[TagDuty, ...]) -> tuple[int, int] | None:
    """The coarsest grid that geometry is shown on: metres and decimals."""
    grids = [(_whole(duty, "metres"), _whole(duty, "decimals")) for duty in duties if duty.op == "generalise_geometry"]
    return (max(metres for metres, _ in grids), min(decimals for _, decimals in grids)) if grids else None


def _whole(duty: TagDuty, name: str) -> int:
    value = duty.params[name]
    if not isinstance(value, int):
        raise AssertionError(f"{duty.op} was checked when the data was read")
    return value
