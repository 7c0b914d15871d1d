"""The tile layout of a log (c2sp.org/tlog-tiles): height-8 tiles, entry bundles, their paths. Pure; no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ledger.errors import MalformedNote
from ledger.merkle.tree import HASH_BYTES, MAX_SIZE, Node

TILE_HEIGHT = 8
TILE_WIDTH = 1 << TILE_HEIGHT
MAX_LEVEL = 63
ENTRIES = "entries"
_PATH = re.compile(
    r"tile/(?P<level>entries|0|[1-9][0-9]?)/(?P<n>(?:x[0-9]{3}/)*[0-9]{3})(?:\.p/(?P<width>[1-9][0-9]{0,2}))?"
)


class Tile(NamedTuple):
    """The n-th tile of a level; `width` hashes are there, 256 in a full tile. Level None is an entry bundle."""

    level: int | None
    n: int
    width: int = TILE_WIDTH


def tile_path(tile: Tile) -> str:
    """The path below the log's prefix, such as `tile/0/x001/x234/067` or `tile/1/000.p/5`."""
    groups = [tile.n % 1000]
    rest = tile.n // 1000
    while rest:
        groups.append(rest % 1000)
        rest //= 1000
    name = "/".join([*(f"x{group:03d}" for group in reversed(groups[1:])), f"{groups[0]:03d}"])
    level = ENTRIES if tile.level is None else str(tile.level)
    suffix = "" if tile.width == TILE_WIDTH else f".p/{tile.width}"
    return f"tile/{level}/{name}{suffix}"


def parse_tile_path(path: str) -> Tile:
    """The inverse of `tile_path`. Raises MalformedNote for any other spelling."""
    match = _PATH.fullmatch(path) if path.isascii() and len(path) <= 100 else None
    if match is None:
        raise MalformedNote("not the path of a tile")
    level = None if match["level"] == ENTRIES else int(match["level"])
    n = int(match["n"].replace("x", "").replace("/", ""))
    tile = Tile(level, n, int(match["width"] or TILE_WIDTH))
    if (level or 0) > MAX_LEVEL or n > MAX_SIZE or tile_path(tile) != path:
        raise MalformedNote("not the path of a tile")
    return tile


def tiles_of(size: int) -> Iterator[Tile]:
    """Every tile of a tree of `size` leaves, lowest level first, full and partial; entry bundles are those of level 0
    again."""
    level, hashes = 0, size
    while hashes:
        for n in range(hashes >> TILE_HEIGHT):
            yield Tile(level, n)
        if hashes % TILE_WIDTH:
            yield Tile(level, hashes >> TILE_HEIGHT, hashes % TILE_WIDTH)
        level, hashes = level + 1, hashes >> TILE_HEIGHT


def tile_nodes(tile: Tile) -> tuple[Node, ...]:
    """The perfect subtrees whose roots are the tile's hashes, in order."""
    if tile.level is None:
        raise ValueError("an entry bundle holds leaves, not hashes")
    return tuple(Node(TILE_HEIGHT * tile.level, tile.n * TILE_WIDTH + i) for i in range(tile.width))


def encode_tile(tile: Tile, hashes: Mapping[Node, bytes]) -> bytes:
    """The tile's bytes. Raises KeyError for a missing node."""
    return b"".join(hashes[node] for node in tile_nodes(tile))


def parse_tile(tile: Tile, data: bytes) -> dict[Node, bytes]:
    """The hashes of a tile's bytes. Raises MalformedNote unless there are exactly `width`."""
    if len(data) != tile.width * HASH_BYTES:
        raise MalformedNote(f"a tile of width {tile.width} is {tile.width * HASH_BYTES} bytes long")
    return {node: data[i * HASH_BYTES : (i + 1) * HASH_BYTES] for i, node in enumerate(tile_nodes(tile))}


def encode_bundle(leaves: Sequence[bytes]) -> bytes:
    """An entry bundle: each leaf behind its length as big-endian uint16."""
    return b"".join(len(leaf).to_bytes(2, "big") + leaf for leaf in leaves)


def parse_bundle(data: bytes, *, width: int) -> tuple[bytes, ...]:
    """The leaves of a bundle. Raises MalformedNote unless there are exactly `width` and nothing follows."""
    leaves = []
    start = 0
    for _ in range(width):
        end = start + 2 + int.from_bytes(data[start : start + 2], "big")
        if start + 2 > len(data) or end > len(data):
            raise MalformedNote("the entry bundle is cut off")
        leaves.append(data[start + 2 : end])
        start = end
    if start != len(data):
        raise MalformedNote("the entry bundle goes on after its last leaf")
    return tuple(leaves)
