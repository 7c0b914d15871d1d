"""A layer's tiles in one file, PMTiles version 3 (github.com/protomaps/PMTiles, spec/v3/spec.md): for maps that read a
file by ranges in place of a server. Each tile is read as over HTTP: through the scope, decided over feature by
feature, and recorded (ADR 0084).
"""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.errors import HomeChanged
from api.http.map.layers import MapView
from api.http.map.tiles import TILE_FIELDS, TileAddress, lies_in, read_tile
from retrieval.spatial.facts import Box

_MAGIC, _VERSION = b"PMTiles", 3
_HEADER, _FIRST = struct.Struct("<7sB11Q6BiiiiBii"), 16_384
"""The header, and what a reader fetches first: header and root directory are within it."""
_CLUSTERED, _GZIP, _MVT = 1, 2, 1
_E7 = 10_000_000
_LEAF = 4_096


@dataclass(frozen=True, slots=True)
class TileArchive:
    """The bytes of the file, how many tiles are in it, and how many of its deepest level leave features out."""

    data: bytes
    tiles: int
    thinned: int


@dataclass(frozen=True, slots=True)
class Placed:
    """Tiles of ids that follow each other and have the same bytes: the first id, how many, and where the bytes are."""

    tile_id: int
    run: int
    length: int
    offset: int


async def export_tiles(layer_id: str, *, deepest: int, view: Callable[[], Awaitable[MapView]]) -> TileArchive:
    """All tiles of a layer down to a level, as the caller of `view` sees them. Each is recorded when this returns.
    Raises NoSuchThing for a layer that is not there, HomeChanged where corpus or policy changed meanwhile."""
    seen = await view()
    layer, state = seen.layer(layer_id), _state(seen)
    tiles: dict[TileAddress, bytes] = {}
    thinned = 0
    for address in _addresses(deepest, holds=lambda address: lies_in(layer, address)):
        seen = await view()  # of its own: each reading is a request on the ledger
        if _state(seen) != state:
            raise HomeChanged("The corpus or the policy changed while the tiles were read; export them again.")
        made = await read_tile(seen, seen.layer(layer_id), address)
        thinned += address.z == deepest and made.omitted > 0
        if made.data:
            tiles[address] = made.data
    source = layer.source
    metadata = {
        "name": source.title,
        "attribution": source.attribution,
        "license": source.license,
        "vector_layers": [{"id": layer.id, "fields": dict.fromkeys(TILE_FIELDS, "String")}],
    }
    return TileArchive(pmtiles(tiles, metadata=metadata, bounds=layer.bounds, deepest=deepest), len(tiles), thinned)


def pmtiles(tiles: Mapping[TileAddress, bytes], *, metadata: Mapping[str, Any], bounds: Box, deepest: int) -> bytes:
    """The file: the same tiles give the same bytes. `bounds` in degrees."""
    by_id = sorted((tile_id(address), data) for address, data in tiles.items())
    placed, contents = _placed(by_id)
    root, leaves = _directories(placed)
    told = _packed(json.dumps(metadata, ensure_ascii=False, sort_keys=True).encode())
    starts = [_HEADER.size]
    for part in (root, told, leaves):
        starts.append(starts[-1] + len(part))
    west, south, east, north = (round(side * _E7) for side in bounds)
    header = _HEADER.pack(
        *(_MAGIC, _VERSION),
        *(starts[0], len(root), starts[1], len(told), starts[2], len(leaves), starts[3], len(contents)),
        *(len(by_id), len(placed), len({data for _, data in by_id})),
        *(_CLUSTERED, _GZIP, _GZIP, _MVT, 0, deepest),
        *(west, south, east, north, 0, (west + east) // 2, (south + north) // 2),
    )
    return b"".join((header, root, told, leaves, contents))


def tile_id(address: TileAddress) -> int:
    """Its number: the levels one after the other, a level along its Hilbert curve."""
    x, y = address.x, address.y
    number = ((1 << (2 * address.z)) - 1) // 3
    for bit in reversed(range(address.z)):
        side = 1 << bit
        right, down = side & x, side & y
        number += ((3 * right) ^ down) << bit
        if not down:
            x, y = (side - 1 - y, side - 1 - x) if right else (y, x)
    return number


def _addresses(deepest: int, *, holds: Callable[[TileAddress], bool]) -> Iterator[TileAddress]:
    """Level by level the tiles in which something lies; where nothing lies, nothing lies in a closer tile either."""
    level = [TileAddress(0, 0, 0)]
    while level:
        level = [each for each in level if holds(each)]
        yield from level
        level = [
            TileAddress(each.z + 1, 2 * each.x + right, 2 * each.y + down)
            for each in level
            if each.z < deepest
            for down in (0, 1)
            for right in (0, 1)
        ]


def _state(view: MapView) -> tuple[int, str]:
    return view.corpus_version, view.reading.access.decision.stamp.bundle


def _placed(by_id: Sequence[tuple[int, bytes]]) -> tuple[list[Placed], bytes]:
    """Where each tile's bytes are; those that are the same are there once."""
    offsets: dict[bytes, tuple[int, int]] = {}
    placed: list[Placed] = []
    contents = bytearray()
    for number, data in by_id:
        if data not in offsets:
            packed = _packed(data)
            offsets[data] = len(contents), len(packed)
            contents += packed
        offset, length = offsets[data]
        last = placed[-1] if placed else None
        if last is not None and last.offset == offset and last.tile_id + last.run == number:
            placed[-1] = Placed(last.tile_id, last.run + 1, length, offset)
        else:
            placed.append(Placed(number, 1, length, offset))
    return placed, bytes(contents)


def _directories(placed: Sequence[Placed]) -> tuple[bytes, bytes]:
    """The root directory and the leaves, of which there are none where the root has room for all."""
    whole = _directory(placed)
    if _HEADER.size + len(whole) <= _FIRST:
        return whole, b""
    size = _LEAF
    while True:
        leaves, pointers = bytearray(), list[Placed]()
        for start in range(0, len(placed), size):
            packed = _directory(placed[start : start + size])
            pointers.append(Placed(placed[start].tile_id, 0, len(packed), len(leaves)))
            leaves += packed
        root = _directory(pointers)
        if _HEADER.size + len(root) <= _FIRST:
            return root, bytes(leaves)
        size *= 2


def _directory(placed: Sequence[Placed]) -> bytes:
    """Ids as differences, runs, lengths, and offsets, of which 0 is the end of the one before, all as varints."""
    ids = [each.tile_id for each in placed]
    numbers = [len(placed), *(one - before for one, before in zip(ids, [0, *ids], strict=False))]
    numbers += [each.run for each in placed] + [each.length for each in placed]
    end = None
    for each in placed:
        numbers.append(0 if each.offset == end else each.offset + 1)
        end = each.offset + each.length
    return _packed(b"".join(map(_varint, numbers)))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)
