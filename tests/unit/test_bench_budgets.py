"""The budgets of the benchmark: the worst overrun of each kind decides, and one that was not measured is not met."""

from __future__ import annotations

import pytest

from api.measure.bench.budgets import MOST_OVER_MS, Overrun, budget_goals, budget_json, budget_rows


def overrun(way: str, limit_ms: int, wall_ms: float) -> Overrun:
    return Overrun(way, "as shipped", limit_ms, wall_ms, "ANSWER")


@pytest.mark.parametrize(
    ("walls", "met"),
    [
        ({"agentic high": 1100.0, "search": 200.0}, (True, True)),
        ({"agentic high": 1100.1, "search": 200.0}, (False, True)),
        ({"agentic low": 900.0, "search": 200.1}, (True, False)),
        ({"agentic low": 900.0}, (True, False)),
        ({}, (False, False)),
    ],
)
def test_the_worst_overrun_decides(walls: dict[str, float], met: tuple[bool, bool]) -> None:
    kept = [overrun(way, 1000 if way.startswith("agentic") else 100, wall) for way, wall in walls.items()]
    goals = budget_goals([*kept, *(overrun("agentic low", 5000, 80.0) for _ in kept)])
    assert tuple(goal.met for goal in goals) == met


def test_the_report_says_by_how_much() -> None:
    late = overrun("agentic low", 1000, 1000.0 + MOST_OVER_MS + 25)
    assert budget_rows([late])[0][2:5] == [1000, "1125", "+125"]
    assert budget_json([late])["overruns"][0]["over_ms"] == 125
    assert "MISSED" in budget_goals([late])[0].says
