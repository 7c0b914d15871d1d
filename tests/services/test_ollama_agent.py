"""The agent on a real Ollama whose tiny model plans badly: every call is held to a JSON schema, and whatever the model says the run
ends inside its caps with a recorded, correct outcome."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ai.agent.model_planner import GRADE_SCHEMA, PLAN_SCHEMA
from ai.case.agent_record import CONTEXT_SHARE_MILLI
from ai.focus_pipeline import answer
from ai.model import AgentOptions, Ask, Options
from ai.replay.replay import Grade, replay
from api import wiring
from tests.harness import subject
from tests.services.ollama_home import FERRY, environment, make_home, opened
from tests.services.ollama_server import Models

pytestmark = pytest.mark.services
CAPS = AgentOptions(effort="high", max_steps=2, top_k_per_step=3, token_budget=4000, max_latency_ms=120_000)
EXAMPLE = """
from ai.agent.graph import build_graph, create_initial_state

graph = build_graph()
state = create_initial_state("How does KServe autoscaling work?")
result = graph.invoke(state)

print(result["answer"])
print(result["citations"])
print(result["reasoning_trace"])
"""


@asynccontextmanager
async def heard(url: str) -> AsyncIterator[tuple[str, bytearray]]:
    """A URL that passes everything on to the server, and what clients said to it."""
    said, target = bytearray(), urlsplit(url)

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray | None) -> None:
        try:
            while data := await reader.read(65_536):
                if kept is not None:
                    kept += data
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()  # whoever hangs up, the other side hears of it

    talks = set[asyncio.Task[None] | None]()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.add(asyncio.current_task())
        there, back = await asyncio.open_connection(target.hostname, target.port)
        await asyncio.gather(pump(reader, back, said), pump(there, writer, None), return_exceptions=True)

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", said
    finally:
        server.close()
        await asyncio.gather(*(talk for talk in talks if talk is not None), return_exceptions=True)


async def test_a_run_ends_inside_its_caps_whatever_the_model_says(tmp_path: Path, ollama: Models) -> None:
    home = await make_home(tmp_path / "home")
    async with heard(ollama.url) as (url, said), opened(home, environment(url)) as system:
        options = Options(profile="agentic", max_tokens=60, agent=CAPS)
        asked = Ask(wiring.new_id(), FERRY, subject(system), options=options)
        done = await answer(asked, services=system.services, profile=system.profile("agentic"))
        entry = done.entry.entry_id
        calls: list[dict[str, Any]] = json.loads(await system.services.ledger.part(entry, "calls"))
        found = await replay(entry, services=system.services, up_to=Grade.R2)
        report = await system.services.ledger.verify()
    agent = done.body["agent"]
    assert str(done.outcome) in ("ANSWER", "ABSTAIN")
    assert all(sentence["citations"] for sentence in done.body["sentences"] if str(done.outcome) == "ANSWER")
    assert next(call["purpose"] for call in calls if "purpose" in call) == "plan"
    assert sum(step["action"] == "retrieve" for step in agent["steps"]) <= CAPS.max_steps
    assert agent["tokens"]["spent"] + done.written_tokens <= CAPS.token_budget
    assert agent["tokens"]["held"] * 1000 <= CONTEXT_SHARE_MILLI * CAPS.token_budget
    assert all(call["status"] in ("ok", "refused", "failed") for call in agent["tool_calls"])
    assert found.grade in (Grade.R1, Grade.R2) and found.reproduced, found.stages
    assert report.dangling == ()
    assert _schemas(bytes(said)) >= {json.dumps(PLAN_SCHEMA, sort_keys=True)}
    assert _schemas(bytes(said)) <= {json.dumps(each, sort_keys=True) for each in (PLAN_SCHEMA, GRADE_SCHEMA)}


def _schemas(said: bytes) -> set[str]:
    """Every `format` that a request held the model to."""
    decoder, text, found, at = json.JSONDecoder(), said.decode("utf-8", "replace"), set(), 0
    while (at := text.find('"format":', at)) >= 0:
        at += len('"format":')
        found.add(json.dumps(decoder.raw_decode(text[at:].lstrip())[0], sort_keys=True))
    return found


async def test_the_example_of_the_requirement_runs_with_a_real_model(tmp_path: Path, ollama: Models) -> None:
    home = await make_home(tmp_path / "home")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", EXAMPLE),
        env={**os.environ, **environment(ollama.url), "EXHIBIT_HOME": str(home)},
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 300)
    assert process.returncode == 0, err.decode()
    assert b"ReasoningStep" in out
