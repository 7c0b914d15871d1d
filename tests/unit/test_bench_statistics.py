"""Percentiles, rounds, goals and the report of `exhibit bench`; no clock is read here."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.console import table
from api.measure.bench.beside import Turn, compared
from api.measure.bench.goals import Verdict, verdicts
from api.measure.bench.model import (
    GOVERNANCE,
    RETRIEVAL,
    SUMS,
    TO_PROMPT,
    IngestFigures,
    Load,
    Peer,
    Report,
    ServerFigures,
    SizeFigures,
)
from api.measure.bench.report import report_json, report_text
from api.measure.bench.statistics import Percentiles, percentile, settled, settled_by_name, spread

SAMPLES = st.lists(st.floats(0, 1e6), min_size=1, max_size=60)


@given(SAMPLES, st.floats(0.001, 100))
def test_a_percentile_is_the_least_sample_that_covers_its_share(samples: list[float], percent: float) -> None:
    found = percentile(samples, percent)
    assert found in samples
    assert sum(s <= found for s in samples) >= len(samples) * percent / 100 - 1e-9
    smaller = [s for s in samples if s < found]
    assert len(smaller) < len(samples) * percent / 100 + 1e-9


@pytest.mark.parametrize(("percent", "expected"), [(1, 1), (50, 50), (95, 95), (99, 99), (99.5, 100), (100, 100)])
def test_percentiles_of_a_hundred_numbers(percent: float, expected: int) -> None:
    assert percentile(list(range(100, 0, -1)), percent) == expected


@pytest.mark.parametrize(("samples", "percent"), [([], 50), ([1.0], 0), ([1.0], -1), ([1.0], 100.1)])
def test_there_is_no_percentile_of_nothing(samples: list[float], percent: float) -> None:
    with pytest.raises(ValueError, match="percentile"):
        percentile(samples, percent)


def test_a_disturbed_round_does_not_move_the_figures() -> None:
    calm = [1.0] * 99 + [2.0]
    assert settled([calm, [900.0] * 100, calm]) == Percentiles(300, 1.0, 1.0, 1.0)
    assert settled([calm]) == spread(calm)


def test_a_name_counts_only_where_it_occurs() -> None:
    found = settled_by_name([[{"gate": 1.0}, {"gate": 3.0, "generate": 7.0}], [{"gate": 1.0}]])
    assert list(found) == ["gate", "generate"]
    assert found["generate"] == Percentiles(1, 7.0, 7.0, 7.0)
    assert found["gate"].n == 3


def test_the_sums_share_no_stage_but_retrieval_with_the_prompt() -> None:
    assert not set(SUMS[GOVERNANCE]) & set(SUMS[TO_PROMPT])
    assert set(SUMS[RETRIEVAL]) < set(SUMS[TO_PROMPT])


def turn(bare_ms: float, *, more_ms: float, first_ms: float = 0.0) -> Turn:
    """Whichever goes first takes `first_ms` longer."""
    ours = bare_ms + more_ms
    return Turn((ours + first_ms, ours), (bare_ms, bare_ms + first_ms), (1.0, 1.0))


@given(st.lists(st.floats(0.5, 200), min_size=1, max_size=40), st.floats(0, 50), st.floats(0, 50))
def test_neither_the_query_nor_the_order_weighs_on_what_a_channel_takes_more(
    queries_ms: list[float], more_ms: float, first_ms: float
) -> None:
    found = compared([turn(ms, more_ms=more_ms, first_ms=first_ms) for ms in queries_ms], 2.0)
    assert found.more_ms == pytest.approx(more_ms, abs=0.001)
    assert found.channel.n == found.bare.n == found.embedded.n == 2 * len(queries_ms)


def test_a_disturbed_turn_moves_only_the_last_percentile() -> None:
    turns = [*[turn(8.0, more_ms=1.0)] * 40, turn(8.0, more_ms=500.0)]
    found = compared(turns, 1.863)
    assert (found.times, found.more_ms, found.statements) == (1.125, 1.0, 1.86)
    assert (found.channel.p50, found.channel.p95, found.channel.p99) == (9.0, 9.0, 508.0)
    assert (found.bare.p50, found.bare.p99, found.embedded.p99) == (8.0, 8.0, 1.0)


@pytest.mark.parametrize(("bare_ms", "most_ms"), [(0.2, 2.0), (4.0, 2.0), (5.0, 2.5), (80.0, 40.0)])
def test_a_channel_may_take_half_as_much_again_or_two_milliseconds(bare_ms: float, most_ms: float) -> None:
    def missed_with(more_ms: float) -> list[str]:
        one = measured(50_000)
        beside = {"graph/neo4j": compared([turn(bare_ms, more_ms=more_ms)], 1.0)}
        return missed(report(replace(one, servers=ServerFigures(one.ingested, one.load, beside))))

    assert missed_with(most_ms) == []
    assert missed_with(most_ms + 0.01) == [
        f"graph/neo4j beside the driver alone ({bare_ms:.2f} ms), more in the same turn"
    ]


def measured(
    size: int, *, ms: float = 1.0, per_s: float = 5000, cold_s: float = 1.0, peer: bool = False
) -> SizeFigures:
    one = Percentiles(10, ms, ms * 1.5, ms * 2)
    load = Load(
        stages={"gate": one},
        channels={"fulltext/tantivy": one},
        sums=dict.fromkeys(SUMS, one),
        requests={"in process": one},
        throughput={"in process, 1 asker": 100.0},
        outcomes={"lookup": {"ANSWER": 2}},
        peak_memory_mib=100,
    )
    beside = Peer("other 1.0", size, 1.0, Percentiles(5, 50.0, 60.0, 70.0), 300) if peer else None
    return SizeFigures(size, IngestFigures(1, size, size, size / per_s, 200, {"vector": 1.5}), load, cold_s, beside)


def report(*sizes: SizeFigures) -> Report:
    return Report(plan={"seed": 7}, machine={"cores": 2, "packages": {"numpy": "2"}}, sizes=sizes)


def missed(given: Report) -> list[str]:
    return [verdict.goal for verdict in verdicts(given) if not verdict.met]


def test_goals_that_are_met() -> None:
    assert missed(report(measured(1_000), measured(100_000, ms=3.0))) == []


@pytest.mark.parametrize(
    ("large", "goals"),
    [
        (measured(100_000, ms=3.01), ["whole request, p50 at 100k over p50 at 1k"]),
        (measured(100_000, per_s=1_999), ["ingest at 100k"]),
        (measured(100_000, cold_s=1.51), ["cold start of exhibit ask at 100k"]),
    ],
)
def test_each_goal_can_be_missed(large: SizeFigures, goals: list[str]) -> None:
    assert missed(report(measured(1_000), large)) == goals


def test_slow_stages_miss_three_goals_by_a_factor_that_is_named() -> None:
    found = verdicts(report(measured(1_000, ms=20), measured(100_000, ms=20)))
    assert [verdict.met for verdict in found] == [False, False, False, True, True, True]
    assert found[0].says.endswith("goal <= 10 ms, by a factor of 2.00")
    assert Verdict("ingest", "passages/s", 2_000, 500, at_least=True).says.endswith("by a factor of 4.00")


def test_what_was_not_measured_is_not_met() -> None:
    assert len(missed(report(measured(1_000)))) == 6
    assert "whole request, p50 at 100k over p50 at 1k" in missed(report(measured(100_000)))
    assert verdicts(report())[0].says.startswith("not measured")


def test_the_report_shows_every_figure() -> None:
    given = report(measured(1_000, ms=1.25, peer=True), measured(100_000, ms=2.5))
    text = report_text(given, table)
    for shown in (
        "1.25",
        "2.50",
        "fulltext/tantivy",
        "ANSWER 2",
        "100,000",
        "other 1.0",
        "40.0",
        "cores: 2",
        "numpy 2",
    ):
        assert shown in text, shown
    document = json.loads(json.dumps(report_json(given)))
    assert document["sizes"][1]["load"]["sums"][RETRIEVAL]["p50"] == 2.5
    assert document["sizes"][0]["ingested"]["passages_per_s"] == 5000
    assert [goal["met"] for goal in document["goals"]] == [True] * 6
