"""Many entries replayed by several processes, each with the home open for itself: a replay computes, and a process of
Python computes on one core."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from api.cli.console import configuration

if TYPE_CHECKING:
    from ai.replay.replay import Grade, ReplayReport
    from api.wiring import System

ENTRIES_PER_PROCESS = 50
"""Fewest entries of a process: for fewer, opening the home once more costs more than it saves."""


def shares(ids: Sequence[str], processes: int) -> list[Sequence[str]]:
    """The entries dealt out to so many processes, or to fewer where there are few entries. Neighbours cost alike, so
    that they go to different ones."""
    used = max(1, min(processes, len(ids) // ENTRIES_PER_PROCESS))
    return [ids[first::used] for first in range(used)]


async def replay_shared(
    home: Path | None, ids: Sequence[str], *, up_to: Grade, processes: int | None = None
) -> list[ReplayReport]:
    """The entries replayed, in their order, by as many processes as there are cores. Raises what `replay` raises."""
    dealt = shares(ids, processes or os.cpu_count() or 1)
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(len(dealt), multiprocessing.get_context("spawn")) as pool:
        jobs = [loop.run_in_executor(pool, replay_share, home, share, up_to) for share in dealt]
        reports = await asyncio.gather(*jobs)
    by_id = {report.entry_id: report for share in reports for report in share}
    return [by_id[entry_id] for entry_id in ids]


def replay_share(home: Path | None, ids: Sequence[str], up_to: Grade) -> list[ReplayReport]:
    """The work of one process."""

    async def replayed() -> list[ReplayReport]:
        from api.wiring import open_system

        async with open_system(configuration(home)) as system:
            return [report async for report in replay_each(system, ids, up_to=up_to)]

    return asyncio.run(replayed())


async def replay_each(system: System, ids: Sequence[str], *, up_to: Grade) -> AsyncIterator[ReplayReport]:
    """The entries one after another, each under the policy that decided it."""
    from ai.replay.replay import replay
    from api.audit.entries.recorded_policy import recorded_policies

    async with recorded_policies(system) as policies:
        for entry_id in ids:
            yield await replay(entry_id, services=await policies.services_of(entry_id), up_to=up_to)
