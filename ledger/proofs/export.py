"""The log as C2SP `tlog-tiles` lays it out: single tiles and bundles for HTTP, all of them for a folder."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ledger.errors import EntryNotFound, VerificationFailed
from ledger.merkle.tiles import (
    TILE_HEIGHT,
    TILE_WIDTH,
    Tile,
    encode_bundle,
    encode_tile,
    tile_nodes,
    tile_path,
    tiles_of,
)
from ledger.merkle.tree import Frontier, hash_leaf
from ledger.model import Checkpoint
from ledger.stores.store import LedgerStore

CHECKPOINT = "checkpoint"


async def read_tile(store: LedgerStore, tile: Tile, *, size: int) -> bytes:
    """The bytes of a tile or bundle of the tree of `size` leaves; any width that it has reached. Raises EntryNotFound
    for one that the tree does not have, VerificationFailed if what is stored does not hold."""
    if (tile.n * TILE_WIDTH + tile.width) << (TILE_HEIGHT * (tile.level or 0)) > size:
        raise EntryNotFound(f"a tree of {size} leaves has no {tile_path(tile)}")
    if tile.level is None:
        return encode_bundle(await _leaves(store, tile))
    try:
        return encode_tile(tile, await store.nodes(tile_nodes(tile)))
    except KeyError as exc:
        raise VerificationFailed("node", f"the tree node {exc.args[0]} is missing") from exc


async def export_files(store: LedgerStore, checkpoint: Checkpoint) -> AsyncIterator[tuple[str, bytes]]:
    """Path and bytes of every resource of the log at that checkpoint, itself last. The bundles are hashed on the way:
    raises VerificationFailed before the checkpoint if they do not lead to its root."""
    frontier = Frontier()
    for tile in tiles_of(checkpoint.head.size):
        yield tile_path(tile), await read_tile(store, tile, size=checkpoint.head.size)
        if tile.level == 0:
            leaves = await _leaves(store, tile)
            for leaf in leaves:
                frontier, _ = frontier.append(hash_leaf(leaf))
            yield tile_path(tile._replace(level=None)), encode_bundle(leaves)
    if frontier.root != checkpoint.head.root:
        raise VerificationFailed("root", f"the stored leaves do not lead to the root over {checkpoint.head.size}")
    yield CHECKPOINT, checkpoint.text.encode()


async def _leaves(store: LedgerStore, tile: Tile) -> tuple[bytes, ...]:
    first = tile.n * TILE_WIDTH
    stored = await store.scan(after=first - 1, limit=tile.width)
    if [leaf.index for leaf in stored] != list(range(first, first + tile.width)):
        raise VerificationFailed("index", f"leaves of the bundle from {first} are missing")
    return tuple(leaf.leaf_bytes for leaf in stored)
