"""Vectors in PostgreSQL: exact inner products where a class is small, an HNSW index of its own where it is large.

A class lies whole in one partition, so an index holds nothing that a scope could filter away, and hidden rows are not
in the graph that a search walks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Self, TypeVar

from pgvector import Vector
from psycopg import errors

from retrieval.embedding.embedder import Embedder, EmbedModel
from retrieval.errors import ChannelUnavailable
from retrieval.files.pending import Pending
from retrieval.index import IndexBatch
from retrieval.model import ChannelName, Hit, Query, Run
from retrieval.servers.postgres import SCHEMA, Connection, Postgres, patience_of
from retrieval.servers.postgres_errors import as_channel_errors
from retrieval.servers.statement import Statement
from retrieval.vector import pgvector_tables as tables
from retrieval.vector.embedded import embedded, question_vector
from retrieval.vector.segment import Rows

T = TypeVar("T")
Scored = Sequence[tuple[str, int]]
STORE = "pgvector"
_MICRO = 1_000_000
_BESIDE = "_next"
_READINGS = 3


class PgvectorChannel:
    """Inner product of the question's vector with the rows of the admitted classes, to six decimals.

    Exact, but for classes with an index of their own, where the nearest are found with a recall that ADR 0012 measures;
    their scores are exact. `minimum_milli` is the similarity below which a row is no hit. The server gives up after
    `statement_timeout_ms`. A stored model or dimension other than the embedder's raises `EmbedModelMismatch`.
    """

    name = ChannelName.VECTOR
    store = STORE

    def __init__(self, postgres: Postgres, *, embedder: Embedder, minimum_milli: int = 1) -> None:
        self._postgres = postgres
        self._embedder = embedder
        self._minimum_micro = minimum_milli * (_MICRO // 1000)
        self._asked_of: frozenset[str] = frozenset()  # classes
        self._indexed: frozenset[str] = frozenset()  # those that had an index when last asked

    @classmethod
    def open(
        cls, dsn: str, *, embedder: Embedder, statement_timeout_ms: int, schema: str = SCHEMA, minimum_milli: int = 1
    ) -> PgvectorChannel:
        """The channel over a server, which is reached with the first search."""
        settings = {**tables.SEARCH_SETTINGS, "statement_timeout": str(statement_timeout_ms)}
        patience_s = patience_of(statement_timeout_ms)
        postgres = Postgres(dsn, schema=schema, settings=settings, patience_s=patience_s)
        return cls(postgres, embedder=embedder, minimum_milli=minimum_milli)

    def asks(self, query: Query) -> bool:
        """True if a search needs the server."""
        return query.top_k > 0 and bool(query.scope.class_ids)

    async def search(self, query: Query) -> Run:
        """See `retrieval.channels.channel.Channel`. A question without a word that the model knows finds nothing."""
        found, _ = await self._asked(query)
        hits = [(micro / _MICRO, record_id) for record_id, micro in found if micro >= self._minimum_micro]
        return Run(self.name, self.store, tuple(Hit(i, r, s) for i, (s, r) in enumerate(hits, start=1)))

    async def statements_of(self, query: Query) -> Sequence[Statement]:
        """See `ServerChannel`."""
        return (await self._asked(query))[1]

    async def aclose(self) -> None:
        """Closes the connections. The embedder is its owner's to close."""
        await self._postgres.aclose()

    async def _asked(self, query: Query) -> tuple[Scored, Sequence[Statement]]:
        vector = await question_vector(query, self._embedder) if self.asks(query) else None
        if vector is None or not vector.any():
            return (), ()
        model, text = await self._embedder.identity(), Vector(vector).to_text()
        with as_channel_errors(self.name):
            for _ in range(_READINGS):
                search = self._statement(query, text)
                indexed, found = await self._read(query, model, search)
                if indexed is None:
                    return (), ()
                if search is not None and indexed == self._indexed & query.scope.class_ids:
                    return found, (search,)
                self._asked_of |= query.scope.class_ids
                self._indexed = (self._indexed - query.scope.class_ids) | indexed
        raise ChannelUnavailable(self.name, "the vector store is being written")

    def _statement(self, query: Query, vector: str) -> Statement | None:
        """The search, if the classes that had an index when last asked still are those that have one; None where one
        was never asked of, since to look at every row of a large class takes too long."""
        classes = query.scope.class_ids
        if not classes <= self._asked_of:
            return None
        return tables.search_statement(
            vector,
            exact=classes - self._indexed,
            indexed=classes & self._indexed,
            top_k=query.top_k,
            among=query.documents,
        )

    async def _read(
        self, query: Query, model: EmbedModel, search: Statement | None
    ) -> tuple[frozenset[str] | None, Scored]:
        """Those of the classes that have an index (None: nothing was ever written), and what the search found at that
        moment."""
        state = tables.state_statement(query.scope.class_ids)
        try:
            held, *found = await self._postgres.read(state, *([search] if search else ()), scope=query.scope)
        except errors.UndefinedTable:
            return None, ()
        except errors.QueryCanceled:  # perhaps a class has grown an index meanwhile
            self._asked_of = frozenset()
            raise
        except errors.DataException:  # vectors of another length
            (held,) = await self._postgres.read(state, scope=query.scope)
            tables.indexed_classes(held, model)
            raise
        return tables.indexed_classes(held, model), [(row[0], row[1]) for rows in found for row in rows]


