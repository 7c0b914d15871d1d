"""Eight replicas write to one log on a real PostgreSQL and are killed again and again: no index is missing, and no
entry that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest

from ledger.entry.leaf import parse_leaf
from ledger.keys import open_key_ring
from ledger.ledger import Ledger
from ledger.stores.postgres.store import PostgresLedgerStore
from ledger.stores.store import StoredLeaf
from tests.ledger_doubles import ORIGIN, fixed_ids, ticking_clock

pytestmark = pytest.mark.services

REPLICAS, ENTRIES, KILLS = 8, 1_000, 6
WRITER = """
import asyncio, fcntl, os, sys, time, uuid_utils
from pathlib import Path
from ledger.keys import open_key_ring
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.stores.postgres.store import PostgresLedgerStore

async def main(dsn, schema, keys, origin, replica, wanted):
    store = await PostgresLedgerStore.open(dsn, schema=schema, deadline_s=60.0)
    ring = await open_key_ring(Path(keys), origin=origin, create=False)
    ledger = await Ledger.open(store=store, keys=ring, origin=origin, replica=replica,
        clock_ms=lambda: time.time_ns() // 1_000_000, new_id=lambda: str(uuid_utils.uuid7()))
    async def one():
        made = await ledger.record(Kind.CONFIG, tenant="t", request_id=str(uuid_utils.uuid4()), parts={"detail": b"x"})
        os.write(1, f"{made.entry_id} {made.index}\\n".encode())
    left = wanted
    while left > 0:
        await asyncio.gather(*(one() for _ in range(min(left, 20))))
        left -= 20
    await ledger.aclose()

fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 4096)  # who has to be killed must not be far ahead of its reader
asyncio.run(main(*sys.argv[1:6], int(sys.argv[6])))
"""


@pytest.fixture
def schema(postgres_dsn: str) -> Iterator[str]:
    name = f"kills_{uuid.uuid4().hex[:12]}"
    yield name
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


async def _replica(name: str, arguments: list[str], acknowledged: list[tuple[str, int]]) -> int:
    """Write until the replica has 1,000 acknowledged entries; its first lives end by `kill -9`. Gives the kills."""
    chance, mine, kills = random.Random(name), 0, 0
    while kills < KILLS or mine < ENTRIES:
        mortal = kills < KILLS
        wanted = 100 * ENTRIES if mortal else ENTRIES - mine
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WRITER, *arguments, name, str(wanted)), stdout=asyncio.subprocess.PIPE, limit=1024
        )
        assert process.stdout is not None
        last = mine + chance.randrange(20, 200)
        while line := await process.stdout.readline():
            if not line.endswith(b"\n"):
                break  # cut off by the kill: nobody has read it
            entry_id, index = line.decode().split()
            acknowledged.append((entry_id, int(index)))
            mine += 1
            if mortal and mine == last:
                process.send_signal(signal.SIGKILL)
                kills += 1
        code = await process.wait()
        assert code == (-signal.SIGKILL if mortal else 0), f"replica {name} ended with {code}"
    return kills


async def test_eight_replicas_lose_nothing_that_was_acknowledged(
    postgres_dsn: str, schema: str, tmp_path: Path
) -> None:
    keys = await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    store = await PostgresLedgerStore.open(postgres_dsn, schema=schema)
    ledger = await Ledger.open(
        store=store, keys=keys, origin=ORIGIN, replica="watch", clock_ms=ticking_clock(), new_id=fixed_ids()
    )
    await keys.tenant_key(ledger.pseudonym("tenant", "t"), create=True)
    acknowledged: list[tuple[str, int]] = []
    arguments = [postgres_dsn, schema, str(tmp_path / "keys"), ORIGIN]
    kills = await asyncio.gather(*(_replica(f"r{n}", arguments, acknowledged) for n in range(REPLICAS)))
    assert sum(kills) == REPLICAS * KILLS

    found = {leaf.entry_id: leaf async for leaf in _every(store)}
    assert sorted(leaf.index for leaf in found.values()) == list(range(len(found)))
    assert len(acknowledged) >= REPLICAS * ENTRIES
    assert [(entry_id, index) for entry_id, index in acknowledged if found[entry_id].index != index] == []
    for name in (f"r{n}" for n in range(REPLICAS)):
        numbers = sorted(
            leaf.rseq for leaf in (parse_leaf(one.leaf_bytes) for one in found.values()) if leaf.replica == name
        )
        assert numbers == list(range(1, len(numbers) + 1))
    await ledger.checkpoint()
    report = await ledger.verify()
    assert (report.problems, report.entries) == ((), len(found))
    await ledger.aclose()


async def _every(store: PostgresLedgerStore) -> AsyncIterator[StoredLeaf]:
    after = -1
    while batch := await store.scan(after=after, limit=1_000):
        for leaf in batch:
            yield leaf
        after = batch[-1].index
