"""Bounded worker threads for blocking engines, whose work stops when its caller stops waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class WorkStopped(Exception):
    """Raised inside a worker by `Stop.check`; never seen by a caller, who has already gone."""


class Stop:
    """Says whether the caller still waits. Long work calls `check` between its steps."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def request(self) -> None:
        """Asks the work to end at its next step."""
        self._event.set()

    def check(self) -> None:
        """Raises `WorkStopped` once the caller has gone."""
        if self._event.is_set():
            raise WorkStopped


class Workers:
    """At most `size` threads. Work that waits for a thread when its caller is cancelled never starts; work that runs
    ends at its next `Stop.check`. Threads start with the first work, not before."""

    def __init__(self, name: str, *, size: int) -> None:
        self._executor = ThreadPoolExecutor(max_workers=size, thread_name_prefix=name)

    async def run(self, work: Callable[[Stop], T]) -> T:
        """The result of `work(stop)`, made in a worker thread; what it raises is raised here."""
        stop = Stop()
        future = asyncio.get_running_loop().run_in_executor(self._executor, work, stop)
        try:
            return await future
        except asyncio.CancelledError:
            stop.request()
            raise

    async def aclose(self) -> None:
        """Drops what has not begun and waits for what has."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._executor.shutdown)
