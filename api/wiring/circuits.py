"""The circuit breakers of one system, by the part that each guards, so that their state can be seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from ai.errors import ModelTimeout, ModelUnavailable
from ledger.errors import LedgerSilent, LedgerUnavailable
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


class Circuits:
    """What guards each server; a part that is no server has no circuit."""

    def __init__(self) -> None:
        self._states: dict[str, Callable[[], str]] = {}

    def states(self) -> Mapping[str, str]:
        """`closed`, `open` or `half-open` by part, now."""
        return {part: state() for part, state in self._states.items()}

    def watch(self, part: str, state: Callable[[], str]) -> None:
        """Shows the state of a breaker that somebody else holds."""
        self._states[part] = state

    def of_records(self) -> Breaker:
        """A new breaker for the store of record."""
        return self._breaker(RECORDS, StoreSilent)

    def of_model(self) -> Breaker:
        """A new breaker for the chat model."""
        return self._breaker(MODEL, ModelUnavailable, ModelTimeout)

    def of_reranker(self) -> Breaker:
        """A new breaker for the model that judges passages."""
        return self._breaker(RERANKER, ModelUnavailable, ModelTimeout)

    def of_ledger(self) -> Callable[[float], AbstractContextManager[None]]:
        """What stands around each call of the ledger's server. Raises LedgerUnavailable while that is left alone."""
        breaker = self._breaker(LEDGER, LedgerSilent, limit=_BATCHES)

        @contextmanager
        def guard(deadline_s: float) -> Iterator[None]:
            try:
                with breaker.call(deadline_s):
                    yield
            except CircuitOpen:
                message = "the ledger's database has not answered lately and is left alone for a moment"
                raise LedgerUnavailable(message) from None

        return guard

    def guarded(self, channel: ServerChannel, *, deadline_ms: int) -> Channel:
        """The channel behind a new breaker."""
        breaker = self._breaker(str(channel.name), ChannelTimeout, ChannelUnavailable)
        return GuardedChannel(channel, breaker=breaker, deadline_s=deadline_ms / 1000)

    def _breaker(self, part: str, *silences: type[Exception], limit: int = LIMIT) -> Breaker:
        breaker = Breaker(*silences, clock=time.monotonic, limit=limit)
        self.watch(part, lambda: breaker.state)
        return breaker
