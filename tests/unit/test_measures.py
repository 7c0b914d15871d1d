"""Measures of `exhibit eval`: known values, bounds, and the report; no data set is read here."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.http.ablation.measures import auc, difference, figure, ndcg, recall, reciprocal_rank
from api.measure.eval.fit import bins, isotonic
from api.measure.eval.run import markdown
from retrieval.model import ChannelName, ChannelRank, Hit, Run
from retrieval.ranking.calibration import BM25, WORDLLAMA, Calibration, Scale, vector_calibration

KEYS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def test_known_values() -> None:
    assert ndcg(["a", "x", "b"], {"a", "b"}, 10) == pytest.approx((1 + 0.5) / (1 + 0.6309297535714575))
    assert recall(["a", "x", "b"], {"a", "b", "c"}, 2) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x", "a"], {"a"}) == 0.5
    assert auc([3, 2, 2, 1], [True, True, False, False]) == 0.875
    assert (ndcg([], {"a"}, 5), recall(["a"], set(), 5), reciprocal_rank([], {"a"})) == (0.0, 0.0, 0.0)


@given(KEYS, st.sets(st.sampled_from("abcdefgh"), min_size=1), st.integers(1, 8))
@settings(max_examples=50)
def test_measures_lie_between_nothing_and_all(ranked: list[str], relevant: set[str], k: int) -> None:
    for value in (ndcg(ranked, relevant, k), recall(ranked, relevant, k), reciprocal_rank(ranked, relevant)):
        assert 0 <= value <= 1
    perfect = [*sorted(relevant), *[r for r in ranked if r not in relevant]]
    assert ndcg(perfect, relevant, k) == pytest.approx(1)
    assert ndcg(ranked, relevant, k) <= 1


@pytest.mark.parametrize("labels", [[True, True], [False, False], []])
def test_one_class_has_no_curve(labels: list[bool]) -> None:
    with pytest.raises(ValueError):
        auc([1.0] * len(labels), labels)


def test_intervals_hold_the_mean_and_shrink() -> None:
    chance = random.Random(1)
    few, many = [chance.random() for _ in range(10)], [chance.random() for _ in range(1000)]
    assert figure(few).low <= figure(few).mean <= figure(few).high
    assert figure(many).high - figure(many).low < figure(few).high - figure(few).low
    assert difference(few, few).mean == 0
    with pytest.raises(ValueError):
        figure([])


def test_the_report_says_what_was_met_and_by_how_much_not() -> None:
    goals = {"a": {"goal": 0.5, "reached": 0.6, "met": True}, "b": {"goal": 0.9, "reached": 0.6, "met": False}}
    ways = {"keyword": {"ndcg_10": {"mean": 0.6, "low": 0.5, "high": 0.7}}, "vector": {"p50_ms": 3.0}}
    told = markdown({"parts": [{"name": "X", "questions": 2, "ways": ways, "goals": goals}]})
    assert "0.600 (0.500 to 0.700)" in told
    assert "met." in told and "missed by 0.300" in told


# Calibration


@given(st.lists(st.tuples(st.integers(0, 999), st.booleans()), min_size=1, max_size=200))
@settings(max_examples=50)
def test_a_fit_is_monotone_from_nothing_to_all(points: list[tuple[int, bool]]) -> None:
    knots = isotonic(bins(points))
    assert knots[0] == (0, 0) and knots[-1] == (1000, 1000)
    assert list(knots) == sorted(knots)
    assert [y for _, y in knots] == sorted(y for _, y in knots)


@pytest.mark.parametrize("shipped", [BM25, WORDLLAMA])
def test_shipped_maps_are_monotone_and_whole(shipped: Calibration) -> None:
    told = [shipped.relevance_milli(score) for score in range(-5, 1006)]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 1000)


def test_an_unknown_model_has_the_bare_cosine_and_says_so() -> None:
    assert vector_calibration("nomic-embed-text@1").name == "cosine/uncalibrated"
    assert vector_calibration("wordllama-0.4.0/l2_supercat_256@abc").name.startswith("wordllama")


def test_text_scores_count_as_a_share_of_what_the_query_could_score() -> None:
    run = Run(ChannelName.FULLTEXT, "tantivy", (Hit(1, "a", 10.0),), ceiling=10.0)
    rank = ChannelRank(ChannelName.FULLTEXT, "tantivy", 1, 10.0)
    assert Scale.of("m", (run,)).relevance_milli(rank) == 1000
    assert Scale.of("m", ()).relevance_milli(rank) == 0
    structured = ChannelRank(ChannelName.SPATIAL, "sqlite", 1, 1.0)
    assert Scale.of("m", (run,)).relevance_milli(structured) == 0
