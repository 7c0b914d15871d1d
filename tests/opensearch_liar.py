"""What stands where an OpenSearch server should: answers every request with what it was given, or not at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

INFO = {"version": {"distribution": "opensearch", "number": "3.8.0"}}


@dataclass
class Liar:
    """`answer` makes status and body of a path; None leaves the asker waiting. `asked` are the requests' first lines,
    `gone` how many askers hung up while they waited."""

    answer: Callable[[str], tuple[int, bytes] | None]
    url: str = ""
    asked: list[str] = field(default_factory=list)
    gone: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                await self._answer(line.decode(), reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, line: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append(line.strip())
        length = 0
        while (header := await reader.readline()).strip():
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        await reader.readexactly(length)
        answer = self.answer(line.split()[1])
        if answer is None:
            await reader.read()
            self.gone += 1
            return
        status, body = answer
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()


def searches(body: object, *, info: object = INFO) -> Callable[[str], tuple[int, bytes]]:
    """Says who it is, and answers every search with `body`."""
    return lambda path: (200, json.dumps(info if path == "/" else body).encode())


@asynccontextmanager
async def lying(answer: Callable[[str], tuple[int, bytes] | None]) -> AsyncIterator[Liar]:
    """A liar on loopback."""
    liar = Liar(answer)
    server = await asyncio.start_server(liar.serve, "127.0.0.1", 0)
    liar.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield liar
    finally:
        server.close()
        await server.wait_closed()
