"""The index by which auditors find entries, opened when somebody searches: it lies beside the log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import assert_never

from api import backends
from api.backends import backends_of
from api.configuration import Configuration
from ledger.search import EntryIndex


@asynccontextmanager
async def open_entry_index(configuration: Configuration, *, origin: str) -> AsyncIterator[EntryIndex]:
    """The index of the home's log of that origin, made if it is not there; each shard has its own. Raises
    LedgerUnavailable."""
    from ledger.search_sql import SqlEntryIndex  # noqa: PLC0415 - SQLAlchemy takes a second to import

    match backends_of(configuration).ledger:
        case backends.SqliteLedger():
            shard = origin.removeprefix(configuration.settings.ledger.origin).replace("/", "-")
            index = await SqlEntryIndex.open_sqlite(configuration.home / f"ledger-index{shard}.sqlite")
        case backends.PostgresLedger(dsn=dsn):
            index = await SqlEntryIndex.open_postgres(dsn)
        case backend:
            assert_never(backend)
    try:
        yield index
    finally:
        await index.aclose()
