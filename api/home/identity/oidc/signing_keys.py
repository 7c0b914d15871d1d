"""The keys with which an issuer signs: read from it when a token comes, kept, and read again when they change."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx
import orjson
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from api.errors import IdentityUnavailable
from api.home.identity.oidc.settings import Oidc

Fetch = Callable[[str], Awaitable[bytes]]
"""Reads a document of the issuer by its address. Raises IdentityUnavailable."""
SigningKey = RSAKey | ECKey | OKPKey
_DISCOVERY = "/.well-known/openid-configuration"
_MOST_BYTES = 262_144
_MOST_KEYS = 64
_AGAIN_S = 10.0
"""An unknown key is looked for at the issuer this often at most: a caller may name what key it likes."""
_STALE_S = 3_600.0
"""For so long after they should have been read again, old keys are used while the issuer cannot be reached."""
_LEAST_RSA_BITS = 2_048


class SigningKeys:
    """An issuer's keys. `clock` counts seconds and never goes back."""

    def __init__(self, oidc: Oidc, *, fetch: Fetch, clock: Callable[[], float]) -> None:
        self._oidc, self._fetch, self._clock = oidc, fetch, clock
        self._keys: tuple[SigningKey, ...] = ()
        self._read_at = self._tried_at = float("-inf")
        self._lock = asyncio.Lock()

    async def find(self, key_id: str | None, algorithm: str) -> SigningKey | None:
        """The key of that id that signs with that algorithm; without an id the only such key. None if there is none.
        Raises IdentityUnavailable while the issuer's keys cannot be had."""
        async with self._lock:
            if self._age() >= self._oidc.keys_s:
                await self._read()
            found = self._held(key_id, algorithm)
            if found is None and self._clock() - self._tried_at >= _AGAIN_S:
                await self._read()
                found = self._held(key_id, algorithm)
            return found

    def _age(self) -> float:
        return self._clock() - self._read_at

    def _held(self, key_id: str | None, algorithm: str) -> SigningKey | None:
        found = [key for key in self._keys if key_id in (None, key.kid) and signs_with(key, algorithm)]
        return found[0] if len(found) == 1 else None

    async def _read(self) -> None:
        """Read the keys anew; a failure is borne while those that are held are not too old."""
        if self._clock() - self._tried_at >= _AGAIN_S:
            self._tried_at = self._clock()
            try:
                self._keys = keys_of(await self._fetch(await self._address()))
                self._read_at = self._clock()
            except IdentityUnavailable:
                if self._age() >= self._oidc.keys_s + _STALE_S:
                    raise
        elif self._age() >= self._oidc.keys_s + _STALE_S:
            raise IdentityUnavailable("the keys of the identity provider could not be read")

    async def _address(self) -> str:
        if self._oidc.jwks_url is not None:
            return self._oidc.jwks_url
        found = _object(await self._fetch(self._oidc.issuer.rstrip("/") + _DISCOVERY))
        if found.get("issuer") != self._oidc.issuer:
            raise IdentityUnavailable("the identity provider's discovery document is of another issuer")
        try:
            return Oidc.model_validate({**self._oidc.model_dump(), "jwks_url": found.get("jwks_uri")}).jwks_url or ""
        except ValueError:
            raise IdentityUnavailable("the identity provider's discovery document names no address of keys") from None


def keys_of(document: bytes) -> tuple[SigningKey, ...]:
    """The public signing keys of a JWK set (RFC 7517); others in it are passed over. Raises IdentityUnavailable."""
    listed = _object(document).get("keys")
    if not isinstance(listed, list) or len(listed) > _MOST_KEYS:
        raise IdentityUnavailable("the identity provider's keys are not a JWK set")
    return tuple(key for each in listed if (key := _key(each)) is not None)


def signs_with(key: SigningKey, algorithm: str) -> bool:
    """True if a signature of that algorithm can be this key's: its kind, its curve, and the algorithm that it names."""
    if key.get("alg") not in (None, algorithm):
        return False
    match key:
        case RSAKey():
            return algorithm[:2] in ("RS", "PS")
        case ECKey():
            return algorithm == {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}.get(key.curve_name)
        case OKPKey():
            return algorithm in ("EdDSA", "Ed25519") and key.curve_name == "Ed25519"


def _key(listed: object) -> SigningKey | None:
    if not isinstance(listed, Mapping) or listed.get("use") not in (None, "sig") or "d" in listed:
        return None
    try:
        key = JWKRegistry.import_key(dict(listed))
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    if not isinstance(key, RSAKey | ECKey | OKPKey):
        return None
    small = isinstance(key, RSAKey) and key.public_key.key_size < _LEAST_RSA_BITS
    return None if small else key


def _object(document: bytes) -> Mapping[str, Any]:
    try:
        found = orjson.loads(document)
    except orjson.JSONDecodeError:
        raise IdentityUnavailable("the identity provider answered with something other than JSON") from None
    if not isinstance(found, dict):
        raise IdentityUnavailable("the identity provider answered with something other than an object")
    return found


def http_fetch(oidc: Oidc) -> Fetch:
    """Reads documents over HTTP, without redirects. Raises OSError for a file of authorities that cannot be read."""
    trusted = ssl.create_default_context(cafile=oidc.ca_file)

    async def fetch(address: str) -> bytes:
        parts: list[bytes] = []
        try:
            async with (
                asyncio.timeout(oidc.timeout_ms / 1000),
                httpx.AsyncClient(verify=trusted, trust_env=False, timeout=oidc.timeout_ms / 1000) as client,
                client.stream("GET", address, headers={"accept": "application/json"}) as reply,
            ):
                if reply.status_code != httpx.codes.OK:
                    raise IdentityUnavailable(f"the identity provider answered with status {reply.status_code}")
                async for part in reply.aiter_bytes():
                    parts.append(part)
                    if sum(map(len, parts)) > _MOST_BYTES:
                        raise IdentityUnavailable("the identity provider's answer is too large")
        except (httpx.HTTPError, TimeoutError, OSError) as exc:
            raise IdentityUnavailable("the identity provider cannot be reached") from exc
        return b"".join(parts)

    return fetch
