"""The write side of the graph on Neo4j."""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncTransaction
from neo4j.exceptions import Neo4jError

from retrieval.errors import ChannelUnavailable
from retrieval.graph import cypher
from retrieval.graph.edges import carried, store_key
from retrieval.graph.neo4j_server import GONE, driver_of, faults
from retrieval.index import IndexBatch
from retrieval.model import ChannelName, Relationship

T = TypeVar("T")
_ROWS = 2_000
_DOCUMENTS = 200
_INDEXES_ONLINE_S = 60
_SCHEMA_CLASH = ".Schema."
_LAYINGS = 20
_PAUSE_S = 0.25
_TAKEN = "another writer has taken the graph"


class Neo4jIndex:
    """Writes one graph of a server. What is added or removed is of the next generation, which nobody reads before
    `commit`; work that raises leaves nothing of itself. A writer that begins takes the graph from any other, and clears
    away what that one never committed. A `ChannelIndex`."""

    name = ChannelName.GRAPH

    def __init__(self, driver: AsyncDriver, *, graph: str = cypher.GRAPH, deadline_s: float = 60.0) -> None:
        self._driver = driver
        self._graph = graph
        self._deadline_s = deadline_s
        self._lock = asyncio.Lock()
        self._bookmarks = AsyncGraphDatabase.bookmark_manager()
        self._writer = secrets.token_hex(8)
        self._laid_out = False
        self._next: int | None = None  # the generation being written
        self._next_rid = 0
        self._unfinished: frozenset[str] = frozenset()
        self._taken = False

    @classmethod
    def open(
        cls,
        uri: str,
        user: str,
        password: str,
        *,
        ca_file: Path | None = None,
        graph: str = cypher.GRAPH,
        deadline_s: float = 60.0,
    ) -> Self:
        """The index over a server, which is not asked before it is used; no transaction takes longer than
        `deadline_s`. Raises ChannelUnavailable for an address or a file of authorities that is none."""
        driver = driver_of(uri, user, password, ca_file=ca_file, deadline_s=min(deadline_s, 10.0))
        return cls(driver, graph=graph, deadline_s=deadline_s)

    async def add(self, batch: IndexBatch) -> None:
        """See `ChannelIndex`."""
        documents = sorted({record.document_id for record in batch.records})
        async with self._staging(documents):
            await self._end(documents)
            await self._put(batch, documents)

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `ChannelIndex`."""
        documents = sorted(map(store_key, document_ids))
        async with self._staging(documents):
            await self._end(documents)

    async def clear(self) -> None:
        """See `ChannelIndex`."""
        async with self._staging(()):
            held = await self._read(cypher.DOCUMENTS, generation=self._generation - 1)
            staged = await self._read(cypher.DOCUMENTS, generation=self._generation)
            self._unfinished = frozenset(row[0] for row in (*held, *staged))
            await self._end(sorted(self._unfinished))

    async def commit(self) -> None:
        """See `ChannelIndex`."""
        async with self._lock:
            with faults():
                try:
                    await self._publish()
                finally:
                    self._taken = False  # who commits has been told

    async def documents(self) -> frozenset[str]:
        """See `ChannelIndex`."""
        with faults():
            generations = await self._again_if_gone(lambda: self._read(cypher.GENERATION))
            if not generations:
                return frozenset()
            rows = await self._read(cypher.DOCUMENTS, generation=generations[0][0])
            return frozenset(row[0] for row in rows)

    async def aclose(self) -> None:
        """See `ChannelIndex`. What was not committed is never seen, and cleared away by the next writer."""
        await self._driver.close()

    # ---- the stage

    @property
    def _generation(self) -> int:
        if self._next is None:
            raise RuntimeError("no stage is open")
        return self._next

    @asynccontextmanager
    async def _staging(self, documents: Collection[str]) -> AsyncIterator[None]:
        """Work on `documents` in the stage, which is opened when there is none."""
        async with self._lock:
            with faults():
                if self._next is None:
                    await self._again_if_gone(self._begin)
                await self._restore()
                self._unfinished = frozenset(documents)
                yield
                self._unfinished = frozenset()

    async def _begin(self) -> None:
        if not self._laid_out:
            await self._lay_out()
        published = (await self._read(cypher.BEGIN, writer=self._writer))[0][0]
        left = [row[0] for row in await self._read(cypher.UNPUBLISHED, generation=published)]
        for some in _slices(left, _DOCUMENTS):
            await self._change((*cypher.DROP_UNPUBLISHED, *cypher.REVIVE), some, generation=published)
        await self._drop_ended(published)
        self._next_rid = 1 + (await self._read(cypher.LAST_RID))[0][0]
        self._next = published + 1

    async def _restore(self) -> None:
        """Takes work that was not finished out of the stage."""
        for some in _slices(sorted(self._unfinished), _DOCUMENTS):
            statements = (*cypher.DROP_UNPUBLISHED, *cypher.REVIVE)
            await self._change(statements, some, generation=self._generation - 1)
        self._unfinished = frozenset()

    async def _end(self, documents: Sequence[str]) -> None:
        """The documents end with the stage's generation; what the stage itself added of them goes at once."""
        for some in _slices(documents, _DOCUMENTS):
            await self._change(cypher.DROP_UNPUBLISHED, some, generation=self._generation - 1)
            await self._change(cypher.END, some, generation=self._generation)

    async def _drop_ended(self, published: int) -> None:
        ended = [row[0] for row in await self._read(cypher.ENDED, generation=published)]
        for some in _slices(ended, _DOCUMENTS):
            await self._change(cypher.DROP_ENDED, some, generation=published)
        if ended:
            await self._change((cypher.DROP_UNUSED,), (), generation=published)

    async def _put(self, batch: IndexBatch, documents: Sequence[str]) -> None:
        records, postings = self._carried(batch, frozenset(documents))
        stated = [r for r in batch.relationships if r.document_id in frozenset(documents)]
        entities = sorted({store_key(e.entity_id) for r in stated for e in (r.subject, r.object)})
        for statement, rows in (
            (cypher.PUT_DOCUMENTS, list(documents)),  # first, so that it names what a kill leaves
            (cypher.PUT_RECORDS, records),
            (cypher.PUT_POSTINGS, postings),
            (cypher.PUT_ENTITIES, entities),
            (cypher.PUT_EDGES, [_edge(r) for r in stated]),
            (cypher.PUT_KINDS, _kinds(stated)),
        ):
            for some in _slices(rows, _ROWS):
                stamp = {"tenant": store_key(batch.tenant), "born": self._generation}
                await self._write(statement, rows=some, **stamp)

    def _carried(self, batch: IndexBatch, documents: Collection[str]) -> tuple[list[Any], list[Any]]:
        """Rows of the records that carry keys, and of the postings."""
        rids: dict[str, int] = {}
        records: list[dict[str, Any]] = []
        lists: defaultdict[tuple[str, str, str], dict[int, None]] = defaultdict(dict)
        for record_id, class_id, document_id, keys in carried(batch):
            if document_id not in documents:
                continue
            if record_id not in rids:
                rids[record_id] = self._next_rid
                self._next_rid += 1
                row = {"rid": rids[record_id], "record_id": record_id}
                records.append(row | {"class_id": class_id, "document_id": document_id})
            for key in keys:
                lists[store_key(key), class_id, document_id][rids[record_id]] = None
        postings = [
            {"key": k, "class_id": c, "document_id": d, "rids": np.fromiter(listed, dtype=cypher.NUMBER).tobytes()}
            for (k, c, d), listed in sorted(lists.items())
        ]
        return records, postings

    async def _publish(self) -> None:
        if self._taken:
            raise ChannelUnavailable(self.name, _TAKEN)
        if self._next is None:
            return
        await self._restore()
        published = self._next
        await self._write(cypher.PUBLISH, generation=published)
        self._next = None
        with suppress(ChannelUnavailable, *GONE):  # it stands; the next writer clears away what is left
            await self._drop_ended(published)

    # ---- the server

    async def _lay_out(self) -> None:
        """Makes what is missing of the schema. Another writer, or one that was killed a moment ago, may be making the
        same: a constraint's index is there before its constraint, and looks like somebody else's until then."""
        for left in reversed(range(_LAYINGS)):
            try:
                await self._lay_out_missing()
            except Neo4jError as exc:
                if not left or _SCHEMA_CLASH not in (exc.code or ""):
                    raise
                await asyncio.sleep(_PAUSE_S)
            else:
                break
        self._laid_out = True

    async def _lay_out_missing(self) -> None:
        missing = cypher.SCHEMA.keys() - {row[0] for row in await self._read(cypher.INDEXES)}
        for name in sorted(missing):
            await self._read(cypher.SCHEMA[name])
        if missing:
            await self._read(cypher.AWAIT_INDEXES, seconds=_INDEXES_ONLINE_S)

    async def _change(self, statements: Sequence[str], documents: Sequence[str], *, generation: int) -> None:
        """Runs each until it changes no more, a bounded number of rows at a time."""
        for statement in statements:
            changed = _ROWS
            while changed == _ROWS:
                rows = await self._write(statement, documents=documents, generation=generation, rows=_ROWS)
                changed = rows[0][0]

    async def _write(self, statement: str, **values: object) -> list[list[Any]]:
        """One statement in one transaction, if the graph is still this writer's."""

        async def fenced(transaction: AsyncTransaction) -> list[list[Any]]:
            held = await (await transaction.run(cypher.FENCE, graph=self._graph, writer=self._writer)).values()
            if held != [[True]]:
                self._next, self._unfinished, self._taken = None, frozenset(), True
                raise ChannelUnavailable(self.name, _TAKEN)
            return await self._run(transaction, statement, values)

        return await self._transact(fenced)

    async def _read(self, statement: str, **values: object) -> list[list[Any]]:
        return await self._transact(lambda transaction: self._run(transaction, statement, values))

    async def _run(
        self, transaction: AsyncTransaction, statement: str, values: Mapping[str, object]
    ) -> list[list[Any]]:
        parameters = {"graph": self._graph, "forever": cypher.FOREVER, **values}
        result = await transaction.run(statement, parameters)
        return await result.values()

    async def _transact(self, work: Callable[[AsyncTransaction], Awaitable[T]]) -> T:
        async with (
            self._driver.session(bookmark_manager=self._bookmarks, fetch_size=-1) as session,
            await session.begin_transaction(timeout=self._deadline_s) as transaction,
        ):
            done = await work(transaction)
            await transaction.commit()
        return done

    async def _again_if_gone(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        except GONE:  # a connection of a server that has since been started again
            return await work()


def _slices(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _edge(relation: Relationship) -> dict[str, Any]:
    one, other, time = relation.subject, relation.object, relation.time
    properties: dict[str, Any] = {
        "subject": one.entity_id,
        "subject_type": one.type,
        "predicate": relation.predicate,
        "object": other.entity_id,
        "object_type": other.type,
        "record_id": relation.record_id,
        "class_id": relation.class_id,
        "document_id": relation.document_id,
        "start_day": time.start.toordinal() if time else None,
        "end_day": time.end.toordinal() if time else None,
    }
    return {"one": store_key(one.entity_id), "other": store_key(other.entity_id), "properties": properties}


def _kinds(relations: Sequence[Relationship]) -> list[dict[str, Any]]:
    names = ("class_id", "document_id", "subject_type", "predicate", "object_type")
    kinds = {(r.class_id, r.document_id, r.subject.type, r.predicate, r.object.type) for r in relations}
    return [dict(zip(names, kind, strict=True)) for kind in sorted(kinds)]
