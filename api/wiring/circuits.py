"""The circuit breakers of one system, by the part that each guards, so that their state can be seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from ai.errors import ModelTimeout, ModelUnavailable
from ledger.errors import LedgerNotResponding, LedgerUnavailable
from policy.errors import OpaNotResponding, OpaUnavailable
from retrieval.channels.channel import Channel
from retrieval.channels.guarded import GuardedChannel, ServerChannel
from retrieval.errors import ChannelTimeout, ChannelUnavailable, StoreNotResponding
from retrieval.servers.breaker import LIMIT, Breaker, CircuitOpen

RECORDS = "records"
POLICY = "policy"
MODEL = "model"
RERANKER = "reranker"
LEDGER = "ledger"
_BATCHES = 2  # of entries, which are written one after the other: each silence is that of many callers
_CIRCUIT_OPEN = "is not responding; circuit open"
Guard = Callable[[float], AbstractContextManager[None]]
"""Around one call of at most so many seconds; raises instead of entering while the server is left alone."""


class Circuits:
    """The circuit of each server, by a monotonic `clock`; a part that is not on a server has none."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._breakers: dict[str, Breaker] = {}

    def states(self) -> Mapping[str, str]:
        """`closed`, `open` or `half-open` by part, now."""
        return {part: breaker.state for part, breaker in self._breakers.items()}

    def of_records(self) -> Breaker:
        """A new breaker for the store of record."""
        return self._breaker(RECORDS, StoreNotResponding)

    def of_model(self) -> Breaker:
        """A new breaker for the chat model."""
        return self._breaker(MODEL, ModelUnavailable, ModelTimeout)

    def of_reranker(self) -> Breaker:
        """A new breaker for the model that judges passages."""
        return self._breaker(RERANKER, ModelUnavailable, ModelTimeout)

    def of_policy(self) -> Guard:
        """The guard around each exchange with the OPA server. Raises OpaUnavailable while the circuit is open."""
        breaker = self._breaker(POLICY, OpaNotResponding)
        return _guard(breaker, lambda: OpaUnavailable("CIRCUIT_OPEN", _CIRCUIT_OPEN))

    def of_ledger(self) -> Guard:
        """The guard around each call of the ledger's server. Raises LedgerUnavailable while the circuit is open."""
        breaker = self._breaker(LEDGER, LedgerNotResponding, limit=_BATCHES)
        return _guard(breaker, lambda: LedgerUnavailable(f"the ledger's database {_CIRCUIT_OPEN}"))

    def guarding(
        self,
        open_channel: Callable[[], ServerChannel],
        *,
        deadline_ms: int,
        guard: Callable[..., Channel] = GuardedChannel,
    ) -> Callable[[], Channel]:
        """How to open the channel behind a new breaker, in a guard of its kind."""

        def guarded() -> Channel:
            channel = open_channel()
            breaker = self._breaker(str(channel.name), ChannelTimeout, ChannelUnavailable)
            return guard(channel, breaker=breaker, deadline_s=deadline_ms / 1000)

        return guarded

    def _breaker(self, part: str, *silences: type[Exception], limit: int = LIMIT) -> Breaker:
        breaker = self._breakers[part] = Breaker(*silences, clock=self._clock, limit=limit)
        return breaker


def _guard(breaker: Breaker, left_alone: Callable[[], Exception]) -> Guard:
    @contextmanager
    def guard(deadline_s: float) -> Iterator[None]:
        try:
            with breaker.call(deadline_s):
                yield
        except CircuitOpen:
            raise left_alone() from None

    return guard
