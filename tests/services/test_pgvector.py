"""What is true of pgvector only: recall under narrow scopes, the plans, models, deadlines, crashes, and its owner's end."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from pgvector import Vector

from retrieval.embedding.embedder import EmbedModel
from retrieval.errors import ChannelTimeout, ChannelUnavailable, EmbedModelMismatch
from retrieval.index import IndexBatch
from retrieval.model import Hit, Locator, Query, Record, RecordKind
from retrieval.scope import Scope
from retrieval.servers.row_security import opened_for
from retrieval.servers.statement import Statement
from retrieval.vector import pgvector_tables as tables
from retrieval.vector.pgvector import PgvectorChannel, PgvectorIndex
from tests.channel_backends import Backend
from tests.corpora import TENANT, corpus, hidden, probes, visibility
from tests.fakes_retrieval import HashEmbedder
from tests.services.postgres_backends import pgvector, schema_of
from tests.services.postgres_server import NotPrepared, Server, installed, remove_leftovers, running
from tests.services.recovery import recovered

pytestmark = pytest.mark.services

ROWS, DIMENSION, TOP_K = 50_000, 128, 20
HALF, TWENTIETH, THOUSANDTH, REST = (visibility(groups=(name,)) for name in ("half", "twentieth", "thousandth", "rest"))
SHARES = {HALF: 25_000, TWENTIETH: 2_500, THOUSANDTH: 50, REST: 22_450}
QUERIES = 40


class TableEmbedder:
    """Texts are row numbers of a fixed matrix; clustered like real embeddings."""

    def __init__(self) -> None:
        chance = np.random.default_rng(5)
        centres = chance.standard_normal((200, DIMENSION))
        rows = centres[chance.integers(0, 200, ROWS + QUERIES)] + 0.8 * chance.standard_normal(
            (ROWS + QUERIES, DIMENSION)
        )
        self.matrix: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.matrix[[int(text) for text in texts]].reshape(len(texts), DIMENSION)

    async def identity(self) -> EmbedModel:
        return EmbedModel("table/1", DIMENSION)

    async def aclose(self) -> None:
        """Nothing to close."""


@dataclass(frozen=True)
class Large:
    """50,000 rows in four classes, with the matrix that a brute force needs."""

    dsn: str
    schema: str
    embedder: TableEmbedder
    rows_of: dict[str, NDArray[np.int64]]


@pytest.fixture(scope="module")
def large(postgres_dsn: str) -> Large:
    embedder, schema = TableEmbedder(), schema_of(Path("large"))
    numbers = np.random.default_rng(6).permutation(ROWS)
    rows_of, start = {}, 0
    for visible, count in SHARES.items():
        rows_of[visible.class_id] = np.sort(numbers[start : start + count])
        start += count
    asyncio.run(_load(postgres_dsn, schema, embedder, rows_of))
    return Large(postgres_dsn, schema, embedder, rows_of)


@pytest.fixture(scope="module")
def reader(large: Large) -> Iterator[str]:
    """An ordinary role that may only read, so that row-level security binds it."""
    name, password = f"reader_{secrets.token_hex(4)}", secrets.token_hex(12)
    with psycopg.connect(large.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'".encode())
        connection.execute(f"GRANT USAGE ON SCHEMA {large.schema} TO {name}".encode())
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {large.schema} TO {name}".encode())
    yield psycopg.conninfo.make_conninfo(large.dsn, user=name, password=password)
    with psycopg.connect(large.dsn, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {name}".encode())
        connection.execute(f"DROP ROLE {name}".encode())


async def _load(dsn: str, schema: str, embedder: TableEmbedder, rows_of: dict[str, NDArray[np.int64]]) -> None:
    index = PgvectorIndex.open(dsn, embedder=embedder, schema=schema)
    for class_id, rows in rows_of.items():
        await index.add(IndexBatch(TENANT, [_record(int(row), class_id) for row in rows]))
    await index.commit()
    await index.aclose()


def _record(row: int, class_id: str) -> Record:
    text = str(row)
    where = Locator(0, len(text), 0, len(text))
    return Record(f"r{row:06d}", RecordKind.PASSAGE, f"d{class_id[-4:]}{row // 100}", "s", class_id, row, text, where)


def _nearest(large: Large, class_ids: Sequence[str], query: int) -> list[str]:
    rows = np.concatenate([large.rows_of[c] for c in class_ids])
    scores = large.embedder.matrix[rows].astype(np.float64) @ large.embedder.matrix[query].astype(np.float64)
    best = rows[np.lexsort((rows, -np.round(scores, 6)))[:TOP_K]]
    return [f"r{row:06d}" for row in best]


@pytest.mark.parametrize(
    ("classes", "least"),
    [((HALF,), 0.95), ((TWENTIETH,), 1.0), ((THOUSANDTH,), 1.0), ((HALF, TWENTIETH, REST), 0.95)],
    ids=["50 %", "5 %", "0.1 %", "99.9 %"],
)
async def test_recall_against_brute_force_under_scopes(large: Large, classes: tuple[object, ...], least: float) -> None:
    class_ids = [c.class_id for c in classes]  # type: ignore[attr-defined]
    channel = PgvectorChannel.open(
        large.dsn, embedder=large.embedder, statement_timeout_ms=10_000, schema=large.schema, minimum_milli=-1000
    )
    found = 0
    for query in range(ROWS, ROWS + QUERIES):
        run = await channel.search(Query(str(query), Scope(TENANT, frozenset(class_ids)), TOP_K))
        assert len(run.hits) == TOP_K  # never fewer than asked for when there are as many
        found += len({hit.record_id for hit in run.hits} & set(_nearest(large, class_ids, query)))
    await channel.aclose()
    recall = found / (QUERIES * TOP_K)
    print(f"recall {recall:.4f}")
    assert recall >= least


@pytest.mark.parametrize("top_k", [150, 400])
async def test_a_large_class_gives_more_rows_than_one_look_at_its_index(large: Large, top_k: int) -> None:
    channel = PgvectorChannel.open(
        large.dsn, embedder=large.embedder, statement_timeout_ms=10_000, schema=large.schema, minimum_milli=-1000
    )
    run = await channel.search(Query(str(ROWS), Scope(TENANT, frozenset([HALF.class_id])), top_k))
    await channel.aclose()
    assert len(run.hits) == top_k > tables.EF_SEARCH


@pytest.mark.parametrize(
    ("exact", "indexed", "hnsw"),
    [((), (HALF,), 1), ((TWENTIETH,), (), 0), ((THOUSANDTH,), (), 0), ((TWENTIETH,), (HALF, REST), 2)],
    ids=["50 %", "5 %", "0.1 %", "all but 0.1 %"],
)
async def test_the_plan_walks_an_index_where_a_class_has_one(
    large: Large, reader: str, exact: tuple[object, ...], indexed: tuple[object, ...], hnsw: int
) -> None:
    search = tables.search_statement(
        Vector(large.embedder.matrix[ROWS]).to_text(),
        exact=[c.class_id for c in exact],  # type: ignore[attr-defined]
        indexed=[c.class_id for c in indexed],  # type: ignore[attr-defined]
        top_k=TOP_K,
    )
    explain = Statement(f"EXPLAIN (COSTS OFF) {search.text}", search.parameters)
    scope = Scope(TENANT, frozenset(c.class_id for c in (*exact, *indexed)))  # type: ignore[attr-defined]
    for dsn, bound in ((large.dsn, False), (reader, True)):
        rows, best = await _in_a_transaction(dsn, large.schema, opened_for(scope), explain, search)
        plan = "\n".join(row[0] for row in rows)
        assert plan.count("_embedding_idx") == hnsw
        assert ("vector_row_small" in plan) == bool(exact)  # an indexed class's search touches nothing else
        assert ("InitPlan" in plan) == bound  # the wall's own condition, for a role that is not above it
        assert len(best) == TOP_K


async def _in_a_transaction(dsn: str, schema: str, opened: Statement, *asked: Statement) -> list[list[tuple[Any, ...]]]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        await connection.execute(f"SET search_path = {schema}, public".encode())
        for name, value in tables.SEARCH_SETTINGS.items():
            await connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        await connection.execute(opened.text.encode(), opened.parameters)
        return [await (await connection.execute(a.text.encode(), a.parameters)).fetchall() for a in asked]


async def test_a_class_is_indexed_when_it_has_grown_and_stays_whole(postgres_dsn: str, tmp_path: Path) -> None:
    content = corpus(3, documents=12)
    queries = probes(content, top_k=50)
    async with pgvector(postgres_dsn, tmp_path / "grown", exact_rows=4) as grown:
        for document_id in content.document_ids:
            await _fill(grown, content.without(set(content.document_ids) - {document_id}).batches())
        seen = [await grown.channel.search(query) for query in queries]
    async with pgvector(postgres_dsn, tmp_path / "small", exact_rows=10_000) as small:
        await _fill(small, content.batches())
        assert seen == [await small.channel.search(query) for query in queries]
    with psycopg.connect(postgres_dsn) as connection:
        count = f"SELECT count(*) FROM {schema_of(tmp_path / 'grown')}.vector_class"
        assert connection.execute(count.encode()).fetchone() != (0,)


async def _fill(backend: Backend, batches: Sequence[IndexBatch]) -> None:
    for batch in batches:
        await backend.index.add(batch)
    await backend.index.commit()


class OtherModel(HashEmbedder):
    """The same vectors under another name."""

    def __init__(self) -> None:
        super().__init__("other/1")


async def test_another_model_is_refused_until_the_index_is_cleared(postgres_dsn: str, tmp_path: Path) -> None:
    content = corpus(3, documents=3)
    query = probes(content)[0]
    schema = schema_of(tmp_path)
    first = PgvectorIndex.open(postgres_dsn, embedder=HashEmbedder(), schema=schema)
    other = PgvectorIndex.open(postgres_dsn, embedder=OtherModel(), schema=schema)
    channel = PgvectorChannel.open(postgres_dsn, embedder=OtherModel(), schema=schema, statement_timeout_ms=10_000)
    await first.add(content.batch())
    await first.commit()
    with pytest.raises(EmbedModelMismatch):
        await channel.search(query)
    with pytest.raises(EmbedModelMismatch):
        await other.documents()
    await other.add(content.batch())
    with pytest.raises(EmbedModelMismatch):
        await other.commit()
    assert await first.documents() == set(content.document_ids)
    await other.clear()
    await other.add(content.batch())
    await other.commit()
    assert (await channel.search(query)).hits
    for part in (first, other, channel):
        await part.aclose()


@pytest.fixture
async def locked(postgres_dsn: str, tmp_path: Path) -> AsyncIterator[Callable[[int], PgvectorChannel]]:
    """Channels over an index that another session holds locked, so that every search waits in the server."""
    embedder, schema = HashEmbedder(), schema_of(tmp_path)
    index = PgvectorIndex.open(postgres_dsn, embedder=embedder, schema=schema)
    await index.add(CONTENT.batch())
    await index.commit()
    await index.aclose()
    channels: list[PgvectorChannel] = []

    def channel(timeout_ms: int) -> PgvectorChannel:
        channels.append(
            PgvectorChannel.open(postgres_dsn, embedder=embedder, schema=schema, statement_timeout_ms=timeout_ms)
        )
        return channels[-1]

    async with await psycopg.AsyncConnection.connect(postgres_dsn) as holder:
        await holder.execute(f"LOCK TABLE {schema}.vector_model IN ACCESS EXCLUSIVE MODE".encode())
        yield channel
        await holder.rollback()
    for opened in channels:
        await opened.aclose()


CONTENT = corpus(3, documents=3)


async def _waiting(dsn: str) -> int:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        text = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%vector_model%'"
        row = await (await connection.execute(text.encode())).fetchone()
    return 0 if row is None else int(row[0])


async def _until(dsn: str, *, waiting: int) -> None:
    for _ in range(500):
        if await _waiting(dsn) == waiting:
            return
        await asyncio.sleep(0.01)
    pytest.fail(f"never {waiting} waiting")


async def test_the_server_gives_up_after_the_channels_deadline(locked: Callable[[int], PgvectorChannel]) -> None:
    with pytest.raises(ChannelTimeout) as raised:
        await locked(1_000).search(probes(CONTENT)[0])
    assert "vector_model" not in raised.value.message


async def test_cancelling_a_search_cancels_its_query(
    locked: Callable[[int], PgvectorChannel], postgres_dsn: str
) -> None:
    task = asyncio.create_task(locked(60_000).search(probes(CONTENT)[0]))
    await _until(postgres_dsn, waiting=1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _until(postgres_dsn, waiting=0)


@pytest.mark.parametrize(
    "dsn", ["postgresql://postgres:secret@127.0.0.1:1/postgres", "postgresql://nobody-there.invalid/x"]
)
async def test_a_server_that_is_not_there_is_unavailable_and_named_by_no_address(dsn: str) -> None:
    channel = PgvectorChannel.open(dsn, embedder=HashEmbedder(), statement_timeout_ms=1_000)
    with pytest.raises(ChannelUnavailable) as raised:
        await channel.search(probes(CONTENT)[0])
    assert raised.value.message == "the vector store cannot be reached"
    await channel.aclose()


async def test_refused_credentials_are_unavailable(postgres_dsn: str) -> None:
    wrong = psycopg.conninfo.make_conninfo(postgres_dsn, password="wrong")
    channel = PgvectorChannel.open(wrong, embedder=HashEmbedder(), statement_timeout_ms=1_000)
    with pytest.raises(ChannelUnavailable):
        await channel.search(probes(CONTENT)[0])
    await channel.aclose()


async def test_a_corpus_of_other_tables_is_never_read(postgres_dsn: str, tmp_path: Path) -> None:
    content = corpus(3, documents=6) + hidden(4, documents=6)
    async with pgvector(postgres_dsn, tmp_path / "one", exact_rows=3) as one:
        await _fill(one, content.batches())
        async with pgvector(postgres_dsn, tmp_path / "other", exact_rows=3) as other:
            assert [(await other.channel.search(q)).hits for q in probes(content)] == [()] * len(probes(content))


@pytest.fixture
def own_server() -> object:
    try:
        installation = installed()
    except NotPrepared as error:
        pytest.skip(str(error))
    with running(installation) as server:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        yield server


async def test_a_crash_loses_nothing_committed_and_the_channel_recovers_by_itself(
    own_server: Server, tmp_path: Path
) -> None:
    query = probes(CONTENT, top_k=50)[0]
    async with pgvector(own_server.dsn, tmp_path, exact_rows=3) as backend:
        await _fill(backend, CONTENT.batches())
        before: tuple[Hit, ...] = (await backend.channel.search(query)).hits
        await backend.index.add(corpus(22, prefix="x").batch())  # never committed
        own_server.kill()
        with pytest.raises(ChannelUnavailable):
            await backend.channel.search(query)
        with pytest.raises(ChannelUnavailable):
            await backend.index.commit()
        own_server.start()
        assert (await recovered(lambda: backend.channel.search(query))).hits == before
        assert await recovered(backend.index.documents) == set(CONTENT.document_ids)
        await backend.index.commit()  # what was pending still is
        assert len(await backend.index.documents()) > len(CONTENT.document_ids)


async def test_a_server_that_stands_still_keeps_no_caller(own_server: Server, tmp_path: Path) -> None:
    query = probes(CONTENT, top_k=50)[0]
    async with pgvector(own_server.dsn, tmp_path, exact_rows=3) as backend:
        await _fill(backend, CONTENT.batches())
        before = await backend.channel.search(query)
        own_server.send(signal.SIGSTOP)
        try:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await backend.channel.search(query)
        finally:
            own_server.send(signal.SIGCONT)
        assert await recovered(lambda: backend.channel.search(query)) == before


OWNER = """
import sys, time
from tests.services.postgres_server import installed, running
with running(installed()) as server:
    print(server.pid, server._home, flush=True)
    time.sleep(60)
"""


def test_a_server_ends_with_its_owner_and_the_next_start_removes_its_folder(own_server: Server) -> None:
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True, env=environment) as owner:
        assert owner.stdout is not None
        pid, home = owner.stdout.readline().split()
        owner.kill()
        owner.wait()
    assert Path(home).exists()
    remove_leftovers()
    assert not Path(home).exists()
    assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
