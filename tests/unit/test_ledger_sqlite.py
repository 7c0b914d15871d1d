"""The write-ahead log of the embedded store is copied into the file beside the appends, so it stays bounded."""

from __future__ import annotations

from pathlib import Path

from ledger.leaf import encode_leaf
from ledger.model import PART_NAMES, Kind, Leaf, SealedPart, TreeHead
from ledger.sqlite import SqliteLedgerStore
from ledger.store import Appended, NewEntry
from ledger.tree import EMPTY_ROOT
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


async def test_the_log_is_copied_into_the_file(tmp_path: Path) -> None:
    store = await SqliteLedgerStore.open(tmp_path / "ledger.db")
    for rseq in range(1, 81):  # 20 MiB
        assert isinstance(await store.append([large(rseq)]), Appended)
    assert (tmp_path / "ledger.db-wal").stat().st_size < 10 * MIB
    assert (tmp_path / "ledger.db").stat().st_size > 10 * MIB
    await store.aclose()
    assert (tmp_path / "ledger.db").stat().st_size > 20 * MIB
