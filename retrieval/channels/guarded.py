"""A channel over a server, behind a circuit breaker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from retrieval.channels.channel import Channel
from retrieval.channels.traversal import Neighbourhood, Traversal, Walk
from retrieval.errors import ChannelCircuitOpen
from retrieval.model import ChannelName, Query, Run
from retrieval.scope import Scope
from retrieval.servers.breaker import Breaker, CircuitOpen
from retrieval.servers.statement import Statement


class ServerChannel(Channel, Protocol):
    """A channel whose searches ask a server, unless nothing can be found."""

    def asks(self, query: Query) -> bool:
        """True if the search of `query` needs the server; the run of any other is empty."""
        ...

    async def statements_of(self, query: Query) -> Sequence[Statement]:
        """Reads of the search of `query` from the server, in order: found by searching, since what one statement
        finds may be asked about by the next. Raises what `search` raises."""
        ...


class GuardedChannel:
    """The channel it is given (which it closes), left alone while its server does not answer: then a search raises
    `ChannelCircuitOpen` at once. A search that does not ask the server tells the breaker nothing. A `Channel`."""

    def __init__(self, channel: ServerChannel, *, breaker: Breaker, deadline_s: float) -> None:
        self._channel = channel
        self._deadline_s = deadline_s
        self.breaker = breaker

    @property
    def name(self) -> ChannelName:
        """See `Channel`."""
        return self._channel.name

    @property
    def store(self) -> str:
        """See `Channel`."""
        return self._channel.store

    async def search(self, query: Query) -> Run:
        """See `Channel`."""
        if not self._channel.asks(query):
            return await self._channel.search(query)
        with self._asked():
            return await self._channel.search(query)

    async def statements_of(self, query: Query) -> Sequence[Statement]:
        """See `ServerChannel`; the breaker is not asked."""
        return await self._channel.statements_of(query)

    async def aclose(self) -> None:
        """See `Channel`."""
        await self._channel.aclose()

    @contextmanager
    def _asked(self) -> Iterator[None]:
        try:
            with self.breaker.call(self._deadline_s):
                yield
        except CircuitOpen:
            message = "its store is not responding; circuit open"
            raise ChannelCircuitOpen(self.name, message) from None


class ServerGraph(ServerChannel, Traversal, Protocol):
    """A graph on a server."""


class GuardedGraph(GuardedChannel):
    """A graph behind a breaker, walks too. A `Channel` and a `Traversal`."""

    def __init__(self, graph: ServerGraph, *, breaker: Breaker, deadline_s: float) -> None:
        super().__init__(graph, breaker=breaker, deadline_s=deadline_s)
        self._graph = graph

    async def around(self, walk: Walk, *, scope: Scope) -> Neighbourhood:
        """See `Traversal`."""
        with self._asked():
            return await self._graph.around(walk, scope=scope)
