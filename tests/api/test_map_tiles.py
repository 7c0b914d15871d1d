"""Vector tiles: what is in them, whom they show what, and that each is recorded and the same with and without what is
hidden."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import mapbox_vector_tile
import pytest
import pytest_asyncio

from api.http.map.tiles import TOP_ZOOM
from tests.map_world import FORTS, map_home

pytestmark = pytest.mark.asyncio(loop_scope="session")
MVT = "application/vnd.mapbox-vector-tile"
Home = tuple[httpx.AsyncClient, dict[str, str]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Home]:
    async with map_home(tmp_path_factory.mktemp("tiles"), secrets=True, orders=True, crowd=1_300) as opened:
        yield opened


@pytest.fixture
def client(home: Home) -> httpx.AsyncClient:
    return home[0]


def path_of(layer: str, z: int, x: int, y: int) -> str:
    return f"/api/v1/layers/{layer}/tiles/{z}/{x}/{y}"


def over(z: int, longitude: float, latitude: float) -> tuple[int, int, int]:
    """The tile of that level that holds a point, by the usual formula."""
    across = (longitude + 180) / 360
    down = (1 - math.log(math.tan(math.radians(latitude)) + 1 / math.cos(math.radians(latitude))) / math.pi) / 2
    return z, int(across * 2**z), int(down * 2**z)


def drawn(response: httpx.Response, layer: str) -> list[dict[str, Any]]:
    """The features of a tile, its one layer decoded with y down."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == MVT
    if not response.content:
        return []
    decoded = mapbox_vector_tile.decode(response.content, default_options={"y_coord_down": True})
    assert list(decoded) == [layer]
    return list(decoded[layer]["features"])


async def test_a_tile_draws_what_the_features_say(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/api/v1/layers/forts/features")).json()["features"]
    shown = {feature["id"]: feature for feature in listed}
    z, x, y = over(6, -96.0, 39.0)
    found = drawn(await client.get(path_of("forts", z, x, y)), "forts")
    assert {each["properties"]["name"] for each in found} == {"Fort Alder", "Fort Birch", "Fort Cedar"}
    for each in found:
        feature = shown[each["properties"]["id"]]
        assert each["properties"].items() <= (feature["properties"] | {"id": feature["id"]}).items()
        column, row = each["geometry"]["coordinates"]
        longitude = (x + column / 4096) / 2**z * 360 - 180
        latitude = math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * (y + row / 4096) / 2**z))))
        assert (longitude, latitude) == pytest.approx(feature["geometry"]["coordinates"], abs=0.002)


async def test_the_description_leads_to_the_tiles(client: httpx.AsyncClient) -> None:
    layer = (await client.get("/api/v1/layers/forts")).json()
    [href] = [link["href"] for link in layer["links"] if link["rel"] == "tiles"]
    told = (await client.get(href)).json()
    assert (told["attribution"], told["license"], told["maxzoom"]) == ("A survey", "CC0-1.0", TOP_ZOOM)
    assert told["bounds"] == layer["extent"]["spatial"]["bbox"][0]
    [template] = told["tiles"]
    assert template.startswith("/")  # nothing that a caller sends as Host comes back
    assert drawn(await client.get(template.format(z=0, x=0, y=0)), "forts")
    assert {"id", "name"} <= set(told["vector_layers"][0]["fields"])


async def test_a_line_goes_on_in_the_next_tile(client: httpx.AsyncClient) -> None:
    z, x, y = over(11, -95.75, 39.0)
    for column in (x, x + 1):
        [trail] = drawn(await client.get(path_of("trails", z, column, y)), "trails")
        across = [each[0] for each in trail["geometry"]["coordinates"]]
        assert min(across) < 0 or max(across) > 4096  # into the margin, so that no seam is seen
        assert all(-64 <= each <= 4096 + 64 for each in across)


async def test_a_client_that_knows_bytes_alone_is_told_bytes(client: httpx.AsyncClient) -> None:
    for accepted, told in (
        ("application/octet-stream", "application/octet-stream"),
        ("*/*", MVT),
        (f"{MVT}, */*", MVT),
    ):
        response = await client.get(path_of("forts", 0, 0, 0), headers={"accept": accepted})
        assert response.headers["content-type"] == told


async def test_where_nothing_lies_a_tile_is_empty(client: httpx.AsyncClient) -> None:
    response = await client.get(path_of("forts", *over(8, 20.0, -30.0)))
    assert drawn(response, "forts") == []
    assert response.headers["x-features-omitted"] == "0"


@pytest.mark.parametrize(
    ("tile", "status"),
    [
        ("0/0/1", 404),
        ("3/8/0", 404),
        ("14/0/16384", 404),
        ("15/0/0", 422),
        ("-1/0/0", 422),
        ("2/-1/0", 422),
        ("2/1.5/0", 422),
        ("a/b/c", 422),
        (f"2/{'9' * 400}/0", 404),
    ],
)
async def test_a_tile_that_no_level_has_is_refused(client: httpx.AsyncClient, tile: str, status: int) -> None:
    assert (await client.get(f"/api/v1/layers/forts/tiles/{tile}")).status_code == status


