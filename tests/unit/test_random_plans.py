"""Random plans come to what plain Python makes of the same places and figures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from retrieval.spatial.sqlite import SpatialChannel, SpatialIndex
from tests.plans import expected, ids_in, plans
from tests.structured import asking, region


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[SpatialIndex]:
    opened = SpatialIndex.open(tmp_path / "spatial.sqlite")
    await opened.add(region())
    await opened.commit()
    yield opened
    await opened.aclose()


@pytest.fixture
async def channel(index: SpatialIndex, tmp_path: Path) -> AsyncIterator[SpatialChannel]:
    opened = SpatialChannel.open(tmp_path / "spatial.sqlite")
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("seed", range(40))
async def test_a_plan_comes_to_what_plain_python_does(channel: Any, seed: int) -> None:
    answered = 0
    for plan in plans(seed, 60):
        hits = (await channel.search(asking(plan))).hits
        done = hits[0].computed if hits else None
        places, value, holds = expected(plan)
        if done is None:
            assert not places, plan
            assert value is None, plan
            continue
        answered += 1
        assert ids_in(done.result["places"]) == places, plan
        assert done.result.get("holds") is holds, plan
        if value is not None and "value" in done.result:
            assert float(done.result["value"]) == pytest.approx(value, abs=0.06), plan
    assert answered > 25
