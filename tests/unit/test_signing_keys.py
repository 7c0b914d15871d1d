"""The keys of an issuer: when they are read, and which are used."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from pydantic import ValidationError

from api.errors import IdentityUnavailable
from api.home.identity.oidc.settings import Oidc
from api.home.identity.oidc.signing_keys import SigningKeys, keys_of, signs_with

ISSUER = "https://issuer.example"
KEYS = "https://issuer.example/keys"


class Provider:
    """Documents by address, and a clock."""

    def __init__(self, *keys: Mapping[str, Any]) -> None:
        self.documents: dict[str, Any] = {
            f"{ISSUER}/.well-known/openid-configuration": {"issuer": ISSUER, "jwks_uri": KEYS},
            KEYS: {"keys": list(keys)},
        }
        self.now, self.reads = 0.0, 0

    async def fetch(self, address: str) -> bytes:
        self.reads += address == KEYS
        if address not in self.documents:
            raise IdentityUnavailable("away")
        return json.dumps(self.documents[address]).encode()

    def keys(self, **other: Any) -> SigningKeys:
        oidc = Oidc(issuer=ISSUER, audience="exhibit", **other)
        return SigningKeys(oidc, fetch=self.fetch, clock=lambda: self.now)


def _key(kid: str | None = "a", **more: Any) -> dict[str, Any]:
    made = ECKey.generate_key("P-256").as_dict(private=False)
    return {**made, **({"kid": kid} if kid else {}), **more}


async def test_a_rotated_key_is_found_at_once_and_the_old_one_is_gone() -> None:
    provider = Provider(_key("old"))
    keys = provider.keys()
    assert await keys.find("old", "ES256")
    provider.documents[KEYS] = {"keys": [_key("new")]}
    provider.now = 10.0
    assert await keys.find("new", "ES256") and provider.reads == 2
    assert await keys.find("old", "ES256") is None


async def test_unknown_keys_do_not_make_us_ask_the_issuer_each_time() -> None:
    provider = Provider(_key())
    keys = provider.keys()
    for n in range(100):
        assert await keys.find(f"unknown-{n}", "ES256") is None
    assert provider.reads == 1
    provider.now = 10.0
    assert await keys.find("unknown", "ES256") is None and provider.reads == 2


async def test_keys_outlive_an_issuer_that_is_away_for_an_hour_and_no_longer() -> None:
    provider = Provider(_key())
    keys = provider.keys(keys_s=600)
    assert await keys.find("a", "ES256")
    documents, provider.documents = provider.documents, {}
    provider.now = 4_000.0
    assert await keys.find("a", "ES256")
    provider.now = 4_200.0
    with pytest.raises(IdentityUnavailable):
        await keys.find("a", "ES256")
    provider.now, provider.documents = 4_205.0, documents
    with pytest.raises(IdentityUnavailable):  # it was asked a moment ago
        await keys.find("a", "ES256")
    provider.now = 4_210.0
    assert await keys.find("a", "ES256")


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://other.example", "jwks_uri": KEYS},
        {"issuer": ISSUER},
        {"issuer": ISSUER, "jwks_uri": "http://issuer.example/keys"},
        {"issuer": ISSUER, "jwks_uri": "file:///etc/passwd"},
        {"issuer": ISSUER, "jwks_uri": 7},
        [],
    ],
)
async def test_discovery_that_is_not_believed(document: object) -> None:
    provider = Provider(_key())
    provider.documents[f"{ISSUER}/.well-known/openid-configuration"] = document
    with pytest.raises(IdentityUnavailable):
        await provider.keys().find("a", "ES256")
    assert provider.reads == 0


@pytest.mark.parametrize("document", [b"", b"[]", b"{}", b'{"keys": {}}', b'{"keys": 1}', b"\xff", b"<html>"])
def test_documents_that_are_no_key_set(document: bytes) -> None:
    with pytest.raises(IdentityUnavailable):
        keys_of(document)
    with pytest.raises(IdentityUnavailable):
        keys_of(json.dumps({"keys": [_key()] * 65}).encode())


def _small() -> dict[str, str]:
    """An RSA key of 1,024 bits, which the library would not make."""
    numbers = rsa.generate_private_key(65_537, 1024).public_key().public_numbers()
    n, e = (
        base64.urlsafe_b64encode(x.to_bytes((x.bit_length() + 7) // 8)).rstrip(b"=") for x in (numbers.n, numbers.e)
    )
    return {"kty": "RSA", "n": n.decode(), "e": e.decode()}


@pytest.mark.filterwarnings("ignore:Key size:joserfc.errors.SecurityWarning")
def test_keys_that_are_passed_over() -> None:
    listed: list[object] = [
        OctKey.generate_key(256).as_dict(),
        ECKey.generate_key("P-256").as_dict(private=True),
        _small(),
        _key(use="enc"),
        {"kty": "EC", "crv": "P-256"},
        {"kty": "XX"},
        {},
        None,
        7,
    ]
    assert keys_of(json.dumps({"keys": listed}).encode()) == ()
    assert len(keys_of(json.dumps({"keys": [*listed, _key()]}).encode())) == 1


def test_a_key_signs_with_algorithms_of_its_kind_alone() -> None:
    elliptic = ECKey.generate_key("P-256")
    long = RSAKey.generate_key(2048)
    edwards = OKPKey.generate_key("Ed25519")
    assert [a for a in ("ES256", "ES384", "RS256", "HS256", "none") if signs_with(elliptic, a)] == ["ES256"]
    assert [a for a in ("ES256", "RS256", "PS512", "HS256", "none") if signs_with(long, a)] == ["RS256", "PS512"]
    assert [a for a in ("EdDSA", "Ed25519", "ES256", "none") if signs_with(edwards, a)] == ["EdDSA", "Ed25519"]
    named = ECKey.import_key({**elliptic.as_dict(private=False), "alg": "ES384"})
    assert not signs_with(named, "ES256")


async def test_a_token_without_a_key_id_needs_a_single_key() -> None:
    assert await Provider(_key(None)).keys().find(None, "ES256")
    assert await Provider(_key("a"), _key("b")).keys().find(None, "ES256") is None
    assert await Provider(_key("a"), _key("a")).keys().find("a", "ES256") is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "http://issuer.example"},
        {"issuer": "issuer.example"},
        {"issuer": "https://user:pass@issuer.example"},
        {"issuer": "https://issuer.example?x=1"},
        {"algorithms": ("HS256",)},
        {"algorithms": ("none",)},
        {"algorithms": ()},
        {"audience": ""},
        {"leeway_s": 3_600},
        {"secret": "x"},
    ],
)
def test_settings_that_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Oidc.model_validate({"issuer": ISSUER, "audience": "exhibit", **wrong})
    assert Oidc(issuer="http://127.0.0.1:8080", audience="exhibit").algorithms == ("RS256", "ES256")
