"""The benchmark of the page: the slowest kind of suggestion decides, and what was not measured is not met."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.measure.bench.page import KEPT, MOST_KEPT_MS, READINGS, Reading, measure_page, page_goals, page_json, page_rows
from api.measure.bench.statistics import Percentiles


def reading(name: str, p50: float) -> Reading:
    return Reading(name, 200.0, Percentiles(9, p50, 2 * p50, 3 * p50), Percentiles(9, 1.5, 2.0, 2.5), 1_000)


@pytest.mark.parametrize(
    ("p50s", "met"),
    [
        ({KEPT: 3.0, f"{KEPT} around a place": 4.0}, True),
        ({KEPT: MOST_KEPT_MS, "page": 900.0}, True),
        ({KEPT: 3.0, f"{KEPT} around a place": MOST_KEPT_MS + 0.1}, False),
        ({"page": 1.0, "layers": 1.0}, False),
        ({}, False),
    ],
)
def test_the_slowest_suggestion_decides(p50s: dict[str, float], met: bool) -> None:
    [goal] = page_goals([reading(name, p50) for name, p50 in p50s.items()])
    assert goal.met is met


def test_the_report_tells_the_first_from_the_others() -> None:
    assert page_rows([reading(KEPT, 3.0)]) == [[KEPT, 1_000, "200.0", "3.0", "6.0", "1.5"]]
    assert page_json([reading(KEPT, 3.0)])["readings"][0]["again_ms"]["p50"] == 3.0


@pytest.mark.asyncio(loop_scope="function")
async def test_every_request_is_answered(tmp_path: Path) -> None:
    found = await measure_page(tmp_path, times=1)
    assert [each.name for each in found] == [*READINGS]
    assert min(each.bytes for each in found) > 100
