"""The channels on PostgreSQL as the contract suites open them: a folder's name becomes a schema."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path

from retrieval.spatial.postgis import PostgisChannel, PostgisIndex
from retrieval.vector.pgvector import PgvectorChannel, PgvectorIndex
from tests.channel_backends import Backend
from tests.fakes_retrieval import HashEmbedder

DsnOpener = Callable[[str, Path], AbstractAsyncContextManager[Backend]]
TIMEOUT_MS = 10_000


def schema_of(folder: Path) -> str:
    """One schema per folder and run; the run's own processes share it."""
    run = os.environ.setdefault("EXHIBIT_TEST_RUN", str(os.getpid()))
    return "t_" + hashlib.sha256(f"{run} {folder}".encode()).hexdigest()[:16]


@asynccontextmanager
async def pgvector(dsn: str, folder: Path, *, exact_rows: int) -> AsyncIterator[Backend]:
    embedder, schema = HashEmbedder(), schema_of(folder)
    channel = PgvectorChannel.open(dsn, embedder=embedder, statement_timeout_ms=TIMEOUT_MS, schema=schema)
    index = PgvectorIndex.open(dsn, embedder=embedder, schema=schema, exact_rows=exact_rows)
    try:
        yield Backend(channel, index)
    finally:
        await channel.aclose()
        await index.aclose()


@asynccontextmanager
async def postgis(dsn: str, folder: Path) -> AsyncIterator[Backend]:
    schema = schema_of(folder)
    channel = PostgisChannel.open(dsn, statement_timeout_ms=TIMEOUT_MS, schema=schema)
    index = PostgisIndex.open(dsn, schema=schema)
    try:
        yield Backend(channel, index)
    finally:
        await channel.aclose()
        await index.aclose()


# `indexed` puts every class with three rows into a partition with an HNSW index.
POSTGRES: dict[str, DsnOpener] = {
    "pgvector": partial(pgvector, exact_rows=10_000),
    "pgvector-indexed": partial(pgvector, exact_rows=3),
    "postgis": postgis,
}
