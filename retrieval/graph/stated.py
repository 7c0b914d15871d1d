"""The rows that a plan over stated things needs, selected in the graph."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from retrieval.algebra.plan import Stated
from retrieval.graph.edges import Edge, GraphReads
from retrieval.model import Limitation, TimeRange

MOST_ROWS = 20_000
TOO_MANY = Limitation("TOO_MANY_ROWS", "More rows state what was asked than are counted at once.", "neo4j")


async def stated_rows(rows: GraphReads, plan: Stated) -> list[str] | None:
    """The ids of the records with an edge of the plan's type, about every entity, in its days; None for too many. Where
    what is named has none in these days, those of all days show it."""
    if plan.having:
        return await _of_each(rows, plan)
    found = await _rows(rows, plan)
    if found == [] and plan.entities and (plan.from_day is not None or plan.to_day is not None):
        return await _rows(rows, replace(plan, from_day=None, to_day=None))
    return found


async def _of_each(rows: GraphReads, plan: Stated) -> list[str] | None:
    """The rows of each part of `having`, those included that there must not be."""
    found: set[str] = set()
    for had in plan.having:
        entities = tuple(dict.fromkeys((*plan.entities, *had.entities)))
        days = (had.from_day or plan.from_day, had.to_day or plan.to_day)
        of_part = await _rows(rows, replace(plan, entities=entities, from_day=days[0], to_day=days[1], having=()))
        if of_part is None:
            return None
        found |= set(of_part)
    return sorted(found)


async def _rows(rows: GraphReads, plan: Stated) -> list[str] | None:
    times = _times(plan)
    if plan.entities:
        kept: set[str] | None = None
        for entity in plan.entities:
            edges = await rows.edges_at({entity}, predicates=None, times=times, limit=MOST_ROWS)
            if len(edges) >= MOST_ROWS:
                return None
            ids = {edge.record_id for edge in edges if _dated(edge, plan)}
            kept = ids if kept is None else kept & ids
        return sorted(kept or ())
    kinds = [k for k in await rows.kinds() if plan.type in (k.subject_type, k.object_type)]
    kinds = [k for k in kinds if plan.via is None or plan.via in (k.subject_type, k.object_type)]
    if not kinds:
        return []
    edges = await rows.edges_of({k.predicate for k in kinds}, times=times, limit=MOST_ROWS)
    if len(edges) >= MOST_ROWS:
        return None
    wanted = {(k.subject_type, k.predicate, k.object_type) for k in kinds}
    fitting = (e for e in edges if (e.subject_type, e.predicate, e.object_type) in wanted and _dated(e, plan))
    return sorted({edge.record_id for edge in fitting})


def _times(plan: Stated) -> tuple[TimeRange, ...]:
    if plan.from_day is None and plan.to_day is None:
        return ()
    first = date.min if plan.from_day is None else date.fromisoformat(plan.from_day)
    return (TimeRange(first, date.max if plan.to_day is None else date.fromisoformat(plan.to_day)),)


def _dated(edge: Edge, plan: Stated) -> bool:
    return edge.start_day is not None or (plan.from_day is None and plan.to_day is None)
