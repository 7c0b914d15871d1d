"""Stores, each opened as the settings name it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, assert_never

from api import backends
from api.settings import Settings
from api.wiring.circuits import Circuits
from api.wiring.clock import clock_ms, new_id
from ledger.ledger import Ledger
from ledger.store import LedgerStore
from retrieval.registry.sql_store import SqlRecordStore
from retrieval.registry.sqlite import open_sqlite_store

if TYPE_CHECKING:
    pass

TEMPLATE = "focus_mode/v1"


def open_records(backend: backends.RecordsBackend, stack: AsyncExitStack) -> SqlRecordStore:
    """The store of record for ingest; closed with the stack."""
    match backend:
        case backends.SqliteRecords(path=path):
            store = open_sqlite_store(path)
        case backends.PostgresRecords(dsn=dsn):
            from retrieval.registry.postgres import open_postgres_store  # noqa: PLC0415

            store = open_postgres_store(dsn)
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


async def _open_log(backend: backends.LedgerBackend) -> LedgerStore:
    match backend:
        case backends.SqliteLedger(path=path):
            from ledger.sqlite import SqliteLedgerStore  # noqa: PLC0415

            return await SqliteLedgerStore.open(path)
        case backends.PostgresLedger(dsn=dsn):
            from ledger.postgres import PostgresLedgerStore  # noqa: PLC0415

            return await PostgresLedgerStore.open(dsn)
        case _:
            assert_never(backend)


async def open_ledger_store(backend: backends.LedgerBackend, settings: Settings) -> Ledger:
    from ledger.keys import open_key_ring  # noqa: PLC0415

    origin = settings.ledger.origin
    store = await _open_log(backend)
    try:
        # Keys are made for a log without entries only: new ones in the place of lost ones would go unnoticed.
        keys = await open_key_ring(backend.keys, origin=origin, create=await store.size() == 0)
        return await Ledger.open(
            store=store, keys=keys, origin=origin, replica=settings.ledger.replica, clock_ms=clock_ms, new_id=new_id
        )
    except BaseException:
        await store.aclose()
        raise
