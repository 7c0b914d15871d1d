"""The relationships around entities, hop by hop. Pure over `GraphReads`."""

from __future__ import annotations

from retrieval.channels.traversal import MOST_WALKED, Neighbourhood, Walk
from retrieval.graph.edges import Edge, GraphReads
from retrieval.model import TimeRange


async def neighbourhood(reads: GraphReads, walk: Walk) -> Neighbourhood:
    """The records that state the relationships of the walk. A hop that would pass more than `MOST_WALKED` is not taken
    to its end."""
    times = () if walk.day is None else (TimeRange(walk.day, walk.day),)
    found: dict[Edge, None] = {}
    seen, frontier = set(walk.starts), frozenset(walk.starts)
    for _ in range(walk.hops):
        if not frontier:
            break
        edges = await reads.edges_at(frontier, predicates=walk.predicates or None, times=times, limit=MOST_WALKED + 1)
        found |= {edge: None for edge in edges if _onward(edge, frontier, walk)}
        if len(edges) > MOST_WALKED or len(found) > MOST_WALKED:
            first = sorted(found, key=lambda edge: (edge.record_id, edge.path))[:MOST_WALKED]
            return Neighbourhood(tuple(sorted({edge.record_id for edge in first})), cut=True)
        frontier = frozenset(node for edge in edges for node in _onward(edge, frontier, walk)) - seen
        seen |= frontier
    return Neighbourhood(tuple(sorted({edge.record_id for edge in found})))


def _onward(edge: Edge, frontier: frozenset[str], walk: Walk) -> list[str]:
    ends = (walk.onward(at, edge.subject, edge.object) for at in (edge.subject, edge.object) if at in frontier)
    return [end for end in ends if end is not None]
