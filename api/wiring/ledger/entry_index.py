"""The index by which auditors find entries, opened when somebody searches: it lies beside the log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import assert_never

from api.home.backends import backends_of
from api.home.configuration import Configuration
from api.home.stores import Embedded, Postgres
from ledger.search.entry_index import EntryIndex


def index_file(configuration: Configuration, origin: str) -> Path:
    """The file of the index beside a log that is a file."""
    shard = _shard(configuration, origin)
    return configuration.home / (f"ledger-index-{shard}.sqlite" if shard else "ledger-index.sqlite")


def _shard(configuration: Configuration, origin: str) -> str:
    return origin.removeprefix(configuration.settings.ledger.origin).removeprefix("/")


@asynccontextmanager
async def open_entry_index(configuration: Configuration, *, origin: str) -> AsyncIterator[EntryIndex]:
    """The index of the home's log of that origin, made if it is not there; each shard has its own. Raises
    LedgerUnavailable."""
    from ledger.search.sql import SqlEntryIndex, index_schema  # noqa: PLC0415 - SQLAlchemy takes a second to import

    shard = _shard(configuration, origin)
    match backends_of(configuration).ledger.store:
        case Embedded():
            index = await SqlEntryIndex.open_sqlite(index_file(configuration, origin))
        case Postgres(dsn):
            index = await SqlEntryIndex.open_postgres(dsn, schema=index_schema(int(shard or 1)))
        case backend:
            assert_never(backend)
    try:
        yield index
    finally:
        await index.aclose()
