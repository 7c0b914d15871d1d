"""A small HTTP server that speaks the parts of Ollama's and OpenAI's interfaces that the clients use. It is a double, not Ollama: it
generates nothing, and tells only whether the client asks rightly and understands the answers, the bad ones above all.
The real server is met in `make test-services`."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

WEIGHTS = "ab" * 32
SHOWN: dict[str, Any] = {
    "modelfile": f"# Modelfile\nFROM /root/.ollama/models/blobs/sha256-{WEIGHTS}\nTEMPLATE {{{{ .Prompt }}}}",
    "template": "{{ .Prompt }}",
    "parameters": "temperature 0",
    "details": {"family": "llama"},
    "model_info": {},
}


@dataclass
class OllamaDouble:
    """What the server answers, and what it was asked. `status` other than 200 fails every generation with `error`;
    `cut` ends the stream before its last part; `stall_s` waits before each part; `stopped` tells that the client went
    away in the middle. Vectors are bags of hashed words; `window` is the most words that one text may have, and
    `embeddings` an answer in the place of the vectors."""

    parts: list[str] = field(default_factory=lambda: ["The sources ", "say so [1]."])
    done_reason: str = "stop"
    status: int = 200
    error: str = "boom"
    error_in_stream: str | None = None
    cut: bool = False
    garbage: bool = False
    stall_s: float = 0.0
    shown: dict[str, Any] = field(default_factory=lambda: dict(SHOWN))
    missing: bool = False
    owner: str = "library"
    listing: bool = True
    window: int = 512
    dimension: int = 24
    embeddings: Any = None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.stopped.set()
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        line = await reader.readline()
        if not line:
            return False
        path, length = line.split()[1].decode(), 0
        while (header := await reader.readline()).strip():
            name, _, value = header.decode().partition(":")
            self.headers[name.lower()] = value.strip()
            length = int(value) if name.lower() == "content-length" else length
        body = json.loads(await reader.readexactly(length)) if length else {}
        if path == "/api/version":
            return await _reply(writer, 200, {"version": "0.17.4"})
        if path == "/v1/models":
            listed = [] if self.missing else [{"id": "tiny", "object": "model", "owned_by": self.owner}]
            return await _reply(writer, 200, {"object": "list", "data": listed} if self.listing else {"object": 7})
        if self.missing:
            return await _reply(writer, 404, {"error": "model not found"})
        if path == "/api/show":
            return await _reply(writer, 200, self.shown)
        self.bodies.append(body)
        return await self._work(path, reader, writer, body)

    async def _work(
        self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: dict[str, Any]
    ) -> bool:
        if self.status != 200:
            return await _reply(writer, self.status, {"error": self.error})
        if path == "/api/embed":
            return await self._embed(reader, writer, body["input"])
        if path == "/v1/chat/completions":
            await self._events(reader, writer)
        else:
            await self._stream(reader, writer, chat=path == "/api/chat")
        return False

    async def _embed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, texts: list[str]) -> bool:
        if self.stall_s:
            self.asked.set()
            gone = asyncio.create_task(reader.read(1))
            await asyncio.wait({gone}, timeout=self.stall_s)
            self.stopped.set()
            return False
        if any(len(text.split()) > self.window for text in texts):
            return await _reply(writer, 400, {"error": "the input length exceeds the context length"})
        if not all(any(map(str.isalnum, text)) for text in texts):
            return await _reply(writer, 500, {"error": "Failed to create new sequence: no input provided"})
        vectors = [self._vector(text) for text in texts] if self.embeddings is None else self.embeddings
        return await _reply(writer, 200, {"model": "tiny", "embeddings": vectors})

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        for word in text.split():
            sign = hashlib.sha256(word.encode()).digest()
            vector[sign[0] % self.dimension] += 1 + sign[1] / 255
        return vector

    async def _stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, chat: bool) -> None:
        last = {"done": True, "done_reason": self.done_reason, "prompt_eval_count": 11, "eval_count": 7}
        lines = [json.dumps(_said(part, chat=chat) | {"done": False}) for part in self.parts]
        if not self.cut:
            lines.append(json.dumps(_said("", chat=chat) | last))
        if self.error_in_stream is not None:
            lines = [lines[0], json.dumps({"error": self.error_in_stream})]
        if self.garbage:
            lines = ["{not json"]
        await self._written(reader, writer, "application/x-ndjson", lines)

    async def _events(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Server-sent events, as OpenAI's interface has them."""
        events: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in self.parts]
        usage = {"prompt_tokens": 11, "completion_tokens": 7}
        if not self.cut:
            events += [{"choices": [{"delta": {}, "finish_reason": self.done_reason}]}, {"choices": [], "usage": usage}]
        if self.error_in_stream is not None:
            events = [events[0], {"error": {"message": self.error_in_stream}}]
        lines = [f"data: {json.dumps(event)}\n" for event in events]
        lines += [] if self.cut else ["data: [DONE]\n"]
        await self._written(reader, writer, "text/event-stream", ["data: {not json"] if self.garbage else lines)

    async def _written(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kind: str, lines: list[str]
    ) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())
        gone = asyncio.create_task(reader.read(1))
        for line in lines:
            if self.stall_s:
                await asyncio.wait({gone}, timeout=self.stall_s)
                if gone.done():
                    self.stopped.set()
                    return
            writer.write(line.encode() + b"\n")
            await writer.drain()
        gone.cancel()


def _said(text: str, *, chat: bool) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text}} if chat else {"response": text}


async def _reply(writer: asyncio.StreamWriter, status: int, body: dict[str, Any]) -> bool:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)
    await writer.drain()
    return True


@asynccontextmanager
async def serving(double: OllamaDouble) -> AsyncIterator[str]:
    """The base URL of a running double."""
    server = await asyncio.start_server(double.handle, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        server.close()
