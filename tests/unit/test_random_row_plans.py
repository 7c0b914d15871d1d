"""Random plans over rows come to what plain Python makes of the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.stated import with_stated
from tests.channel_backends import Opener
from tests.channel_backends import graph as sqlite_graph
from tests.fakes_ai import sourced
from tests.row_plans import batch, expected, plans, rows
from tests.structured import asking


@pytest.fixture
def opener() -> Opener:
    return sqlite_graph


@pytest.mark.parametrize("seed", range(10))
async def test_a_plan_over_rows_comes_to_what_plain_python_does(opener: Opener, tmp_path: Path, seed: int) -> None:
    given, answered = batch(seed), 0
    records = {each.record_id: sourced(each) for each in given.records}
    async with opener(tmp_path) as backend:
        await backend.index.add(given)
        await backend.index.commit()
        for plan in plans(seed, 60):
            query = asking(plan, top_k=200)
            run = with_stated(await backend.channel.search(query), records, query)
            done = next((hit.computed for hit in run.hits if hit.computed is not None), None)
            wanted = expected(plan, rows(seed))
            if done is None:
                assert not wanted, plan
                continue
            answered += 1
            assert [each["entity_id"] for each in done.result["entities"]] == wanted, plan  # type: ignore[attr-defined]
    assert answered > 25
