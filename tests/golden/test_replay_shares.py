"""Entries that are replayed by several processes get the reports that one process gives, in their order."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.replay.replay import Grade
from api.cli.replay.shares import ENTRIES_PER_PROCESS, replay_each, replay_shared, shares
from ledger.errors import EntryNotFound
from tests.harness import ask, opened


@given(count=st.integers(0, 1_000), processes=st.integers(1, 64))
def test_every_entry_is_dealt_once_and_no_process_is_started_for_a_few(count: int, processes: int) -> None:
    ids = [str(number) for number in range(count)]
    dealt = shares(ids, processes)
    assert sorted((each for share in dealt for each in share), key=int) == ids
    assert 1 <= len(dealt) <= processes
    assert len(dealt) == 1 or min(map(len, dealt)) >= ENTRIES_PER_PROCESS


async def test_two_processes_report_what_one_reports(kansas_home: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(kansas_home, home)
    async with opened(home) as system:
        for county in ("Shawnee", "Ford", "Nowhere"):
            await ask(system, f"What was the population of {county} County in 1930?")
        asked = [entry.leaf.entry_id async for entry in system.services.ledger.every()][-6:]
        ids = asked * ENTRIES_PER_PROCESS  # each of them often enough for two processes
        alone = [report async for report in replay_each(system, asked, up_to=Grade.R1)]
    beside = await replay_shared(home, ids[: 2 * ENTRIES_PER_PROCESS], up_to=Grade.R1, processes=2)
    assert beside == [alone[number % len(asked)] for number in range(2 * ENTRIES_PER_PROCESS)]
    assert {report.grade for report in alone} == {Grade.R0, Grade.R1}


async def test_an_entry_that_is_not_there_ends_the_run(kansas_home: Path) -> None:
    with pytest.raises(EntryNotFound):
        await replay_shared(kansas_home, ["019a0000-0000-7000-8000-000000000000"], up_to=Grade.R1, processes=2)
