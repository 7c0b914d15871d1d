"""Bodies of requests: bounded in size and time; JSON in UTF-8 with no key twice, or where it is asked for a form."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import HeadTimeout, MalformedBody, PayloadTooLarge, UnsupportedMediaType

_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})


class JsonBodies:
    """Reads a body whole, within its limits, and hands it on when it is JSON that has one reading.

    Raises PayloadTooLarge while it arrives, HeadTimeout, UnsupportedMediaType, and MalformedBody. `offered` gives the
    methods at a path: one that is not offered is refused as such, whatever its body. `forms` are the paths that take a
    form (`application/x-www-form-urlencoded`), which they read themselves; bodies below `streamed` are left alone, as
    they may be larger than what is read whole.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        body_bytes: int,
        body_ms: int,
        offered: Callable[[Scope], Collection[str]],
        forms: Collection[str] = (),
        streamed: tuple[str, ...] = (),
    ) -> None:
        self._app = app
        self._limit = body_bytes
        self._time_s = body_ms / 1000
        self._offered = offered
        self._forms = frozenset(forms)
        self._streamed = streamed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope["method"] not in _BODY_METHODS or scope["path"].startswith(self._streamed):
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length[:20]) > self._limit:
            raise PayloadTooLarge(f"The body may have at most {self._limit} bytes.")
        if scope["method"] in self._offered(scope):
            form = scope["path"] in self._forms
            wanted = "application/x-www-form-urlencoded" if form else "application/json"
            if not _is_of(wanted, headers.get(b"content-type", b"")):
                raise UnsupportedMediaType(f"The content type must be {wanted}.")
            body = await self._read(receive)
            if body and not form:
                read_json(body)
            receive = _given(body, receive)
        await self._app(scope, receive, send)

    async def _read(self, receive: Receive) -> bytes:
        chunks: list[bytes] = []
        size = 0
        limit = asyncio.timeout(self._time_s)
        try:
            async with limit:
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        break
                    chunks.append(message.get("body", b""))
                    size += len(chunks[-1])
                    if size > self._limit:
                        raise PayloadTooLarge(f"The body may have at most {self._limit} bytes.")
                    if not message.get("more_body"):
                        break
        except TimeoutError as exc:
            if not limit.expired():
                raise
            raise HeadTimeout("The body of the request did not arrive in time.") from exc
        return b"".join(chunks)


def read_json(body: bytes) -> Any:
    """The value of a JSON text that every reader reads alike (RFC 8259, RFC 7493): UTF-8 without a mark, no key twice,
    no NaN. Raises MalformedBody."""
    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_constant)
    except RecursionError:
        raise MalformedBody("The body is nested too deeply.") from None
    except ValueError:
        raise MalformedBody("The body is not valid JSON.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise MalformedBody("An object of the body has a key twice.")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _given(body: bytes, receive: Receive) -> Receive:
    """Receive the body once, then whatever comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return messages.pop() if messages else await receive()

    return given


def _is_of(wanted: str, content_type: bytes) -> bool:
    kind, *parameters = (part.strip().lower() for part in content_type.decode("latin-1").split(";"))
    charsets = [p.partition("=")[2].strip('"') for p in parameters if p.startswith("charset=")]
    return kind == wanted and all(charset in ("utf-8", "utf8") for charset in charsets)
