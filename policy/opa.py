"""The OPA server as engine: one HTTP call per decision, under one deadline, never repeated.

The server's data API is asked for exact entry points (a package's document would show every rule), with provenance: OPA
names, in the same transaction as the evaluation, the bundles that it serves. A reply counts only if one of them has our
bundle's digest as its revision; so a server that was given another bundle decides nothing, without anyone being told.

A decision is a pure function, but a call is not repeated even so: the deadline is the caller's, and a second try would
hide a failing server behind a doubled latency. An input that makes a rule fail is an answer (HTTP 500) and would fail
again.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from policy.breaker import Breaker, CircuitOpen, Silence
from policy.bundle import ENTRYPOINTS
from policy.canonical import encode_plain, parse_plain
from policy.engine import MAX_INPUT_BYTES, Reply
from policy.errors import InputRejected, OpaUnavailable

MAX_REPLY_BYTES = 2 * 1024 * 1024
CONNECTIONS = 32
_NEVER = httpx.Timeout(None)  # one deadline holds for the whole call, see `_call`
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}", re.ASCII)
# No compression: a small reply must not become a large one in our memory.
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}


class OpaServerEngine:
    """PolicyEngine over an OPA server that serves the bundle with the digest `bundle_digest` as its revision."""

    def __init__(self, *, client: httpx.AsyncClient, bundle_digest: str, breaker: Breaker) -> None:
        self._client = client
        self._bundle_digest = bundle_digest
        self._breaker = breaker
        self._name = "opa"

    @classmethod
    def open(
        cls, url: str, *, bundle_digest: str, token: str | None = None, ca_file: Path | None = None
    ) -> OpaServerEngine:
        """An engine for the server at `url`: http://, https:// or unix:///path/to/socket.

        `token` is sent as bearer token; `ca_file` (PEM) replaces the system's certificate authorities. The server need
        not run yet. Raises OpaUnavailable for an address or a file that cannot be used.
        """
        base, socket = _address(url)
        limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=60)
        transport = httpx.AsyncHTTPTransport(verify=_trusted(base, ca_file), limits=limits, uds=socket, trust_env=False)
        headers = _HEADERS if token is None else _HEADERS | {"Authorization": f"Bearer {token}"}
        client = httpx.AsyncClient(
            base_url=base, transport=transport, headers=headers, timeout=_NEVER, follow_redirects=False, trust_env=False
        )
        return cls(client=client, bundle_digest=bundle_digest, breaker=Breaker(clock=time.monotonic))

    @property
    def name(self) -> str:
        """Product and version; the version is known once the server has answered."""
        return self._name

    @property
    def bundle_digest(self) -> str:
        """Digest of the bundle that must decide."""
        return self._bundle_digest

    @property
    def circuit(self) -> str:
        """State of the breaker between us and the server."""
        return self._breaker.state

    async def evaluate(self, entrypoint: str, input: bytes, *, deadline_s: float) -> Reply:
        """See PolicyEngine. What it raises is OpaUnavailable."""
        if self._client.is_closed:
            raise OpaUnavailable("CLOSED", "is not asked any more: the engine is closed")
        if entrypoint not in ENTRYPOINTS:
            raise OpaUnavailable("ENTRYPOINT", f"is not asked for {entrypoint}")
        if len(input) > MAX_INPUT_BYTES:
            raise OpaUnavailable("INPUT_TOO_LARGE", "is not given an input of that size")
        if deadline_s <= 0:
            raise OpaUnavailable("TIMEOUT", "was left no time")
        try:
            with self._breaker.call(deadline_s):
                status, body = await self._call(entrypoint, input, deadline_s)
        except CircuitOpen:
            raise OpaUnavailable("CIRCUIT_OPEN", "has not answered lately and is left alone for a moment") from None
        except Silence as exc:
            raise OpaUnavailable(exc.problem, str(exc)) from exc
        return self._reply(status, body)

    async def aclose(self) -> None:
        """See PolicyEngine."""
        await self._client.aclose()

    async def _call(self, entrypoint: str, input: bytes, deadline_s: float) -> tuple[int, bytes]:
        """Status and body. Raises Silence where there is no whole answer, OpaUnavailable for too large a one."""
        try:
            async with asyncio.timeout(deadline_s):
                return await self._exchange(entrypoint, input)
        except TimeoutError as exc:
            raise Silence("TIMEOUT", f"gave no decision within {deadline_s:g} s") from exc
        except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
            raise Silence("UNREACHABLE", "cannot be reached") from exc
        except httpx.TransportError as exc:
            raise Silence("CUT_OFF", "broke off") from exc

    async def _exchange(self, entrypoint: str, input: bytes) -> tuple[int, bytes]:
        content = b'{"input":' + input + b"}"
        path = f"/v1/data/{entrypoint}"
        async with self._client.stream("POST", path, params={"provenance": "true"}, content=content) as response:
            body = bytearray()
            async for part in response.aiter_raw():
                body += part
                if len(body) > MAX_REPLY_BYTES:
                    raise OpaUnavailable("TOO_LARGE", f"replied with more than {MAX_REPLY_BYTES} bytes")
            return response.status_code, bytes(body)

    def _reply(self, status: int, body: bytes) -> Reply:
        """What a whole answer says. Raises OpaUnavailable for all but a result, or none, of our bundle."""
        if status in (401, 403):
            raise OpaUnavailable("CREDENTIALS", "does not accept our token")
        if status != 200:
            raise OpaUnavailable("STATUS", f"replied with status {status}")
        document = _object(body)
        provenance = document.get("provenance")
        provenance = provenance if isinstance(provenance, dict) else {}
        self._same_bundle(_revisions(provenance))
        self._name = _name(provenance)
        results = [{"result": document["result"]}] if "result" in document else []
        try:
            return Reply(results=encode_plain(results), bundle_digest=self._bundle_digest)
        except InputRejected as exc:
            raise OpaUnavailable("NOT_JSON", "replied with half of a surrogate pair") from exc

    def _same_bundle(self, revisions: set[str]) -> None:
        if not revisions:
            raise OpaUnavailable("BUNDLE_UNNAMED", "serves no bundle, or does not say which")
        if self._bundle_digest not in revisions:
            raise OpaUnavailable("BUNDLE_MISMATCH", f"serves another bundle than {self._bundle_digest}")


def _object(body: bytes) -> dict[str, Any]:
    try:
        document = parse_plain(body)
    except ValueError as exc:
        raise OpaUnavailable("NOT_JSON", "replied with what is not plain JSON") from exc
    if not isinstance(document, dict):
        raise OpaUnavailable("SCHEMA", "replied with what is no object")
    return document


def _revisions(provenance: Mapping[str, Any]) -> set[str]:
    """The revisions of the bundles that the server names."""
    bundles = provenance.get("bundles")
    found = list(bundles.values()) if isinstance(bundles, dict) else []
    revisions = [each.get("revision") for each in found if isinstance(each, dict)]
    return {each for each in revisions if isinstance(each, str)}


def _name(provenance: Mapping[str, Any]) -> str:
    version = provenance.get("version")
    return f"opa:{version}" if isinstance(version, str) and _VERSION.fullmatch(version) else "opa"


def _address(url: str) -> tuple[str, str | None]:
    """Base address, and the path of a socket where `url` names one. Credentials do not belong into an address."""
    parts = urlsplit(url)
    if parts.scheme == "unix" and parts.path.startswith("/") and not parts.netloc:
        return "http://opa", parts.path
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise OpaUnavailable("ADDRESS", "has no address like http://, https:// or unix:///path, without credentials")
    return url, None


def _trusted(base: str, ca_file: Path | None) -> ssl.SSLContext | bool:
    """Whom to trust with https; the context is made only where it is needed, since reading authorities takes 20 ms."""
    if not base.startswith("https:"):
        return False
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as exc:
        raise OpaUnavailable("ADDRESS", "cannot be trusted: its CA file cannot be read") from exc
