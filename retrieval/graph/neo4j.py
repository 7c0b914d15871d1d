"""The graph channel on Neo4j: the same edges, postings and ranking as in a file, on a server.

A server holds any number of graphs by name. Each has a generation: what a writer adds or takes away is of the next
one, and becomes visible when the properties of one node are set. A search reads one generation; every statement also
tells which one stands after it, and when that has moved the search is made again, so that nobody sees half a document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from neo4j import READ_ACCESS, AsyncDriver, AsyncSession
from neo4j import Query as Call

from retrieval.channels.traversal import Neighbourhood, Walk
from retrieval.errors import ChannelUnavailable
from retrieval.graph import cypher
from retrieval.graph.edges import Edge, EdgeKind, Postings, store_key
from retrieval.graph.neighbourhood import neighbourhood
from retrieval.graph.neo4j_server import GONE, driver_of, faults
from retrieval.graph.rank import most_hits, needs_graph, rank
from retrieval.model import ChannelName, Hit, Query, Run, TimeRange
from retrieval.scope import Scope
from retrieval.servers.statement import Statement

_FEW = 100
_READINGS = 4
_SCOPES = 64  # whose kinds of edge are kept
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class State:
    """A generation, and what tells it from one of that number in a graph that was made anew; None for a graph of an
    earlier version."""

    generation: int
    stamp: str | None


_Kinds = dict[tuple[str | None, Scope], list[EdgeKind]]


class _GraphMoved(Exception):
    """The graph is of another generation by now."""


@dataclass(slots=True)
class _Caller:
    """True if somebody waits for a search, and whether the server has begun it."""

    waits: bool = True
    served: bool = False


class Neo4jChannel:
    """Finds records by what they relate, as `retrieval.graph.sqlite.GraphChannel` does and with the same ranks and
    scores. A `Channel` and a `Traversal`; a search takes at most `deadline_s`, on the server too."""

    name = ChannelName.GRAPH
    store = "neo4j"

    def __init__(self, driver: AsyncDriver, *, graph: str = cypher.GRAPH, deadline_s: float = 2.0) -> None:
        self._driver = driver
        self._graph = graph
        self._deadline_s = deadline_s
        self._left: set[asyncio.Task[Any]] = set()
        self._state: State | None = None
        self._kinds: _Kinds = {}

    @classmethod
    def open(
        cls,
        uri: str,
        user: str,
        password: str,
        *,
        ca_file: Path | None = None,
        graph: str = cypher.GRAPH,
        deadline_s: float = 2.0,
    ) -> Self:
        """The channel over a server, which is not asked before the first search. Raises ChannelUnavailable for an
        address or a file of authorities that is none."""
        driver = driver_of(uri, user, password, ca_file=ca_file, deadline_s=deadline_s)
        return cls(driver, graph=graph, deadline_s=deadline_s)

    def asks(self, query: Query) -> bool:
        """True if a search needs the server: nothing is found without a name or a time."""
        return query.top_k > 0 and needs_graph(query)

    async def search(self, query: Query) -> Run:
        """See `Channel`."""
        return (await self._asked(query))[0]

    async def around(self, walk: Walk, *, scope: Scope) -> Neighbourhood:
        """See `Traversal`."""
        found, _ = await self._answered(lambda reads: neighbourhood(reads, walk), scope)
        return found or Neighbourhood(())

    async def statements_of(self, query: Query) -> Sequence[Statement]:
        """See `ServerChannel`."""
        return (await self._asked(query))[1]

    async def aclose(self) -> None:
        """See `Channel`."""
        if self._left:
            await asyncio.wait(self._left, timeout=self._deadline_s)
        await self._driver.close()

    async def _asked(self, query: Query) -> tuple[Run, Sequence[Statement]]:
        nothing = Run(self.name, self.store)
        if not self.asks(query):
            return nothing, ()
        run, sent = await self._answered(lambda reads: self._ranked(reads, query), query.scope)
        return run or nothing, sent

    async def _answered(self, read: Reading[T], scope: Scope) -> tuple[T | None, Sequence[Statement]]:
        """The reading of one state of the graph, within the deadline; None where there is no graph. Raises
        ChannelError."""
        with faults():
            async with asyncio.timeout(self._deadline_s):
                return await self._awaited(read, scope)

    async def _awaited(self, read: Reading[T], scope: Scope) -> tuple[T | None, Sequence[Statement]]:
        """The answer, for as long as the caller waits. A search that is left while it connects ends by itself soon
        after, because the driver cannot be interrupted there without losing a socket; one that is left later is
        interrupted, and so is the server's work."""
        caller = _Caller()
        search = asyncio.create_task(self._settled(read, scope, caller))
        try:
            return await asyncio.shield(search)
        except asyncio.CancelledError:
            caller.waits = False
            self._left.add(search)
            search.add_done_callback(self._forget)
            if caller.served:
                search.cancel()
            raise

    def _forget(self, search: asyncio.Task[Any]) -> None:
        self._left.discard(search)
        if not search.cancelled():
            search.exception()  # nobody waits for it

    async def _settled(self, read: Reading[T], scope: Scope, caller: _Caller) -> tuple[T | None, Sequence[Statement]]:
        """The answer of one generation. What the last search saw is taken for what this one will see: every statement
        tells the generation that stands after it."""
        gone = 0
        for _ in range(_READINGS):
            async with self._driver.session(default_access_mode=READ_ACCESS, fetch_size=-1) as session:
                calls = _Calls(session, caller, self._graph, self._deadline_s)
                try:
                    self._state = self._state or await calls.state()
                    if self._state is None:
                        return None, ()
                    found = await read(Neo4jReads(calls, scope, state=self._state, kinds=self._kinds))
                    if not calls.sent and await calls.state() != self._state:
                        raise _GraphMoved
                    return found, calls.sent
                except _GraphMoved:
                    self._state = None
                except GONE:  # a connection of a server that has since been started again
                    self._state = None
                    gone += 1
                    if gone > 1 or not caller.waits:
                        raise
        raise ChannelUnavailable(self.name, "the graph is being written")

    async def _ranked(self, reads: Neo4jReads, query: Query) -> Run:
        found, limitations = await rank(reads, query)
        best = found[: most_hits(query)]
        hits = tuple(Hit(i, f.record_id, float(f.score), path=f.path) for i, f in enumerate(best, start=1))
        return Run(self.name, self.store, hits, limitations if hits or most_hits(query) is None else ())


