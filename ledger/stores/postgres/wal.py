"""The write-ahead log of a PostgreSQL server after an erasure: what it still holds is overwritten.

Segments that are done with are kept under new names for later use, with their old bytes in them, so that neither VACUUM
nor CHECKPOINT takes these away. A switch ends the current segment and fills its rest with zeros; so after as many
switches as there are files each of them has been used anew or removed.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import AsyncConnection

from ledger.errors import LedgerUnavailable
from ledger.stores.postgres.pool import said_by

_SPARE_ROUNDS = 2
_HOLDERS = """
SELECT 'replication slot ' || slot_name FROM pg_replication_slots WHERE restart_lsn IS NOT NULL
UNION ALL SELECT 'standby ' || coalesce(nullif(application_name, ''), 'without a name') FROM pg_stat_replication
UNION ALL SELECT 'wal_keep_size ' || setting || 'MB' FROM pg_settings WHERE name = 'wal_keep_size' AND setting <> '0'
UNION ALL SELECT 'archive_mode ' || setting FROM pg_settings WHERE name = 'archive_mode' AND setting <> 'off'
"""


@dataclass(frozen=True, slots=True)
class OverwrittenWal:
    """How many files the log had, how often it was switched, and what may hold older bytes still: slots, standbys,
    kept segments and archives, by name."""

    files: int
    switches: int
    held_by: tuple[str, ...]


async def overwrite_wal(dsn: str) -> OverwrittenWal:
    """Do it, as a role that may switch the log and checkpoint: a superuser. Raises LedgerUnavailable."""
    try:
        async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
            held = await (await connection.execute(_HOLDERS)).fetchall()
            counted = await connection.execute("SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'")
            ((files,),) = await counted.fetchall()
            for _ in range(files + _SPARE_ROUNDS):
                await connection.execute("CHECKPOINT")
                await connection.execute("SELECT pg_switch_wal()")
            await connection.execute("CHECKPOINT")
    except psycopg.Error as exc:
        raise LedgerUnavailable(f"the write-ahead log cannot be overwritten: {said_by(exc)}") from exc
    return OverwrittenWal(files, files + _SPARE_ROUNDS, tuple(sorted(row[0] for row in held)))
