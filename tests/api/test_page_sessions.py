"""Signing in to the pages: a cookie that no script reads, requests that only our pages can make with it, and an end with
the credential's own."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from asgi_lifespan import LifespanManager
from fastapi import FastAPI

from api.home.configuration import load
from api.home.identity.keys import KeyStore
from api.home.identity.sessions import SESSION_MS, PageSessions
from api.http.app import create_app
from api.wiring import key_store
from tests.api_world import make_world

pytestmark = pytest.mark.asyncio(loop_scope="session")
SESSION = "/api/v1/session"
ENTRIES = "/api/v1/ledger/entries"
QUESTION = {"question": "Who kept the ferry at Lecompton?"}


@dataclass
class Scene:
    home: Path
    client: httpx.AsyncClient
    key: str
    key_id: str

    async def sign_in(self) -> dict[str, str]:
        """The header that a request of the session carries; the client keeps the cookie."""
        told = await self.client.post(SESSION, json={"credential": self.key})
        assert told.status_code == 200, told.text
        return {"x-csrf-token": told.json()["csrf_token"]}


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Path, FastAPI]]:
    """A home and the application over it."""
    world = await make_world(tmp_path_factory.mktemp("sessions"))
    made = create_app(world.configuration)
    async with LifespanManager(made, startup_timeout=60, shutdown_timeout=60):
        yield world.configuration.home, made


@pytest_asyncio.fixture(loop_scope="session")
async def scene(app: tuple[Path, FastAPI]) -> AsyncIterator[Scene]:
    """A new key, and a browser without a cookie."""
    home, made = app
    key, token = keys_of(home).create(name="reader", tenant="default", roles=("auditor",))
    transport = httpx.ASGITransport(app=made, client=("127.0.0.1", 50_000), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield Scene(home, client, token, key.key_id)


def keys_of(home: Path) -> KeyStore:
    return key_store(load({"EXHIBIT_HOME": str(home)}))


def kept(file: Path) -> int:
    """How many sessions a file holds."""
    if not file.exists():
        return 0
    with sqlite3.connect(file) as db:
        return int(db.execute("SELECT count(*) FROM page_session").fetchone()[0])


async def test_the_cookie_is_for_this_server_alone_and_holds_no_key(scene: Scene) -> None:
    told = await scene.client.post(SESSION, json={"credential": f" {scene.key}\n"})
    cookie = told.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    assert "domain" not in cookie
    assert "secure" not in cookie.split("; ")  # plain HTTP on loopback
    assert scene.key not in told.text + told.headers["set-cookie"]
    assert told.json()["roles"] == ["auditor"]
    assert told.headers["cache-control"] == "no-store"


async def test_over_tls_the_cookie_stays_there(scene: Scene) -> None:
    told = await scene.client.post(f"https://127.0.0.1{SESSION}", json={"credential": scene.key})
    assert "secure" in told.headers["set-cookie"].lower().split("; ")


async def test_who_is_signed_in_reads_and_asks_until_they_sign_out(scene: Scene) -> None:
    assert (await scene.client.get(SESSION)).json()["signed_in"] is False
    assert (await scene.client.get("/api/v1/ledger/facets")).status_code == 403
    own = await scene.sign_in()
    shown = (await scene.client.get(SESSION)).json()
    assert (shown["signed_in"], shown["tenant"], shown["csrf_token"]) == (True, "default", own["x-csrf-token"])
    assert "ledger.audit" in shown["capabilities"]
    assert (await scene.client.get("/api/v1/ledger/facets")).status_code == 200
    asked = await scene.client.post("/api/v1/ai/query", json=QUESTION, headers=own)
    assert asked.status_code == 200, asked.text
    assert b"cookie" in asked.headers["vary"].lower().encode()
    held = dict(scene.client.cookies)
    assert (await scene.client.delete(SESSION, headers=own)).status_code == 204
    assert "exhibit-session" not in scene.client.cookies
    again = await scene.client.get(
        "/api/v1/ledger/facets", headers={"cookie": f"exhibit-session={held['exhibit-session']}"}
    )
    assert again.status_code == 401


async def test_a_session_is_the_same_asker_as_its_key(scene: Scene) -> None:
    own = await scene.sign_in()
    entry = (await scene.client.post("/api/v1/ai/query", json=QUESTION, headers=own)).json()["provenance"]["entry_id"]
    scene.client.cookies.clear()
    found = await scene.client.get(f"{ENTRIES}/{entry}", headers={"authorization": f"Bearer {scene.key}"})
    assert found.status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-csrf-token": ""},
        {"x-csrf-token": "0" * 64},
        {"x-csrf-token": "é"},
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
async def test_a_cookie_alone_asks_and_changes_nothing(scene: Scene, headers: dict[str, str]) -> None:
    own = await scene.sign_in()
    sent = {name: value.encode() for name, value in headers.items()}
    if "x-csrf-token" not in headers and headers:
        sent = {**{name: value.encode() for name, value in own.items()}, **sent}
    before = (await scene.client.get(ENTRIES)).json()["entries"]
    for method, path, body in (
        ("POST", "/api/v1/ai/query", QUESTION),
        ("POST", "/api/v1/ai/stream", QUESTION),
        ("POST", "/retrieval/query", {"query": "ferry"}),
        ("DELETE", SESSION, None),
    ):
        told = await scene.client.request(method, path, json=body, headers=sent)
        assert (told.status_code, told.json()["error"]["code"]) == (403, "FORBIDDEN"), path
    assert (await scene.client.get(SESSION)).json()["signed_in"] is True
    assert (await scene.client.get(ENTRIES)).json()["entries"] == before


async def test_the_token_of_another_session_is_none(scene: Scene) -> None:
    first = await scene.sign_in()
    second = await scene.sign_in()
    assert first != second
    assert (await scene.client.post("/api/v1/ai/query", json=QUESTION, headers=first)).status_code == 403
    assert (await scene.client.post("/api/v1/ai/query", json=QUESTION, headers=second)).status_code == 200


async def test_a_page_of_another_origin_signs_nobody_in(scene: Scene) -> None:
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        told = await scene.client.post(SESSION, json={"credential": scene.key}, headers=headers)
        assert told.status_code == 403
        assert "set-cookie" not in told.headers


@pytest.mark.parametrize("credential", ["exk_000000000000_" + "A" * 43, "nonsense", "a.b.c"])
async def test_a_credential_that_proves_nothing_begins_nothing(scene: Scene, credential: str) -> None:
    before = kept(scene.home / "page-sessions.sqlite")
    told = await scene.client.post(SESSION, json={"credential": credential})
    assert (told.status_code, told.json()["error"]["code"]) == (401, "UNAUTHORIZED")
    assert "set-cookie" not in told.headers
    assert kept(scene.home / "page-sessions.sqlite") == before


@pytest.mark.parametrize(
    "body", [{}, {"credential": ""}, {"credential": " "}, {"credential": "x" * 9_000}, {"key": "x"}]
)
async def test_a_body_that_is_none_is_refused(scene: Scene, body: dict[str, str]) -> None:
    assert (await scene.client.post(SESSION, json=body)).status_code == 422


async def test_a_revoked_key_ends_its_sessions(scene: Scene) -> None:
    await scene.sign_in()
    keys_of(scene.home).revoke(scene.key_id)
    assert (await scene.client.get(ENTRIES)).status_code == 401
    told = await scene.client.get(SESSION)
    assert told.json()["signed_in"] is False
    assert "exhibit-session" not in scene.client.cookies  # the browser was told to forget it


async def test_a_key_in_a_header_comes_before_the_cookie(scene: Scene) -> None:
    await scene.sign_in()
    wrong = await scene.client.get(ENTRIES, headers={"x-api-key": "exk_000000000000_" + "A" * 43})
    assert wrong.status_code == 401
    right = await scene.client.post("/api/v1/ai/query", json=QUESTION, headers={"x-api-key": scene.key})
    assert right.status_code == 200


@pytest.mark.parametrize("cookie", ["", "x", "A" * 43, "A" * 44, "../../etc/passwd", "'; DROP TABLE page_session; --"])
async def test_a_made_up_cookie_is_refused(scene: Scene, cookie: str) -> None:
    await scene.sign_in()
    scene.client.cookies.clear()
    assert (await scene.client.get(ENTRIES, headers={"cookie": f"exhibit-session={cookie}"})).status_code == 401


async def test_a_stolen_file_signs_nobody_in(scene: Scene) -> None:
    await scene.sign_in()
    cookie = scene.client.cookies["exhibit-session"]
    written = b"".join(file.read_bytes() for file in scene.home.glob("page-sessions.sqlite*"))
    assert kept(scene.home / "page-sessions.sqlite") > 0
    assert scene.key.encode() not in written
    assert cookie.encode() not in written


async def test_a_session_ends_by_itself_and_no_later_than_its_key(tmp_path: Path) -> None:
    now = [1_000_000]
    sessions = PageSessions(tmp_path / "sessions.sqlite", clock_ms=lambda: now[0])
    long, short = sessions.begin("one", ends_ms=None), sessions.begin("two", ends_ms=1_000_500)
    assert sessions.find(short.cookie) == short
    now[0] = 1_000_500
    assert sessions.find(short.cookie) is None
    assert sessions.find(long.cookie) == long
    now[0] = 1_000_000 + SESSION_MS
    assert sessions.find(long.cookie) is None
    sessions.begin("three", ends_ms=None)
    assert kept(tmp_path / "sessions.sqlite") == 1


async def test_the_last_use_of_a_key_is_known_to_the_minute(scene: Scene) -> None:
    store = keys_of(scene.home)
    assert scene.key_id not in store.last_uses()
    await scene.client.get(ENTRIES, headers={"x-api-key": scene.key[:-1] + ("A" if scene.key[-1] != "A" else "B")})
    assert scene.key_id not in store.last_uses()
    await scene.client.get(ENTRIES, headers={"x-api-key": scene.key})
    used = store.last_uses()[scene.key_id]
    await asyncio.gather(*(scene.client.get(ENTRIES, headers={"x-api-key": scene.key}) for _ in range(5)))
    assert store.last_uses()[scene.key_id] == used