async def test_a_generalised_place_is_nowhere_precise(home: Home) -> None:
    client, tokens = home
    true_place, at = over(14, -95.12345, 38.54321), (-95.12345, 38.54321)
    assert "Mound of the Ash" not in names(drawn(await client.get(path_of("mounds", *true_place)), "mounds"))
    precise = {"authorization": f"Bearer {tokens['maintainer']}"}
    assert "Mound of the Ash" in names(
        drawn(await client.get(path_of("mounds", *true_place), headers=precise), "mounds")
    )
    page = (await client.get("/api/v1/layers/mounds/features")).json()["features"]
    [shown] = [each["geometry"]["coordinates"] for each in page if each["properties"]["name"] == "Mound of the Ash"]
    assert shown != list(at)
    assert "Mound of the Ash" in names(drawn(await client.get(path_of("mounds", *over(14, *shown))), "mounds"))


def names(features: list[dict[str, Any]]) -> set[str]:
    return {each["properties"]["name"] for each in features}


async def test_what_the_evidence_point_refuses_is_in_no_tile(client: httpx.AsyncClient) -> None:
    found = names(drawn(await client.get(path_of("forts", 0, 0, 0)), "forts"))
    assert found == {name for _, name, _, _ in FORTS}


async def test_absent_and_hidden_are_told_apart_by_nobody(home: Home) -> None:
    client, tokens = home
    insider = {"authorization": f"Bearer {tokens['admin']}"}
    for rest in ("/tiles", "/tiles/0/0/0"):
        told = [await client.get(f"/api/v1/layers/{layer}{rest}") for layer in ("secret-forts", "no-such")]
        assert [each.status_code for each in told] == [404, 404]
        assert told[0].json()["error"]["message"] == told[1].json()["error"]["message"]
        assert (await client.get(f"/api/v1/layers/secret-forts{rest}", headers=insider)).status_code == 200


async def test_a_tile_is_recorded_before_it_is_sent(home: Home) -> None:
    client, tokens = home
    response = await client.get(path_of("forts", *over(6, -96.0, 39.0)), headers={"accept-encoding": "identity"})
    auditor = {"authorization": f"Bearer {tokens['auditor']}"}
    entry = f"/api/v1/ledger/entries/{response.headers['x-ledger-entry']}"
    assert (await client.get(entry, headers=auditor)).json()["kind"] == "retrieval"
    answer = (await client.get(f"{entry}/parts/answer", headers=auditor)).json()
    assert set(answer["features"]) == {each["properties"]["id"] for each in drawn(response, "forts")}
    assert hashlib.sha256(response.content).hexdigest() in json.dumps(answer)
    context = (await client.get(f"{entry}/parts/context", headers=auditor)).json()
    assert (context["surface"], context["layer"], context["z"]) == ("layers.tiles", "forts", 6)
    decided = (await client.get(f"{entry}/parts/policy.evidence", headers=auditor)).json()
    assert {item["id"] for run in decided for item in run["input"]["evidence"]} >= set(answer["features"])


async def test_a_crowd_is_thinned_and_whole_where_it_is_near(client: httpx.AsyncClient) -> None:
    first = await client.get(path_of("crowd", 0, 0, 0))
    shown, omitted = len(drawn(first, "crowd")), int(first.headers["x-features-omitted"])
    assert shown + omitted == 1_300 and 900 < shown <= 1_000
    assert first.content == (await client.get(path_of("crowd", 0, 0, 0))).content
    assert "The large one" in names(drawn(first, "crowd"))  # the larger ones stay
    east = sum(
        each["geometry"]["coordinates"][0] > 2048
        for each in drawn(first, "crowd")
        if each["geometry"]["type"] == "Point"
    )
    assert 0.4 < east / shown < 0.6  # as thick everywhere
    found: set[str] = set()
    for x, y in ((x, y) for x in range(4) for y in range(4)):
        near = await client.get(path_of("crowd", 2, x, y))
        assert near.headers["x-features-omitted"] == "0"
        found |= names(drawn(near, "crowd"))
    assert len(found) == 1_300


async def test_hidden_documents_change_no_byte(tmp_path: Path) -> None:
    asked = [
        *("/api/v1/layers/forts/tiles", path_of("forts", 0, 0, 0), path_of("forts", *over(6, -96.0, 39.0))),
        *(path_of("forts", *over(6, -80.0, 30.0)), path_of("mounds", *over(9, -95.3, 38.7))),
    ]

    async def told(client: httpx.AsyncClient) -> list[tuple[bytes, str | None]]:
        found = [await client.get(path) for path in asked]
        return [(each.content, each.headers.get("x-features-omitted")) for each in found]

    async with map_home(tmp_path / "a") as (client, _):
        without = await told(client)
    async with map_home(tmp_path / "b", secrets=True) as (client, _):
        assert await told(client) == without
    assert b"Fort Alder" in without[1][0]
