"""The tile layout of c2sp.org/tlog-tiles."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import MalformedNote
from ledger.merkle.tiles import (
    Tile,
    encode_bundle,
    encode_tile,
    parse_bundle,
    parse_tile,
    parse_tile_path,
    tile_nodes,
    tile_path,
    tiles_of,
)
from ledger.merkle.tree import MAX_SIZE, Frontier, Node, hash_leaf, root_of

PATHS = {
    Tile(0, 0): "tile/0/000",
    Tile(0, 1234067): "tile/0/x001/x234/067",
    Tile(1, 0, 5): "tile/1/000.p/5",
    Tile(2, 1000, 255): "tile/2/x001/000.p/255",
    Tile(None, 273, 112): "tile/entries/273.p/112",
    Tile(None, 999): "tile/entries/999",
    Tile(63, 0, 1): "tile/63/000.p/1",
}


@pytest.mark.parametrize("tile", PATHS, ids=PATHS.values())
def test_paths(tile: Tile) -> None:
    assert tile_path(tile) == PATHS[tile]
    assert parse_tile_path(PATHS[tile]) == tile


OTHER_SPELLINGS = (
    "tile/0/0",
    "tile/0/00",
    "tile/0/0000",
    "tile/0/1000",
    "tile/0/x000/001",
    "tile/00/000",
    "tile/01/000",
    "tile/64/000",
    "tile/-1/000",
    "tile/0/x001",
    "tile/0/001/000",
    "tile/0/000.p/0",
    "tile/0/000.p/256",
    "tile/0/000.p/01",
    "tile/0/000.p/",
    "tile/0/000.p",
    "tile/0/000/",
    "/tile/0/000",
    "tile/8/0/000",
    "tile/entry/000",
    "tile/entries/000.p/256",
    "tile/0/٠٠٠",
    "tile/0/x00a/000",
    "tile/0/000.P/5",
    "tile/0/000.p/5/",
    "tile//000",
    "tile/0/x999/x999/x999/x999/x999/x999/999",
    "tile/0/../000",
    "tile/0/%30%30%30",
    "",
    "tile/0/000\n",
    " tile/0/000",
    "tile/0/000 ",
    "tile/0/" + "x001/" * 1000 + "000",
)


@pytest.mark.parametrize("path", OTHER_SPELLINGS)
def test_other_spellings_are_refused(path: str) -> None:
    with pytest.raises(MalformedNote):
        parse_tile_path(path)


@given(st.integers(0, 63) | st.none(), st.integers(0, MAX_SIZE), st.integers(1, 256))
@settings(max_examples=50)
def test_paths_go_both_ways(level: int | None, n: int, width: int) -> None:
    assert parse_tile_path(tile_path(Tile(level, n, width))) == Tile(level, n, width)


@pytest.mark.parametrize(
    ("size", "full", "partial"),
    [
        (0, {}, []),
        (1, {}, [Tile(0, 0, 1)]),
        (255, {}, [Tile(0, 0, 255)]),
        (256, {0: 1}, [Tile(1, 0, 1)]),
        (257, {0: 1}, [Tile(0, 1, 1), Tile(1, 0, 1)]),
        (65_536, {0: 256, 1: 1}, [Tile(2, 0, 1)]),
        (70_000, {0: 273, 1: 1}, [Tile(0, 273, 112), Tile(1, 1, 17), Tile(2, 0, 1)]),
    ],
)
def test_the_tiles_of_a_tree(size: int, full: dict[int, int], partial: list[Tile]) -> None:
    tiles = list(tiles_of(size))
    assert [tile for tile in tiles if tile.width < 256] == partial
    assert {level: sum(t.level == level and t.width == 256 for t in tiles) for level in full} == full
    assert len(tiles) == sum(full.values()) + len(partial)


def test_a_tile_holds_the_hashes_of_its_nodes() -> None:
    leaves = [hash_leaf(i.to_bytes(2, "big")) for i in range(600)]
    nodes: dict[Node, bytes] = {}
    frontier = Frontier()
    for leaf in leaves:
        frontier, made = frontier.append(leaf)
        nodes.update(made)
    assert encode_tile(Tile(0, 2, 88), nodes) == b"".join(leaves[512:])
    assert encode_tile(Tile(1, 0, 2), nodes) == root_of(leaves[:256]) + root_of(leaves[256:512])
    for tile in tiles_of(600):
        data = encode_tile(tile, nodes)
        assert parse_tile(tile, data) == {node: nodes[node] for node in tile_nodes(tile)}
        for wrong in (data[:-1], data + b"\0", data[32:], b""):
            with pytest.raises(MalformedNote):
                parse_tile(tile, wrong)
    with pytest.raises(KeyError):
        encode_tile(Tile(0, 2, 89), nodes)
    with pytest.raises(ValueError, match="bundle"):
        tile_nodes(Tile(None, 0))


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=20))
@settings(max_examples=50)
def test_bundles_go_both_ways_and_refuse_another_length(leaves: list[bytes]) -> None:
    data = encode_bundle(leaves)
    assert parse_bundle(data, width=len(leaves)) == tuple(leaves)
    for wrong, width in ((data[:-1], len(leaves)), (data + b"\0", len(leaves)), (data, len(leaves) + 1)):
        with pytest.raises(MalformedNote):
            parse_bundle(wrong, width=width)
    with pytest.raises(MalformedNote):
        parse_bundle(data, width=len(leaves) - 1)
