"""The life of a source while eight clients ask about it: no question that is asked after a change has been made is answered from
what it took away, whatever is cached or open; then channels, store and ledger agree, and of what was erased no byte is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.audit.erasure.erasing import Order, carry_out
from api.audit.life.sources import SourceChange, change_source, history_of
from api.home.configuration import Configuration
from ledger.erasure.redaction import Target
from retrieval.ingest.upkeep.life import AccessChange
from tests.api.test_source_life import QUESTION, configuration, consistent, served

__all__ = ["configuration"]
CLIENTS = 8
SOURCE = "files.ferry.md"
SURFACES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/api/v1/ai/query", {"question": QUESTION}),
    ("/retrieval/query", {"query": QUESTION, "top_k": 5}),
    ("/api/v1/registry/assets/query", {"text": "ferry", "include": ["snippets"]}),
)


@dataclass
class Load:
    """The replies that no change fell into: how many had been made, and whether the reply rests on the source."""

    made: int = 0
    making: bool = False
    given: int = 0
    replies: list[tuple[int, bool]] = field(default_factory=list)
    ended: bool = False

    async def ask(self, client: httpx.AsyncClient, number: int) -> None:
        turn = number
        while not self.ended:
            path, body = SURFACES[turn % len(SURFACES)]
            began = self.made
            reply = await client.post(path, json=body)
            if self.made == began and not self.making:
                assert reply.status_code == 200, reply.text
            else:
                assert reply.status_code == 200 or "CORPUS_CHANGED" in reply.text, reply.text
            if self.made == began and not self.making:  # while a change is being made, before and after are both right
                self.replies.append((began, "William Nace" in reply.text or SOURCE in reply.text))
            self.given += 1
            turn += 1
            await asyncio.sleep(0.2)  # a reader reads

    async def some(self) -> None:
        """A change has been made; wait until every client has been answered again."""
        self.making = False
        wanted = self.given + 2 * CLIENTS
        for _ in range(2_000):
            if self.given >= wanted:
                self.making = True
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the clients are not answered")


@asynccontextmanager
async def loaded(client: httpx.AsyncClient) -> AsyncIterator[Load]:
    load = Load()
    asking = [asyncio.create_task(load.ask(client, number)) for number in range(CLIENTS)]
    try:
        yield load
    finally:
        load.ended = True
        await asyncio.gather(*asking)


STEPS: tuple[tuple[SourceChange, bool], ...] = (
    (SourceChange("label", SOURCE, "default", access=AccessChange(label="restricted")), False),
    (SourceChange("label", SOURCE, "default", access=AccessChange(label="public")), True),
    (SourceChange("withdraw", SOURCE, "default"), False),
    (SourceChange("restore", SOURCE, "default"), True),
    (SourceChange("supersede", SOURCE, "default", by="files.mill.md"), False),
    (SourceChange("restore", SOURCE, "default"), True),
    (SourceChange("label", SOURCE, "default", access=AccessChange(groups=("archivists",))), False),
    (SourceChange("label", SOURCE, "default", access=AccessChange(groups=())), True),
)


async def test_no_question_after_a_change_is_answered_from_what_it_took_away(
    configuration: Configuration, tmp_path: Path
) -> None:
    visible = [True]
    async with served(configuration) as (_, client):
        async with loaded(client) as load:
            await load.some()
            for change, seen in STEPS:
                await change_source(configuration, change)
                visible.append(seen)
                load.made += 1
                await load.some()
            erased = await carry_out(configuration, Order(Target.SOURCE, SOURCE, "default", "asked for"))
            visible.append(False)
            load.made += 1
            await load.some()
        assert erased.copies["documents"] == 1
        for made, seen in enumerate(visible):
            found = {rests for began, rests in load.replies if began == made}
            assert found == {seen}, (made, STEPS[made - 1 : made])
        left = [
            path for path in configuration.home.rglob("*") if path.is_file() and b"William Nace" in path.read_bytes()
        ]
        assert left == []
    assert await consistent(configuration)
    changes = (await history_of(configuration, "default", SOURCE))["changes"]
    assert [each["action"] for each in changes] == [change.action for change, _ in STEPS]


@pytest.mark.parametrize("path", [path for path, _ in SURFACES])
async def test_each_surface_tells_of_the_source_before(configuration: Configuration, path: str) -> None:
    """Else the silence afterwards proves nothing."""
    async with served(configuration) as (_, client):
        reply = await client.post(path, json=dict(SURFACES)[path])
        assert "William Nace" in reply.text or SOURCE in reply.text
