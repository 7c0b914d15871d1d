"""A writer process: python -m api.measure.bench.log.writer ledger|plain NAME FOLDER DSN SCHEMA COUNT.

It says when it is ready and begins when its standard input ends."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from api.measure.bench.log.filling import CALLERS, ORIGIN, fill
from api.wiring.ledger.bench_log import open_bench_log

# A small leaf with its one sealed part, in bytes.
PLAIN_BYTES = 600


async def write_leaves(name: str, folder: Path, dsn: str, schema: str, count: int) -> None:
    """So many entries of one replica."""
    ledger, _ = await open_bench_log(folder, origin=ORIGIN, replica=name, dsn=dsn, schema=schema)
    await _start()
    await fill(ledger, count)
    await ledger.aclose()


async def write_plain(dsn: str, schema: str, count: int) -> None:
    """So many rows in batches as large as the ledger's, each a transaction."""
    import psycopg  # noqa: PLC0415

    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute("SELECT set_config('search_path', %s, false)", (schema,))
        await _start()
        for start in range(0, count, CALLERS):
            rows = [bytes(PLAIN_BYTES)] * min(CALLERS, count - start)
            await connection.execute("INSERT INTO plain (bytes) SELECT unnest(%b::bytea[])", (rows,))


async def _start() -> None:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    what, name, folder, dsn, schema, count = sys.argv[1:7]
    work = (
        write_leaves(name, Path(folder), dsn, schema, int(count))
        if what == "ledger"
        else write_plain(dsn, schema, int(count))
    )
    asyncio.run(work)
