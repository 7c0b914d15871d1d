"""Stores, each opened as the settings name it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import assert_never

from api import backends
from api.wiring.circuits import Circuits
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.registry.sqlite import open_sqlite_store


def open_records(backend: backends.RecordsBackend, stack: AsyncExitStack) -> SqlRecordStore:
    """The store of record for ingest; closed with the stack."""
    match backend:
        case backends.SqliteRecords(path=path):
            store = open_sqlite_store(path)
        case backends.PostgresRecords(dsn=dsn, row_security=row_security):
            from retrieval.registry.postgres import open_postgres_store  # noqa: PLC0415

            store = open_postgres_store(dsn, row_security=row_security)
        case _:
            assert_never(backend)
    stack.push_async_callback(store.aclose)
    return store


def open_served_records(backend: backends.RecordsBackend, stack: AsyncExitStack, circuits: Circuits) -> SqlRecordStore:
    """The store of record for questions, which never write to it; closed with the stack."""
    match backend:
        case backends.SqliteRecords(path=path):
            store = open_sqlite_store(path, writable=False)
        case backends.PostgresRecords(dsn=dsn, deadline_ms=deadline_ms):
            from retrieval.registry.postgres import open_guarded_store  # noqa: PLC0415

            store = open_guarded_store(dsn, breaker=circuits.of_records(), deadline_ms=deadline_ms)
        case _:
            assert_never(backend)
    stack.push_async_callback(store.aclose)
    return store
