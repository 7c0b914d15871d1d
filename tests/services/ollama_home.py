"""A small corpus whose questions a real Ollama answers, and what stands between the two so that a test can watch."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from api import wiring
from api.home.configuration import Configuration, load
from ledger.model import Kind
from tests.services.ollama_server import CHAT

FERRY = "Who kept the ferry at Lecompton?"
RIVER = "What does the song of the river say?"
TEXTS = {
    "ferry.txt": "William Nace kept the ferry at Lecompton in 1856.\n",
    # The tiny model looks for the earliest place that reads like the last words: here it never gets to the end.
    "song.txt": "The song of the river says" + " to and fro" * 30 + "\n",
}


def settings(url: str, **more: str) -> Configuration:
    """The settings of a home that asks the tiny model, without the folder."""
    return load(environment(url) | more)


def environment(url: str) -> dict[str, str]:
    return {"FOCUS_MODE_MODEL": CHAT, "OLLAMA_API_URL": url, "EXHIBIT_MODELS__THREADS": "1"}


async def make_home(home: Path) -> Path:
    """Ingests the corpus with the embedder in the package."""
    files = home.with_name(f"{home.name}-files")
    await asyncio.to_thread(files.mkdir, parents=True)
    for name, text in TEXTS.items():
        (files / name).write_text(text)
    async with wiring.open_ingest(load({}, home=home)) as ingest:
        report = await ingest.run([files], tenant="default", collection="notes", label="public")
        assert not report.failed
    return home


@asynccontextmanager
async def opened(home: Path, variables: Mapping[str, str]) -> AsyncIterator[wiring.System]:
    async with wiring.open_system(load(dict(variables), home=home)) as system:
        yield system


async def last_outcome(system: wiring.System) -> dict[str, Any]:
    """The body of the last outcome of the log."""
    entries = await system.services.ledger.entries(after=-1, limit=1000, kind=Kind.OUTCOME)
    recorded: dict[str, Any] = json.loads(await system.services.ledger.part(entries[-1].leaf.entry_id, "answer"))
    return recorded


class Between:
    """Passes bytes on between a client and the server. `writing` is set when the server has begun to stream an answer,
    `closed` when the client has closed that connection."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self.writing, self.closed = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """The URL to use in the place of the server's."""
        server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._target.hostname, self._target.port)
        asked, told = asyncio.create_task(_pass(reader, back)), asyncio.create_task(self._back(there, writer))
        await asyncio.wait({asked, told}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done() and self.writing.is_set():
            self.closed.set()
        for each in (back, writer):
            each.close()
        for task in (asked, told):
            task.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await task

    async def _back(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await there.read(65_536):
            if b'"done":false' in data:
                self.writing.set()
            writer.write(data)
            await writer.drain()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
