"""Who may read what of the ledger (contracts section 10): every route, every kind of caller, another tenant."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ledger.merkle.tiles import tile_path, tiles_of
from ledger.notes.note import parse_checkpoint_text, parse_note
from tests.api_world import POPULATION

pytestmark = pytest.mark.asyncio(loop_scope="session")
BASE = "/api/v1/ledger"
CALLERS = (
    *(
        "asker",
        "nobody",
        "contributor",
        "archivist",
        "operator",
        "author",
        "auditor",
        "stranger",
        "log-auditor",
        "afar",
    ),
)
EVERYBODY = dict.fromkeys(CALLERS, 200)
REFUSED = dict.fromkeys(CALLERS, 403) | {"afar": 401}
ABSENT = dict.fromkeys(CALLERS, 404) | {"afar": 401}
AUDITORS = {"auditor": 200}
OWN = {"asker": 200, **AUDITORS}
OTHER_TENANTS = {"stranger": 200, "log-auditor": 200}  # auditors there: they see their own entries alone

READERS: dict[str, dict[str, int]] = {
    "GET /checkpoint": EVERYBODY,
    "GET /checkpoints/{size}": EVERYBODY,
    "GET /vkey": EVERYBODY,
    "GET /vkeys": EVERYBODY,
    "GET /tile/{path:path}": EVERYBODY,
    "GET /tile/entries/{path:path}": REFUSED | {"log-auditor": 200},
    "GET /entries": REFUSED | AUDITORS | OTHER_TENANTS,
    "GET /facets": REFUSED | AUDITORS | OTHER_TENANTS,
    "GET /health": REFUSED | AUDITORS | OTHER_TENANTS,
    "GET /entries/{entry_id}": ABSENT | OWN,
    "GET /entries/{entry_id}/receipt": ABSENT | OWN,
    "GET /entries/{entry_id}/package": ABSENT | OWN,
    "GET /entries/{entry_id}/prov": ABSENT | AUDITORS,
    "GET /entries/{entry_id}/parts/{name:path}": ABSENT | OWN,
    "GET /entries/{entry_id}/parts/replay": ABSENT | AUDITORS,
    "GET /difference?a={entry_id}&b={entry_id}": ABSENT | OWN,
    "POST /entries/{entry_id}/replay": REFUSED | AUDITORS | {"stranger": 404, "log-auditor": 404},
    "GET /entries/{entry_id}/changes": REFUSED | AUDITORS | {"stranger": 404, "log-auditor": 404},
    "DELETE /entries/{entry_id}": REFUSED,
}


def as_caller(connect: Any, name: str) -> httpx.AsyncClient:
    keys = {"asker": "viewer", "nobody": None, "afar": None}
    made: httpx.AsyncClient = connect(keys.get(name, name), address="203.0.113.9" if name == "afar" else "127.0.0.1")
    return made


async def places_of(connect: Any) -> dict[str, str]:
    """What stands for the names in a route: an entry that the asker made, beside one of another tenant."""
    async with connect("viewer") as asker, connect("stranger") as stranger:
        for client in (stranger, asker):
            body = (await client.post("/api/v1/ai/query", json={"question": POPULATION})).json()
            await client.get(body["provenance"]["receipt"])  # waits for a checkpoint
        size = parse_checkpoint_text(parse_note((await asker.get(f"{BASE}/checkpoint")).text).text)[1].size
    last = [tile for tile in tiles_of(size) if tile.level == 0][-1]
    return {
        "{entry_id}": body["provenance"]["entry_id"],
        "{name:path}": "answer",
        "{size}": str(size),
        "entries/{path:path}": tile_path(last._replace(level=None)).removeprefix("tile/"),
        "{path:path}": tile_path(last).removeprefix("tile/"),
    }


async def test_every_route_is_in_the_table(client: httpx.AsyncClient) -> None:
    paths = (await client.get("/openapi.json")).json()["paths"]
    routes = {
        f"{method.upper()} {path.removeprefix(BASE)}"
        for path, methods in paths.items()
        for method in methods
        if path.startswith(BASE)
    }
    named = {name.replace(":path", "").partition("?")[0] for name in READERS} - {"GET /entries/{entry_id}/parts/replay"}
    assert routes == named - {"DELETE /entries/{entry_id}"}  # which is described nowhere, since it never erases


@pytest.mark.parametrize("route", READERS)
async def test_each_caller_reads_what_is_theirs(connect: Any, route: str) -> None:
    places = await places_of(connect)
    method, path = route.split(" ")
    for name, value in places.items():
        path = path.replace(name, value)
    found = {}
    for name in CALLERS:
        async with as_caller(connect, name) as client:
            response = await client.request(method, f"{BASE}{path}", json={} if method == "POST" else None)
            found[name] = response.status_code
            if found[name] == 200 and READERS[route] is not EVERYBODY and name in OTHER_TENANTS:
                assert places["{entry_id}"] not in response.text or "tile" in route
    assert found == READERS[route]
