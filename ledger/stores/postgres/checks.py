"""Checks that PostgreSQL itself can make of the log's tables."""

from __future__ import annotations

from ledger.stores.postgres.schema import TRIGGERS
from ledger.stores.postgres.writes import Connection, rows_of


async def faults_of(db: Connection) -> tuple[str, ...]:
    triggers = await rows_of(
        db,
        "SELECT c.relname, t.tgname, t.tgenabled::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
        " WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal",
    )
    enabled = {(table, name) for table, name, state in triggers if state == "A"}
    faults = [f"the trigger {name} of {table} is missing or switched off" for table, name in sorted(TRIGGERS - enabled)]
    checks = await rows_of(
        db,
        "SELECT 1 FROM pg_constraint WHERE conrelid = 'leaves'::regclass AND conname = 'leaf_hash' AND convalidated",
    )
    faults += [] if checks else ["the check of the leaves' hashes is missing"]
    ((size, first, last, count),) = await rows_of(
        db, "SELECT (SELECT size FROM head), coalesce(min(idx), 0), coalesce(max(idx) + 1, 0), count(*) FROM leaves"
    )
    if (size, first, count) != (last, 0, last):
        faults.append(f"the head is at {size}, and {count} leaves are stored from {first} to {last - 1}")
    ((stray,),) = await rows_of(
        db,
        "SELECT count(*) FROM secrets s FULL JOIN blobs b USING (entry, name)"
        " WHERE s.key IS NULL OR b.blob IS NULL OR NOT EXISTS (SELECT FROM leaves l WHERE l.id = entry)",
    )
    return (*faults, *([f"{stray} parts lack their leaf, salt or content"] if stray else []))
