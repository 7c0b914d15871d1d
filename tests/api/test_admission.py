"""The edge's bounds over HTTP: heads, bodies, rates, hosts, keys and time; every refusal has the one error body."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from asgi_lifespan import LifespanManager

from api.home.configuration import Configuration, load
from api.http.app import create_app
from tests.api_world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
ASK = "/api/v1/ai/query"
FERRY = {"question": "Who kept the ferry at Lecompton?"}


def error_of(response: httpx.Response) -> str:
    body = response.json()
    assert set(body) == {"error"}
    assert {"code", "message", "request_id"} <= set(body["error"])
    return str(body["error"]["code"])


@asynccontextmanager
async def client_with(
    world: World, *, key: str | None = None, address: str = "127.0.0.1", host: str = "127.0.0.1", **settings: object
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application of its own, with these settings of the server."""
    overrides = {f"server.{name.replace('__', '.')}": value for name, value in settings.items()}
    configuration: Configuration = load({}, home=world.configuration.home, overrides=overrides)
    app = create_app(configuration)
    headers = {} if key is None else {"authorization": f"Bearer {world.tokens[key]}"}
    async with LifespanManager(app, startup_timeout=60, shutdown_timeout=60):
        transport = httpx.ASGITransport(app=app, client=(address, 50_000), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}", headers=headers) as client:
            yield client


@pytest.mark.parametrize(
    "body",
    [
        b'{"question": "Who?", "question": "Where?"}',
        b'{"question": "Who?", "options": {"top_k": 1, "top_k": 2}}',
        json.dumps(FERRY).encode("utf-16"),
        json.dumps(FERRY).encode("utf-32"),
        b"\xef\xbb\xbf" + json.dumps(FERRY).encode(),
        b'{"question": NaN}',
        b'{"question": "\xff"}',
        b'{"question": ' + b"[" * 100_000,
        b"",
    ],
    ids=["key twice", "key twice below", "UTF-16", "UTF-32", "mark", "NaN", "not UTF-8", "deep", "empty"],
)
async def test_a_body_with_two_readings_is_refused(client: httpx.AsyncClient, body: bytes) -> None:
    response = await client.post(ASK, content=body, headers={"content-type": "application/json"})
    assert (response.status_code, error_of(response)) == (400, "BAD_REQUEST")


@pytest.mark.parametrize(
    "headers",
    [
        [("authorization", "Bearer one"), ("authorization", "Bearer two")],
        [("x-api-key", "one"), ("x-api-key", "two")],
        [("authorization", "Bearer one"), ("x-api-key", "two")],
    ],
)
async def test_two_keys_that_differ_are_refused_even_if_one_is_good(
    client: httpx.AsyncClient, world: World, headers: list[tuple[str, str]]
) -> None:
    good = world.tokens[next(iter(world.tokens))]
    for bad in ("one", "two"):
        tried = [(name, value.replace(bad, good)) for name, value in headers]
        response = await client.get("/api/v1/collections", headers=tried)
        assert (response.status_code, error_of(response)) == (401, "UNAUTHORIZED")


async def test_head_is_get_without_the_body(client: httpx.AsyncClient) -> None:
    for path in ("/livez", "/version", "/api/v1/collections", "/openapi.json"):
        got, head = await client.get(path), await client.head(path)
        assert head.status_code == got.status_code == 200
        assert head.content == b""
        assert head.headers["content-type"] == got.headers["content-type"]
    assert (await client.head(ASK)).status_code == 405


async def test_replies_are_kept_by_nobody_else(client: httpx.AsyncClient) -> None:
    for response in (
        await client.get("/api/v1/collections"),
        await client.post(ASK, json=FERRY),
        await client.get("/api/v1/evidence/nothing"),
        await client.post(ASK, json={}),
    ):
        assert response.headers["cache-control"] == "no-store"
        assert {"authorization", "x-api-key"} <= {v.strip() for v in response.headers["vary"].split(",")}


PARAMETER = re.compile(r"\{[^}]+\}")


async def described(client: httpx.AsyncClient) -> list[tuple[str, str]]:
    """Every method and path of the description, each parameter filled with a word that names nothing."""
    paths = (await client.get("/openapi.json")).json()["paths"]
    return [
        (method.upper(), PARAMETER.sub("nothing", path))
        for path, item in paths.items()
        for method in item
        if method in {"get", "post", "put", "patch", "delete"}
    ]


