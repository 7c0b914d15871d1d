"""The one writer of a replica: gives entries their sequence numbers and appends them in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from ledger.entry.leaf import encode_leaf
from ledger.entry.parts import SealedEntry
from ledger.errors import EntryOvertaken, EntryRefused, LedgerNotResponding, LedgerUnavailable
from ledger.merkle.tree import hash_leaf
from ledger.model import Kind, Leaf, Ref, TreeHead
from ledger.stores.store import AppendedBatch, Clash, LedgerStore, NewEntry, PartAt, StoredLeaf

BATCH_ENTRIES = 64


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry that has no sequence number yet."""

    kind: Kind
    entry_id: str
    t_ms: int
    tenant: str
    request_id: str
    refs: tuple[Ref, ...]
    sealed: SealedEntry
    erase: tuple[PartAt, ...] = ()
    since: int | None = None


@dataclass(frozen=True, slots=True)
class _WaitingBatch:
    draft: Draft
    done: asyncio.Future[StoredLeaf]

    def settle(self, outcome: StoredLeaf | Exception) -> None:
        if self.done.done():  # its task was cancelled
            return
        if isinstance(outcome, Exception):
            self.done.set_exception(outcome)
        else:
            self.done.set_result(outcome)


class Writer:
    """Whoever comes while a batch is being written shares the next transaction, so that many callers pay for one.
    Nobody waits longer than `deadline_s`, whatever is written before."""

    def __init__(
        self, *, store: LedgerStore, replica: str, seen: Callable[[], TreeHead], deadline_s: float | None = None
    ) -> None:
        self._deadline_s = deadline_s
        self._store = store
        self.replica = replica
        self._seen = seen
        self._next_rseq: int | None = None
        self._waiting: list[_WaitingBatch] = []
        self._flusher: asyncio.Task[None] | None = None

    async def append(self, draft: Draft) -> StoredLeaf:
        """The durable leaf; it is of an earlier entry if the request has one of that kind. Raises EntryRefused or
        LedgerUnavailable: then nothing of this entry was written, or (LedgerNotResponding) the store may yet keep it,
        whole. A cancelled call may still be written, unless it waits for its turn."""
        done: asyncio.Future[StoredLeaf] = asyncio.get_running_loop().create_future()
        self._waiting.append(_WaitingBatch(draft, done))
        if self._flusher is None or self._flusher.done():
            self._flusher = asyncio.create_task(self._flush())
        try:
            async with asyncio.timeout(self._deadline_s):
                return await done
        except TimeoutError as exc:
            raise LedgerNotResponding(f"the entry was not durable within {self._deadline_s:g} s") from exc

    async def aclose(self) -> None:
        """Wait for what is being written."""
        if self._flusher is not None:
            await asyncio.wait([self._flusher])

    async def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = _next_batch([one for one in self._waiting if not one.done.done()])
            try:
                await self._write(batch)
            except BaseException as exc:
                self._next_rseq = None
                fault = exc if isinstance(exc, Exception) else LedgerUnavailable("the ledger was stopped")
                for waiting in batch:
                    waiting.settle(fault)
                if fault is not exc:
                    raise

    async def _write(self, batch: list[_WaitingBatch]) -> None:
        """Append the batch; entries that cannot be, are settled and taken out of it, and the rest is tried again."""
        while batch:
            first = self._next_rseq or await self._store.next_rseq(self.replica)
            entries = self._encode(batch, first)
            if not entries:
                return
            result = await self._store.append(entries, erase=[part for each in batch for part in each.draft.erase])
            if isinstance(result, AppendedBatch):
                self._next_rseq = first + len(batch)
                for offset, (waiting, entry) in enumerate(zip(batch, entries, strict=True)):
                    waiting.settle(_stored(entry, result.first_index + offset))
                return
            self._next_rseq = result.next_rseq  # None: it is asked for again
            if result.clash is Clash.REQUEST and result.existing is not None:
                batch.pop(result.position).settle(result.existing)
            elif result.clash is Clash.OVERTAKEN:
                batch.pop(result.position).settle(EntryOvertaken("what the tenant holds has been changed"))

    def _encode(self, batch: list[_WaitingBatch], first_rseq: int) -> list[NewEntry]:
        entries: list[NewEntry] = []
        for waiting in tuple(batch):
            leaf = self._leaf(waiting.draft, first_rseq + len(entries))
            try:
                entries.append(NewEntry(leaf, encode_leaf(leaf), waiting.draft.sealed.parts, waiting.draft.since))
            except EntryRefused as exc:
                batch.remove(waiting)
                waiting.settle(exc)
        return entries

    def _leaf(self, draft: Draft, rseq: int) -> Leaf:
        return Leaf(
            kind=draft.kind,
            entry_id=draft.entry_id,
            t_ms=draft.t_ms,
            tenant=draft.tenant,
            replica=self.replica,
            rseq=rseq,
            request_id=draft.request_id,
            parts=draft.sealed.commitments,
            refs=draft.refs,
            seen=self._seen(),
        )


def _next_batch(waiting: list[_WaitingBatch]) -> tuple[list[_WaitingBatch], list[_WaitingBatch]]:
    """Split into entries to write now and entries to leave: at most `BATCH_ENTRIES`, each request and kind once;
    redactions, which erase, last."""
    batch: dict[tuple[str, Kind], _WaitingBatch] = {}
    rest = []
    for item in waiting:
        key = (item.draft.request_id, item.draft.kind)
        if len(batch) < BATCH_ENTRIES and key not in batch:
            batch[key] = item
        else:
            rest.append(item)
    return sorted(batch.values(), key=lambda item: bool(item.draft.erase)), rest


def _stored(entry: NewEntry, index: int) -> StoredLeaf:
    return StoredLeaf(index, entry.leaf.entry_id, entry.leaf_bytes, hash_leaf(entry.leaf_bytes))
