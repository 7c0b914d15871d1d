"""Proofs from a store's tree nodes; each is verified before it is handed out."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.errors import VerificationFailed
from ledger.merkle.tree import (
    Span,
    consistency_spans,
    inclusion_spans,
    nodes_of,
    resolve,
    verify_inclusion,
)
from ledger.model import TreeHead
from ledger.stores.store import LedgerStore


async def prove_inclusion(store: LedgerStore, *, leaf_hash: bytes, index: int, head: TreeHead) -> tuple[bytes, ...]:
    """The inclusion proof of a leaf in the tree of that head. Raises VerificationFailed if the stored tree does not
    give one that holds."""
    proof = await _resolved(store, inclusion_spans(index, head.size))
    verify_inclusion(leaf_hash=leaf_hash, index=index, size=head.size, proof=proof, root=head.root)
    return proof


async def prove_consistency(store: LedgerStore, *, old: int, head: TreeHead) -> tuple[bytes, ...]:
    """The consistency proof from the first `old` leaves to the tree of that head; `old` is at most its size. It is not
    verified: only who knows the old root can. Raises VerificationFailed for missing nodes."""
    return await _resolved(store, consistency_spans(old, head.size))


async def _resolved(store: LedgerStore, spans: Sequence[Span]) -> tuple[bytes, ...]:
    hashes = await store.nodes(nodes_of(spans))
    try:
        return resolve(spans, hashes)
    except KeyError as exc:
        raise VerificationFailed("nodes", f"the tree node {exc.args[0]} is missing") from exc
