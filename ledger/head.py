"""The signed head: one checkpoint per size, over a root that is recomputed from stored bytes, and never one that goes
back behind a checkpoint that is held outside."""

from __future__ import annotations

import asyncio

from ledger.errors import CheckpointPending, KeyUnusable, LedgerError, LogForked, VerificationFailed
from ledger.keys import KeyRing
from ledger.merkle.tree import EMPTY_ROOT, Frontier, frontier_nodes, hash_leaf
from ledger.model import Checkpoint, TreeHead
from ledger.notes.note import Signer, checkpoint_text, parse_checkpoint_text, parse_note, signed_note
from ledger.outside import OutsideCheckpoint
from ledger.rotation import Detail, KeyChain, follow
from ledger.stores.store import LedgerStore

_SCAN_ENTRIES = 1000


class HeadSigner:
    """Signs the head of one log when asked. Open it with `HeadSigner.open`."""

    def __init__(
        self,
        *,
        store: LedgerStore,
        keys: KeyRing,
        chain: KeyChain,
        detail: Detail,
        outside: OutsideCheckpoint | None,
        latest: Checkpoint | None,
    ) -> None:
        self._store = store
        self._keys = keys
        self._chain = chain
        self._detail = detail
        self._outside = outside
        self._seen = latest.head if latest else TreeHead(0, EMPTY_ROOT)
        self._recomputed: Frontier | None = None
        self._signing = asyncio.Lock()
        self._fork: LogForked | None = None
        self._patience_s: float | None = None
        self.published_ms: int | None = None
        """When the head was last known to be signed, and cosigned where there are witnesses; None: nobody signs."""
        self.published_size: int | None = None
        """Its size; None: none was since the log was opened."""
        self._announced = -1
        self._announcing = asyncio.Condition()

    @classmethod
    async def open(
        cls, *, store: LedgerStore, keys: KeyRing, detail: Detail, outside: OutsideCheckpoint | None = None
    ) -> HeadSigner:
        """`detail` opens that part of a leaf, `outside` holds the highest checkpoint. Raises VerificationFailed or
        MalformedNote if the latest checkpoint of the store is not one that the log's keys signed."""
        chain = await follow(store, KeyChain(keys.signer.verifier), detail)
        latest = await store.latest_checkpoint()
        if latest is not None:
            chain.verify(latest)
        head = cls(store=store, keys=keys, chain=chain, detail=detail, outside=outside, latest=latest)
        await head._compare_outside()
        return head

    @property
    def chain(self) -> KeyChain:
        """The keys of the log as far as they are known."""
        return self._chain

    @property
    def fork(self) -> LogForked | None:
        """The fork because of which nothing is signed any longer; None without one."""
        return self._fork

    def seen(self) -> TreeHead:
        """The latest head that is known to be signed and shown to the witnesses, if there are any; size 0 if none
        is."""
        return self._seen

    def refuse(self, fork: LogForked) -> None:
        """Sign nothing from now on."""
        self._fork = self._fork or fork

    def check(self) -> None:
        """Raise LogForked if nothing is signed any more."""
        if self._fork is not None:
            raise LogForked(str(self._fork), seen=self._fork.seen)

    async def checkpoint(self) -> Checkpoint:
        """The checkpoint of the current size. Raises VerificationFailed, and signs nothing, if stored leaves were
        changed or leaves that were signed for are missing; LogForked if the store is behind what is held outside."""
        async with self._signing:
            self.check()
            latest = await self._store.latest_checkpoint()
            size = await self._store.size()  # after it: other writers append and sign meanwhile
            self._chain = await follow(self._store, self._chain, self._detail)
            if latest is not None:
                self._chain.verify(latest)
                if latest.head.size > size:
                    raise VerificationFailed(
                        "truncated", f"{size} leaves are stored, {latest.head.size} were signed for"
                    )
            if latest is None or latest.head.size < size:
                latest = await self._sign(latest, size)
            if self._patience_s is None:
                self._seen = latest.head
            return latest

    async def empty(self) -> Checkpoint:
        """The checkpoint of the empty tree, which contradicts no other."""
        self.check()
        head = TreeHead(0, EMPTY_ROOT)
        note = await signed_note(checkpoint_text(self._chain.first.name, head), [self._keys.signer])
        kept = await self._store.add_checkpoint(Checkpoint(head, note))
        self._chain.verify(kept)
        return kept

    def keep_signing(self, patience_s: float) -> None:
        """Somebody signs at intervals and announces it: who needs a checkpoint over a leaf waits, so long at most."""
        self._patience_s = patience_s

    async def announce(self, checkpoint: Checkpoint) -> None:
        """The checkpoint has been shown to the witnesses: entries may name it as seen, receipts may be against it."""
        if checkpoint.head.size >= self._seen.size:
            self._seen = checkpoint.head
        async with self._announcing:
            self._announced = max(checkpoint.head.size, self._announced)
            self._announcing.notify_all()

    async def covering(self, index: int) -> Checkpoint:
        """The first checkpoint over the leaf, the first cosigned one if there is any. If there is none, it is signed
        now, or waited for if somebody signs at intervals. Raises CheckpointPending if that did not come in time."""
        found = await self._store.covering(index + 1, cosigned=True)
        if found is None and self._patience_s is not None and self._announced <= index:
            await self._wait_for(index, self._patience_s)
            found = await self._store.covering(index + 1, cosigned=True)
        found = found or await self._store.covering(index + 1)
        if found is None:
            if self._patience_s is not None:
                raise CheckpointPending("no checkpoint covers the entry yet")
            found = await self.checkpoint()
        self._chain.verify(found)
        return found

    async def _wait_for(self, index: int, patience_s: float) -> None:
        self.check()
        try:
            async with asyncio.timeout(patience_s), self._announcing:
                await self._announcing.wait_for(lambda: self._announced > index)
        except TimeoutError:
            return

    async def stored(self) -> TreeHead:
        """Size and root of the stored tree, signed or not."""
        size = await self._store.size()
        return TreeHead(size, (await self._frontier(size)).root)

    async def compare(self, note: str) -> None:
        """Compare the store with a checkpoint that somebody else holds; what is not of this log's keys says nothing.
        Raises LogForked, and signs nothing from then on, if it is of more leaves than are stored or of others."""
        self._chain = await follow(self._store, self._chain, self._detail)
        head = self._chain.verified(note)
        size = await self._store.size()
        try:
            if head.size > size:
                raise LogForked(f"{size} leaves are stored, a checkpoint of {head.size} is held outside", seen=note)
            if (await self._frontier(head.size)).root != head.root:
                raise LogForked(f"the first {head.size} leaves are not those of a checkpoint held outside", seen=note)
        except LogForked as fork:
            self.refuse(fork)
            raise

    async def held_outside(self) -> str | None:
        """The highest checkpoint, as it is held outside."""
        return None if self._outside is None else await self._outside.read()

    async def _compare_outside(self) -> None:
        note = await self.held_outside()
        if note is None:
            return
        try:
            await self.compare(note)
        except LogForked:
            return
        except LedgerError as exc:
            # It may be signed by a key of which a store that was put back knows nothing.
            self.refuse(LogForked(f"the checkpoint held outside does not verify: {exc}", seen=note))

    async def _sign(self, latest: Checkpoint | None, size: int) -> Checkpoint:
        head = TreeHead(size, (await self._recompute(latest, size)).root)
        note = await signed_note(
            checkpoint_text(self._chain.first.name, head), await self._signers(latest.head.size if latest else 0, size)
        )
        kept = await self._store.add_checkpoint(Checkpoint(head, note))
        if kept.head != head:
            raise VerificationFailed("checkpoint", f"size {size} was signed for with another root")
        self._chain.verify(kept)
        await self._hold_outside(kept)
        return kept

    async def _hold_outside(self, checkpoint: Checkpoint) -> None:
        """Keep it outside unless another process has put a larger one there."""
        if self._outside is None:
            return
        held = await self._outside.read()
        if held is None or parse_checkpoint_text(parse_note(held).text)[1].size < checkpoint.head.size:
            await self._outside.write(checkpoint.note)

    async def signer_at(self, size: int) -> Signer:
        """The signer of the key that signs a tree of that size. Raises KeyUnusable."""
        return (await self._signers(size, size))[-1]

    async def _signers(self, before: int, size: int) -> list[Signer]:
        """The signer of the key in force; before it the one that it replaces, if this is the first checkpoint since."""
        wanted = [self._chain.at(size)]
        if self._chain.at(before) != wanted[0]:
            wanted.insert(0, self._chain.at(before))
        found = [self._keys.signer if key == self._chain.first else await self._keys.signer_of(key) for key in wanted]
        if found[-1] is None:
            raise KeyUnusable(f"the log's key is now {wanted[-1]}, which is not in this key ring")
        return [signer for signer in found if signer is not None]

    async def _recompute(self, latest: Checkpoint | None, size: int) -> Frontier:
        """The frontier of `size` leaves, hashed from stored bytes since the latest checkpoint, whose own frontier its
        signature proves."""
        frontier = self._recomputed
        if frontier is None:
            frontier = await self._signed_frontier(latest) if latest else Frontier()
        while frontier.size < size:
            limit = min(_SCAN_ENTRIES, size - frontier.size)
            batch = await self._store.scan(after=frontier.size - 1, limit=limit)
            for stored in batch:
                leaf_hash = hash_leaf(stored.leaf_bytes)
                if stored.index != frontier.size or stored.leaf_hash != leaf_hash:
                    raise VerificationFailed("leaf-hash", f"leaf {frontier.size} is missing or changed")
                frontier, _ = frontier.append(leaf_hash)
                if latest and frontier.size == latest.head.size and frontier.root != latest.head.root:
                    raise VerificationFailed(
                        "root", f"the root over {frontier.size} leaves is not the one that was signed"
                    )
            if not batch:
                raise VerificationFailed("truncated", f"leaf {frontier.size} is missing")
        self._recomputed = frontier
        return frontier

    async def _signed_frontier(self, latest: Checkpoint) -> Frontier:
        frontier = await self._frontier(latest.head.size)
        if frontier.root != latest.head.root:
            raise VerificationFailed("node", "the stored tree does not lead to the root of the latest checkpoint")
        return frontier

    async def _frontier(self, size: int) -> Frontier:
        wanted = frontier_nodes(size)
        found = await self._store.nodes(wanted)
        return Frontier(size, tuple(found.get(node, b"") for node in wanted))
