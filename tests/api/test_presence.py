"""Work for a caller that goes away is stopped; for one that stays it ends."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request
from starlette.types import Message

from api.http.client_disconnect import while_connected


class Caller:
    """Who sent a request: its body has been read; `leave` closes the connection."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    def leave(self) -> None:
        self.left.set()

    @property
    def request(self) -> Request:
        return Request({"type": "http", "method": "POST", "headers": []}, self._receive)

    async def _receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}


async def test_work_for_a_caller_that_stays_ends() -> None:
    async def work() -> str:
        await asyncio.sleep(0.01)
        return "done"

    assert await while_connected(Caller().request, work()) == "done"


async def test_a_failure_of_the_work_is_its_own() -> None:
    async def work() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await while_connected(Caller().request, work())


async def test_work_for_a_caller_that_leaves_is_stopped_before_the_end() -> None:
    caller, ended = Caller(), list[str]()

    async def work() -> str:
        try:
            caller.leave()
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)  # it may take leave of its own
            ended.append("stopped")
        return "done"

    assert await while_connected(caller.request, work()) is None
    assert ended == ["stopped"]


async def test_a_cancelled_route_stops_the_work_too() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def work() -> str:
        try:
            started.set()
            await asyncio.sleep(60)
        finally:
            stopped.set()
        return "done"

    route = asyncio.create_task(while_connected(Caller().request, work()))
    await started.wait()
    route.cancel()
    with pytest.raises(asyncio.CancelledError):
        await route
    assert stopped.is_set()
