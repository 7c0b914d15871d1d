"""One exchange with an OPA server over HTTP: sent once, whole or not at all, never longer than its deadline.

Why aiohttp: docs/adr/0024-opa-client.md. What is asked of it here is as little as possible: no redirect, no proxy or
password of the environment, no cookie, no compression, no time-out of its own, and it repeats no POST.
"""

from __future__ import annotations

import asyncio
import io
import ssl
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from policy.errors import OpaNotResponding, OpaUnavailable

MAX_REPLY_BYTES = 2 * 1024 * 1024
CONNECTIONS = 32
_KEPT_S = 60.0
_AT_ONCE = 1024 * 1024  # longer contents are written in parts, so that the event loop gets its turn
_NEVER = aiohttp.ClientTimeout()  # one deadline holds for the whole exchange
_NO_ADDRESS = "has no address like http://, https:// or unix:///path, without credentials"
# No compression: a small reply must not become a large one in our memory.
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "exhibit",
}


class OpaHttp:
    """A pool of connections to one server, made with the first exchange. Of one event loop."""

    def __init__(self, url: str, *, token: str | None = None, ca_file: Path | None = None) -> None:
        """`url` is http://, https:// or unix:///path/to/socket. Raises OpaUnavailable for an address, a token or a file
        that cannot be used."""
        self._base, self._socket = _address(url)
        self._trusted = _trusted(self._base, ca_file)
        self._headers = _HEADERS if token is None else _HEADERS | {"Authorization": _bearer(token)}
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    @property
    def closed(self) -> bool:
        """True if nothing is sent any more."""
        return self._closed

    async def post(self, path: str, content: bytes, *, deadline_s: float) -> tuple[int, bytes]:
        """Status and body. Raises OpaNotResponding without a whole answer, OpaUnavailable for too large a one."""
        try:
            async with asyncio.timeout(deadline_s):
                return await self._exchange(self._base + path, content)
        except TimeoutError as exc:
            raise OpaNotResponding("TIMEOUT", f"gave no decision within {deadline_s:g} s") from exc
        except aiohttp.ClientConnectorError as exc:
            raise OpaNotResponding("UNREACHABLE", "cannot be reached") from exc
        except (aiohttp.ClientError, OSError) as exc:
            raise OpaNotResponding("CUT_OFF", "broke off") from exc

    async def aclose(self) -> None:
        """Close the connections; what is under way ends as OpaNotResponding."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    async def _exchange(self, url: str, content: bytes) -> tuple[int, bytes]:
        session = self._session = self._session or self._open()
        data = content if len(content) <= _AT_ONCE else io.BytesIO(content)
        async with session.post(url, data=data, allow_redirects=False) as response:
            body = bytearray()
            async for part in response.content.iter_any():
                body += part
                if len(body) > MAX_REPLY_BYTES:
                    response.close()  # else the rest would be read, to keep the connection
                    raise OpaUnavailable("TOO_LARGE", f"replied with more than {MAX_REPLY_BYTES} bytes")
            return response.status, bytes(body)

    def _open(self) -> aiohttp.ClientSession:
        connector: aiohttp.BaseConnector
        if self._socket is None:
            connector = aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=_KEPT_S, ssl=self._trusted)
        else:
            connector = aiohttp.UnixConnector(self._socket, limit=CONNECTIONS, keepalive_timeout=_KEPT_S)
        return aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            timeout=_NEVER,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )


def _address(url: str) -> tuple[str, str | None]:
    """Base address, and the path of a socket where `url` names one. Credentials do not belong into an address."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0 and not ("@" in parts.netloc or parts.query or parts.fragment)
    except ValueError as exc:
        raise OpaUnavailable("ADDRESS", _NO_ADDRESS) from exc
    if parts.scheme == "unix" and parts.path.startswith("/") and not parts.netloc:
        return "http://opa", parts.path
    if parts.scheme not in ("http", "https") or not named:
        raise OpaUnavailable("ADDRESS", _NO_ADDRESS)
    return url.rstrip("/"), None


def _bearer(token: str) -> str:
    """The header's value. A token with a line break in it would be refused at each call, and not said why."""
    if not token.isascii() or not token.isprintable():
        raise OpaUnavailable("CREDENTIALS", "cannot be given a token with other characters than printable ASCII")
    return f"Bearer {token}"


def _trusted(base: str, ca_file: Path | None) -> ssl.SSLContext | bool:
    """Whom to trust with https; the context is made only where it is needed, since reading authorities takes 20 ms."""
    if not base.startswith("https:"):
        return True
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as exc:
        raise OpaUnavailable("ADDRESS", "cannot be trusted: its CA file cannot be read") from exc