class _Calls:
    """Statements of one search, one after the other, each by itself on the server and none longer than
    `deadline_s`."""

    def __init__(self, session: AsyncSession, caller: _Caller, graph: str, deadline_s: float) -> None:
        self._session = session
        self._caller = caller
        self._graph = graph
        self._deadline_s = deadline_s
        self.sent: list[Statement] = []

    async def state(self) -> State | None:
        """The view of readers; None where there is no such graph."""
        found = await self._run(cypher.GENERATION, {"graph": self._graph})
        return State(*found[0]) if found else None

    async def rows(self, statement: str, values: Mapping[str, Any], state: State) -> list[list[Any]]:
        """The rows of the statement in that state. Raises _GraphMoved where another is current by now."""
        self.sent.append(Statement(statement, {"graph": self._graph, "generation": state.generation, **values}))
        found = await self._run(statement, self.sent[-1].parameters)
        if not found or State(*found[0][:2]) != state:
            raise _GraphMoved
        rows: list[list[Any]] = found[0][2]
        return rows

    async def _run(self, statement: str, parameters: Mapping[str, Any] | Sequence[Any]) -> list[list[Any]]:
        query = Call(statement, timeout=self._deadline_s)
        result = await self._session.run(query, dict(parameters))
        found = await result.values()
        self._caller.served = True
        if not self._caller.waits:
            raise asyncio.CancelledError
        return found


class Neo4jReads:
    """The part of one state that a scope admits. A `GraphReads`; `kinds` keeps the kinds read from states that have a
    stamp."""

    def __init__(self, calls: _Calls, scope: Scope, *, state: State, kinds: _Kinds) -> None:
        self._calls = calls
        self._state = state
        self._known = kinds
        self._scope = scope
        self._admitted = {"tenant": store_key(scope.tenant), "classes": sorted(map(store_key, scope.class_ids))}

    async def kinds(self) -> list[EdgeKind]:
        """See `GraphReads`."""
        key = (self._state.stamp, self._scope)
        if self._state.stamp is None or key not in self._known:
            found = [EdgeKind(*row) for row in await self._rows(cypher.KINDS)]
            while len(self._known) >= _SCOPES:
                del self._known[next(iter(self._known))]
            self._known[key] = found
        return self._known[key]

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
        if not times:
            return [Edge(*row) for row in await self._rows(cypher.EDGES_OF_ANY_TIME, limit=limit, **narrowed)]
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
        statement = cypher.FEW_RECORDS if _few(rids, limit) else cypher.FIRST_RECORDS
        return [row[0] for row in await self._rows(statement, rids=rids.tolist(), limit=limit)]

    async def _rows(self, statement: str, **values: object) -> list[list[Any]]:
        return await self._calls.rows(statement, {**self._admitted, **values}, self._state)


def _few(rids: Postings, limit: int) -> bool:
    """True if to look up each: the ids of all follow each other, so of n among m the first k are met after about
    k * m / n, and a look-up costs what two of those do."""
    return len(rids) <= _FEW or 2 * len(rids) ** 2 <= limit * int(rids.max())


def _narrowed(predicates: Collection[str] | None, times: Sequence[TimeRange]) -> Mapping[str, Any]:
    spans = [[t.start.toordinal(), t.end.toordinal()] for t in times]
    return {"predicates": None if predicates is None else sorted(predicates), "spans": spans or None}


Reading = Callable[[Neo4jReads], Awaitable[T]]
"""Reading something of one state of the graph."""
