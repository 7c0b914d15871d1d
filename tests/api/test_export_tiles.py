"""A layer as one file of tiles: read back by the specification it is what the server sends, it shows a role what it may
see and no byte more, and every tile is on the ledger."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli.main import run
from api.http.map.archive import pmtiles, tile_id
from api.http.map.tiles import TileAddress
from tests.map_world import map_home

HEADER = 127
LEVEL = 4


def varints(data: bytes) -> list[int]:
    numbers, number, shift = list[int](), 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number, shift = 0, 0
    return numbers


def directory(data: bytes) -> list[tuple[int, int, int, int]]:
    """Id, run, length and offset of each line of a directory."""
    count, *rest = varints(gzip.decompress(data))
    deltas, runs, lengths, offsets = (rest[n * count : (n + 1) * count] for n in range(4))
    found, number, end = list[tuple[int, int, int, int]](), 0, 0
    for delta, run_length, length, offset in zip(deltas, runs, lengths, offsets, strict=True):
        number += delta
        start = end if offset == 0 else offset - 1
        end = start + length
        found.append((number, run_length, length, start))
    return found


def read(data: bytes) -> tuple[dict[str, Any], dict[int, bytes]]:
    """Header with metadata, and the tiles by id: by the text of the specification, and by nothing of ours."""
    assert data[:8] == b"PMTiles\x03"
    numbers = struct.unpack_from("<11Q", data, 8)
    root, root_length, told, told_length, leaves, _, tiles, _, addressed, entries, contents = numbers
    assert root + root_length <= 16_384
    lines = directory(data[root : root + root_length])
    while any(run_length == 0 for _, run_length, _, _ in lines):
        lines = [
            inner
            for line in lines
            for inner in ([line] if line[1] else directory(data[leaves + line[3] : leaves + line[3] + line[2]]))
        ]
    found = {
        number + n: gzip.decompress(data[tiles + offset : tiles + offset + length])
        for number, run_length, length, offset in lines
        for n in range(run_length)
    }
    assert (addressed, entries, contents) == (len(found), len(lines), len(set(found.values())))
    west, south, east, north = (side / 1e7 for side in struct.unpack_from("<4i", data, 102))
    metadata = json.loads(gzip.decompress(data[told : told + told_length]))
    zooms = {"min": data[100], "max": data[101], "compressions": tuple(data[97:100])}
    return {"metadata": metadata, "bounds": (west, south, east, north), **zooms}, found


@pytest.mark.parametrize(
    ("z", "x", "y", "number"),
    [(0, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 2), (1, 1, 1, 3), (1, 1, 0, 4), (2, 0, 0, 5), (12, 3423, 1763, 19_078_479)],
)
def test_tiles_are_numbered_as_the_specification_says(z: int, x: int, y: int, number: int) -> None:
    assert tile_id(TileAddress(z, x, y)) == number


@given(st.integers(0, 6))
def test_every_tile_of_a_level_has_a_number_of_its_own(z: int) -> None:
    numbers = {tile_id(TileAddress(z, x, y)) for x in range(2**z) for y in range(2**z)}
    first = (4**z - 1) // 3
    assert numbers == set(range(first, first + 4**z))


@given(
    st.dictionaries(
        st.integers(0, 8).flatmap(
            lambda z: st.builds(TileAddress, st.just(z), st.integers(0, 2**z - 1), st.integers(0, 2**z - 1))
        ),
        st.binary(min_size=1, max_size=40) | st.sampled_from([b"sea", b"land"]),
        max_size=60,
    )
)
def test_what_was_written_is_read_back(tiles: dict[TileAddress, bytes]) -> None:
    data = pmtiles(tiles, metadata={"name": "é"}, bounds=(-1.5, -2.0, 3.25, 4.0), deepest=8)
    header, found = read(data)
    assert found == {tile_id(address): each for address, each in tiles.items()}
    assert header["metadata"] == {"name": "é"}
    assert header["bounds"] == (-1.5, -2.0, 3.25, 4.0)
    assert data == pmtiles(
        dict(reversed(tiles.items())), metadata={"name": "é"}, bounds=(-1.5, -2.0, 3.25, 4.0), deepest=8
    )


def test_more_tiles_than_the_root_has_room_for_are_in_leaves() -> None:
    def some(x: int, y: int) -> bytes:
        drawn = hashlib.shake_256(f"{x}/{y}".encode())
        return drawn.digest(1 + int.from_bytes(drawn.digest(2)) % 900)

    tiles = {TileAddress(8, x, y): some(x, y) for x in range(200) for y in range(0, 200, 2)}
    data = pmtiles(tiles, metadata={}, bounds=(0, 0, 1, 1), deepest=8)
    assert struct.unpack_from("<Q", data, 48)[0] > 0, "no leaves"
    assert read(data)[1] == {tile_id(address): each for address, each in tiles.items()}


def exported(home: Path, layer: str, file: Path, *more: str) -> int:
    return run(["export", "tiles", layer, str(file), "--max-zoom", str(LEVEL), "--home", str(home), *more])


@pytest.mark.asyncio(loop_scope="session")
async def test_the_file_holds_what_the_server_sends_and_the_ledger_what_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with map_home(tmp_path) as (client, _):
        addresses = [(z, x, y) for z in range(LEVEL + 1) for x in range(2**z) for y in range(2**z)]
        sent = {
            (z, x, y): (await client.get(f"/api/v1/layers/forts/tiles/{z}/{x}/{y}")).content for z, x, y in addresses
        }
        described = (await client.get("/api/v1/layers/forts/tiles")).json()
    home, file = tmp_path / "home", tmp_path / "forts.pmtiles"
    assert await asyncio.to_thread(exported, home, "forts", file) == 0
    header, found = read(file.read_bytes())
    assert found == {tile_id(TileAddress(*each)): data for each, data in sent.items() if data}
    assert header["metadata"]["vector_layers"] == described["vector_layers"]
    assert (header["metadata"]["attribution"], header["metadata"]["license"]) == ("A survey", "CC0-1.0")
    assert header["bounds"] == tuple(described["bounds"])
    assert (header["min"], header["max"], header["compressions"]) == (0, LEVEL, (2, 2, 1))
    capsys.readouterr()
    arguments = ["ledger", "list", "--home", str(home), "--json", "--limit", "500"]
    assert await asyncio.to_thread(run, arguments) == 0
    entries = json.loads(capsys.readouterr().out)
    assert len([each for each in entries if each["kind"] == "retrieval"]) >= len(sent) + len(found)


@pytest.mark.asyncio(loop_scope="session")
async def test_a_role_gets_what_it_may_see(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {}
    for secrets in (False, True):
        async with map_home(tmp_path / str(secrets), secrets=secrets):
            pass
        for layer in ("forts", "mounds"):
            file = tmp_path / f"{secrets}-{layer}.pmtiles"
            assert await asyncio.to_thread(exported, tmp_path / str(secrets) / "home", layer, file) == 0
            files[secrets, layer] = file.read_bytes()
    assert files[False, "forts"] == files[True, "forts"]
    assert files[False, "mounds"] == files[True, "mounds"]
    hidden, open_to_insiders = (tmp_path / f"{name}.pmtiles" for name in ("hidden", "club"))
    home = tmp_path / "True" / "home"
    capsys.readouterr()
    assert await asyncio.to_thread(exported, home, "club-forts", hidden) != 0
    refused = capsys.readouterr().err
    assert await asyncio.to_thread(exported, home, "no-such-layer", hidden) != 0
    assert capsys.readouterr().err == refused
    assert not hidden.exists()
    assert await asyncio.to_thread(exported, home, "club-forts", open_to_insiders, "--groups", "insiders") == 0
    exact = tmp_path / "exact.pmtiles"
    assert await asyncio.to_thread(exported, home, "mounds", exact, "--role", "maintainer") == 0
    assert exact.read_bytes() != files[True, "mounds"], "the generalised mounds are where they are"


def test_a_file_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "forts.pmtiles"
    file.write_bytes(b"mine")
    assert exported(tmp_path / "home", "forts", file) != 0
    assert "CONFLICT" in capsys.readouterr().err
    assert file.read_bytes() == b"mine"
