"""Worker threads: bounded, and no work goes on for a caller who has gone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from retrieval.worker import Stop, Workers


@pytest.fixture
async def one() -> AsyncIterator[Workers]:
    workers = Workers("test", size=1)
    yield workers
    await workers.aclose()


async def test_the_result_and_the_fault_come_back(one: Workers) -> None:
    assert await one.run(lambda _: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await one.run(lambda _: 1 // 0)


async def test_work_that_runs_ends_at_its_next_check(one: Workers) -> None:
    running, over = threading.Event(), threading.Event()

    def endless(stop: Stop) -> None:
        running.set()
        try:
            while True:
                stop.check()
        finally:
            over.set()

    task = asyncio.create_task(one.run(endless))
    await asyncio.to_thread(running.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(over.wait, 5)
    assert await one.run(lambda _: "free") == "free"


async def test_work_that_waits_never_starts(one: Workers) -> None:
    gate, begun = threading.Event(), threading.Event()
    first = asyncio.create_task(one.run(lambda _: gate.wait(5)))
    second = asyncio.create_task(one.run(lambda _: begun.set()))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.set()
    await first
    await one.run(lambda _: None)
    assert not begun.is_set()


async def test_no_more_threads_than_its_size() -> None:
    workers, names = Workers("test", size=2), set()

    def note(_: Stop) -> None:
        names.add(threading.current_thread().name)

    await asyncio.gather(*(workers.run(note) for _ in range(50)))
    await workers.aclose()
    assert 1 <= len(names) <= 2
