"""What every LedgerStore promises; each test runs over every backend."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from ledger.entry.leaf import encode_leaf, parse_leaf
from ledger.errors import LedgerUnavailable
from ledger.merkle.tree import EMPTY_ROOT, Node, hash_leaf, root_of
from ledger.model import PART_NAMES, Checkpoint, Kind, Leaf, SealedPart, TreeHead
from ledger.stores.sqlite.store import SqliteLedgerStore
from ledger.stores.store import AppendedBatch, Clash, LedgerStore, LogIdentity, NewEntry, PartAt, RefusedBatch
from tests.channel_backends import vault_at
from tests.ledger_doubles import MemoryLedgerStore, fixed_ids

IDENTITY = LogIdentity("exhibit.example/log", "vkey", "check")
_ids = fixed_ids()


@pytest.fixture(params=["memory", "sqlite", "encrypted"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LedgerStore]:
    made: LedgerStore
    if request.param == "memory":
        made = MemoryLedgerStore()
    else:
        if request.param == "encrypted":
            vault_at(tmp_path)
        made = await SqliteLedgerStore.open(tmp_path / "ledger.db")
    yield made
    await made.aclose()


def entry(rseq: int, *, kind: Kind = Kind.INTENT, replica: str = "a", tenant: str = "t1", req: str = "") -> NewEntry:
    leaf = Leaf(
        kind=kind,
        entry_id=_ids(),
        t_ms=1,
        tenant=tenant,
        replica=replica,
        rseq=rseq,
        request_id=req or f"{replica}-{rseq}",
        parts=dict.fromkeys(PART_NAMES[kind], "ab" * 32),
        refs=(),
        seen=TreeHead(0, EMPTY_ROOT),
    )
    parts = tuple(SealedPart(name, b"salt", b"key", b"blob of " + name.encode()) for name in ("question", "context"))
    return NewEntry(leaf, encode_leaf(leaf), parts)


async def test_first_identity_stays(store: LedgerStore) -> None:
    assert await store.bind(IDENTITY) == IDENTITY
    assert await store.bind(dataclasses.replace(IDENTITY, vkey="other")) == IDENTITY


async def test_empty_store(store: LedgerStore) -> None:
    assert await store.size() == 0
    assert await store.next_rseq("a") == 1
    assert await store.leaf(_ids()) is None
    assert await store.find("nothing") == ()
    assert await store.scan(after=-1, limit=10) == ()
    assert await store.parts(_ids()) == ()
    assert await store.latest_checkpoint() is None
    assert await store.checkpoints() == ()
    assert await store.faults() == ()
    assert await store.nodes([Node(0, 0)]) == {}


async def test_append_is_contiguous_and_keeps_bytes(store: LedgerStore) -> None:
    batch = [entry(1), entry(2)]
    assert await store.append(batch) == AppendedBatch(0)
    assert await store.append([entry(3)]) == AppendedBatch(2)
    found = await store.scan(after=-1, limit=10)
    assert [leaf.index for leaf in found] == [0, 1, 2]
    assert [leaf.leaf_bytes for leaf in found[:2]] == [item.leaf_bytes for item in batch]
    assert all(leaf.leaf_hash == hash_leaf(leaf.leaf_bytes) for leaf in found)
    assert await store.size() == 3
    assert await store.leaf(batch[1].leaf.entry_id) == found[1]


async def test_tree_nodes_are_those_of_the_leaves(store: LedgerStore) -> None:
    for rseq in range(1, 8):
        await store.append([entry(rseq)])
    hashes = [leaf.leaf_hash for leaf in await store.scan(after=-1, limit=10)]
    wanted = [Node(0, 6), Node(1, 2), Node(2, 0), Node(2, 1), Node(3, 0)]
    assert await store.nodes(wanted) == {
        Node(0, 6): hashes[6],
        Node(1, 2): root_of(hashes[4:6]),
        Node(2, 0): root_of(hashes[:4]),
    }


async def test_an_entry_that_a_change_of_its_tenant_overtook_is_refused(store: LedgerStore) -> None:
    await store.append([entry(1), entry(2, kind=Kind.CONFIG, tenant="t2")])
    kept = await store.append([replace(entry(3), since=0), replace(entry(4, tenant="t2"), since=2)])
    assert isinstance(kept, AppendedBatch)
    refused = await store.append([entry(5), replace(entry(6, tenant="t2"), since=1)])
    assert isinstance(refused, RefusedBatch)
    assert (refused.clash, refused.position) == (Clash.OVERTAKEN, 1)
    beside = await store.append([entry(5, kind=Kind.CONFIG), replace(entry(6), since=4)])
    assert isinstance(beside, RefusedBatch) and beside.clash is Clash.OVERTAKEN
    assert await store.size() == 4


async def test_repeated_request_and_kind_is_refused_with_the_first_leaf(store: LedgerStore) -> None:
    first = entry(1, req="r")
    await store.append([first])
    refused = await store.append([entry(2), entry(3, req="r")])
    assert isinstance(refused, RefusedBatch)
    assert (refused.clash, refused.position) == (Clash.REQUEST, 1)
    assert refused.existing is not None
    assert refused.existing.entry_id == first.leaf.entry_id
    assert await store.size() == 1
    assert await store.append([entry(2, req="r", kind=Kind.OUTCOME)]) == AppendedBatch(1)


@pytest.mark.parametrize("rseq", [1, 3, 100])
async def test_a_number_out_of_sequence_is_refused(store: LedgerStore, rseq: int) -> None:
    await store.append([entry(1)])
    refused = await store.append([entry(rseq, req="new")])
    assert refused == RefusedBatch(Clash.SEQUENCE, 0, next_rseq=2)
    assert await store.size() == 1


async def test_a_gap_inside_a_batch_refuses_all_of_it(store: LedgerStore) -> None:
    assert await store.append([entry(1), entry(3)]) == RefusedBatch(Clash.SEQUENCE, 1, next_rseq=1)
    assert await store.size() == 0
    assert await store.append([entry(1)]) == AppendedBatch(0)


async def test_replicas_count_apart(store: LedgerStore) -> None:
    await store.append([entry(1, replica="a")])
    await store.append([entry(1, replica="b")])
    await store.append([entry(2, replica="b")])
    assert (await store.next_rseq("a"), await store.next_rseq("b"), await store.next_rseq("c")) == (2, 3, 1)


async def test_scan_filters_and_pages(store: LedgerStore) -> None:
    await store.append([entry(1), entry(2, tenant="t2"), entry(3, kind=Kind.OUTCOME), entry(4), entry(5)])
    assert [leaf.index for leaf in await store.scan(after=0, limit=2)] == [1, 2]
    assert [leaf.index for leaf in await store.scan(after=-1, limit=9, kind=Kind.INTENT)] == [0, 1, 3, 4]
    assert [leaf.index for leaf in await store.scan(after=-1, limit=9, tenant="t2")] == [1]
    assert [leaf.index for leaf in await store.scan(after=0, limit=1, kind=Kind.INTENT, tenant="t1")] == [3]
    assert await store.scan(after=4, limit=9) == ()


async def test_find_returns_a_request_in_order(store: LedgerStore) -> None:
    await store.append([entry(1, req="r"), entry(2), entry(3, req="r", kind=Kind.OUTCOME)])
    assert [leaf.index for leaf in await store.find("r")] == [0, 2]


async def test_parts_come_back_whole_and_by_name(store: LedgerStore) -> None:
    item = entry(1)
    await store.append([item, entry(2)])
    found = await store.parts(item.leaf.entry_id)
    assert found == tuple(sorted(item.parts, key=lambda part: part.name))
    assert await store.parts(item.leaf.entry_id, ["question", "nothing"]) == (item.parts[0],)


async def test_a_redaction_takes_parts_with_it_and_nothing_else(store: LedgerStore) -> None:
    items = [entry(1), entry(2)]
    await store.append(items)
    gone = PartAt(items[0].leaf.entry_id, "question")
    assert await store.append(
        [entry(3, kind=Kind.REDACTION)], erase=[gone, PartAt(_ids(), "question")]
    ) == AppendedBatch(2)
    await store.shrink()
    assert [part.name for part in await store.parts(items[0].leaf.entry_id)] == ["context"]
    assert [part.name for part in await store.parts(items[1].leaf.entry_id)] == ["context", "question"]
    assert [leaf.leaf_bytes for leaf in await store.scan(after=-1, limit=2)] == [item.leaf_bytes for item in items]
    assert await store.faults() == ()


async def test_a_refused_redaction_erases_nothing(store: LedgerStore) -> None:
    item = entry(1)
    await store.append([item])
    refused = await store.append([entry(9, kind=Kind.REDACTION)], erase=[PartAt(item.leaf.entry_id, "question")])
    assert isinstance(refused, RefusedBatch)
    assert len(await store.parts(item.leaf.entry_id)) == 2


async def test_nothing_is_erased_without_a_redaction(store: LedgerStore) -> None:
    item = entry(1)
    await store.append([item])
    with pytest.raises(LedgerUnavailable):
        await store.append([entry(2)], erase=[PartAt(item.leaf.entry_id, "question")])
    assert len(await store.parts(item.leaf.entry_id)) == 2
    assert await store.size() == 1
    assert await store.append([entry(2)]) == AppendedBatch(1)


async def test_one_checkpoint_per_size(store: LedgerStore) -> None:
    first = Checkpoint(TreeHead(2, b"a" * 32), "first")
    assert await store.add_checkpoint(first) == first
    assert await store.add_checkpoint(Checkpoint(TreeHead(2, b"b" * 32), "second")) == first
    later = Checkpoint(TreeHead(10, b"c" * 32), "later")
    await store.add_checkpoint(later)
    assert await store.latest_checkpoint() == later
    assert await store.checkpoints() == (first, later)


async def test_concurrent_appends_of_two_replicas_are_contiguous(store: LedgerStore) -> None:
    async def replica(name: str) -> None:
        for rseq in range(1, 21):
            assert isinstance(await store.append([entry(rseq, replica=name)]), AppendedBatch)

    await asyncio.gather(replica("a"), replica("b"))
    found = await store.scan(after=-1, limit=100)
    assert [leaf.index for leaf in found] == list(range(40))


async def test_a_cancelled_append_is_whole_or_absent(store: LedgerStore) -> None:
    task = asyncio.create_task(store.append([entry(1), entry(2)]))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    size = await store.size()
    assert size in (0, 2)
    assert await store.append([entry(size + 1, req="next")]) == AppendedBatch(size)


async def test_a_closed_store_is_unavailable(store: LedgerStore) -> None:
    await store.aclose()
    with pytest.raises(LedgerUnavailable):
        await store.size()
    with pytest.raises(LedgerUnavailable):
        await store.append([entry(1)])


def signed(size: int) -> Checkpoint:
    return Checkpoint(TreeHead(size, bytes([size]) * 32), f"note {size}\n")


async def test_the_first_cosignatures_of_a_checkpoint_stay(store: LedgerStore) -> None:
    for size in (3, 5, 9):
        await store.add_checkpoint(signed(size))
    await store.add_cosignatures(5, ["w2", "w1"])
    await store.add_cosignatures(5, ["other"])
    cosigned = dataclasses.replace(signed(5), cosignatures=("w2", "w1"))
    assert await store.checkpoints() == (signed(3), cosigned, signed(9))
    assert await store.add_checkpoint(signed(5)) == cosigned
    assert cosigned.text == "note 5\nw2\nw1\n"
    assert await store.latest_checkpoint() == signed(9)


async def test_the_first_checkpoint_that_covers(store: LedgerStore) -> None:
    for size in (3, 5, 9):
        await store.add_checkpoint(signed(size))
    await store.add_cosignatures(5, ["w"])
    assert [c and c.head.size for c in [await store.covering(n) for n in (0, 3, 4, 6, 9, 10)]] == [3, 3, 5, 9, 9, None]
    assert [c and c.head.size for c in [await store.covering(n, cosigned=True) for n in (0, 5, 6)]] == [5, 5, None]


async def test_dangling_intents(store: LedgerStore) -> None:
    await store.append([entry(1, req="a"), entry(2, req="b"), entry(3, req="a", kind=Kind.OUTCOME)])
    await store.append([entry(1, req="c", replica="other"), entry(2, req="d", replica="other", kind=Kind.RETRIEVAL)])
    assert [leaf.index for leaf in await store.dangling(limit=10)] == [1, 3]
    assert [leaf.index for leaf in await store.dangling(limit=1)] == [1]
    assert [leaf.index for leaf in await store.dangling(limit=10, replica="a")] == [1]
    assert await store.dangling(limit=10, replica="none") == ()
    [tenant] = {parse_leaf(leaf.leaf_bytes).tenant for leaf in await store.dangling(limit=10)}
    assert [leaf.index for leaf in await store.dangling(limit=10, tenant=tenant)] == [1, 3]
    assert [leaf.index for leaf in await store.dangling(limit=10, tenant=tenant, replica="a")] == [1]
    assert await store.dangling(limit=10, tenant="none") == ()