async def test_no_route_lets_a_shared_cache_keep_what_a_key_opened(client: httpx.AsyncClient) -> None:
    for method, path in await described(client):
        response = await client.request(method, path, **({} if method == "GET" else {"json": {}}))
        stored = response.headers["cache-control"]
        if "public" in stored:
            continue
        assert stored == "no-store" or "private" in stored or "no-cache" in stored, (method, path, stored)
        assert {"authorization", "x-api-key"} <= {v.strip() for v in response.headers["vary"].split(",")}, (
            method,
            path,
        )


async def test_what_is_public_is_the_same_for_every_caller(client: httpx.AsyncClient, world: World) -> None:
    """What a reply calls public may not depend on the key."""
    async with client_with(world, key="log-auditor") as other:
        for method, path in await described(client):
            if method != "GET":
                continue
            one = await client.get(path)
            if "public" in one.headers["cache-control"]:
                assert (await other.get(path)).content == one.content, path


async def test_every_get_has_its_head(client: httpx.AsyncClient) -> None:
    for method, path in await described(client):
        if method != "GET":
            assert (await client.head(path)).content == b""
            continue
        got, head = await client.get(path), await client.head(path)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        assert head.headers["content-type"] == got.headers["content-type"], path


async def test_a_proxy_on_this_host_is_no_credential(world: World) -> None:
    async with client_with(world, require_key=True) as client:
        response = await client.post(ASK, json=FERRY)
        assert (response.status_code, error_of(response)) == (401, "UNAUTHORIZED")
        assert (await client.get("/livez")).status_code == 200


async def test_only_the_named_hosts_are_served(world: World) -> None:
    async with client_with(world, allowed_hosts="maps.example.org", host="maps.example.org", key="viewer") as client:
        assert (await client.get("/api/v1/collections")).status_code == 200
        for host in ("evil.example.org", "", "maps.example.org.evil.example"):
            response = await client.get("/api/v1/collections", headers={"host": host})
            assert (response.status_code, error_of(response)) == (400, "BAD_REQUEST")
        assert (await client.get("/livez", headers={"host": "10.0.0.7"})).status_code == 200


async def test_each_key_has_its_rate_and_is_told_where_it_is(world: World) -> None:
    async with client_with(world, rates__principal="3/hour", key="viewer") as client:
        for left in (2, 1, 0):
            response = await client.get("/api/v1/collections")
            assert response.status_code == 200
            assert response.headers["ratelimit-policy"] == '"principal";q=3;w=3600'
            assert response.headers["ratelimit"].startswith(f'"principal";r={left};t=')
        for _ in range(2):
            response = await client.post(ASK, json=FERRY)
            assert (response.status_code, error_of(response)) == (429, "RATE_LIMITED")
            assert 1 <= int(response.headers["retry-after"]) <= 7_200
        assert (await client.get("/livez")).status_code == 200
        other = {"authorization": f"Bearer {world.tokens[next(name for name in world.tokens if name != 'viewer')]}"}
        assert (await client.get("/api/v1/collections", headers=other)).status_code == 200


async def test_an_address_is_limited_whatever_keys_it_tries(world: World) -> None:
    async with client_with(world, rates__address="2/hour", address="203.0.113.9") as client:
        codes = [
            (await client.get("/api/v1/collections", headers={"x-api-key": f"guess-{n}"})).status_code for n in range(4)
        ]
        assert codes == [401, 401, 429, 429]


async def test_a_request_has_one_deadline(world: World) -> None:
    async with client_with(world, admission__deadline_ms=1) as client:
        response = await client.post(ASK, json=FERRY)
        assert (response.status_code, error_of(response)) == (504, "TIMEOUT")


async def test_a_body_that_does_not_arrive_ends_the_request(world: World) -> None:
    async def slowly() -> AsyncIterator[bytes]:
        yield b'{"question":'
        import asyncio

        await asyncio.sleep(30)
        yield b"}"

    async with client_with(world, admission__body_ms=50) as client:
        response = await client.post(ASK, content=slowly(), headers={"content-type": "application/json"})
        assert (response.status_code, error_of(response)) == (408, "REQUEST_TIMEOUT")
