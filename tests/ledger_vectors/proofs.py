"""Inclusion and consistency proofs over the leaves 00, 01, 02 ..., and what each becomes by one change."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from ledger.merkle.tree import MAX_SIZE, Frontier, Node, consistency_spans, hash_leaf, inclusion_spans, resolve, root_of
from tests.ledger_vectors import OK, Vector

LEAVES = [hash_leaf(bytes([i])) for i in range(100)]
INCLUSION = ((0, 2), (6, 7), (3, 8), (99, 100))
CONSISTENCY = ((3, 7), (4, 8), (6, 8), (63, 100))


def proofs() -> dict[str, Any]:
    """Hashes are in base64; the verdict of each negative vector is the kind of its proof."""
    positive = [_inclusion(index, size) for index, size in INCLUSION]
    positive += [_consistency(old, new) for old, new in CONSISTENCY]
    return {"positive": positive, "negative": [each for vector in positive for each in _broken(vector)]}


def _inclusion(index: int, size: int) -> Vector:
    proof = resolve(inclusion_spans(index, size), _nodes(size))
    return {
        "name": f"leaf {index} of {size}",
        "verdict": OK,
        "kind": "inclusion-proof",
        "leaf_hash": _b64(LEAVES[index]),
        "index": index,
        "size": size,
        "proof": [_b64(each) for each in proof],
        "root": _b64(root_of(LEAVES[:size])),
    }


def _consistency(old: int, new: int) -> Vector:
    proof = resolve(consistency_spans(old, new), _nodes(new))
    return {
        "name": f"{old} to {new}",
        "verdict": OK,
        "kind": "consistency-proof",
        "old": old,
        "new": new,
        "proof": [_b64(each) for each in proof],
        "old_root": _b64(root_of(LEAVES[:old])),
        "new_root": _b64(root_of(LEAVES[:new])),
    }


def _broken(vector: Vector) -> Iterator[Vector]:
    for what, changes in _changes(vector):
        yield vector | changes | {"name": f"{vector['name']}: {what}", "verdict": vector["kind"]}


def _changes(vector: Vector) -> Iterator[tuple[str, Vector]]:
    proof: list[str] = vector["proof"]
    for i, each in enumerate(proof):
        yield f"hash {i} changed", {"proof": [*proof[:i], _flipped(each), *proof[i + 1 :]]}
    yield "first hash gone", {"proof": proof[1:]}
    yield "first hash twice", {"proof": [proof[0], *proof]}
    yield "a hash of 31 bytes", {"proof": [_cut(proof[0]), *proof[1:]]}
    yield "a hash of 33 bytes", {"proof": [_b64(base64.b64decode(proof[0]) + b"\0"), *proof[1:]]}
    yield "an empty hash", {"proof": ["", *proof[1:]]}
    yield "two hashes in one", {"proof": [_b64(base64.b64decode(proof[0]) * 2), *proof[1:]]}
    yield "sixty-four hashes", {"proof": proof[:1] * 64}
    if len(proof) > 1:
        yield "last hash gone", {"proof": proof[:-1]}
        yield "last hash twice", {"proof": [*proof, proof[-1]]}
        yield "hashes in another order", {"proof": proof[::-1]}
    if vector["kind"] == "inclusion-proof":
        index, size = vector["index"], vector["size"]
        yield "the leaf's hash changed", {"leaf_hash": _flipped(vector["leaf_hash"])}
        yield "the leaf's hash cut", {"leaf_hash": _cut(vector["leaf_hash"])}
        yield "the root changed", {"root": _flipped(vector["root"])}
        yield "the root cut", {"root": _cut(vector["root"])}
        yield "the leaf's neighbour", {"index": index ^ 1}
        if index ^ 1 != size:
            yield "index of the size", {"index": size}
        yield "a negative index", {"index": -1}
        yield "an index beyond 63 bits", {"index": 2**63, "size": 2**63 + 1}
        yield "size 0", {"size": 0, "index": 0}
        yield "a size beyond 63 bits", {"size": MAX_SIZE + 1}
        yield "twice the size", {"size": size * 2}
    else:
        old, new = vector["old"], vector["new"]
        yield "the old root changed", {"old_root": _flipped(vector["old_root"])}
        yield "the new root changed", {"new_root": _flipped(vector["new_root"])}
        yield "a root cut", {"old_root": _cut(vector["old_root"])}
        yield "the roots swapped", {"old_root": vector["new_root"], "new_root": vector["old_root"]}
        yield "the sizes swapped", {"old": new, "new": old}
        yield "from nothing", {"old": 0}
        yield "from its own size", {"old": new}
        yield "a negative size", {"old": -1}
        yield "a size beyond 63 bits", {"new": MAX_SIZE + 1}
        yield "twice the sizes", {"old": old * 2 + 1, "new": new * 2}


def _nodes(size: int) -> dict[Node, bytes]:
    return dict(Frontier().extend(LEAVES[:size])[1])


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _flipped(text: str) -> str:
    data = base64.b64decode(text)
    return _b64(bytes([data[0] ^ 1]) + data[1:])


def _cut(text: str) -> str:
    return _b64(base64.b64decode(text)[:-1])
