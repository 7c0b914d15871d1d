"""The write-ahead log of the embedded store is copied into the file beside the appends, so it stays bounded."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ledger.entry.leaf import encode_leaf
from ledger.merkle.tree import EMPTY_ROOT
from ledger.model import PART_NAMES, Kind, Leaf, SealedPart, TreeHead
from ledger.stores.sqlite.store import SqliteLedgerStore
from ledger.stores.store import AppendedBatch, NewEntry
from tests.ledger_doubles import fixed_ids

MIB = 1 << 20
_ids = fixed_ids()


def large(rseq: int) -> NewEntry:
    leaf = Leaf(
        kind=Kind.INTENT,
        entry_id=_ids(),
        t_ms=1,
        tenant="t1",
        replica="a",
        rseq=rseq,
        request_id=f"r{rseq}",
        parts=dict.fromkeys(PART_NAMES[Kind.INTENT], "ab" * 32),
        refs=(),
        seen=TreeHead(0, EMPTY_ROOT),
    )
    return NewEntry(leaf, encode_leaf(leaf), (SealedPart("question", b"salt", b"key", bytes(256 * 1024)),))


async def test_the_log_is_copied_beside_the_appends(tmp_path: Path) -> None:
    """Long before the appends would have to wait for it."""
    store = await SqliteLedgerStore.open(tmp_path / "ledger.db")
    rseq = 0
    async with asyncio.timeout(60):
        while (tmp_path / "ledger.db").stat().st_size < 4 * MIB:
            rseq += 1
            assert isinstance(await store.append([large(rseq)]), AppendedBatch)
            await asyncio.sleep(0.05)
    assert (tmp_path / "ledger.db-wal").stat().st_size < 15 * MIB
    await store.aclose()


async def test_the_appends_wait_where_the_copies_do_not_keep_up(tmp_path: Path) -> None:
    store = await SqliteLedgerStore.open(tmp_path / "ledger.db")
    for rseq in range(1, 97):  # 24 MiB
        assert isinstance(await store.append([large(rseq)]), AppendedBatch)
    assert (tmp_path / "ledger.db-wal").stat().st_size < 20 * MIB
    assert (tmp_path / "ledger.db").stat().st_size > 4 * MIB
    await store.aclose()
    assert (tmp_path / "ledger.db").stat().st_size > 20 * MIB
