"""The Channel Protocol: one way to search one store inside a scope."""

from __future__ import annotations

from typing import Protocol

from retrieval.model import ChannelName, Query, Run


class Channel(Protocol):
    """One search channel.

    `search` returns at most `query.top_k` hits, best first, ranks 1..n without gaps, ties by `record_id`, only records
    that `query.scope` admits; ranking statistics come from admitted classes only; no hits is an empty run. The query
    text is data: no store syntax in it has an effect. Raises only `ChannelError`. Safe to call concurrently and to
    cancel: cancelling stops the store's work or at least frees its worker soon.
    """

    @property
    def name(self) -> ChannelName: ...

    @property
    def store(self) -> str:
        """The product that answers: `sqlite`, `tantivy`, `numpy`, `neo4j` ..."""
        ...

    async def search(self, query: Query) -> Run: ...

    async def aclose(self) -> None: ...
