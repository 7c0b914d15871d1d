"""Entities that relationships lead to, ranked by a random walk of bounded length from where they start: a personalised
PageRank (Jeh and Widom 2003) cut after so many hops. Integers, so that it is the same on every machine and store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.channels.traversal import Walk
from retrieval.model import EntityRef
from retrieval.registry.assets.model import StatedRelationship

NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class PathStep:
    """A relationship of a path, and the entity that it is walked from."""

    start: str
    stated: StatedRelationship

    @property
    def end(self) -> EntityRef:
        """Where it leads."""
        edge = self.stated.edge
        return edge.object if edge.subject.entity_id == self.start else edge.subject


@dataclass(frozen=True, slots=True)
class ReachedEntity:
    """An entity and the best of the shortest paths to it from one of the starts. `score_nano` is its share of the
    walk, in units of 1e-9: each hop counts half of the one before, and is shared out evenly among the neighbours."""

    score_nano: int
    path: tuple[PathStep, ...]

    @property
    def entity(self) -> EntityRef:
        """The entity, as the last relationship of the path names it."""
        return self.path[-1].end

    @property
    def hops(self) -> int:
        """How many relationships lead to it."""
        return len(self.path)


@dataclass(frozen=True, slots=True)
class _Way:
    """A shortest way to an entity: how likely the walk takes it, and what it passes."""

    nano: int
    path: tuple[PathStep, ...]

    @property
    def key(self) -> tuple[int, tuple[tuple[str, int], ...]]:
        """The order of ways of one length: the likelier first, ties by what they pass."""
        return -self.nano, tuple((each.stated.edge.record_id, each.stated.position) for each in self.path)


def reached(edges: Sequence[StatedRelationship], walk: Walk) -> tuple[ReachedEntity, ...]:
    """Every entity but the starts that the walk leads to over these relationships, best first, ties by id. What several
    records state counts once."""
    onward = _onward(edges, walk)
    starts = sorted(set(walk.starts))
    mass = {start: NANO // len(starts) for start in starts}
    ways = {start: _Way(nano, ()) for start, nano in mass.items()}
    scores: dict[str, int] = {}
    frontier = ways
    for hop in range(1, walk.hops + 1):
        mass = _spread(mass, onward)
        for entity_id, share in mass.items():
            scores[entity_id] = scores.get(entity_id, 0) + (share >> hop)
        frontier = _further(frontier, onward, known=ways)
        ways |= frontier
    found = [ReachedEntity(scores[entity_id], way.path) for entity_id, way in ways.items() if way.path]
    return tuple(sorted(found, key=lambda each: (-each.score_nano, each.entity.entity_id)))


Onward = Mapping[str, Mapping[str, StatedRelationship]]
"""From each entity, its neighbours, each with the first relationship that leads there."""


def _onward(edges: Sequence[StatedRelationship], walk: Walk) -> Onward:
    found: dict[str, dict[str, StatedRelationship]] = {}
    for each in sorted(edges, key=lambda each: (each.edge.record_id, each.position)):
        subject, other = each.edge.subject.entity_id, each.edge.object.entity_id
        for at in dict.fromkeys((subject, other)):
            end = walk.onward(at, subject, other)
            if end is not None and end != at:
                found.setdefault(at, {}).setdefault(end, each)
    return found


def _spread(mass: Mapping[str, int], onward: Onward) -> dict[str, int]:
    after: dict[str, int] = {}
    for at, share in mass.items():
        neighbours = onward.get(at, {})
        for end in neighbours:
            after[end] = after.get(end, 0) + share // len(neighbours)
    return after


def _further(frontier: Mapping[str, _Way], onward: Onward, *, known: Mapping[str, _Way]) -> dict[str, _Way]:
    """The best way to each entity that is one hop beyond the frontier and was not reached before."""
    found: dict[str, _Way] = {}
    for at, way in frontier.items():
        neighbours = onward.get(at, {})
        for end, relationship in neighbours.items():
            longer = _Way(way.nano // len(neighbours), (*way.path, PathStep(at, relationship)))
            if end not in known and (end not in found or longer.key < found[end].key):
                found[end] = longer
    return found
