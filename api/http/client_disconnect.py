"""Work for a caller, as long as the caller is there."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

T = TypeVar("T")
GONE_STATUS = 499
"""The log status of such a request; nobody reads the response. No RFC has a status for it, nginx has this one."""


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T | None:
    """The result of `work`; None when the caller has gone before, which cancels the work and waits until it has
    stopped. The request's body must have been read."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        working.cancel()
        await asyncio.wait({working})
        # It may have ended in the moment of the cancellation; a failure of its own still counts.
        return None if working.cancelled() else working.result()
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.wait({working, watching})


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