class PgvectorIndex:
    """The write side. Texts are embedded on `add`; `commit` is one transaction. A class that reaches `exact_rows` moves
    into a partition with an index. Writers of one schema wait for each other."""

    name = ChannelName.VECTOR

    def __init__(
        self,
        postgres: Postgres,
        *,
        embedder: Embedder,
        exact_rows: int = tables.EXACT_ROWS,
        row_security: bool = True,
    ) -> None:
        self._postgres = postgres
        self._row_security = row_security
        self._embedder = embedder
        self._exact_rows = exact_rows
        self._pending = Pending[tuple[str, Rows]]()

    @classmethod
    def open(
        cls,
        dsn: str,
        *,
        embedder: Embedder,
        schema: str = SCHEMA,
        exact_rows: int = tables.EXACT_ROWS,
        row_security: bool = True,
    ) -> Self:
        """The index over a server, which is reached with the first commit."""
        postgres = Postgres(dsn, schema=cls._written(schema), size=1, settings={})
        return cls(postgres, embedder=embedder, exact_rows=exact_rows, row_security=row_security)

    @classmethod
    def _written(cls, schema: str) -> str:
        """Where the tables are made."""
        return schema

    async def add(self, batch: IndexBatch) -> None:
        """See `retrieval.index.ChannelIndex`."""
        await self._pending.add(await embedded(batch, self._embedder))

    async def remove(self, document_ids: Collection[str]) -> None:
        """See `retrieval.index.ChannelIndex`."""
        await self._pending.remove(document_ids)

    async def commit(self) -> None:
        """Makes additions and removals visible and durable, all at once; on an error nothing is, and they stay
        pending."""
        async with self._pending.written() as anything:
            if anything:
                model = await self._embedder.identity()
                await self._write(lambda connection: self._commit(connection, model))

    async def documents(self) -> frozenset[str]:
        """The committed documents, with those that contributed no text."""
        model = await self._embedder.identity()
        with as_channel_errors(self.name):
            return await self._postgres.run(lambda connection: tables.documents(connection, model))

    async def clear(self) -> None:
        """Forgets everything, committed or not; afterwards another model may be used."""
        async with self._pending.forgotten():
            await self._write(tables.drop)

    async def aclose(self) -> None:
        """Drops what was not committed. The embedder is its owner's to close."""
        await self._postgres.aclose()

    async def _commit(self, connection: Connection, model: EmbedModel) -> None:
        await tables.prepare(connection, model, row_security=self._row_security)
        await tables.remove(connection, self._pending.removed)
        await tables.add(connection, self._pending.added)
        if model.dimension <= tables.MAX_INDEXED_DIMENSION:
            classes = {class_id for class_id, _ in self._pending.added.values()}
            await tables.index_large(connection, classes, at_least=self._exact_rows, row_security=self._row_security)

    async def _write(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        with as_channel_errors(self.name):
            return await self._postgres.write(work, lock="vector")


class PgvectorRenewal(PgvectorIndex):
    """See `retrieval.index.IndexRenewal`: the same tables in a schema beside, which is made and dropped."""

    @classmethod
    def _written(cls, schema: str) -> str:
        return f"{schema}{_BESIDE}"

    async def promote(self) -> None:
        """See `retrieval.index.IndexRenewal`. Who could read the tables can read those in their place."""
        model, beside = await self._embedder.identity(), self._postgres.schema

        async def work(connection: Connection) -> None:
            await tables.prepare(connection, model, row_security=self._row_security)
            await tables.move(connection, source=beside, target=beside.removesuffix(_BESIDE))

        async with self._pending.kept():
            await self._write(work)
