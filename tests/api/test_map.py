"""Layers, features and places over HTTP: what they say, whom they show what, and that every reading is recorded."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from ledger.errors import VerificationFailed
from ledger.notes.note import parse_vkey
from ledger.proofs.claim import promised_in
from tests.map_world import map_home

Home = tuple[httpx.AsyncClient, dict[str, str]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Home]:
    async with map_home(tmp_path_factory.mktemp("map"), secrets=True, orders=True) as opened:
        yield opened


@pytest.fixture
def client(home: Home) -> httpx.AsyncClient:
    return home[0]


async def features(client: httpx.AsyncClient, layer: str = "forts", **asked: Any) -> list[str]:
    response = await client.get(f"/api/v1/layers/{layer}/features", params=asked)
    assert response.status_code == 200, response.text
    return [feature["properties"]["name"] for feature in response.json()["features"]]


pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_layers_say_what_they_hold(client: httpx.AsyncClient) -> None:
    found = {layer["id"]: layer for layer in (await client.get("/api/v1/layers")).json()["layers"]}
    assert list(found) == ["forts", "mounds", "trails"]
    forts, trails = found["forts"], found["trails"]
    assert (forts["count"], forts["geometry_types"], forts["title"]) == (5, ["Point"], "Forts")
    assert forts["extent"]["spatial"]["bbox"] == [[-179.9, 38.5, 179.9, 51.0]]
    assert forts["extent"]["temporal"]["interval"] == [["1850-01-01", "1871-12-31"]]
    assert (forts["license"], forts["attribution"], forts["uri"]) == (
        "CC0-1.0",
        "A survey",
        "https://example.org/forts",
    )
    assert (trails["geometry_types"], trails["extent"]["temporal"], trails["count"]) == (["LineString"], None, 1)
    assert (await client.get("/api/v1/layers/forts")).json() == forts


async def test_a_feature_that_the_evidence_point_refuses_counts_as_not_there(client: httpx.AsyncClient) -> None:
    assert "Fort Poison" not in await features(client)
    assert "Poison" not in (await client.get("/api/v1/places", params={"q": "fort"})).text
    assert await features(client, limit=2) == ["Fort Alder", "Fort Birch"]


async def test_a_page_follows_a_page_without_gaps(client: httpx.AsyncClient) -> None:
    names: list[str] = []
    href: str | None = "/api/v1/layers/forts/features?limit=2"
    while href is not None:
        page = (await client.get(href)).json()
        assert page["numberReturned"] == len(page["features"]) > 0
        names += [feature["properties"]["name"] for feature in page["features"]]
        href = next((link["href"] for link in page["links"] if link["rel"] == "next"), None)
        assert href is None or href.startswith("/api/v1/")
    assert names == ["Fort Alder", "Fort Birch", "Fort Cedar", "Fort Drum", "Fort Elm"]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({"bbox": "-96.6,38.9,-95.9,39.2"}, ["Fort Alder", "Fort Birch"]),
        ({"bbox": "179,50,-179,52"}, ["Fort Drum", "Fort Elm"]),
        ({"bbox": "0,0,1,1"}, []),
        ({"datetime": "1855"}, ["Fort Birch"]),
        ({"datetime": "../1855"}, ["Fort Alder", "Fort Birch"]),
        ({"datetime": "1870-06/.."}, ["Fort Drum", "Fort Elm"]),
        ({"datetime": "1850/1860", "bbox": "-98,38,-96.9,39"}, ["Fort Cedar"]),
    ],
)
async def test_box_and_time_choose(client: httpx.AsyncClient, asked: dict[str, str], names: list[str]) -> None:
    assert await features(client, **asked) == names


@pytest.mark.parametrize(
    "asked",
    [
        {"bbox": "1,2,3"},
        {"bbox": "0,1,0,2"},
        {"bbox": "0,2,1,1"},
        {"bbox": "-181,0,1,1"},
        {"bbox": "nan,0,1,1"},
        {"bbox": "0,0,1,1,2,2"},
        {"datetime": "yesterday"},
        {"datetime": "1860/1850"},
        {"datetime": "1850-13"},
        {"datetime": "1850/1860/1870"},
        {"limit": "0"},
        {"limit": "501"},
        {"limit": "ten"},
        {"zoom": "25"},
        {"zoom": "-1"},
        {"unknown": "x"},
        {"after": "a\u0000b"},
    ],
)
async def test_what_cannot_be_read_is_refused(client: httpx.AsyncClient, asked: dict[str, str]) -> None:
    response = await client.get("/api/v1/layers/forts/features", params=asked)
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "VALIDATION_FAILED"


async def test_a_generalised_place_is_nowhere_precise(home: Home) -> None:
    client, tokens = home
    for asked in ({}, {"zoom": 24}):
        page = (await client.get("/api/v1/layers/mounds/features", params=asked)).json()
        assert "38.54321" not in json.dumps(page)
        assert [f["geometry"]["coordinates"] for f in page["features"]] == [f["bbox"][:2] for f in page["features"]]
    listed = (await client.get("/api/v1/layers/mounds")).json()
    assert listed["extent"]["spatial"]["bbox"] == [
        [
            min(f["bbox"][0] for f in page["features"]),
            min(f["bbox"][1] for f in page["features"]),
            max(f["bbox"][0] for f in page["features"]),
            max(f["bbox"][1] for f in page["features"]),
        ]
    ]
    # A small box around the true place finds nothing: the box is compared with what is shown.
    assert await features(client, "mounds", bbox="-95.1235,38.5431,-95.1234,38.5433") == []
    precise = {"authorization": f"Bearer {tokens['maintainer']}"}
    shown = (await client.get("/api/v1/layers/mounds/features", headers=precise)).json()["features"][0]
    assert shown["geometry"]["coordinates"] == [-95.12345, 38.54321]


async def test_zoom_leaves_out_what_cannot_be_seen(client: httpx.AsyncClient) -> None:
    sizes = []
    for zoom in (None, 20, 8, 0):
        asked = {} if zoom is None else {"zoom": zoom}
        page = (await client.get("/api/v1/layers/trails/features", params=asked)).json()
        sizes.append(len(page["features"][0]["geometry"]["coordinates"]))
    assert sizes[0] == sizes[1] == 50 > sizes[2] >= sizes[3] == 2


async def test_a_feature_has_its_own_fields_and_leads_to_its_document(client: httpx.AsyncClient) -> None:
    page = await client.get("/api/v1/layers/trails/features")
    assert page.headers["content-type"] == "application/geo+json"
    feature = page.json()["features"][0]
    assert feature["properties"]["fields"] == {"title": "The trail", "miles": 12.5, "paved": False}
    assert (await client.get(feature["properties"]["href"])).status_code == 200
    alone = await client.get(f"/api/v1/features/{feature['id'].replace('#', '%23')}")
    assert alone.headers["content-type"] == "application/geo+json"
    assert alone.json() == feature | {name: alone.json()[name] for name in ("request_id", "provenance", "promise")}


async def test_absent_and_hidden_are_told_apart_by_nobody(home: Home) -> None:
    client, tokens = home
    insider = {"authorization": f"Bearer {tokens['admin']}"}
    secret = (await client.get("/api/v1/layers/secret-forts/features", headers=insider)).json()["features"][0]["id"]
    paths = {
        "/api/v1/layers/secret-forts": "/api/v1/layers/no-such",
        "/api/v1/layers/secret-forts/features": "/api/v1/layers/no-such/features",
        f"/api/v1/layers/forts/features?after={secret.replace('#', '%23')}": "/api/v1/layers/forts/features?after=x",
        f"/api/v1/features/{secret.replace('#', '%23')}": "/api/v1/features/x",
    }
    for hidden, absent in paths.items():
        told = [(await client.get(path)) for path in (hidden, absent)]
        assert [each.status_code for each in told] == [404, 404]
        assert len({re.sub(r'"request_id":"[^"]*"', "", each.text) for each in told}) == 1
        assert (await client.get(hidden, headers=insider)).status_code in ((404,) if "after" in hidden else (200,))


async def test_a_reading_is_recorded_before_it_is_sent(home: Home) -> None:
    client, tokens = home
    page = (await client.get("/api/v1/layers/forts/features", params={"bbox": "-97,38,-95,40"})).json()
    auditor = {"authorization": f"Bearer {tokens['auditor']}"}
    entry = f"/api/v1/ledger/entries/{page['provenance']['entry_id']}"
    assert (await client.get(entry, headers=auditor)).json()["kind"] == "retrieval"
    answer = (await client.get(f"{entry}/parts/answer", headers=auditor)).json()
    assert answer["features"] == [feature["id"] for feature in page["features"]]
    context = (await client.get(f"{entry}/parts/context", headers=auditor)).json()
    assert (context["surface"], context["layer"]) == ("layers.features", "forts")
    decided = (await client.get(f"{entry}/parts/policy.evidence", headers=auditor)).json()
    assert {item["id"] for run in decided for item in run["input"]["evidence"]} >= set(answer["features"])
    prov = (await client.get(f"{entry}/prov", headers=auditor)).json()
    assert prov["entity"]
    own = await client.get(f"{entry}/parts/answer")
    assert own.json() == answer


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("fort a", ["Fort Alder"]),
        ("FORT", ["Fort Elm", "Fort Drum", "Fort Alder", "Fort Birch", "Fort Cedar"]),
        ("birch", ["Fort Birch"]),
        ("oak", ["Mound of the Oak"]),
        ("hidden", []),
        ("club", []),
        ("%", []),
        ("a' OR 1=1", []),
    ],
)
async def test_places_answer_as_one_types(client: httpx.AsyncClient, typed: str, names: list[str]) -> None:
    found = (await client.get("/api/v1/places", params={"q": typed})).json()["places"]
    assert [place["name"] for place in found] == names


async def test_a_place_says_where_it_is_drawn(client: httpx.AsyncClient) -> None:
    [place] = (await client.get("/api/v1/places", params={"q": "alder"})).json()["places"]
    assert (place["place_id"], place["type"], place["bbox"]) == ("fort:f1", "fort", [-96.0, 39.0, -96.0, 39.0])
    feature = (await client.get(place["features"][0]["href"])).json()
    assert feature["properties"]["name"] == "Fort Alder"
    [inside] = (await client.get("/api/v1/places", params={"q": "fort", "bbox": "-98,38,-96.9,39"})).json()["places"]
    assert inside["name"] == "Fort Cedar"


@pytest.mark.parametrize(
    "asked", [{}, {"q": ""}, {"q": " "}, {"q": "x" * 201}, {"q": "a", "limit": "51"}, {"q": "\u0007"}]
)
async def test_places_refuse_what_nobody_types(client: httpx.AsyncClient, asked: dict[str, str]) -> None:
    assert (await client.get("/api/v1/places", params=asked)).status_code == 422


async def test_no_redirect_repeats_the_host_header(client: httpx.AsyncClient) -> None:
    for path in ("/api/v1/layers/", "/api/v1/collections/", "/docs/", "/api/v1/layers/forts/features/"):
        response = await client.get(path, headers={"host": "127.0.0.1"})
        assert response.status_code == 404
        evil = await client.get(path, headers={"host": "evil.example"})
        assert evil.status_code in (403, 404)
        assert "location" not in evil.headers
        assert "evil.example" not in evil.text + str(evil.headers)


_PROMISE = re.compile(r'"promise": ?\{[^}]*("rseq": ?\d+)[^}]*\}')
_CHANGING = re.compile(r'"(?:request_id|entry_id|receipt)": ?"[^"]*"')


async def told(client: httpx.AsyncClient) -> dict[str, str]:
    asked = [
        "/api/v1/layers",
        "/api/v1/layers/forts",
        "/api/v1/layers/forts/features",
        "/api/v1/layers/forts/features?limit=2",
        "/api/v1/layers/forts/features?bbox=-98,38,-96,40&zoom=3",
        "/api/v1/layers/mounds/features",
        "/api/v1/layers/trails/features?datetime=1850",
        "/api/v1/layers/secret-forts/features",
        *(f"/api/v1/places?q={typed}" for typed in ("fort", "alder", "h", "a", "mound")),
    ]
    texts = {path: _PROMISE.sub(r"\1", (await client.get(path)).text) for path in asked}
    return {path: _CHANGING.sub("", text) for path, text in texts.items()}


async def test_hidden_documents_change_no_byte(tmp_path: Path) -> None:
    async with map_home(tmp_path / "a") as (client, _):
        without = await told(client)
    async with map_home(tmp_path / "b", secrets=True) as (client, _):
        assert await told(client) == without
    assert "Fort Alder" in without["/api/v1/layers/forts/features"]


async def test_an_answer_as_geojson(home: Home) -> None:
    client, _ = home
    question = {"question": "Which fort is nearest to Fort Alder?"}
    plain = (await client.post("/api/v1/ai/query", json=question)).json()
    for asked in (
        {"json": question, "headers": {"accept": "application/geo+json"}},
        {"json": question | {"options": {"format": "FeatureCollection"}}},
    ):
        response = await client.post("/api/v1/ai/query", **asked)
        assert response.headers["content-type"] == "application/geo+json"
        body = response.json()
        assert (body["type"], body["answer"]) == ("FeatureCollection", plain["answer"])
        cited = {feature["properties"]["citation"] for feature in body["features"]}
        assert {str(number) for number in cited} == set(plain["citations"])
        assert all(feature["properties"]["sentences"] for feature in body["features"])
    both = {"accept": "application/json, application/geo+json"}
    assert (await client.post("/api/v1/ai/query", json=question, headers=both)).json()["outcome"] == plain["outcome"]
    wrong = await client.post("/api/v1/ai/query", json=question | {"options": {"format": "kml"}})
    assert wrong.status_code == 422


async def test_features_carry_the_logs_promise(client: httpx.AsyncClient) -> None:
    """Of the very bytes that left: names beyond ASCII, whole degrees and small ones among them."""
    keys = [parse_vkey(key) for key in (await client.get("/api/v1/ledger/vkeys")).text.split()]
    layers = [layer["id"] for layer in (await client.get("/api/v1/layers")).json()["layers"]]
    pages = [(await client.get(f"/api/v1/layers/{layer}/features?limit=3")).json() for layer in layers]
    first = pages[0]["features"][0]["id"].replace("#", "%23")
    one = (await client.get(f"/api/v1/features/{first}")).json()
    for body in (*pages, one):
        assert promised_in(body, keys).entry_id == body["provenance"]["entry_id"]
        geometry = body["features"][0] if "features" in body else body
        for key, altered in (("id", "x"), ("geometry", None)):
            kept, geometry[key] = geometry[key], altered
            with pytest.raises(VerificationFailed):
                promised_in(body, keys)
            geometry[key] = kept
