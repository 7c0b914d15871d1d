"""Who is asking: keys, loopback, and nobody from afar."""

from __future__ import annotations

from typing import Any

import pytest

from api.home.folder import KEYS_FILE
from api.home.identity.keys import KeyStore
from api.wiring import clock_ms, key_store

pytestmark = pytest.mark.asyncio(loop_scope="session")
URL = "/api/v1/collections"


async def test_without_a_key_loopback_is_the_public_viewer(connect: Any) -> None:
    for address in ("127.0.0.1", "127.8.8.8", "::1"):
        async with connect(address=address) as client:
            assert [c["name"] for c in (await client.get(URL)).json()["collections"]] == ["kansas"]


@pytest.mark.parametrize("address", ["203.0.113.9", "10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "testclient"])
async def test_without_a_key_nobody_else_is_served(connect: Any, address: str) -> None:
    async with connect(address=address) as client:
        response = await client.get(URL)
    assert (response.status_code, response.json()["error"]["code"]) == (401, "UNAUTHORIZED")
    assert response.headers["www-authenticate"] == "Bearer"


async def test_a_foreign_host_name_on_loopback_is_refused_without_a_key(connect: Any) -> None:
    async with connect(host="rebound.example") as client:
        assert (await client.get(URL)).status_code == 403
    async with connect("viewer", host="rebound.example") as client:
        assert (await client.get(URL)).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "[::1]evil.example",
        "[::1]:80.evil.example",
        "127.0.0.1:80@evil.example",
        "localhost:x",
        "localhost:1:2",
        "127.0.0.1/evil",
    ],
)
async def test_what_only_begins_like_a_loopback_name_is_none(connect: Any, host: str) -> None:
    async with connect() as client:
        assert (await client.get(URL, headers={"host": host})).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:8484", "127.0.0.1:8484", "[::1]:8484"])
async def test_loopback_names(connect: Any, host: str) -> None:
    async with connect() as client:
        assert (await client.get(URL, headers={"host": host})).status_code == 200


async def test_a_key_in_either_header(connect: Any, world: Any) -> None:
    async with connect(address="203.0.113.9") as client:
        token = world.tokens["contributor"]
        for headers in (
            {"authorization": f"Bearer {token}"},
            {"authorization": f"bearer {token}"},
            {"x-api-key": token},
        ):
            names = [c["name"] for c in (await client.get(URL, headers=headers)).json()["collections"]]
            assert names == ["kansas", "staff"]


async def test_bad_keys_are_told_apart_by_nobody(connect: Any, world: Any) -> None:
    keys, now_ms = key_store(world.configuration), clock_ms()
    revoked, revoked_token = keys.create(name="revoked", tenant="default", roles=("admin",))
    keys.revoke(revoked.key_id)
    earlier = KeyStore(world.configuration.home / KEYS_FILE, clock_ms=lambda: now_ms - 10_000)
    _, soon = earlier.create(name="expired", tenant="default", roles=("admin",), expires_ms=now_ms - 5_000)
    good = world.tokens["viewer"]
    tokens = [
        revoked_token,
        soon,
        "",
        "x",
        good[:-1],
        good + "A",
        good.replace("exk_", "exk-"),
        "exk_" + "0" * 12 + good[16:],
    ]
    flipped = good[:-1] + ("A" if good[-1] != "A" else "B")
    bodies = set()
    async with connect() as client:
        for token in [*tokens, flipped]:
            response = await client.get(URL, headers={"x-api-key": token})
            assert response.status_code == 401, token
            bodies.add(response.json()["error"]["message"])
        for headers in (
            {"authorization": "Basic eDp5"},
            {"authorization": good},
            {"authorization": f"Bearer {good}", "x-api-key": soon},
        ):
            assert (await client.get(URL, headers=headers)).status_code == 401
    assert len(bodies) == 1


async def test_a_bad_key_is_not_served_as_the_public(connect: Any) -> None:
    async with connect() as client:
        assert (
            await client.post("/api/v1/ai/query", json={"question": "x"}, headers={"x-api-key": "x"})
        ).status_code == 401
