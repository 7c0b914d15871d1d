"""Entities that relationships lead to, ranked by a walk of bounded length."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.channels.traversal import Direction, Walk
from retrieval.model import EntityRef, Relationship
from retrieval.registry.assets.model import StatedRelationship
from retrieval.registry.assets.paths import NANO, ReachedEntity, reached

DIRECTIONS: tuple[Direction, ...] = ("outgoing", "incoming", "both")
Edge = tuple[str, str]


def stated(*edges: Edge) -> list[StatedRelationship]:
    made = (Relationship(entity(a), "leads", entity(b), "c", "d", f"r{n:02d}") for n, (a, b) in enumerate(edges))
    return [StatedRelationship(edge, n, "asset") for n, edge in enumerate(made)]


def entity(name: str) -> EntityRef:
    return EntityRef(name, name.upper(), "thing")


def told(found: tuple[ReachedEntity, ...]) -> list[tuple[str, int, list[str]]]:
    return [(e.entity.entity_id, e.score_nano, [s.stated.edge.record_id for s in e.path]) for e in found]


def test_each_hop_counts_half_and_is_shared_among_neighbours() -> None:
    found = reached(stated(("a", "b"), ("a", "c"), ("b", "d")), Walk(("a",), 2, "outgoing"))
    assert told(found) == [
        ("b", NANO // 4, ["r00"]),
        ("c", NANO // 4, ["r01"]),
        ("d", NANO // 8, ["r00", "r02"]),
    ]
    assert [each.hops for each in found] == [1, 1, 2]


def test_what_several_ways_lead_to_ranks_higher_than_what_one_does() -> None:
    edges = stated(("a", "b"), ("a", "c"), ("b", "x"), ("c", "x"), ("b", "y"))
    ranked = [each.entity.entity_id for each in reached(edges, Walk(("a",), 2, "outgoing"))]
    assert ranked.index("x") < ranked.index("y")


def test_a_hub_leads_to_each_of_its_many_neighbours_a_little() -> None:
    many = [("hub", f"n{i}") for i in range(30)]
    found = reached(stated(("a", "hub"), ("a", "b"), ("b", "c"), *many), Walk(("a",), 2, "outgoing"))
    assert [each.entity.entity_id for each in found][:3] == ["b", "hub", "c"]


def test_what_several_records_state_counts_once() -> None:
    once = reached(stated(("a", "b"), ("a", "c")), Walk(("a",), 1))
    often = reached(stated(("a", "b"), ("a", "c"), ("a", "b"), ("a", "b")), Walk(("a",), 1))
    assert told(once) == told(often)


@pytest.mark.parametrize(
    ("walk", "ends"),
    [
        (Walk(("a",), 1, "outgoing"), ["b"]),
        (Walk(("b",), 1, "incoming"), ["a"]),
        (Walk(("b",), 1, "both"), ["a", "c"]),
        (Walk(("a",), 3, "incoming"), []),
        (Walk(("none",), 3, "both"), []),
        (Walk(("a", "c"), 1, "outgoing"), ["b", "d"]),
        (Walk(("a", "b"), 4, "outgoing"), ["c", "d"]),  # a start is not reached
    ],
)
def test_direction_and_starts(walk: Walk, ends: list[str]) -> None:
    found = reached(stated(("a", "b"), ("b", "c"), ("c", "d"), ("a", "a")), walk)
    assert sorted(each.entity.entity_id for each in found) == ends


def test_a_step_says_where_it_is_walked_from() -> None:
    [first, *_] = [each for each in reached(stated(("b", "a"), ("c", "b")), Walk(("a",), 2)) if each.hops == 2]
    assert [(step.start, step.end.entity_id) for step in first.path] == [("a", "b"), ("b", "c")]


NAMES = st.sampled_from("abcdef")
EDGES = st.lists(st.tuples(NAMES, NAMES), max_size=12)
WALKS = st.builds(
    Walk,
    st.lists(NAMES, min_size=1, max_size=2, unique=True).map(tuple),
    st.integers(1, 4),
    st.sampled_from(DIRECTIONS),
)


@given(EDGES, WALKS, st.randoms(use_true_random=False))
def test_scores_are_those_of_the_walk_and_the_order_of_edges_has_no_effect(
    edges: list[Edge], walk: Walk, chance: object
) -> None:
    given_edges = stated(*edges)
    found = reached(given_edges, walk)
    turned = list(given_edges)
    chance.shuffle(turned)  # type: ignore[attr-defined]
    assert reached(turned, walk) == found
    shares = plain_shares(edges, walk)
    assert {each.entity.entity_id for each in found} == set(shares)
    for each in found:
        assert abs(Fraction(each.score_nano, NANO) - shares[each.entity.entity_id]) < Fraction(1, 10**6)
        assert each.hops == shortest(edges, walk, each.entity.entity_id)
        for before, after in pairwise(each.path):
            assert before.end.entity_id == after.start
        assert each.path[0].start in walk.starts
    assert sum(each.score_nano for each in found) <= NANO
    assert [each.score_nano for each in found] == sorted((each.score_nano for each in found), reverse=True)


def neighbours(edges: list[Edge], walk: Walk, at: str) -> set[str]:
    ends = {b for a, b in edges if a == at and walk.direction != "incoming"}
    return (ends | {a for a, b in edges if b == at and walk.direction != "outgoing"}) - {at}


def plain_shares(edges: list[Edge], walk: Walk) -> dict[str, Fraction]:
    mass = {start: Fraction(1, len(walk.starts)) for start in walk.starts}
    shares: dict[str, Fraction] = {}
    for hop in range(1, walk.hops + 1):
        after: dict[str, Fraction] = {}
        for at, share in mass.items():
            ends = neighbours(edges, walk, at)
            for end in ends:
                after[end] = after.get(end, Fraction(0)) + share / len(ends)
        mass = after
        for at, share in mass.items():
            if at not in walk.starts:
                shares[at] = shares.get(at, Fraction(0)) + share / 2**hop
    return shares


def shortest(edges: list[Edge], walk: Walk, wanted: str) -> int:
    at, hops = set(walk.starts), 0
    while wanted not in at:
        at |= {end for each in at for end in neighbours(edges, walk, each)}
        hops += 1
    return hops
