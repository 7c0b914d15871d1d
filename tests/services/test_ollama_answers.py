"""The sample corpus and a small one, answered by a real Ollama: cited, recorded with the model's identity, repeated by
replay, stopped when the caller goes, and told plainly when the server fails."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from ai.case.case import RequestFault
from ai.model import Options
from ai.replay.replay import Grade, replay
from api import wiring
from api.home.configuration import load
from api.http.app import create_app
from tests.golden.test_kansas import ANSWERED
from tests.harness import KANSAS, ask, settled
from tests.services.ollama_home import FERRY, RIVER, Between, environment, last_outcome, make_home, opened
from tests.services.ollama_server import CHAT, EMBED, Models, OllamaServer, make_models

pytestmark = pytest.mark.services
SMALL_PROMPTS = {"EXHIBIT_PROMPT__MAX_TOKENS": "1500", "EXHIBIT_PROMPT__RESERVE_TOKENS": "300"}
LONG_FERRY = FERRY + " It is asked because nobody in the town remembers his name." * 12
KEPT = "William Nace kept the ferry at Lecompton in 1856"


@pytest.fixture(scope="module")
def kansas_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ollama") / "kansas"
    asyncio.run(_ingest(home))
    return home


async def _ingest(home: Path) -> None:
    async with wiring.open_ingest(load({}, home=home)) as ingest:
        report = await ingest.run([], tenant="default", manifest=KANSAS)
        assert not report.failed


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    return await make_home(tmp_path / "home")


async def test_the_demo_is_answered_cited_recorded_and_repeated(kansas_home: Path, ollama: Models) -> None:
    """Every question of the demo that has an answer: the tiny model quotes the first source, the system does the rest."""
    async with opened(kansas_home, environment(ollama.url) | SMALL_PROMPTS) as system:
        identity = await system.services.model.identity()
        for question in ANSWERED:
            body = await ask(system, question)
            assert body["outcome"] == "ANSWER", (question, body["answer"], body["limitations"])
            assert body["citations"], question
            assert all(sentence["citations"] for sentence in body["sentences"]), question
            assert body["provenance"]["model"] in (CHAT, "extractive"), question  # where nothing was left, the default
            entry = body["provenance"]["entry_id"]
            [call] = json.loads(await system.services.ledger.part(entry, "calls"))
            assert call["completion"]["model"]["details"] == dict(identity.details)
            assert call["completion"]["model"]["digest"] == identity.digest
            found = await replay(entry, services=system.services, up_to=Grade.R2)
            assert (found.grade, found.differs_at) == (Grade.R2, None), (question, found.stages)


async def test_figures_are_the_corpus_own(kansas_home: Path, ollama: Models) -> None:
    async with opened(kansas_home, environment(ollama.url) | SMALL_PROMPTS) as system:
        body = await ask(system, "What was the population of Shawnee County in 1930?")
        again = await ask(system, "What was the population of Shawnee County in 1930?")
    assert "85,200" in body["answer"]
    assert settled(body) == settled(again)


async def test_both_models_on_ollama(home: Path, ollama: Models) -> None:
    """With vectors of another model the other channels answer, and say so; after `index reembed` all do."""
    both = environment(ollama.url) | {"FOCUS_MODE_EMBED_MODEL": EMBED}
    async with opened(home, both) as system:
        before = await ask(system, FERRY)
    assert before["answer"].startswith(KEPT)
    assert [(x["channel"], x["code"]) for x in before["limitations"]] == [("vector", "EMBED_MODEL_MISMATCH")]
    told = await _command("index", "reembed", "--home", str(home), "--json", variables=both)
    assert json.loads(told)["documents"] == 2
    async with opened(home, both) as system:
        after = await ask(system, FERRY)
    assert after["limitations"] == []
    assert "vector" in {rank["channel"] for item in after["evidence"] for rank in _ranks(item)}


def _ranks(item: dict[str, Any]) -> list[dict[str, Any]]:
    ranks = item["rank"]
    return [{"channel": name} for name in ranks] if isinstance(ranks, dict) else list(ranks)


async def _command(*arguments: str, variables: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "api.cli.main", *arguments),
        env={**os.environ, **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


@pytest.mark.parametrize(
    ("variables", "named"),
    [({"EXHIBIT_MODELS__CONTEXT_TOKENS": "4096"}, "num_ctx: recorded 8192, now 4096"), ({}, "modelfile: recorded")],
    ids=["window", "model"],
)
async def test_another_model_or_window_is_no_repetition(
    home: Path, own_ollama: OllamaServer, variables: dict[str, str], named: str
) -> None:
    async with opened(home, environment(own_ollama.url)) as system:
        entry = str((await ask(system, FERRY))["provenance"]["entry_id"])
        assert (await replay(entry, services=system.services, up_to=Grade.R2)).grade is Grade.R2
    if not variables:
        body = {"model": CHAT, "from": CHAT, "system": "Be brief.", "stream": False}
        async with httpx.AsyncClient(base_url=own_ollama.url, timeout=60, trust_env=False) as client:
            (await client.post("/api/create", json=body)).raise_for_status()
    async with opened(home, environment(own_ollama.url) | variables) as system:
        found = await replay(entry, services=system.services, up_to=Grade.R2)
    assert (found.grade, found.differs_at) == (Grade.R1, "model.identity")
    assert named in found.stages[-1].detail


async def test_a_client_that_goes_away_stops_the_generation(home: Path, ollama: Models) -> None:
    between = Between(ollama.url)
    async with between.serving() as url, _served(home, environment(url)) as address:
        reader, writer = await asyncio.open_connection("127.0.0.1", address)
        body = json.dumps({"question": RIVER, "options": {"max_tokens": 4000}}).encode()
        head = f"POST /api/v1/ai/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        async with asyncio.timeout(120):
            await between.writing.wait()
            writer.close()
            await between.closed.wait()
        del reader
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{address}", timeout=120, trust_env=False) as client:
            answered = (await client.post("/api/v1/ai/query", json={"question": FERRY})).json()
        assert answered["answer"].startswith(KEPT)
    async with opened(home, environment(ollama.url)) as system:
        recorded = [json.loads(await system.services.ledger.part(e, "answer")) for e in await _outcomes(system)]
        report = await system.services.ledger.verify()
    assert [(r["outcome"], r["reason_codes"]) for r in recorded] == [("FAULT", ["CANCELLED"]), ("ANSWER", [])]
    assert report.dangling == ()


async def _outcomes(system: wiring.System) -> list[str]:
    entries = await system.services.ledger.entries(after=-1, limit=100)
    return [entry.leaf.entry_id for entry in entries if entry.leaf.kind == "outcome"]


@asynccontextmanager
async def _served(home: Path, variables: dict[str, str]) -> AsyncIterator[int]:
    """The port of a running `serve`."""
    application = create_app(load(variables, home=home))
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_config=None, access_log=False))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
        assert not serving.done(), serving.result()
    try:
        yield int(server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        await serving


FAULTS = {
    "killed": ("MODEL_UNAVAILABLE", {}),
    "paused": ("TIMEOUT", {"EXHIBIT_MODELS__DEADLINE_MS": "1500"}),
    "without the model": ("MODEL_UNAVAILABLE", {}),
    "too small a window": ("VALIDATION_FAILED", {"EXHIBIT_MODELS__CONTEXT_TOKENS": "512"}),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_is_told_recorded_and_over_without_a_restart(
    home: Path, own_ollama: OllamaServer, fault: str
) -> None:
    code, variables = FAULTS[fault]
    async with opened(home, environment(own_ollama.url) | variables) as system:
        await _break(own_ollama, fault)
        with pytest.raises(RequestFault) as caught:
            await ask(system, LONG_FERRY, options=Options(max_tokens=60))
        assert caught.value.code == code
        recorded = await last_outcome(system)
        assert (recorded["outcome"], recorded["reason_codes"]) == ("FAULT", [code])
        assert own_ollama.url not in str(caught.value)
        if fault == "too small a window":
            return
        await asyncio.to_thread(_mend, own_ollama, fault)
        if fault != "paused":  # with so short a deadline it may be too slow even when it is well
            assert (await ask(system, FERRY))["answer"].startswith(KEPT)
        assert (await system.services.ledger.verify()).dangling == ()


async def _break(server: OllamaServer, fault: str) -> None:
    match fault:
        case "killed":
            server.kill()
        case "paused":
            server.pause()
        case "without the model":
            async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client:
                (await client.request("DELETE", "/api/delete", json={"model": CHAT})).raise_for_status()


def _mend(server: OllamaServer, fault: str) -> None:
    match fault:
        case "killed":
            server.start()
        case "paused":
            server.resume()
        case _:
            make_models(server.url)
