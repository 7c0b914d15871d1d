"""A channel in whose way a benchmark stands, to listen, to time or to slow it down."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.channels.channel import Channel
from retrieval.model import ChannelName, Query, Run


@dataclass(slots=True)
class WrappedChannel:
    """The channel it is given, unchanged. A `Channel`; what stands in the way overrides `search`."""

    inner: Channel

    @property
    def name(self) -> ChannelName:
        """See `Channel`."""
        return self.inner.name

    @property
    def store(self) -> str:
        """See `Channel`."""
        return self.inner.store

    async def search(self, query: Query) -> Run:
        """See `Channel`."""
        return await self.inner.search(query)

    async def aclose(self) -> None:
        """See `Channel`."""
        await self.inner.aclose()
