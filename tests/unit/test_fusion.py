"""Reciprocal rank fusion: exact integers, and the order of the runs has no say."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.model import ChannelName, Computation, Hit, Run
from retrieval.ranking.fusion import NANO, FusionWeights, fuse

IDS = st.sampled_from([f"r{n}" for n in range(12)])


def run(channel: ChannelName, *record_ids: str, store: str = "s") -> Run:
    return Run(channel, store, tuple(Hit(n, r, 1.0 / n) for n, r in enumerate(record_ids, start=1)))


one_run = st.builds(
    lambda channel, ids, store: run(channel, *ids, store=store),
    st.sampled_from(ChannelName),
    st.lists(IDS, unique=True, max_size=12),
    st.sampled_from(["a", "b"]),
)
runs = st.lists(one_run, max_size=5)
weights = st.builds(
    FusionWeights,
    k=st.integers(0, 100),
    weights_milli=st.dictionaries(st.sampled_from(ChannelName), st.integers(0, 3000)),
)


def places(fused: tuple[object, ...]) -> dict[str, int]:
    return {item.record_id: n for n, item in enumerate(fused)}  # type: ignore[attr-defined]


def test_a_known_sum() -> None:
    fused = fuse([run(ChannelName.FULLTEXT, "a", "b"), run(ChannelName.VECTOR, "b")], FusionWeights(k=60))
    assert [(f.record_id, f.score_nano) for f in fused] == [("b", NANO // 62 + NANO // 61), ("a", NANO // 61)]


def test_weights_are_per_channel_and_zero_adds_only_provenance() -> None:
    rules = FusionWeights(k=0, weights_milli={ChannelName.VECTOR: 0, ChannelName.GRAPH: 2500})
    fused = fuse([run(ChannelName.VECTOR, "a", "b"), run(ChannelName.GRAPH, "b")], rules)
    assert [(f.record_id, f.score_nano, len(f.ranks)) for f in fused] == [("b", 2_500_000_000, 2), ("a", 0, 1)]


def test_equal_sums_stand_in_order_of_record_id() -> None:
    fused = fuse([run(ChannelName.FULLTEXT, "b"), run(ChannelName.VECTOR, "a")], FusionWeights())
    assert [f.record_id for f in fused] == ["a", "b"]


def test_the_computed_item_travels_with_its_record_id() -> None:
    made = Computation("count", {}, ("r1",), "sha256:0", {}, "One.")
    runs = [run(ChannelName.VECTOR, "c"), Run(ChannelName.SPATIAL, "s", (Hit(1, "c", 1.0, made),))]
    assert fuse(runs, FusionWeights())[0].computed is made


@pytest.mark.parametrize("bad", [{"k": -1}, {"weights_milli": {ChannelName.VECTOR: -1}}])
def test_negative_weights_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="negative"):
        FusionWeights(**bad)  # type: ignore[arg-type]


def test_no_runs_and_empty_runs_give_nothing() -> None:
    assert fuse([], FusionWeights()) == fuse([run(ChannelName.VECTOR)], FusionWeights()) == ()


@given(runs, weights, st.randoms())
@settings(max_examples=50)
def test_the_order_of_the_runs_changes_nothing(found: list[Run], rules: FusionWeights, chance: object) -> None:
    shuffled = list(found)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fuse(shuffled, rules) == fuse(found, rules)


@given(runs, weights)
@settings(max_examples=50)
def test_every_record_once_best_first_with_all_its_ranks(found: list[Run], rules: FusionWeights) -> None:
    fused = fuse(found, rules)
    order = [(-f.score_nano, f.record_id) for f in fused]
    assert order == sorted(order)
    assert {f.record_id for f in fused} == {h.record_id for r in found for h in r.hits}
    assert sum(len(f.ranks) for f in fused) == sum(len(r.hits) for r in found)


@given(runs, weights)
@settings(max_examples=50)
def test_integers_lie_within_one_unit_per_place_of_the_exact_fraction(found: list[Run], rules: FusionWeights) -> None:
    for item in fuse(found, rules):
        exact = sum(
            (Fraction(rules.weights_milli.get(r.channel, 1000), 1000 * (rules.k + r.rank)) for r in item.ranks),
            Fraction(),
        )
        assert 0 <= exact * NANO - item.score_nano < len(item.ranks) or exact * NANO == item.score_nano


@given(runs, weights, st.sampled_from(ChannelName), IDS)
@settings(max_examples=50)
def test_one_more_run_never_lowers_what_it_found(
    found: list[Run], rules: FusionWeights, channel: ChannelName, record_id: str
) -> None:
    before, after = places(fuse(found, rules)), places(fuse([*found, run(channel, record_id)], rules))
    assert after[record_id] <= before.get(record_id, len(before))


@given(runs, weights, st.integers(0, 4), st.integers(1, 11))
@settings(max_examples=50)
def test_rising_within_a_run_never_lowers_a_record(
    found: list[Run], rules: FusionWeights, which: int, place: int
) -> None:
    if which >= len(found) or place >= len(found[which].hits):
        return
    ids = [h.record_id for h in found[which].hits]
    ids[place - 1], ids[place] = ids[place], ids[place - 1]
    risen = [*found[:which], run(found[which].channel, *ids, store=found[which].store), *found[which + 1 :]]
    assert places(fuse(risen, rules))[ids[place - 1]] <= places(fuse(found, rules))[ids[place - 1]]


def test_a_record_that_stands_twice_in_a_run_counts_with_its_better_rank() -> None:
    twice = Run(ChannelName.VECTOR, "s", (Hit(3, "a", 0.1), Hit(1, "a", 0.9)))
    assert fuse([twice], FusionWeights(k=0))[0].score_nano == NANO


def scored(channel: ChannelName, **scores: float) -> Run:
    best_first = sorted(scores.items(), key=lambda each: -each[1])
    return Run(channel, "s", tuple(Hit(n, r, score) for n, (r, score) in enumerate(best_first, start=1)))


def test_under_the_knee_a_share_counts_a_hundredth_and_the_order_stays() -> None:
    rules = FusionWeights(by_score=True, knee_milli=400)
    fused = fuse([scored(ChannelName.VECTOR, a=1.0, b=0.7, c=0.4, d=0.2)], rules)
    assert {f.record_id: f.score_nano for f in fused} == {
        "a": NANO,
        "b": 502_000_000,  # half-way from the knee to the best is half-way from a hundredth of it to one
        "c": 4_000_000,
        "d": 2_000_000,
    }


def test_what_nearly_every_record_reaches_does_not_outweigh_a_good_fit() -> None:
    runs = [scored(ChannelName.FULLTEXT, a=9.0, b=5.0), scored(ChannelName.VECTOR, c=0.8, b=0.3)]
    plain, bent = (FusionWeights(by_score=True, knee_milli=knee) for knee in (0, 400))
    assert [f.record_id for f in fuse(runs, plain)] == ["a", "c", "b"]
    assert {f.record_id: f.score_nano for f in fuse(runs, bent)}["b"] < {
        f.record_id: f.score_nano for f in fuse(runs, plain)
    }["b"]


def test_places_of_structured_channels_are_not_bent() -> None:
    runs = [scored(ChannelName.GRAPH, a=1.0, b=0.5, c=0.25)]
    plain, bent = (FusionWeights(by_score=True, knee_milli=knee) for knee in (0, 400))
    assert fuse(runs, plain) == fuse(runs, bent)


@pytest.mark.parametrize("knee", [-1, 1000])
def test_a_knee_is_a_share_under_one(knee: int) -> None:
    with pytest.raises(ValueError, match="knee"):
        FusionWeights(knee_milli=knee)
