"""A PostgreSQL made ready for a log, and cleared of what was erased, by an administrator's connection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.stores.postgres.wal import OverwrittenWal


async def prepare_ledger_server(dsn: str, *, writers: Sequence[str], redactors: Sequence[str], shard: int = 1) -> None:
    """Roles, tables and index of a log where they are not there; the login roles may use them. Raises
    LedgerUnavailable."""
    from ledger.search.sql import SqlEntryIndex, index_schema  # noqa: PLC0415
    from ledger.stores.postgres.store import install, shard_schema  # noqa: PLC0415

    await install(dsn, schema=shard_schema(shard), writers=writers, redactors=redactors)
    index = await SqlEntryIndex.open_postgres(dsn, schema=index_schema(shard))
    try:
        await index.share()
    finally:
        await index.aclose()


async def scrub_server(dsn: str) -> OverwrittenWal:
    """Overwrite the server's write-ahead log. Raises LedgerUnavailable."""
    from ledger.stores.postgres.wal import overwrite_wal  # noqa: PLC0415

    return await overwrite_wal(dsn)
