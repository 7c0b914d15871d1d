"""A PostgreSQL made ready for a log, by an administrator's connection."""

from __future__ import annotations

from collections.abc import Sequence


async def prepare_ledger_server(dsn: str, *, writers: Sequence[str], redactors: Sequence[str]) -> None:
    """Roles, tables and index where they are not there; the login roles may use them. Raises LedgerUnavailable."""
    from ledger.postgres import install  # noqa: PLC0415
    from ledger.search_sql import SqlEntryIndex  # noqa: PLC0415

    await install(dsn, writers=writers, redactors=redactors)
    index = await SqlEntryIndex.open_postgres(dsn)
    try:
        await index.share()
    finally:
        await index.aclose()
