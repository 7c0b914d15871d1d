"""The vector index made anew, with the embedder that the settings name now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import assert_never

from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.home.folder import only_writer, prepare_home
from api.home.stores import Embedded, Postgres, SqlStore
from api.wiring.models import open_embedder
from api.wiring.parts import open_records
from retrieval.embedding.embedder import Embedder
from retrieval.files.marks import WRITER_LOCK
from retrieval.index import ChannelIndex, IndexRenewal
from retrieval.registry.sql_store import SqlRecordStore


@asynccontextmanager
async def open_renewal(
    configuration: Configuration,
) -> AsyncIterator[tuple[SqlRecordStore, ChannelIndex, IndexRenewal, Embedder]]:
    """Store of record, the vector index that searches read, the one that is made beside it, and the embedder of both.
    One writer at a time: raises HomeBusy while an ingest runs."""
    chosen = backends_of(configuration)
    prepare_home(configuration)
    with only_writer(configuration.home / WRITER_LOCK):
        async with AsyncExitStack() as stack:
            store = open_records(chosen.records, stack)
            embedder = await open_embedder(chosen.embedding)
            stack.push_async_callback(embedder.aclose)
            current, renewal = _both(chosen.vector, embedder)
            for index in (current, renewal):
                stack.push_async_callback(index.aclose)
            yield store, current, renewal, embedder


def _both(backend: SqlStore, embedder: Embedder) -> tuple[ChannelIndex, IndexRenewal]:
    match backend:
        case Embedded(path, seal):
            from retrieval.vector.numpy import NumpyVectorIndex, NumpyVectorRenewal  # noqa: PLC0415

            return (
                NumpyVectorIndex(path, embedder=embedder, seal=seal),
                NumpyVectorRenewal(path, embedder=embedder, seal=seal),
            )
        case Postgres(dsn, row_security=row_security):
            from retrieval.vector.pgvector import PgvectorIndex, PgvectorRenewal  # noqa: PLC0415

            return (
                PgvectorIndex.open(dsn, embedder=embedder, row_security=row_security),
                PgvectorRenewal.open(dsn, embedder=embedder, row_security=row_security),
            )
        case _:
            assert_never(backend)
