"""A page of another origin may read answers where its origin is listed, errors included, and not elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.map_world import map_home

ALLOWED, OTHER = "https://map.example", "https://map.example.evil.test"
PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,idempotency-key,last-event-id",
}
READABLE = "access-control-allow-origin"
JSON = {"content-type": "application/json"}


async def test_only_listed_origins_may_read(tmp_path: Path) -> None:
    environment = {"EXHIBIT_SERVER__CORS_ORIGINS": f"{ALLOWED} http://localhost:3000"}
    async with map_home(tmp_path, environment=environment) as (client, _):
        asked = await client.options("/api/v1/ai/query", headers={"origin": ALLOWED, **PREFLIGHT})
        assert asked.status_code == 200
        assert asked.headers[READABLE] == ALLOWED
        assert "x-request-id" in asked.headers
        for origin in (OTHER, "null", "http://map.example", f"{ALLOWED}:8443"):
            refused = await client.options("/api/v1/ai/query", headers={"origin": origin, **PREFLIGHT})
            assert (refused.status_code, READABLE in refused.headers) == (400, False)
            assert READABLE not in (await client.get("/api/v1/layers", headers={"origin": origin})).headers
        layers = await client.get("/api/v1/layers", headers={"origin": ALLOWED})
        assert layers.headers[READABLE] == ALLOWED
        assert "access-control-allow-credentials" not in layers.headers
        assert "origin" in layers.headers["vary"].lower()
        assert "X-Request-Id" in layers.headers["access-control-expose-headers"]
        # Errors too, from whichever layer they come.
        big = await client.post("/api/v1/ai/query", headers={"origin": ALLOWED, **JSON}, content=b"x" * 300_000)
        wrong = await client.post("/api/v1/ai/query", headers={"origin": ALLOWED, **JSON}, content=b"{")
        absent = await client.get("/api/v1/nothing", headers={"origin": ALLOWED})
        key = await client.get("/api/v1/layers", headers={"origin": ALLOWED, "x-api-key": "wrong"})
        told = [(each.status_code, each.headers.get(READABLE)) for each in (big, wrong, absent, key)]
        assert told == [(413, ALLOWED), (400, ALLOWED), (404, ALLOWED), (401, ALLOWED)]


async def test_without_a_list_no_other_origin_may_read(tmp_path: Path) -> None:
    async with map_home(tmp_path) as (client, _):
        preflight = await client.options("/api/v1/ai/query", headers={"origin": ALLOWED, **PREFLIGHT})
        assert (preflight.status_code, READABLE in preflight.headers) == (405, False)
        assert READABLE not in (await client.get("/api/v1/layers", headers={"origin": ALLOWED})).headers


@pytest.mark.parametrize("path", ["/api/v1/layers", "/api/v1/ai/query"])
async def test_a_preflight_needs_no_key(tmp_path: Path, path: str) -> None:
    async with map_home(tmp_path, environment={"EXHIBIT_SERVER__CORS_ORIGINS": ALLOWED}) as (client, _):
        asked = await client.options(path, headers={"origin": ALLOWED, "host": "example.org", **PREFLIGHT})
        assert asked.status_code == 200
