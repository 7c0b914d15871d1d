"""A log of its own for measurements, with the store beside it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from api.wiring.clock import clock_ms, new_id
from ledger.keys import open_key_ring
from ledger.ledger import Ledger
from ledger.stores.store import LedgerStore


async def open_bench_log(
    folder: Path, *, origin: str, replica: str = "r1", dsn: str | None = None, schema: str = ""
) -> tuple[Ledger, LedgerStore]:
    """The log in that folder, or in that schema of a server with its keys in the folder; made if it is not there."""
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    store: LedgerStore
    if dsn is None:
        from ledger.stores.sqlite.store import SqliteLedgerStore  # noqa: PLC0415

        store = await SqliteLedgerStore.open(folder / "ledger.sqlite")
    else:
        from ledger.stores.postgres.store import PostgresLedgerStore  # noqa: PLC0415

        store = await PostgresLedgerStore.open(dsn, schema=schema)
    keys = await open_key_ring(folder / "keys", origin=origin, create=await store.size() == 0)
    ledger = await Ledger.open(store=store, keys=keys, origin=origin, replica=replica, clock_ms=clock_ms, new_id=new_id)
    return ledger, store
