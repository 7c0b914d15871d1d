"""A source is changed while a reply is on its way: what the change takes away is in no reply that is recorded after it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.audit.erasure import erasing
from api.audit.erasure.erasing import Order, carry_out
from api.audit.life.sources import SourceChange, change_source, history_of
from api.home.configuration import Configuration
from api.jobs.work import take_in_paths
from api.wiring import open_ingest
from ledger.erasure.redaction import Target
from ledger.ledger import Ledger
from ledger.model import EntryRef, Kind
from retrieval.ingest.pipeline import Ingest
from retrieval.ingest.upkeep.life import AccessChange
from tests.api.test_source_life import QUESTION, configuration, served

__all__ = ["configuration"]
SOURCE = "files.ferry.md"
CHANGES: dict[str, SourceChange | Order] = {
    "label": SourceChange("label", SOURCE, "default", access=AccessChange(label="restricted")),
    "label that the reader may see": SourceChange("label", SOURCE, "default", access=AccessChange(label="internal")),
    "withdraw": SourceChange("withdraw", SOURCE, "default"),
    "supersede": SourceChange("supersede", SOURCE, "default", by="files.mill.md"),
    "erase": Order(Target.SOURCE, SOURCE, "default", "asked for"),
}
SURFACES: dict[str, tuple[str, dict[str, Any], Kind]] = {
    "answer": ("/api/v1/ai/query", {"question": QUESTION}, Kind.OUTCOME),
    "stream": ("/api/v1/ai/stream", {"question": QUESTION}, Kind.OUTCOME),
    "search": ("/retrieval/query", {"query": QUESTION, "top_k": 5}, Kind.RETRIEVAL),
}
ELSEWHERE = SourceChange("withdraw", "vault.quarry.md", "default")


@pytest.fixture
def before_the_entry(monkeypatch: pytest.MonkeyPatch) -> Callable[[Kind, Callable[[], Awaitable[Any]]], None]:
    """Something is done in the last moment before the first entry of a kind is recorded."""
    record = Ledger.record

    def arrange(kind: Kind, work: Callable[[], Awaitable[Any]]) -> None:
        waiting = [work]

        async def recording(self: Ledger, wanted: Kind, **told: Any) -> EntryRef:
            if wanted is kind and waiting:
                await waiting.pop()()
            return await record(self, wanted, **told)

        monkeypatch.setattr(Ledger, "record", recording)

    return arrange


def made(configuration: Configuration, change: SourceChange | Order) -> Callable[[], Awaitable[Any]]:
    if isinstance(change, Order):
        return lambda: carry_out(configuration, change)
    return lambda: change_source(configuration, change)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("change", CHANGES)
async def test_what_a_change_takes_away_is_in_no_reply_after_it(
    configuration: Configuration, before_the_entry: Any, change: str, surface: str
) -> None:
    path, body, kind = SURFACES[surface]
    async with served(configuration) as (app, client):
        before_the_entry(kind, made(configuration, CHANGES[change]))
        reply = await client.post(path, json=body)
        assert "William Nace" not in reply.text
        assert "CORPUS_CHANGED" in reply.text
        assert reply.status_code == (200 if surface == "stream" else 503)
        ledger: Ledger = app.state.live.system.services.ledger
        last = [entry async for entry in ledger.every(kind=kind)][-1]
        assert b"CORPUS_CHANGED" in (await ledger.contents(last, ("answer",)))["answer"]
        again = await client.post(path, json=body)
        assert again.status_code == 200 and "CORPUS_CHANGED" not in again.text


@pytest.mark.parametrize("surface", SURFACES)
async def test_a_change_of_another_source_costs_no_reply(
    configuration: Configuration, before_the_entry: Any, surface: str, tmp_path: Path
) -> None:
    path, body, kind = SURFACES[surface]
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "quarry.md").write_text(
        "# The quarry\n\nIsaac Cody owned the quarry at Salt Creek in 1859.\n"
    )
    async with open_ingest(configuration) as ingest:
        await ingest.run([tmp_path / "vault"], tenant="default", label="restricted")
    async with served(configuration) as (_, client):
        before_the_entry(kind, made(configuration, ELSEWHERE))
        reply = await client.post(path, json=body)
        assert reply.status_code == 200, reply.text
        assert "CORPUS_CHANGED" not in reply.text and ("ferry.md" in reply.text or "Nace" in reply.text)
    assert (await history_of(configuration, "default", ELSEWHERE.source_id))["changes"]


async def test_many_readers_and_one_change(configuration: Configuration, before_the_entry: Any) -> None:
    """Eight questions are on their way when the source is withdrawn; those that were recorded before it stand."""
    async with served(configuration) as (app, client):
        before_the_entry(Kind.OUTCOME, made(configuration, CHANGES["withdraw"]))
        replies = await asyncio.gather(
            *(client.post("/api/v1/ai/query", json={"question": QUESTION}) for _ in range(8))
        )
        ledger: Ledger = app.state.live.system.services.ledger
        entries = [entry async for entry in ledger.every()]
        in_force = [entry.ref.index for entry in entries if entry.leaf.kind is Kind.CONFIG][-1]
        for reply in replies:
            if "William Nace" in reply.text:
                assert reply.json()["outcome"] == "ANSWER"
        late = [entry for entry in entries if entry.leaf.kind is Kind.OUTCOME and entry.ref.index > in_force]
        assert late
        for entry in late:
            assert b"William Nace" not in (await ledger.contents(entry, ("answer",)))["answer"]


async def test_a_reply_that_is_begun_while_a_source_is_erased_is_not_recorded_once_it_is_gone(
    configuration: Configuration, before_the_entry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads between the announcement and the erasure, and is recorded while the files are still searched."""
    begin, read, gone, ended = (asyncio.Event() for _ in range(4))
    erase, scan = Ingest.erase, erasing.scan_home

    async def erased(self: Ingest, name: str, *, tenant: str) -> tuple[str, ...]:
        begin.set()
        await read.wait()
        return await erase(self, name, tenant=tenant)

    async def searched(*given: Any) -> Any:
        gone.set()
        await ended.wait()
        return await scan(*given)

    async def held() -> None:
        read.set()
        await gone.wait()

    monkeypatch.setattr(Ingest, "erase", erased)
    monkeypatch.setattr(erasing, "scan_home", searched)
    async with served(configuration) as (app, client):
        before_the_entry(Kind.OUTCOME, held)
        erasure = asyncio.create_task(carry_out(configuration, CHANGES["erase"]))  # type: ignore[arg-type]
        await begin.wait()
        reply = await client.post("/api/v1/ai/query", json={"question": QUESTION})
        ended.set()
        report = await erasure
        assert "CORPUS_CHANGED" in reply.text and "William Nace" not in reply.text
        assert report.scan is not None and not report.scan.hits
        ledger: Ledger = app.state.live.system.services.ledger
        async for entry in ledger.every():
            for data in (await ledger.contents(entry)).values():
                assert b"William Nace" not in data


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("surface", ["registry", "slice"])
async def test_a_listing_or_a_slice_that_a_change_overtakes_is_not_released(
    configuration: Configuration, before_the_entry: Any, change: str, surface: str
) -> None:
    async with served(configuration) as (_, client):

        async def asked() -> httpx.Response:
            if surface == "registry":
                wanted = {"text": "ferry", "include": ["snippets"]}
                return await client.post("/api/v1/registry/assets/query", json=wanted)
            return await client.get(f"/api/v1/evidence/{document}", params={"c": "0-60"})

        [version] = (await history_of(configuration, "default", SOURCE))["versions"]
        document = version["document_id"]
        assert "William Nace" in (await asked()).text
        before_the_entry(Kind.RETRIEVAL, made(configuration, CHANGES[change]))
        reply = await asked()
        assert reply.status_code == 503 and "CORPUS_CHANGED" in reply.text and "William Nace" not in reply.text
        again = await asked()
        assert again.status_code in (200, 404) and "CORPUS_CHANGED" not in again.text


@pytest.mark.parametrize("surface", SURFACES)
async def test_a_version_that_a_run_of_ingest_replaced_is_in_no_reply_after_it(
    configuration: Configuration, before_the_entry: Any, surface: str, tmp_path: Path
) -> None:
    path, body, kind = SURFACES[surface]

    async def replaced() -> None:
        (tmp_path / "files" / "ferry.md").write_text(
            "# The ferry\n\nJohn Baldwin kept the ferry at Lecompton in 1855.\n"
        )
        await take_in_paths(configuration, [tmp_path / "files"], label="public")

    async with served(configuration) as (_, client):
        before_the_entry(kind, replaced)
        reply = await client.post(path, json=body)
        assert "William Nace" not in reply.text and "CORPUS_CHANGED" in reply.text
        again = await client.post(path, json=body)
        assert again.status_code == 200 and "John Baldwin" in again.text
