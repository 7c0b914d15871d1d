"""The goals of `exhibit bench ledger`: met, missed, or not measured, which counts as missed."""

from __future__ import annotations

from dataclasses import replace

from api.measure.bench.log.ledger import LedgerFigures, Rates, ledger_goals, ledger_json
from api.measure.bench.statistics import Percentiles

GOOD = LedgerFigures(
    paced=Percentiles(500, 3.0, 5.0, 9.9),
    disk=Percentiles(500, 0.3, 0.5, 1.0),
    embedded=Rates(800.0, 2_000.0, 6_000.0),
    entry_bytes=55_500,
    stored_bytes=20_769.0,
    leaves=100_000,
    verify_s=4.9,
    proof=Percentiles(200, 0.5, 0.6, 0.7),
    server_leaves_per_s=3_500.0,
    server_plain_per_s=19_000.0,
)


def missed(figures: LedgerFigures) -> int:
    return sum(not goal.met for goal in ledger_goals(figures))


def test_a_goal_is_met_missed_or_not_measured() -> None:
    assert missed(GOOD) == 0
    assert missed(replace(GOOD, paced=Percentiles(500, 3.0, 5.0, 10.1))) == 1
    assert missed(replace(GOOD, embedded=Rates(399.0, 1.0, 1.0))) == 1
    assert missed(replace(GOOD, verify_s=5.1)) == 1
    assert missed(replace(GOOD, verify_s=4.9, leaves=50_000)) == 1
    assert missed(replace(GOOD, proof=Percentiles(200, 1.1, 1.2, 1.3))) == 1
    assert missed(replace(GOOD, server_leaves_per_s=1_999.0)) == 1
    assert missed(replace(GOOD, server_leaves_per_s=None)) == 1
    assert [goal["met"] for goal in ledger_json(replace(GOOD, server_leaves_per_s=None))["goals"]].count(False) == 1
