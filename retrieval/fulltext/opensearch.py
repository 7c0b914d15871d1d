"""Full text on OpenSearch: BM25 over one index per visibility class, on a server.

A search names the aliases of the admitted classes and filters by class beside it. Term weights are those of the named
indexes taken together (`dfs_query_then_fetch`), so no other class has a say, and neither has the number of shards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Self

from opensearchpy import AsyncOpenSearch

from retrieval.errors import ChannelFault, ChannelUnavailable, IndexNotReady, RetrievalError
from retrieval.fulltext.opensearch_reply import SCORE_DECIMALS, IndexInTransition, Reply, read_reply
from retrieval.fulltext.opensearch_schema import (
    PREFIX,
    IndexNames,
    class_key,
    entries_body,
    frequencies_body,
    question_terms,
    search_body,
)
from retrieval.fulltext.opensearch_server import GONE, Address, check_server, client_of, faults
from retrieval.fulltext.opensearch_state import read_state
from retrieval.fulltext.terms import Terms
from retrieval.model import ChannelName, Hit, Query, Run
from retrieval.servers.statement import Statement

STORE = "opensearch"
K1 = 1.2  # the server's; a word in a very short passage scores at most its idf
_PLAIN_BM25 = 3  # before this version of the server, (k1 + 1) times its idf
_MARGIN = 8  # hits beyond those asked for, to see where a tie ends
_MOST = 10_000  # that the server gives in one reply
_READINGS = 6
_PAUSE_S = 0.05  # until what was replaced has its successor
Answered = tuple[Reply, Sequence[Statement]]


class OpenSearchChannel:
    """Finds records by their words. A `Channel`; a search takes at most `deadline_s`, on the server too."""

    name = ChannelName.FULLTEXT
    store = STORE

    def __init__(self, client: AsyncOpenSearch, *, prefix: str = PREFIX, deadline_s: float = 2.0) -> None:
        self._client = client
        self._names = IndexNames(prefix)
        self._deadline_s = deadline_s
        self._deadline = f"{max(1, int(deadline_s * 1000))}ms"
        self._cancelling = {"cancel_after_time_interval": self._deadline}
        self._checked = False
        self._most_per_idf = 1.0

    @classmethod
    def open(cls, url: str, *, ca_file: Path | None = None, prefix: str = PREFIX, deadline_s: float = 2.0) -> Self:
        """The channel over a server, which is not asked before the first search. Raises ChannelUnavailable for an
        address or a file of authorities that is none."""
        client = client_of(Address.parse(url, ca_file=ca_file), deadline_s=deadline_s)
        return cls(client, prefix=prefix, deadline_s=deadline_s)

    def asks(self, query: Query) -> bool:
        """True if a search needs the server: a question without a word finds nothing."""
        return query.top_k > 0 and bool(query.scope.class_ids and question_terms(query.text).words)

    async def search(self, query: Query) -> Run:
        """See `Channel`. Raises IndexNotReady where an admitted class's index is lost or of another version."""
        if not self.asks(query):
            return Run(self.name, self.store)
        reply, _ = await self._asked(query)
        found = reply.found[: query.top_k]
        hits = tuple(Hit(rank, hit.record_id, hit.score) for rank, hit in enumerate(found, start=1))
        ceiling = round(reply.weight * self._most_per_idf, SCORE_DECIMALS)
        return Run(self.name, self.store, hits, ceiling=ceiling)

    async def statements_of(self, query: Query) -> Sequence[Statement]:
        """See `ServerChannel`."""
        return (await self._asked(query))[1] if self.asks(query) else ()

    async def aclose(self) -> None:
        """See `Channel`."""
        await self._client.close()

    async def _asked(self, query: Query) -> Answered:
        with faults():
            async with asyncio.timeout(self._deadline_s):
                return await self._settled(question_terms(query.text), query)

    async def _settled(self, terms: Terms, query: Query) -> Answered:
        """The results; a search that met a commit, or a server that was started again, is made again."""
        gone = 0
        told: RetrievalError = ChannelUnavailable(self.name, "the full-text index is not ready, or is being written")
        for _ in range(_READINGS):
            try:
                await self._check()
                return await self._top(terms, query)
            except IndexInTransition:
                await asyncio.sleep(_PAUSE_S)
            except IndexNotReady as exc:  # or a version was replaced while it was searched
                told = exc
                await asyncio.sleep(_PAUSE_S)
            except GONE:
                gone += 1
                if gone > 1:
                    raise
        raise told

    async def _check(self) -> None:
        if not self._checked:
            version = await check_server(self._client)
            self._most_per_idf = 1.0 if version is None or version >= _PLAIN_BM25 else K1 + 1
            self._checked = True

    async def _top(self, terms: Terms, query: Query) -> Answered:
        """The best `top_k` and a few more; hits are fetched until the last of them is told from what follows, because
        the server breaks ties by scores that are not rounded."""
        class_ids, top_k = sorted(query.scope.class_ids), query.top_k
        size = min(top_k + _MARGIN, _MOST)
        sent: list[Statement] = []
        while True:
            sent.append(self._request(terms, class_ids, query.documents, size))
            told = await self._client.msearch(body=sent[-1].parameters, params=self._cancelling)
            reply = read_reply(told, class_ids=class_ids, size=size, words=len(terms.words))
            found = reply.found
            if len(found) < size or size == _MOST or found[-1].score < found[top_k - 1].score:
                break
            size = min(size * 4, _MOST)
        if reply.indexes < len(class_ids):
            await self._none_lost(class_ids)
        return reply, sent

    def _request(
        self, terms: Terms, class_ids: Sequence[str], documents: Collection[str] | None, size: int
    ) -> Statement:
        """One search of one state of all classes: the server looks the names up once. They stand in the body, because
        an address has no room for many."""
        deadline = self._deadline
        named = {
            "index": [self._names.alias(class_key(class_id)) for class_id in class_ids],
            "search_type": "dfs_query_then_fetch",
            "ignore_unavailable": True,
            "allow_partial_search_results": False,
        }
        counted = {**named, "search_type": "query_then_fetch"}
        body = [
            *(named, {**search_body(terms, class_ids, documents, size=size), "timeout": deadline}),
            *(counted, {**frequencies_body(terms, class_ids), "timeout": deadline}),
            *(counted, {**entries_body(class_ids), "timeout": deadline}),
        ]
        return Statement("_msearch", body)

    async def _none_lost(self, class_ids: Sequence[str]) -> None:
        """A class without an index had no documents when it was searched, or its index is lost: raises IndexNotReady
        for that."""
        stated = await read_state(self._client, self._names)
        missing = stated.intersection(map(class_key, class_ids))
        if missing and not {self._names.alias(key) for key in missing} <= await self._aliases():
            raise IndexNotReady("an index of the full-text server is lost; rebuild it: exhibit index rebuild")

    async def _aliases(self) -> set[str]:
        told: Any = await self._client.indices.get_alias(index=self._names.everything)
        try:
            return {alias for index in told.values() for alias in index["aliases"]}
        except (AttributeError, KeyError, TypeError) as exc:
            raise ChannelFault(self.name, "the full-text server gave an invalid answer") from exc
