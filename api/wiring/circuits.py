"""The circuit breakers of one system, by the part that each guards, so that their state can be seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from ai.errors import ModelTimeout, ModelUnavailable
from ledger.errors import LedgerSilent, LedgerUnavailable
from policy.errors import OpaSilent, OpaUnavailable
from retrieval.breaker import LIMIT, Breaker, CircuitOpen
from retrieval.channel import Channel
from retrieval.errors import ChannelTimeout, ChannelUnavailable, StoreSilent
from retrieval.guarded_channel import GuardedChannel, ServerChannel

RECORDS = "records"
POLICY = "policy"
MODEL = "model"
RERANKER = "reranker"
LEDGER = "ledger"
_BATCHES = 2  # of entries, which are written one after the other: each silence is that of many callers
_LEFT_ALONE = "has not answered lately and is left alone for a moment"
Guard = Callable[[float], AbstractContextManager[None]]
"""Around one call of at most so many seconds; raises instead of entering while the server is left alone."""


class Circuits:
    """What guards each server, by a monotonic `clock`; a part that is no server has no circuit."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._breakers: dict[str, Breaker] = {}

    def states(self) -> Mapping[str, str]:
        """`closed`, `open` or `half-open` by part, now."""
        return {part: breaker.state for part, breaker in self._breakers.items()}

    def of_records(self) -> Breaker:
        """A new breaker for the store of record."""
        return self._breaker(RECORDS, StoreSilent)

    def of_model(self) -> Breaker:
        """A new breaker for the chat model."""
        return self._breaker(MODEL, ModelUnavailable, ModelTimeout)

    def of_reranker(self) -> Breaker:
        """A new breaker for the model that judges passages."""
        return self._breaker(RERANKER, ModelUnavailable, ModelTimeout)

    def of_policy(self) -> Guard:
        """What stands around each exchange with the OPA server. Raises OpaUnavailable while that is left alone."""
        breaker = self._breaker(POLICY, OpaSilent)
        return _guard(breaker, lambda: OpaUnavailable("CIRCUIT_OPEN", _LEFT_ALONE))

    def of_ledger(self) -> Guard:
        """What stands around each call of the ledger's server. Raises LedgerUnavailable while that is left alone."""
        breaker = self._breaker(LEDGER, LedgerSilent, limit=_BATCHES)
        return _guard(breaker, lambda: LedgerUnavailable(f"the ledger's database {_LEFT_ALONE}"))

    def guarded(self, channel: ServerChannel, *, deadline_ms: int) -> Channel:
        """The channel behind a new breaker."""
        breaker = self._breaker(str(channel.name), ChannelTimeout, ChannelUnavailable)
        return GuardedChannel(channel, breaker=breaker, deadline_s=deadline_ms / 1000)

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
