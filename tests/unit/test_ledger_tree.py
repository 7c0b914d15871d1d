"""The Merkle tree against a naive transcription of RFC 6962 section 2.1 and the RFC's well-known roots."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import VerificationFailed
from ledger.merkle.tree import (
    EMPTY_ROOT,
    MAX_SIZE,
    Frontier,
    Node,
    Span,
    consistency_spans,
    frontier_nodes,
    hash_leaf,
    inclusion_spans,
    nodes_of,
    resolve,
    root_of,
    subtrees,
    verify_consistency,
    verify_inclusion,
)

SIZES = 101
LEAVES = tuple(hash_leaf(bytes([i])) for i in range(SIZES))
KNOWN_LEAVES = [
    bytes.fromhex(text)
    for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
KNOWN_ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


@cache
def mth(hashes: tuple[bytes, ...]) -> bytes:
    """RFC 6962 section 2.1, word for word."""
    if not hashes:
        return sha256(b"").digest()
    if len(hashes) == 1:
        return hashes[0]
    k = 1
    while k * 2 < len(hashes):
        k *= 2
    return sha256(b"\x01" + mth(hashes[:k]) + mth(hashes[k:])).digest()


def path(m: int, hashes: tuple[bytes, ...]) -> list[bytes]:
    """RFC 6962 section 2.1.1, word for word."""
    if len(hashes) == 1:
        return []
    k = 1
    while k * 2 < len(hashes):
        k *= 2
    if m < k:
        return [*path(m, hashes[:k]), mth(hashes[k:])]
    return [*path(m - k, hashes[k:]), mth(hashes[:k])]


def subproof(m: int, hashes: tuple[bytes, ...], complete: bool) -> list[bytes]:
    """RFC 6962 section 2.1.2, word for word."""
    if m == len(hashes):
        return [] if complete else [mth(hashes)]
    k = 1
    while k * 2 < len(hashes):
        k *= 2
    if m <= k:
        return [*subproof(m, hashes[:k], complete), mth(hashes[k:])]
    return [*subproof(m - k, hashes[k:], False), mth(hashes[:k])]


def stored_nodes(count: int) -> dict[Node, bytes]:
    nodes: dict[Node, bytes] = {}
    frontier = Frontier()
    for leaf in LEAVES[:count]:
        frontier, made = frontier.append(leaf)
        nodes.update(made)
    return nodes


NODES = stored_nodes(SIZES)


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8 % len(data)] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("size", range(9))
def test_known_roots(size: int) -> None:
    assert root_of(map(hash_leaf, KNOWN_LEAVES[:size])).hex() == KNOWN_ROOTS[size]


@pytest.mark.parametrize("size", range(SIZES))
def test_frontier_agrees_with_the_definition(size: int) -> None:
    frontier = Frontier()
    for leaf in LEAVES[:size]:
        frontier, _ = frontier.append(leaf)
    assert frontier.root == mth(LEAVES[:size])
    assert frontier.size == size
    assert frontier.hashes == tuple(NODES[node] for node in frontier_nodes(size))


@pytest.mark.parametrize("old", range(0, SIZES, 3))
def test_many_leaves_at_once_are_those_leaves_in_turn(old: int) -> None:
    before, _ = Frontier().extend(LEAVES[:old])
    for new in range(old, SIZES):
        frontier, made = before.extend(LEAVES[old:new])
        assert frontier.hashes == tuple(NODES[node] for node in frontier_nodes(new))
        assert frontier.size == new
        assert dict(made) == {node: NODES[node] for node in set(stored_nodes(new)) - set(stored_nodes(old))}


def test_nodes_are_perfect_subtrees() -> None:
    for node, value in NODES.items():
        assert value == mth(LEAVES[node.n << node.level : (node.n + 1) << node.level])
    assert len(NODES) == sum(SIZES >> level for level in range(7))


@pytest.mark.parametrize("size", range(1, SIZES))
def test_every_inclusion_proof_holds_and_each_corruption_fails(size: int) -> None:
    root = mth(LEAVES[:size])
    for index in range(size):
        proof = resolve(inclusion_spans(index, size), NODES)
        assert list(proof) == path(index, LEAVES[:size])
        verify_inclusion(leaf_hash=LEAVES[index], index=index, size=size, proof=proof, root=root)
        for changed in inclusion_corruptions(proof, index):
            with pytest.raises(VerificationFailed) as failed:
                verify_inclusion(leaf_hash=LEAVES[index], index=index, size=size, proof=changed, root=root)
            assert failed.value.step == "inclusion-proof"
        for leaf, at, top in (
            (flipped(LEAVES[index], size), index, root),
            (LEAVES[index], index, flipped(root, index)),
            (LEAVES[index], (index + 1) % (size + 1), root),
            (LEAVES[index], -1, root),
            (LEAVES[index], size, root),
        ):
            with pytest.raises(VerificationFailed):
                verify_inclusion(leaf_hash=leaf, index=at, size=size, proof=proof, root=top)


def inclusion_corruptions(proof: tuple[bytes, ...], seed: int) -> list[tuple[bytes, ...]]:
    """Each hash with a bit flipped; in one of eight, each left out, doubled, cut, too; the proof longer at either end."""
    changed = [(*proof, LEAVES[0]), (LEAVES[0], *proof)]
    for i, item in enumerate(proof):
        before, after = proof[:i], proof[i + 1 :]
        changed.append((*before, flipped(item, seed + i), *after))
        if seed % 8:
            continue
        changed += [
            before + after,
            (*before, item, item, *after),
            (*before, item[:-1], *after),
        ]
    return changed


@pytest.mark.parametrize("new", range(1, SIZES))
def test_every_consistency_proof_holds_and_each_corruption_fails(new: int) -> None:
    new_root = mth(LEAVES[:new])
    for old in range(new + 1):
        old_root = mth(LEAVES[:old])
        proof = resolve(consistency_spans(old, new), NODES)
        assert list(proof) == (subproof(old, LEAVES[:new], True) if old else [])
        verify_consistency(old=old, new=new, old_root=old_root, new_root=new_root, proof=proof)
        for changed in inclusion_corruptions(proof, new):
            with pytest.raises(VerificationFailed) as failed:
                verify_consistency(old=old, new=new, old_root=old_root, new_root=new_root, proof=changed)
            assert failed.value.step == "consistency-proof"
        with pytest.raises(VerificationFailed):
            verify_consistency(old=old, new=new, old_root=flipped(old_root, new), new_root=new_root, proof=proof)
        if old:
            with pytest.raises(VerificationFailed):
                verify_consistency(old=old, new=new, old_root=old_root, new_root=flipped(new_root, old), proof=proof)


@pytest.mark.parametrize(
    ("index", "size"), [(0, 0), (1, 1), (-1, 3), (3, 3), (0, -1), (0, MAX_SIZE + 1), (MAX_SIZE, MAX_SIZE)]
)
def test_impossible_inclusion_is_refused(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="no leaf"):
        inclusion_spans(index, size)
    with pytest.raises(VerificationFailed):
        verify_inclusion(leaf_hash=LEAVES[0], index=index, size=size, proof=(), root=LEAVES[0])


@pytest.mark.parametrize(("old", "new"), [(1, 0), (-1, 3), (4, 3), (0, MAX_SIZE + 1)])
def test_impossible_consistency_is_refused(old: int, new: int) -> None:
    with pytest.raises(ValueError, match="no consistency"):
        consistency_spans(old, new)
    with pytest.raises(VerificationFailed):
        verify_consistency(old=old, new=new, old_root=EMPTY_ROOT, new_root=EMPTY_ROOT, proof=())


def test_one_size_with_two_roots_is_refused() -> None:
    with pytest.raises(VerificationFailed, match="two roots"):
        verify_consistency(old=3, new=3, old_root=LEAVES[0], new_root=LEAVES[1], proof=())


def test_empty_tree_is_consistent_with_all_but_only_under_its_root() -> None:
    verify_consistency(old=0, new=5, old_root=EMPTY_ROOT, new_root=LEAVES[0], proof=())
    with pytest.raises(VerificationFailed, match="empty tree"):
        verify_consistency(old=0, new=5, old_root=LEAVES[1], new_root=LEAVES[0], proof=())


@given(st.integers(1, 2**40), st.data())
@settings(max_examples=50)
def test_proofs_of_large_trees_name_few_aligned_spans(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    spans = inclusion_spans(index, size)
    covered = sorted([*spans, Span(index, index + 1)])
    assert covered[0].start == 0
    assert covered[-1].end == size
    assert all(left.end == right.start for left, right in pairwise(covered))
    assert len(nodes_of(spans)) <= 2 * size.bit_length()
    for span in spans:
        assert sum(1 << node.level for node in subtrees(span)) == span.end - span.start


def test_a_root_is_no_leaf_of_a_larger_tree() -> None:
    """A proof that is too short fails although the hash at hand is the root."""
    root = mth(LEAVES[:4])
    with pytest.raises(VerificationFailed, match="too short"):
        verify_inclusion(leaf_hash=root, index=0, size=2, proof=(), root=root)
    with pytest.raises(VerificationFailed, match="too short"):
        verify_inclusion(leaf_hash=mth(LEAVES[:2]), index=0, size=8, proof=(mth(LEAVES[2:4]),), root=root)


def test_a_proof_that_goes_on_above_the_root_is_too_long() -> None:
    """A longer path that does lead to the given root fails for its length."""
    pair = mth(LEAVES[:2])
    for index, sibling in ((0, LEAVES[1]), (1, LEAVES[0])):
        with pytest.raises(VerificationFailed, match="too long"):
            verify_inclusion(leaf_hash=LEAVES[index], index=0, size=1, proof=(sibling,), root=pair)
    above = sha256(b"\x01" + LEAVES[5] + pair).digest()
    with pytest.raises(VerificationFailed, match="too long"):
        verify_inclusion(leaf_hash=LEAVES[1], index=1, size=2, proof=(LEAVES[0], LEAVES[5]), root=above)


def test_consistency_paths_of_another_length_fail_though_they_lead_to_the_roots() -> None:
    three, four = mth(LEAVES[:3]), mth(LEAVES[:4])
    proof = resolve(consistency_spans(3, 4), NODES)
    with pytest.raises(VerificationFailed, match="too short"):
        verify_consistency(old=3, new=8, old_root=three, new_root=four, proof=proof)
    old_above = sha256(b"\x01" + LEAVES[9] + three).digest()
    new_above = sha256(b"\x01" + LEAVES[9] + four).digest()
    with pytest.raises(VerificationFailed, match="too long"):
        verify_consistency(old=3, new=4, old_root=old_above, new_root=new_above, proof=(*proof, LEAVES[9]))


@pytest.mark.parametrize("shift", [-1, 1, 7])
def test_hashes_of_other_lengths_with_the_same_concatenation_fail(shift: int) -> None:
    """The first two hashes cut at another byte give the same parents; only their lengths tell."""
    for old in range(2, 20):
        for new in range(old + 1, 21):
            proof = resolve(consistency_spans(old, new), NODES)
            if len(proof) < 2:
                continue
            for joined in (proof[0] + proof[1], proof[1] + proof[0]):
                first, second = joined[: 32 + shift], joined[32 + shift :]
                for head in ((first, second), (second, first)):
                    with pytest.raises(VerificationFailed, match="32 bytes"):
                        verify_consistency(
                            old=old,
                            new=new,
                            old_root=mth(LEAVES[:old]),
                            new_root=mth(LEAVES[:new]),
                            proof=(*head, *proof[2:]),
                        )
