"""Connections with limits of number and time, and the one error body also for what cannot be read as HTTP.

uvicorn bounds the time between requests only: a connection that sends half a head stays for ever. h11 reads any version
as 1.1, and a body with a length beside its chunks by the chunks.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from api.errors import EdgeError, HeadTimeout, HeadTooLarge, MalformedBody, Overloaded
from api.home.server import Admission
from api.http.middleware import SECURITY_HEADERS
from api.problems import problem_of

HEAD_BYTES = 65_536
_LINGER_S = 1.0
_VERSIONS = (b"1.0", b"1.1")


class StrictConnection(h11.Connection):
    """A connection on which a request has one version that is spoken here and one end. Where a body says both its
    length and that it comes in chunks, or comes in chunks in HTTP/1.0, a proxy may see another end than we do, and take
    the rest for somebody else's request (RFC 9112, 6.1)."""

    def next_event(self) -> Any:
        """See h11. Raises RemoteProtocolError."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            names = {name for name, _ in event.headers}
            chunked, length = b"transfer-encoding" in names, b"content-length" in names
            if event.http_version not in _VERSIONS or (chunked and (length or event.http_version == b"1.0")):
                raise h11.RemoteProtocolError("version or framing")
        return event


class BoundedProtocol(H11Protocol):
    """A connection that is closed when the head of a request takes too long, with 408 where it had begun, and at once,
    with 503, when there are too many connections."""

    bounds: Admission
    new_id: Callable[[], str]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio. The head of the first request is awaited from now on."""
        self._began = self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None
        self.conn = StrictConnection(h11.SERVER, HEAD_BYTES)
        super().connection_made(transport)
        if len(self.connections) > self.bounds.connections:
            self._refuse(Overloaded("Too many connections."))
        else:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._head_is_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        if self._refused or self.transport.is_closing():
            return
        self._began = True
        super().data_received(data)
        self._follow()

    def on_response_complete(self) -> None:
        """The connection may be idle, or hold the beginning of the next request."""
        super().on_response_complete()
        self._began = bool(self.conn.trailing_data[0])
        if not self.transport.is_closing():
            self._follow()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP with the one error body."""
        del msg
        fault = self.conn.their_state is h11.ERROR and self._head_is_too_large()
        self._refuse(HeadTooLarge("The head is too large.") if fault else MalformedBody("This is not valid HTTP."))

    def shutdown(self) -> None:
        """The server stops: an idle connection is closed, one with a request after its response."""
        if self._refused:
            self.transport.close()
        else:
            super().shutdown()

    def _head_is_too_large(self) -> bool:
        return len(self.conn.trailing_data[0]) > HEAD_BYTES

    def _follow(self) -> None:
        """Keep a timer while a head has begun and is not complete."""
        if self.conn.their_state is h11.IDLE and self._began:
            self._await_head()
        else:
            self._head_is_there()

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.bounds.head_ms / 1000, self._head_is_late)

    def _head_is_there(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if self._began:
            self._refuse(HeadTimeout("The head of the request did not arrive in time."))
        else:
            self.transport.close()

    def _refuse(self, exc: EdgeError) -> None:
        """Answer without the application, and close, a little later where the client may still be sending: closing at
        once would take the answer away from it."""
        self._refused = True
        self._head_is_there()
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            if cycle.response_started:
                self.transport.close()
                return
            cycle.disconnected = True  # whoever waits for the rest of the body waits no more, and answers nobody
            cycle.message_event.set()
        problem, request_id = problem_of(exc), type(self).new_id()
        body = json.dumps(problem.body(request_id)).encode()
        status = HTTPStatus(problem.status)
        head = [
            f"HTTP/1.1 {status.value} {status.phrase}",
            "content-type: application/json",
            f"content-length: {len(body)}",
            "connection: close",
            f"x-request-id: {request_id}",
            *(f"{name.decode()}: {value.decode()}" for name, value in SECURITY_HEADERS),
            *(["retry-after: 1"] if status is HTTPStatus.SERVICE_UNAVAILABLE else []),
        ]
        self.transport.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
            self.loop.call_later(_LINGER_S, self.transport.close)
        else:
            self.transport.close()


def bounded_protocol(bounds: Admission, new_id: Callable[[], str]) -> type[BoundedProtocol]:
    """The protocol with these bounds, as uvicorn takes one: a class."""
    attributes: dict[str, Any] = {"bounds": bounds, "new_id": staticmethod(new_id)}
    return type("BoundedProtocol", (BoundedProtocol,), attributes)
