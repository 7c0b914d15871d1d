"""The SQL engine of a store of record on a server: each read within a deadline, behind a circuit breaker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from retrieval.errors import StoreNotResponding
from retrieval.registry.sql.engine import Engine, Session
from retrieval.scope import Scope
from retrieval.servers.breaker import Breaker, CircuitOpen

T = TypeVar("T")


class GuardedEngine:
    """The engine it is given (which it closes), asked for at most `deadline_s`; while its server does not answer, a
    read raises `StoreNotResponding` at once. Writes are ingest's and take as long as they take. An `Engine`."""

    def __init__(self, engine: Engine, *, breaker: Breaker, deadline_s: float) -> None:
        self._engine = engine
        self._deadline_s = deadline_s
        self.breaker = breaker

    async def read(self, job: Callable[[Session], T], *, scope: Scope | None) -> T:
        """See `Engine`."""
        try:
            with self.breaker.call(self._deadline_s):
                return await self._within(job, scope)
        except CircuitOpen:
            message = "the store of record is not responding; circuit open"
            raise StoreNotResponding(message) from None

    async def write(self, job: Callable[[Session], T]) -> T:
        """See `Engine`."""
        return await self._engine.write(job)

    async def compact(self) -> None:
        """See `Engine`."""
        await self._engine.compact()

    async def aclose(self) -> None:
        """See `Engine`."""
        await self._engine.aclose()

    async def _within(self, job: Callable[[Session], T], scope: Scope | None) -> T:
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._engine.read(job, scope=scope)
        except TimeoutError as exc:
            raise StoreNotResponding(f"the store of record did not answer within {self._deadline_s:g} s") from exc
