"""How many requests of one kind run at once: a few always, more while the process has processor time to spare.

Requests that wait for a server cost nothing and may be many; requests that compute delay each other, and every probe
with them. The process's own share of a processor tells the two apart, and no other process's load changes it.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from api.errors import Overloaded

_LOOK_AGAIN_S = 0.02
_WINDOW_S = 0.1
_BUSY_SHARE = 0.8


class ProcessorShare:
    """The share of one processor that this process used over the last tenth of a second or more."""

    def __init__(
        self, wall: Callable[[], float] = time.monotonic, used: Callable[[], float] = time.process_time
    ) -> None:
        self._wall, self._used = wall, used
        self._since = (wall(), used())
        self._share = 0.0

    def busy(self) -> bool:
        """True if the process computes most of the time."""
        wall, used = self._wall(), self._used()
        elapsed = wall - self._since[0]
        if elapsed >= _WINDOW_S:
            self._share = (used - self._since[1]) / elapsed
            self._since = (wall, used)
        return self._share >= _BUSY_SHARE


class Slots:
    """At most `always` requests at once, up to `most` while `busy` is false, and at most `waiting` behind them, first
    come, first served. Beyond `always` one more starts every fiftieth of a second: a crowd shows whether it computes
    before all of it does. One event loop. `hold` raises Overloaded for one more."""

    def __init__(
        self,
        *,
        always: int,
        most: int,
        waiting: int,
        busy: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._always, self._most, self._waiting = always, most, waiting
        self._busy, self._clock = busy, clock
        self._running = 0
        self._grew = -math.inf
        self._queue: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def running(self) -> int:
        """Requests that run now."""
        return self._running

    @property
    def queued(self) -> int:
        """Requests that wait for their turn."""
        return len(self._queue)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """A slot, for the length of the block. Raises Overloaded at once where too many wait already."""
        if self._queue or not self._free():
            await self._turn()
        else:
            self._start()
        try:
            yield
        finally:
            self._running -= 1
            self._serve_queue()

    async def _turn(self) -> None:
        if len(self._queue) >= self._waiting:
            raise Overloaded("Too many requests are waiting.")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._look_again()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the turn came in the moment of the cancellation
                self._running -= 1
                self._serve_queue()
            elif turn in self._queue:
                self._queue.remove(turn)
            raise

    def _free(self) -> bool:
        if self._running < self._always:
            return True
        grows = self._running < self._most and self._clock() - self._grew >= _LOOK_AGAIN_S
        return grows and not self._busy()

    def _start(self) -> None:
        if self._running >= self._always:
            self._grew = self._clock()
        self._running += 1

    def _serve_queue(self) -> None:
        while self._queue and self._free():
            turn = self._queue.popleft()
            if not turn.done():
                self._start()
                turn.set_result(None)
        self._look_again()

    def _look_again(self) -> None:
        """True if there is processor time to spare changes without any request ending."""
        if self._queue and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_LOOK_AGAIN_S, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._serve_queue()
