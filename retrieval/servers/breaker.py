"""A circuit breaker: a server that does not answer is left alone for a while, and asked again with one trial.

While it is open, nobody waits a whole deadline to learn that there is no answer. It counts silence (no connection, no
answer in time, half a reply), never an answer, however wrong: one call that makes a server fail cannot shut out all
others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

LIMIT = 5
REST_S = 1.0


class CircuitState(StrEnum):
    """Closed: every call goes through. Open: none does. Half open: one at a time may try."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class CircuitOpen(Exception):
    """The server is being left alone."""


class Breaker:
    """Opens after `limit` silences in a row, for `rest_s` seconds by `clock` (monotonic); then one call at a time may
    try. `silences` are the errors that mean that the server did not answer."""

    def __init__(
        self,
        *silences: type[Exception],
        clock: Callable[[], float],
        limit: int = LIMIT,
        rest_s: float = REST_S,
    ) -> None:
        self._silences = silences
        self._clock = clock
        self._limit = limit
        self._rest_s = rest_s
        self._counted = 0
        self._open_until = 0.0
        self._trying = False

    @property
    def state(self) -> CircuitState:
        """The outcome of a call made now."""
        if self._counted < self._limit:
            return CircuitState.CLOSED
        return CircuitState.OPEN if self._clock() < self._open_until else CircuitState.HALF_OPEN

    @contextmanager
    def call(self, deadline_s: float) -> Iterator[None]:
        """Around one call of at most `deadline_s` seconds. Raises CircuitOpen instead of entering.

        Leaving it without an exception is an answer; with one of the silences, or cancelled when the time is all but up
        (the caller's timer over the same deadline rang first), it is none; any other exception says nothing.
        """
        state = self.state
        trial = state is CircuitState.HALF_OPEN
        if state is CircuitState.OPEN or (trial and self._trying):
            raise CircuitOpen
        self._trying = self._trying or trial
        started = self._clock()
        try:
            yield
            self._counted = 0
        except self._silences:
            self._count()
            raise
        except asyncio.CancelledError:
            if self._clock() - started >= deadline_s * 0.9:
                self._count()
            raise
        finally:
            if trial:
                self._trying = False

    def _count(self) -> None:
        self._counted += 1
        self._open_until = self._clock() + self._rest_s
