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
    from ledger.search_sql import SqlEntryIndex, index_schema  # noqa: PLC0415 - SQLAlchemy takes a second to import

    shard = origin.removeprefix(configuration.settings.ledger.origin).removeprefix("/")
    match backends_of(configuration).ledger:
        case backends.SqliteLedger():
            name = f"ledger-index-{shard}.sqlite" if shard else "ledger-index.sqlite"
            index = await SqlEntryIndex.open_sqlite(configuration.home / name)
        case backends.PostgresLedger(dsn=dsn):
            index = await SqlEntryIndex.open_postgres(dsn, schema=index_schema(int(shard or 1)))
        case backend:
            assert_never(backend)
    try:
        yield index
    finally:
        await index.aclose()
