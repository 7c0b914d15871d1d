"""Waiting for a store to be found again: without a restart of ours, within a bound."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from retrieval.errors import RetrievalError

T = TypeVar("T")
BOUND_S = 60.0


async def recovered(work: Callable[[], Awaitable[T]]) -> T:
    """What `work` gives as soon as it no longer raises an error of the store; its last error if that takes too long."""
    try:
        async with asyncio.timeout(BOUND_S):
            while True:
                try:
                    return await work()
                except RetrievalError:
                    await asyncio.sleep(0.1)
    except TimeoutError:
        return await work()
