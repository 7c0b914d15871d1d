"""A small HTTP server in the place of OPA that says whatever it is told to, byte by byte. It decides nothing: it tells
how the engine takes wrong answers. The real server is met in `make test-services`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

BUNDLE = "sha256:" + "b" * 64
ALLOW = {"effect": "allow", "reasons": [], "obligations": [], "admit": []}
Tell = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class OpaLiar:
    """What it says next, and the requests that it was sent: head and body. It keeps connections, as OPA does."""

    tell: Tell
    url: str = ""
    connections: int = 0
    asked: list[tuple[str, bytes]] = field(default_factory=list)


def reply(body: bytes, status: str = "200 OK", headers: str = "") -> Tell:
    """A whole answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    return raw(head.encode() + body, closing=False)


def raw(content: bytes, *, closing: bool = True) -> Tell:
    """These bytes; then the connection is closed."""

    async def tell(to: asyncio.StreamWriter) -> None:
        to.write(content)
        await to.drain()
        if closing:
            to.close()

    return tell


def document(revision: str = BUNDLE, **rest: Any) -> bytes:
    """The body of an answer in OPA's shape."""
    bundles = {"bundle.tar.gz": {"revision": revision}, "authz.tar.gz": {}}
    return json.dumps({"provenance": {"version": "1.22.0", "bundles": bundles}, **rest}).encode()


async def hang(_to: asyncio.StreamWriter) -> None:
    """Never an answer."""
    await asyncio.Event().wait()


async def drip(to: asyncio.StreamWriter) -> None:
    """A byte at a time, for ever: no single read is slow."""
    to.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        to.write(b" ")
        await to.drain()
        await asyncio.sleep(0.005)


async def flood(to: asyncio.StreamWriter) -> None:
    """A body that says nothing of its size, and has no end."""
    to.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while True:
        to.write(b" " * 65_536)
        await to.drain()


@asynccontextmanager
async def opa_liar(tell: Tell, port: int = 0) -> AsyncIterator[OpaLiar]:
    """A liar that listens on loopback: on `port`, or on any that is free."""
    liar = OpaLiar(tell)
    serving: set[asyncio.Task[Any]] = set()

    async def serve(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        liar.connections += 1
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not to.is_closing():
                await _answer(liar, source, to)
        to.close()
        with suppress(OSError):
            await to.wait_closed()
        serving.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    liar.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield liar
    finally:
        server.close()
        for task in list(serving):
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


async def _answer(liar: OpaLiar, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
    head = (await source.readuntil(b"\r\n\r\n")).decode()
    size = next((int(n.split(":")[1]) for n in head.splitlines() if n.lower().startswith("content-length:")), 0)
    liar.asked.append((head, await source.readexactly(size)))
    await liar.tell(to)
