"""A circuit breaker: a server that does not answer is left alone for a while, and asked again with one trial.

It fails closed. While it is open there is no decision, and nobody waits a whole deadline to learn that. It counts
silence (no connection, no answer in time, half a reply), never an answer, however wrong: an input that makes a rule
fail cannot shut out everyone else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class CircuitOpen(Exception):
    """The server is being left alone."""


class Silence(Exception):
    """Raised inside `Breaker.call`: the server did not answer. `problem` and text are for who reports it."""

    def __init__(self, problem: str, text: str) -> None:
        super().__init__(text)
        self.problem = problem


class Breaker:
    """Opens after `limit` silences in a row, for `rest_s` seconds by `clock`; then one call at a time may try."""

    def __init__(self, *, clock: Callable[[], float], limit: int = 5, rest_s: float = 1.0) -> None:
        self._clock = clock
        self._limit = limit
        self._rest_s = rest_s
        self._silences = 0
        self._open_until = 0.0
        self._trying = False

    @property
    def state(self) -> str:
        """`closed`; `open` while nothing is asked; `half-open` when the next call may try."""
        if self._silences < self._limit:
            return "closed"
        return "open" if self._clock() < self._open_until else "half-open"

    @contextmanager
    def call(self, deadline_s: float) -> Iterator[None]:
        """Around one call of at most `deadline_s` seconds. Raises CircuitOpen instead of entering.

        Leaving it without an exception is an answer; with Silence, or cancelled when the time is all but up (the
        caller's timer over the same deadline rang first), it is none; any other exception says nothing.
        """
        trial = self._silences >= self._limit
        if trial and (self._trying or self._clock() < self._open_until):
            raise CircuitOpen
        self._trying = self._trying or trial
        started = self._clock()
        try:
            yield
            self._silences = 0
        except Silence:
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
        self._silences += 1
        self._open_until = self._clock() + self._rest_s
