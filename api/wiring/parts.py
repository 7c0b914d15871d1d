"""Stores, each opened as the settings name it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import assert_never

from api.errors import HomeBusy, RequestRejected
from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.home.folder import only_writer
from api.home.kept_file import KeptSchema, bring_up_to_date
from api.home.stores import Embedded, Postgres, SqlStore
from api.wiring.circuits import Circuits
from retrieval.files.marks import WRITER_LOCK
from retrieval.registry.jobs import SqlJobs
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.registry.sqlite import SCHEMA_VERSION, STEPS, open_sqlite_jobs, open_sqlite_store


async def upgrade_records(configuration: Configuration) -> tuple[int, int]:
    """Bring the store of record on a server to this version; returns the version that it had and the one that it has.
    Raises RequestRejected where it is a file, which is brought up when it is opened."""
    from retrieval.registry import postgres  # noqa: PLC0415

    backend = backends_of(configuration).records
    if not isinstance(backend, Postgres):
        raise RequestRejected("the store of record is a file, which is upgraded when it is opened")
    return await postgres.upgrade_postgres_store(backend.dsn), postgres.SCHEMA_VERSION


def open_jobs(backend: SqlStore, stack: AsyncExitStack) -> SqlJobs:
    """The jobs of ingest, beside the store of record; closed with the stack."""
    match backend:
        case Embedded(path):
            jobs = open_sqlite_jobs(path)
        case Postgres(dsn, row_security=row_security):
            from retrieval.registry.postgres import open_postgres_jobs  # noqa: PLC0415

            jobs = open_postgres_jobs(dsn, row_security=row_security)
        case _:
            assert_never(backend)
    stack.push_async_callback(jobs.aclose)
    return jobs


@asynccontextmanager
async def only_ingest(configuration: Configuration) -> AsyncIterator[None]:
    """Hold the corpus for one run of ingest or one change of a source; it ends with the process, however that ends.
    Raises HomeBusy while another process of this home, or of the same store on a server, holds it."""
    backend = backends_of(configuration).records
    with only_writer(configuration.home / WRITER_LOCK):
        if not isinstance(backend, Postgres):
            yield
            return
        from retrieval.registry import postgres  # noqa: PLC0415

        async with postgres.only_ingest(backend.dsn) as ours:
            if not ours:
                raise HomeBusy("another process is ingesting documents into this store")
            yield


def open_records(backend: SqlStore, stack: AsyncExitStack, *, served: Circuits | None = None) -> SqlRecordStore:
    """The store of record for ingest, or behind a breaker of `served` for questions, which never write to it; closed
    with the stack."""
    match backend:
        case Embedded(path):
            bring_up_to_date(path, KeptSchema("the store of record", SCHEMA_VERSION, STEPS))
            store = open_sqlite_store(path, writable=served is None)
        case Postgres(dsn, deadline_ms, row_security):
            from retrieval.registry.postgres import open_guarded_store, open_postgres_store  # noqa: PLC0415

            store = (
                open_postgres_store(dsn, row_security=row_security)
                if served is None
                else open_guarded_store(dsn, breaker=served.of_records(), deadline_ms=deadline_ms)
            )
        case _:
            assert_never(backend)
    stack.push_async_callback(store.aclose)
    return store
