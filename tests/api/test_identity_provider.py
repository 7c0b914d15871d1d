"""Callers by the tokens of an identity provider that publishes its keys over TLS."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from asgi_lifespan import LifespanManager
from fastapi import FastAPI
from joserfc.jwk import ECKey, OctKey, RSAKey

from api.home.configuration import load
from api.http.app import create_app
from api.wiring import clock_ms
from tests.issuer import AUDIENCE, Issuer, issuer

pytestmark = pytest.mark.asyncio(loop_scope="session")
URL = "/api/v1/collections"
LOGOUT = "/api/v1/identity/logout"
EVENT = "http://schemas.openid.net/event/backchannel-logout"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Issuer, Path]]:
    with issuer(tmp_path_factory.mktemp("issuer")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def federated(world: Any, provider: tuple[Issuer, Path]) -> AsyncIterator[FastAPI]:
    running, certificate = provider
    overrides = {
        "server.oidc.issuer": running.url,
        "server.oidc.audience": AUDIENCE,
        "server.oidc.ca_file": str(certificate),
        "server.oidc.algorithms": "ES256,RS256",
        "server.oidc.roles": {"staff": "contributor", "chiefs": "maintainer"},
        "server.oidc.keys_s": 1,
    }
    configuration = load({"EXHIBIT_LEDGER__CHECKPOINT_MS": "50"}, home=world.configuration.home, overrides=overrides)
    application = create_app(configuration)
    async with LifespanManager(application, startup_timeout=60, shutdown_timeout=60):
        yield application


@pytest.fixture
def client(federated: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=federated, client=("203.0.113.9", 50_000), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://exhibit.example")


@pytest.fixture
def running(provider: tuple[Issuer, Path]) -> Issuer:
    return provider[0]


def now_s() -> int:
    return clock_ms() // 1000


async def _ask(client: httpx.AsyncClient, token: str) -> httpx.Response:
    return await client.get(URL, headers={"authorization": f"Bearer {token}"})


async def _names(client: httpx.AsyncClient, token: str) -> list[str]:
    reply = await _ask(client, token)
    assert reply.status_code == 200, reply.text
    return [c["name"] for c in reply.json()["collections"]]


async def test_claims_become_roles_groups_and_nothing_that_is_not_listed(
    client: httpx.AsyncClient, running: Issuer
) -> None:
    good = running.claims(now_s())
    assert await _names(client, running.token(good)) == ["kansas"]
    assert await _names(client, running.token(good | {"roles": ["staff"]})) == ["kansas", "staff"]
    chief = good | {"roles": ["chiefs"], "groups": ["archivists"]}
    assert "archive" in await _names(client, running.token(chief))
    assert "archive" not in await _names(client, running.token(chief | {"groups": ["others", "not a name!"]}))
    # Names of roles here mean nothing unless the settings list them.
    assert await _names(client, running.token(good | {"roles": ["admin", "maintainer"]})) == ["kansas"]
    assert await _names(client, running.token(good | {"aud": ["other", AUDIENCE]})) == ["kansas"]
    assert await _names(client, running.token(good, header={"typ": None})) == ["kansas"]


async def test_an_api_key_is_accepted_beside_tokens(client: httpx.AsyncClient, world: Any) -> None:
    assert (await _ask(client, world.tokens["viewer"])).status_code == 200
    assert (await _ask(client, world.tokens["viewer"][:-1])).status_code == 401


async def test_the_record_names_who_asked(client: httpx.AsyncClient, running: Issuer) -> None:
    token = running.token(running.claims(now_s(), sub="asker-7"))
    reply = await client.post(
        "/api/v1/ai/query",
        json={"question": "What was the population of Shawnee County in 1930?"},
        headers={"authorization": f"Bearer {token}"},
    )
    assert reply.status_code == 200, reply.text
    entry = reply.json()["provenance"]["entry_id"]
    own = await client.get(f"/api/v1/ledger/entries/{entry}", headers={"authorization": f"Bearer {token}"})
    other = running.token(running.claims(now_s(), sub="asker-8"))
    stranger = await client.get(f"/api/v1/ledger/entries/{entry}", headers={"authorization": f"Bearer {other}"})
    assert (own.status_code, stranger.status_code) == (200, 404)


BAD = {
    "another audience": {"aud": "others"},
    "no audience": {"aud": None},
    "another issuer": {"iss": "https://issuer.example"},
    "no issuer": {"iss": None},
    "an issuer that begins alike": {"iss": "https://127.0.0.1"},
    "no end": {"exp": None},
    "no beginning": {"iat": None},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is a number": {"sub": 7},
    "a subject with a blank": {"sub": "ada lovelace"},
    "a subject over the limit": {"sub": "a" * 256},
    "roles that are an object": {"roles": {"staff": True}},
    "roles that are numbers": {"roles": [1]},
    "too many roles": {"roles": ["x"] * 300},
    "groups that are an object": {"groups": {"archivists": 1}},
    "a session that is a number": {"sid": 1},
    "an event": {"events": {EVENT: {}}},
    "times that are text": {"exp": "4102444800"},
    "times with fractions": {"exp": 4102444800.5},
    "a time that is true": {"iat": True},
}


@pytest.mark.parametrize("name", BAD)
async def test_claims_that_are_refused(client: httpx.AsyncClient, running: Issuer, name: str) -> None:
    token = running.token(running.claims(now_s()) | BAD[name])
    reply = await _ask(client, token)
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "UNAUTHORIZED")
    assert reply.json()["error"]["message"] == "the API key is not valid"
    assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("begins", "ends"), [(-700, -100), (-90_000, 600), (600, 1200), (0, 90_000), (0, 0), (10, -10), (-100, -31)]
)
async def test_times_that_are_refused(client: httpx.AsyncClient, running: Issuer, begins: int, ends: int) -> None:
    token = running.token(running.claims(now_s(), iat=now_s() + begins, exp=now_s() + ends))
    assert (await _ask(client, token)).status_code == 401
    early = running.token(running.claims(now_s(), nbf=now_s() + 300))
    assert (await _ask(client, early)).status_code == 401


async def test_signatures_that_are_refused(client: httpx.AsyncClient, running: Issuer) -> None:
    good = running.claims(now_s(), roles=["chiefs"])
    header, body, signature = running.token(good).split(".")
    public = json.dumps(running.key.as_dict(private=False)).encode()
    other = ECKey.generate_key("P-256", {"kid": running.key.kid})

    def unsigned(alg: str) -> str:
        told = base64.urlsafe_b64encode(json.dumps({"alg": alg, "typ": "JWT"}).encode()).rstrip(b"=").decode()
        return f"{told}.{body}."

    changed = base64.urlsafe_b64encode(json.dumps(good | {"sub": "eve"}).encode()).rstrip(b"=").decode()
    tokens = [
        unsigned("none"),
        unsigned("None"),
        unsigned("ES256"),
        running.token(good, key=OctKey.import_key(public), header={"alg": "HS256"}),  # the public key as a secret
        running.token(good, key=other),
        running.token(good, key=RSAKey.generate_key(2048), header={"alg": "RS256"}),
        running.token(good, header={"kid": "unknown"}),
        running.token(good, header={"typ": "logout+jwt"}),
        running.token(good, key=other, header={"jwk": other.as_dict(private=False)}),
        running.token(good, key=other, header={"jku": f"{running.url}/keys"}),
        f"{header}.{changed}.{signature}",
        f"{header}.{body}.{'A' * len(signature)}",
        f"{header}.{body}",
        f"{header}.{body}.{signature}.{signature}",
        "..",
        "a.b.c",
        "é.é.é",
        "x" * 20_000,
    ]
    for token in tokens:
        reply = await client.get(URL, headers={"authorization": f"Bearer {token}".encode()})
        assert reply.status_code == 401, token[:80]
    assert (await _ask(client, f"{header}.{body}.{signature}")).status_code == 200


HEADERS = {
    "a list": b"[]",
    "a text": b'"ES256"',
    "a number": b"5",
    "nothing": b"",
    "null": b"null",
    "no UTF-8": b"\xff{}",
    "nested too deep": b"[" * 10_000,
    "objects nested too deep": b'{"a":' * 2_500,
    "an endless number": b'{"alg":' + b"9" * 5_000 + b"}",
    "algorithms": b'{"alg":["ES256"],"kid":"KID"}',
    "an algorithm that is an object": b'{"alg":{"ES256":1},"kid":"KID"}',
    "no algorithm": b'{"kid":"KID"}',
    "keys": b'{"alg":"ES256","kid":["KID"]}',
    "half a character": b'{"alg":"ES256","kid":"\\ud800"}',
    "a kind that is an object": b'{"alg":"ES256","kid":"KID","typ":{}}',
    "extensions that are a number": b'{"alg":"ES256","kid":"KID","crit":5}',
    "extensions that are null": b'{"alg":"ES256","kid":"KID","crit":null}',
    "extensions that are an object": b'{"alg":"ES256","kid":"KID","crit":{"b64":1},"b64":true}',
    "extensions that are numbers": b'{"alg":"ES256","kid":"KID","crit":[5]}',
    "extensions that are lists": b'{"alg":"ES256","kid":"KID","crit":[[]]}',
    "no extension": b'{"alg":"ES256","kid":"KID","crit":[]}',
    "an unknown extension": b'{"alg":"ES256","kid":"KID","crit":["exp"],"exp":1}',
    "a payload that is not encoded": b'{"alg":"ES256","kid":"KID","crit":["b64"],"b64":false}',
    "certificates that are an object": b'{"alg":"ES256","kid":"KID","x5c":{}}',
    "a key that is a number": b'{"alg":"ES256","kid":"KID","jwk":5}',
    "a content type that is a number": b'{"alg":"ES256","kid":"KID","cty":5}',
    "an encryption": b'{"alg":"dir","enc":"A128GCM","kid":"KID"}',
    "an algorithm twice": b'{"alg":"ES256","alg":"none","kid":"KID"}',
}


@pytest.mark.parametrize("name", HEADERS)
async def test_a_head_of_a_token_that_anybody_can_write(client: httpx.AsyncClient, running: Issuer, name: str) -> None:
    """What stands before the signature is read before anything is known of its writer: refused, never a fault."""
    head = base64.urlsafe_b64encode(HEADERS[name].replace(b"KID", running.key.kid.encode())).rstrip(b"=").decode()
    _, body, signature = running.token(running.claims(now_s())).split(".")
    for rest in (f"{body}.{signature}", f"{body}.", f"..{signature}", f"W1tb.{'A' * 86}", "."):
        reply = await _ask(client, f"{head}.{rest}")
        assert (reply.status_code, reply.json()["error"]["code"]) == (401, "UNAUTHORIZED"), (name, rest[:20])
        form = {"logout_token": f"{head}.{rest}"}
        assert (await client.post(LOGOUT, data=form)).status_code == 400, (name, rest[:20])


async def test_a_session_that_the_provider_ends(client: httpx.AsyncClient, running: Issuer) -> None:
    now = now_s()
    ended = running.token(running.claims(now, sub="ben", sid="one"))
    kept = running.token(running.claims(now, sub="ben", sid="two"))
    assert [(await _ask(client, token)).status_code for token in (ended, kept)] == [200, 200]
    claims = {"iss": running.url, "aud": AUDIENCE, "iat": now, "exp": now + 120, "jti": "j1", "events": {EVENT: {}}}
    logout = running.token(claims | {"sid": "one"}, header={"typ": "logout+jwt"})
    reply = await client.post(LOGOUT, data={"logout_token": logout})
    assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-store")
    assert [(await _ask(client, token)).status_code for token in (ended, kept)] == [401, 200]
    everywhere = running.token(claims | {"sub": "ben"}, header={"typ": "logout+jwt"})
    assert (await client.post(LOGOUT, data={"logout_token": everywhere})).status_code == 200
    assert (await _ask(client, kept)).status_code == 401
    later = running.token(running.claims(now, sub="ben", sid="three", iat=now + 1))
    assert (await _ask(client, later)).status_code == 200


async def test_logouts_that_are_refused(client: httpx.AsyncClient, running: Issuer) -> None:
    now = now_s()
    good: dict[str, Any] = {
        "iss": running.url, "aud": AUDIENCE, "iat": now, "exp": now + 120, "jti": "j2", "sub": "carl", "events": {EVENT: {}},
    }  # fmt: skip
    user = running.token(running.claims(now, sub="carl"))
    changes: list[dict[str, Any]] = [
        {"events": None},
        {"events": {}},
        {"events": {EVENT: True}},
        {"nonce": "n"},
        {"sub": None},
        {"sub": 7},
        {"aud": "others"},
        {"jti": None},
        {"exp": now - 600},
        {"iat": None},
    ]
    for change in changes:
        token = running.token(good | change, header={"typ": "logout+jwt"})
        reply = await client.post(LOGOUT, data={"logout_token": token})
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "BAD_REQUEST"), change
    assert (await client.post(LOGOUT, data={"logout_token": user})).status_code == 400
    assert (await client.post(LOGOUT, data={"other": "x"})).status_code == 400
    assert (
        await client.post(LOGOUT, content=b"", headers={"content-type": "application/x-www-form-urlencoded"})
    ).status_code == 400
    assert (await client.post(LOGOUT, json={"logout_token": user})).status_code == 415
    assert (await _ask(client, user)).status_code == 200


async def test_a_server_without_a_provider_offers_no_logout(connect: Any) -> None:
    async with connect("viewer") as plain:
        assert (await plain.post(LOGOUT, data={"logout_token": "a.b.c"})).status_code == 404
        assert (await plain.get(URL, headers={"authorization": "Bearer a.b.c"})).status_code == 401
