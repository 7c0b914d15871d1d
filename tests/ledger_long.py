"""A long log without the cost of one: leaves without parts, appended in batches, a checkpoint at each size asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ledger.entry.leaf import encode_leaf
from ledger.merkle.tree import EMPTY_ROOT, Frontier, hash_leaf
from ledger.model import PART_NAMES, Checkpoint, Kind, Leaf, TreeHead
from ledger.notes.note import SigningKey, checkpoint_text, sign_note
from ledger.proofs.export import export_files
from ledger.stores.store import AppendedBatch, LedgerStore, LogIdentity, NewEntry

ORIGIN = "exhibit.example/long"
LOG_KEY = SigningKey.from_seed(ORIGIN, b"L" * 32)
BATCH = 512


def leaf_number(index: int) -> NewEntry:
    """The leaf of that index; its parts are nowhere."""
    leaf = Leaf(
        kind=Kind.CONFIG,
        entry_id=f"018bcfe5-6800-7000-8000-{index:012x}",
        t_ms=1_700_000_000_000 + index,
        tenant="t",
        replica="r",
        rseq=index + 1,
        request_id=f"q{index}",
        parts=dict.fromkeys(PART_NAMES[Kind.CONFIG], "ab" * 32),
        refs=(),
        seen=TreeHead(0, EMPTY_ROOT),
    )
    return NewEntry(leaf, encode_leaf(leaf), ())


async def grow(store: LedgerStore, sizes: Sequence[int]) -> list[Checkpoint]:
    """Append up to the last of the rising sizes; the checkpoint of each."""
    await store.bind(LogIdentity(ORIGIN, str(LOG_KEY.verifier), "check"))
    frontier, signed = Frontier(), []
    for size in sizes:
        while frontier.size < size:
            batch = [leaf_number(n) for n in range(frontier.size, min(size, frontier.size + BATCH))]
            assert isinstance(await store.append(batch), AppendedBatch)
            for entry in batch:
                frontier, _ = frontier.append(hash_leaf(entry.leaf_bytes))
        head = TreeHead(size, frontier.root)
        checkpoint = Checkpoint(head, sign_note(checkpoint_text(ORIGIN, head), [LOG_KEY]))
        signed.append(await store.add_checkpoint(checkpoint))
    return signed


async def export_to(store: LedgerStore, checkpoint: Checkpoint, folder: Path) -> Path:
    """The exported log in a folder."""
    async for path, data in export_files(store, checkpoint):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return folder
