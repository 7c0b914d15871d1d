"""The graph channel on Neo4j: the same edges, postings and ranking as in a file, on a server.

A server holds any number of graphs by name. Each has a generation: what a writer adds or takes away is of the next
one, and becomes visible when one property of one node is set. A search reads one generation; when it has moved
meanwhile, the search is made again, so that nobody sees half a document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from neo4j import READ_ACCESS, AsyncDriver, AsyncTransaction

from retrieval.errors import ChannelUnavailable
from retrieval.graph import cypher
from retrieval.graph.edges import Edge, EdgeKind, Postings, store_key
from retrieval.graph.neo4j_server import GONE, driver_of, faults
from retrieval.graph.rank import rank
from retrieval.model import ChannelName, Hit, Query, Run, TimeRange
from retrieval.scope import Scope

_FEW = 500
_READINGS = 4


@dataclass(slots=True)
class _Caller:
    """Whether somebody waits for a search, and whether the server has begun it."""

    waits: bool = True
    served: bool = False


class Neo4jChannel:
    """Finds records by what they relate, as `retrieval.graph.sqlite.GraphChannel` does and with the same ranks and
    scores. A `Channel`; a search takes at most `deadline_s`, on the server too."""

    name = ChannelName.GRAPH
    store = "neo4j"

    def __init__(self, driver: AsyncDriver, *, graph: str = cypher.GRAPH, deadline_s: float = 2.0) -> None:
        self._driver = driver
        self._graph = graph
        self._deadline_s = deadline_s
        self._left: set[asyncio.Task[Run]] = set()

    @classmethod
    def open(cls, uri: str, user: str, password: str, *, graph: str = cypher.GRAPH, deadline_s: float = 2.0) -> Self:
        """The channel over a server, which is not asked before the first search. Raises ChannelUnavailable for an
        address that is none."""
        return cls(driver_of(uri, user, password, deadline_s=deadline_s), graph=graph, deadline_s=deadline_s)

    def asks(self, query: Query) -> bool:
        """Whether a search needs the server: nothing is found without a name or a time."""
        return query.top_k > 0 and bool(query.scope.class_ids and (query.intent.mentions or query.intent.times))

    async def search(self, query: Query) -> Run:
        """See `Channel`."""
        if not self.asks(query):
            return Run(self.name, self.store)
        with faults():
            async with asyncio.timeout(self._deadline_s):
                return await self._awaited(query)

    async def aclose(self) -> None:
        """See `Channel`."""
        if self._left:
            await asyncio.wait(self._left, timeout=self._deadline_s)
        await self._driver.close()

    async def _awaited(self, query: Query) -> Run:
        """The run, for as long as the caller waits. A search that is left while it connects ends by itself soon
        after, because the driver cannot be interrupted there without losing a socket; one that is left later is
        interrupted, and so is the server's work."""
        caller = _Caller()
        search = asyncio.create_task(self._settled(query, caller))
        try:
            return await asyncio.shield(search)
        except asyncio.CancelledError:
            caller.waits = False
            self._left.add(search)
            search.add_done_callback(self._forget)
            if caller.served:
                search.cancel()
            raise

    def _forget(self, search: asyncio.Task[Run]) -> None:
        self._left.discard(search)
        if not search.cancelled():
            search.exception()  # nobody waits for it

    async def _settled(self, query: Query, caller: _Caller) -> Run:
        """The run of one generation."""
        gone = 0
        for _ in range(_READINGS):
            try:
                run = await self._read(query, caller)
            except GONE:  # a connection of a server that has since been started again
                gone += 1
                if gone > 1 or not caller.waits:
                    raise
                continue
            if run is not None:
                return run
        raise ChannelUnavailable(self.name, "the graph is being written")

    async def _read(self, query: Query, caller: _Caller) -> Run | None:
        """None when the generation moved."""
        async with (
            self._driver.session(default_access_mode=READ_ACCESS, fetch_size=-1) as session,
            await session.begin_transaction(timeout=self._deadline_s) as transaction,
        ):
            caller.served = True
            if not caller.waits:
                raise asyncio.CancelledError
            generation = await self._generation(transaction)
            if generation is None:
                return Run(self.name, self.store)
            reads = Neo4jReads(transaction, query.scope, graph=self._graph, generation=generation)
            found, limitations = await rank(reads, query)
            if await self._generation(transaction) != generation:
                return None
        best = found[: query.top_k]
        hits = tuple(Hit(i, f.record_id, float(f.score), path=f.path) for i, f in enumerate(best, start=1))
        return Run(self.name, self.store, hits, limitations if hits else ())

    async def _generation(self, transaction: AsyncTransaction) -> int | None:
        record = await (await transaction.run(cypher.GENERATION, graph=self._graph)).single()
        return None if record is None else int(record[0])


class Neo4jReads:
    """What a scope admits of one generation, in one transaction. A `GraphReads`."""

    def __init__(self, transaction: AsyncTransaction, scope: Scope, *, graph: str, generation: int) -> None:
        self._transaction = transaction
        self._admitted = {
            "graph": graph,
            "tenant": store_key(scope.tenant),
            "classes": sorted(map(store_key, scope.class_ids)),
            "generation": generation,
        }

    async def kinds(self) -> list[EdgeKind]:
        """See `GraphReads`."""
        return [EdgeKind(*row) for row in await self._rows(cypher.KINDS)]

    async def edges_at(
        self, entity_ids: Collection[str], *, predicates: Collection[str] | None, times: Sequence[TimeRange], limit: int
    ) -> list[Edge]:
        """See `GraphReads`."""
        ids = sorted(map(store_key, entity_ids))
        rows = await self._rows(cypher.EDGES_AT, ids=ids, limit=limit, **_narrowed(predicates, times))
        from_either = sorted(rows, key=lambda row: row[0])  # stable: each end keeps its order
        return list(dict.fromkeys(Edge(*row[1:]) for row in from_either))

    async def edges_of(self, predicates: Collection[str], *, times: Sequence[TimeRange], limit: int) -> list[Edge]:
        """See `GraphReads`."""
        last_day = max((t.end.toordinal() for t in times), default=cypher.FOREVER)
        narrowed = _narrowed(predicates, times)
        return [Edge(*row) for row in await self._rows(cypher.EDGES_OF, last_day=last_day, limit=limit, **narrowed)]

    async def postings(self, groups: Sequence[Collection[str]]) -> list[Postings]:
        """See `GraphReads`."""
        keys = [sorted(map(store_key, group)) for group in groups]
        carried: list[list[bytes]] = [[] for _ in groups]
        for number, rids in await self._rows(cypher.POSTINGS, groups=keys):
            carried[number].append(rids)
        return [np.frombuffer(b"".join(found), dtype=cypher.NUMBER) for found in carried]

    async def first_record_ids(self, rids: Postings, limit: int) -> list[str]:
        """See `GraphReads`."""
        if not len(rids) or limit <= 0:
            return []
        statement = cypher.FEW_RECORDS if len(rids) <= _FEW else cypher.FIRST_RECORDS
        return [row[0] for row in await self._rows(statement, rids=rids.tolist(), limit=limit)]

    async def _rows(self, statement: str, **values: object) -> list[list[Any]]:
        result = await self._transaction.run(statement, {**self._admitted, **values})
        return await result.values()


def _narrowed(predicates: Collection[str] | None, times: Sequence[TimeRange]) -> Mapping[str, Any]:
    spans = [[t.start.toordinal(), t.end.toordinal()] for t in times]
    return {"predicates": None if predicates is None else sorted(predicates), "spans": spans or None}
