"""The Merkle tree of RFC 6962 section 2.1 and RFC 9162 section 2.1: hashes, frontier, proofs. Pure; no I/O.

A perfect subtree is named `Node(level, n)`: it covers the leaves `n * 2**level` up to, not including, `(n + 1) *
2**level`. Every other hash is folded from perfect subtrees, so a store keeps only those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from ledger.errors import VerificationFailed

HASH_BYTES = 32
MAX_SIZE = 2**63 - 1
EMPTY_ROOT = sha256(b"").digest()


class Node(NamedTuple):
    """A perfect subtree."""

    level: int
    n: int


class Span(NamedTuple):
    """The leaves from `start` up to, not including, `end`; `start` is a multiple of the span's largest power of two."""

    start: int
    end: int


def hash_leaf(leaf: bytes) -> bytes:
    """SHA-256(00 || leaf)."""
    return sha256(b"\x00" + leaf).digest()


def hash_children(left: bytes, right: bytes) -> bytes:
    """SHA-256(01 || left || right)."""
    return sha256(b"\x01" + left + right).digest()


def _fold(hashes: Sequence[bytes]) -> bytes:
    """The hash over perfect subtrees of falling size, given left to right; at least one."""
    root = hashes[-1]
    for left in reversed(hashes[:-1]):
        root = hash_children(left, root)
    return root


@dataclass(frozen=True, slots=True)
class Frontier:
    """All that is needed to append: the roots of the perfect subtrees that make up `size` leaves, left to right."""

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def append(self, leaf_hash: bytes) -> tuple[Frontier, tuple[tuple[Node, bytes], ...]]:
        """The next frontier, and the perfect subtrees that this leaf completes, lowest level first."""
        hashes = list(self.hashes)
        node = Node(0, self.size)
        made = [(node, leaf_hash)]
        current = leaf_hash
        while node.n & 1:
            current = hash_children(hashes.pop(), current)
            node = Node(node.level + 1, node.n >> 1)
            made.append((node, current))
        hashes.append(current)
        return Frontier(self.size + 1, tuple(hashes)), tuple(made)

    def extend(self, leaf_hashes: Sequence[bytes]) -> tuple[Frontier, list[tuple[Node, bytes]]]:
        """The tree after `append` of each leaf in turn; the completed subtrees level by level, lowest first."""
        size, rest = self.size + len(leaf_hashes), list(self.hashes)
        made: list[tuple[Node, bytes]] = []
        level, start, row, kept = 0, self.size, list(leaf_hashes), list[bytes]()
        while row or rest:
            made += [(Node(level, n), value) for n, value in enumerate(row, start)]
            if start & 1:  # its left sibling waits in the frontier
                start -= 1
                row.insert(0, rest.pop())
            if len(row) & 1:
                kept.append(row[-1])
            left_and_right = zip(row[::2], row[1::2], strict=False)
            row = [sha256(b"\x01" + left + right).digest() for left, right in left_and_right]
            level, start = level + 1, start >> 1
        return Frontier(size, tuple(reversed(kept))), made

    @property
    def root(self) -> bytes:
        """The root over `size` leaves."""
        return _fold(self.hashes) if self.hashes else EMPTY_ROOT


def frontier_nodes(size: int) -> tuple[Node, ...]:
    """The perfect subtrees whose roots are the frontier of `size` leaves, left to right."""
    return subtrees(Span(0, size))


def subtrees(span: Span) -> tuple[Node, ...]:
    """The perfect subtrees that make up the span, left to right."""
    nodes = []
    start = span.start
    while start < span.end:
        level = (span.end - start).bit_length() - 1
        nodes.append(Node(level, start >> level))
        start += 1 << level
    return tuple(nodes)


def root_of(leaf_hashes: Iterable[bytes]) -> bytes:
    """The root over the leaf hashes."""
    frontier = Frontier()
    for leaf_hash in leaf_hashes:
        frontier, _ = frontier.append(leaf_hash)
    return frontier.root


def _split(size: int) -> int:
    """The largest power of two smaller than `size`; `size` > 1."""
    return 1 << ((size - 1).bit_length() - 1)


