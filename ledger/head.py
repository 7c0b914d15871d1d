"""The signed head: one checkpoint per size, over a root that is recomputed from stored bytes."""

from __future__ import annotations

import asyncio

from ledger.errors import VerificationFailed
from ledger.model import Checkpoint, TreeHead
from ledger.note import SigningKey, checkpoint_text, sign_note, verify_checkpoint
from ledger.store import LedgerStore
from ledger.tree import EMPTY_ROOT, Frontier, frontier_nodes, hash_leaf

_SCAN_ENTRIES = 1000


class HeadSigner:
    """Signs the head of one log when asked. Open it with `HeadSigner.open`."""

    def __init__(self, *, store: LedgerStore, signer: SigningKey, latest: Checkpoint | None) -> None:
        self._store = store
        self._signer = signer
        self._seen = latest.head if latest else TreeHead(0, EMPTY_ROOT)
        self._recomputed: Frontier | None = None
        self._signing = asyncio.Lock()

    @classmethod
    async def open(cls, *, store: LedgerStore, signer: SigningKey) -> HeadSigner:
        """Raises VerificationFailed or MalformedNote if the latest checkpoint of the store is not one that this key
        signed."""
        latest = await store.latest_checkpoint()
        if latest is not None:
            _check_signed(latest, signer)
        return cls(store=store, signer=signer, latest=latest)

    def seen(self) -> TreeHead:
        """The latest head that is known to be signed; size 0 if none is."""
        return self._seen

    async def checkpoint(self) -> Checkpoint:
        """The checkpoint of the current size. Raises VerificationFailed, and signs nothing, if stored leaves were
        changed or leaves that were signed for are missing."""
        async with self._signing:
            size = await self._store.size()
            latest = await self._store.latest_checkpoint()
            if latest is not None:
                _check_signed(latest, self._signer)
                if latest.head.size > size:
                    raise VerificationFailed(
                        "truncated", f"{size} leaves are stored, {latest.head.size} were signed for"
                    )
            if latest is None or latest.head.size < size:
                latest = await self._sign(latest, size)
            self._seen = latest.head
            return latest

    async def _sign(self, latest: Checkpoint | None, size: int) -> Checkpoint:
        head = TreeHead(size, (await self._recompute(latest, size)).root)
        note = sign_note(checkpoint_text(self._signer.name, head), [self._signer])
        kept = await self._store.add_checkpoint(Checkpoint(head, note))
        if kept.head != head:
            raise VerificationFailed("checkpoint", f"size {size} was signed for with another root")
        _check_signed(kept, self._signer)
        return kept

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
        wanted = frontier_nodes(latest.head.size)
        found = await self._store.nodes(wanted)
        frontier = Frontier(latest.head.size, tuple(found.get(node, b"") for node in wanted))
        if frontier.root != latest.head.root:
            raise VerificationFailed("node", "the stored tree does not lead to the root of the latest checkpoint")
        return frontier


def _check_signed(checkpoint: Checkpoint, signer: SigningKey) -> None:
    head = verify_checkpoint(checkpoint.note, signer.verifier, origin=signer.name)
    if head != checkpoint.head:
        raise VerificationFailed("checkpoint", f"the stored head of size {checkpoint.head.size} is not the signed one")
