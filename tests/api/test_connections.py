"""Connections over sockets: half heads, what is not HTTP, and too many; and settings that cannot be."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
import uvicorn

from api.home.server import Admission, Server
from api.http.admission.connections import HEAD_BYTES, bounded_protocol
from api.http.admission.listener import listening


@pytest.mark.parametrize(
    "settings",
    [{"rates": {"address": "often"}}, {"rates": {"principal": "0/never"}}, {"allowed_hosts": "a b"}, {"require": True}],
)
def test_settings_that_cannot_be_are_refused(settings: Mapping[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"validation error"):
        Server.model_validate(settings)


async def _hello(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "http"
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


@contextmanager
def connecting(**bounds: int) -> Iterator[int]:
    """A small application behind the bounded protocol; the port."""
    protocol = bounded_protocol(Admission(**bounds), lambda: "r-1")
    config = uvicorn.Config(
        _hello, http=protocol, ws="none", lifespan="off", log_config=None, h11_max_incomplete_event_size=HEAD_BYTES
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def said(port: int, *parts: bytes) -> bytes:
    """Everything that comes back, until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        for part in parts:
            client.sendall(part)
        received = b""
        while chunk := client.recv(65_536):
            received += chunk
        return received


def error_in(received: bytes) -> tuple[int, str]:
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"application/json" in head
    return int(head.split()[1]), json.loads(body)["error"]["code"]


GET = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"


def test_half_a_head_is_closed_with_an_error_and_silence_without() -> None:
    with connecting(head_ms=200) as port:
        assert error_in(said(port, b"GET / HTTP/1.1\r\nhost:")) == (408, "REQUEST_TIMEOUT")
        assert said(port) == b""
        assert said(port, GET).endswith(b"hi")


def test_half_a_second_head_on_a_kept_connection_is_closed_too() -> None:
    with connecting(head_ms=200) as port:
        received = said(port, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n", b"GET / HT")
        assert received.startswith(b"HTTP/1.1 200")
        assert b"408 Request Timeout" in received


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        (b"\x16\x03\x01 hello\r\n\r\n", (400, "BAD_REQUEST")),
        (b"GET / HTTP/1.1\r\n\r\n", (400, "BAD_REQUEST")),
        (b"GET / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n", (400, "BAD_REQUEST")),
        (b"GET / HTTP/1.1\r\nhost: x\r\ncookie: " + b"a" * (HEAD_BYTES + 5_000), (431, "HEAD_TOO_LARGE")),
        (b"GET / HTTP/2.0\r\nhost: x\r\n\r\n", (400, "BAD_REQUEST")),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, "BAD_REQUEST")),
    ],
    ids=["TLS", "no host", "length", "large", "version", "HTTP/2"],
)
def test_what_is_not_http_gets_the_error_body(sent: bytes, refused: tuple[int, str]) -> None:
    with connecting() as port:
        assert error_in(said(port, sent)) == refused


POST = b"POST / HTTP/1.1\r\nhost: x\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n"


@pytest.mark.parametrize(
    "head",
    [
        POST + CHUNKED + b"content-length: 5\r\n\r\n",
        POST + b"content-length: 5\r\n" + CHUNKED + b"\r\n",
        POST.replace(b"1.1", b"1.0") + CHUNKED + b"\r\n",
    ],
    ids=["chunks and a length", "a length and chunks", "chunks in 1.0"],
)
def test_a_body_that_may_end_in_two_places_is_refused_and_nothing_after_it_is_read(head: bytes) -> None:
    """A proxy that reads the other end would take what follows for a request of somebody else (RFC 9112, 6.1)."""
    with connecting() as port:
        received = said(port, head + b"0\r\n\r\n" + GET)
        assert error_in(received) == (400, "BAD_REQUEST")
        assert received.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("chunk", [b"zz\r\n", b"-1\r\n", b"2\r\nhiXX0\r\n\r\n", b"2;" + b"a" * (2 * HEAD_BYTES)])
def test_a_body_that_breaks_gets_the_error_body_too(chunk: bytes) -> None:
    with connecting() as port:
        received = said(port, POST + CHUNKED + b"\r\n" + chunk)
        assert error_in(received)[1] in ("BAD_REQUEST", "HEAD_TOO_LARGE")
        assert said(port, GET).endswith(b"hi")


def test_connections_are_bounded_and_the_others_go_on() -> None:
    with connecting(connections=3, head_ms=60_000) as port:
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        try:
            for one in idle:
                one.sendall(b"GET / HTTP/1.1\r\n")
            received = said(port, GET)
            while received.endswith(b"hi"):  # the others may not have been accepted yet
                received = said(port, GET)
            assert error_in(received) == (503, "OVERLOADED")
            idle[0].sendall(b"host: x\r\nconnection: close\r\n\r\n")
            assert idle[0].recv(65_536).startswith(b"HTTP/1.1 200")
        finally:
            for one in idle:
                one.close()


def test_what_is_accepted_sends_at_once() -> None:
    """The body of an answer does not wait for the client to acknowledge its head."""
    with listening("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname(), timeout=5):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