def inclusion_spans(index: int, size: int) -> tuple[Span, ...]:
    """The hashes of an inclusion proof, from the leaf's sibling up. RFC 9162 section 2.1.3.1."""
    if not 0 <= index < size <= MAX_SIZE:
        raise ValueError(f"no leaf {index} in a tree of {size}")
    spans: list[Span] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            spans.append(Span(middle, end))
            end = middle
        else:
            spans.append(Span(start, middle))
            start = middle
    return tuple(reversed(spans))


def consistency_spans(old: int, new: int) -> tuple[Span, ...]:
    """The hashes of a consistency proof; empty if `old` is 0 or `new`. RFC 9162 section 2.1.4.1."""
    if not 0 <= old <= new <= MAX_SIZE:
        raise ValueError(f"no consistency from {old} to {new}")
    if old in (0, new):
        return ()
    spans: list[Span] = []
    start, end, complete = 0, new, True
    while old != end:
        middle = start + _split(end - start)
        if old <= middle:
            spans.append(Span(middle, end))
            end = middle
        else:
            spans.append(Span(start, middle))
            start, complete = middle, False
    if not complete:
        spans.append(Span(start, end))
    return tuple(reversed(spans))


def nodes_of(spans: Iterable[Span]) -> tuple[Node, ...]:
    """Every perfect subtree that `resolve` will ask for."""
    return tuple(node for span in spans for node in subtrees(span))


def resolve(spans: Iterable[Span], hashes: Mapping[Node, bytes]) -> tuple[bytes, ...]:
    """The proof: one hash per span. Raises KeyError for a missing node."""
    return tuple(_fold([hashes[node] for node in subtrees(span)]) for span in spans)


def verify_inclusion(*, leaf_hash: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Raise VerificationFailed unless the leaf is at `index` in the tree of that size and root. RFC 9162 section
    2.1.3.2."""
    step = "inclusion-proof"
    _check_hashes(step, (leaf_hash, root, *proof))
    if not 0 <= index < size <= MAX_SIZE:
        raise VerificationFailed(step, f"no leaf {index} in a tree of {size}")
    last, current, node = size - 1, leaf_hash, index
    for sibling in proof:
        if last == 0:
            raise VerificationFailed(step, "the proof is too long")
        if node & 1 or node == last:
            current = hash_children(sibling, current)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            current = hash_children(current, sibling)
        node, last = node >> 1, last >> 1
    if last:
        raise VerificationFailed(step, "the proof is too short")
    if current != root:
        raise VerificationFailed(step, "the computed root is not the checkpoint's")


def verify_consistency(*, old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> None:
    """Raise VerificationFailed unless the tree of `new` leaves extends that of `old` leaves. RFC 9162 section
    2.1.4.2."""
    step = "consistency-proof"
    _check_hashes(step, (old_root, new_root, *proof))
    if not 0 <= old <= new <= MAX_SIZE:
        raise VerificationFailed(step, f"sizes {old} and {new} are out of order")
    if old in (0, new):
        _verify_trivial(old, new, old_root, new_root, proof)
        return
    path = list(proof)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    if not path:
        raise VerificationFailed(step, "the proof is too short")
    node, last = old - 1, new - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    was = now = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise VerificationFailed(step, "the proof is too long")
        if node & 1 or node == last:
            was, now = hash_children(sibling, was), hash_children(sibling, now)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            now = hash_children(now, sibling)
        node, last = node >> 1, last >> 1
    if last:
        raise VerificationFailed(step, "the proof is too short")
    if was != old_root or now != new_root:
        which = "old" if was != old_root else "new"
        raise VerificationFailed(step, f"the computed {which} root differs")


def _verify_trivial(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> None:
    step = "consistency-proof"
    if proof:
        raise VerificationFailed(step, "a proof between these sizes is empty")
    if old == 0 and old_root != EMPTY_ROOT:
        raise VerificationFailed(step, "the old root is not that of the empty tree")
    if old == new and old_root != new_root:
        raise VerificationFailed(step, "one size has two roots")


def _check_hashes(step: str, hashes: Iterable[bytes]) -> None:
    if any(len(item) != HASH_BYTES for item in hashes):
        raise VerificationFailed(step, f"a hash is not {HASH_BYTES} bytes long")
