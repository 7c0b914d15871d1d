"""The chat client against a real Ollama: what is generated, what is refused, and that leaving stops the work."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from ai.errors import ModelMissing, ModelTimeout, PromptTooLong
from ai.model import Completion, MapContext, RenderedPrompt
from ai.models.chat_model import ChatRequest, Message, StructuredRequest
from ai.models.context import ContextBudgets, render_prompt, template_named
from ai.models.ollama_client import OllamaChat
from retrieval.model import Intent
from tests.fakes_ai import an_item
from tests.services.ollama_server import CHAT, THREADS, Models, OllamaServer
from tests.services.tiny_chat import write_chat

pytestmark = pytest.mark.services
BARN = "The storm of 1935 destroyed the barn."
ENDLESS = "The song says" + " to and fro" * 30
STUTTER = "The song says" + " river" * 60
LONG_S = 120.0


def prompt(*texts: str) -> RenderedPrompt:
    return render_prompt(
        "What destroyed the barn?",
        [an_item(text, number) for number, text in enumerate(texts, start=1)],
        MapContext(),
        intent=Intent(),
        template=template_named("focus_mode/v1"),
        budgets=ContextBudgets(),
        canary=None,
    )


REQUEST = ChatRequest(prompt(BARN, "Nothing else is known."), "What destroyed the barn?", Intent(), 100, 0, 7, LONG_S)
ENDLESS_REQUEST = replace(REQUEST, prompt=prompt(ENDLESS), max_tokens=100_000)


@pytest.fixture
async def model(ollama: Models) -> AsyncIterator[OllamaChat]:
    made = OllamaChat(ollama.url, ollama.chat, options=THREADS)
    yield made
    await made.aclose()


async def test_it_quotes_the_first_source(model: OllamaChat) -> None:
    completion = await model.complete(REQUEST)
    assert completion.text == f"[1] {BARN}"
    assert not completion.truncated
    assert completion.prompt_tokens > 100
    assert completion.output_tokens > 5


async def test_the_same_request_gives_the_same_output_also_at_once(model: OllamaChat) -> None:
    alone = await model.complete(REQUEST)
    together = await asyncio.gather(*(model.complete(REQUEST) for _ in range(4)))
    assert {each.text for each in together} == {alone.text}
    sampled = replace(REQUEST, temperature_milli=900, seed=11)
    assert (await model.complete(sampled)).text == (await model.complete(sampled)).text


async def test_the_pieces_of_a_stream_are_the_output(model: OllamaChat) -> None:
    parts = [part async for part in model.stream(REQUEST)]
    words = [part for part in parts if isinstance(part, str)]
    assert len(words) > 3
    assert isinstance(parts[-1], Completion)
    assert "".join(words) == parts[-1].text == f"[1] {BARN}"


async def test_output_follows_the_schema(model: OllamaChat) -> None:
    schema = {
        "type": "object",
        "properties": {"sufficient": {"type": "boolean"}, "next": {"enum": ["graph", "vector"]}},
        "required": ["sufficient", "next"],
    }
    order = StructuredRequest((Message("user", "Is it enough?"),), schema, 400, 0, 0, LONG_S)
    completion = await model.structured(order)
    found = json.loads(completion.text)
    assert found.keys() == {"sufficient", "next"}
    assert isinstance(found["sufficient"], bool)
    assert found["next"] in {"graph", "vector"}


async def test_the_identity_holds_the_sha256_of_the_weights_and_the_servers_version(
    model: OllamaChat, tmp_path: Path
) -> None:
    write_chat(tmp_path / "chat.gguf")
    identity = await model.identity()
    assert identity.details["weights"] == f"sha256:{hashlib.sha256((tmp_path / 'chat.gguf').read_bytes()).hexdigest()}"
    assert identity.details["server"] == "0.17.4"
    assert (await model.complete(REQUEST)).model == identity


async def test_the_identity_does_not_depend_on_where_the_files_lie(ollama: Models, own_ollama: OllamaServer) -> None:
    identities = []
    for url in (ollama.url, own_ollama.url):
        made = OllamaChat(url, CHAT, options=THREADS)
        identities.append(await made.identity())
        await made.aclose()
    assert identities[0] == identities[1]


async def test_a_prompt_over_the_window_is_an_error(ollama: Models) -> None:
    small = OllamaChat(ollama.url, ollama.chat, num_ctx=128, options=THREADS)
    with pytest.raises(PromptTooLong):
        await small.complete(REQUEST)
    await small.aclose()


async def test_a_limit_on_the_output_is_told(model: OllamaChat) -> None:
    cut = await model.complete(replace(REQUEST, max_tokens=3))
    assert (cut.truncated, cut.output_tokens) == (True, 3)
    assert f"[1] {BARN}".startswith(cut.text)


async def test_an_output_that_fills_the_window_ends_there(ollama: Models) -> None:
    small = OllamaChat(ollama.url, ollama.chat, num_ctx=1024, options=THREADS)
    cut = await small.complete(ENDLESS_REQUEST)
    assert cut.truncated
    assert cut.prompt_tokens + cut.output_tokens <= 1025
    await small.aclose()


async def test_a_model_that_repeats_itself_has_answered_badly(model: OllamaChat) -> None:
    """The server ends the stream without a last word when one token comes 30 times in a row; what was said is a cut
    answer, and no fault of the server."""
    cut = await model.complete(replace(REQUEST, prompt=prompt(STUTTER), max_tokens=200))
    assert cut.truncated
    assert "river river river" in cut.text


async def test_a_model_that_the_server_does_not_have(ollama: Models) -> None:
    missing = OllamaChat(ollama.url, "nobody-made-this")
    with pytest.raises(ModelMissing):
        await missing.identity()
    with pytest.raises(ModelMissing):
        await missing.complete(REQUEST)
    await missing.aclose()


@pytest.mark.parametrize("way", ["leave", "cancel", "deadline"])
async def test_leaving_stops_the_servers_work(model: OllamaChat, way: str) -> None:
    """The server makes one answer at a time: the next one could not come while 100,000 tokens are still being made."""
    match way:
        case "leave":
            async with aclosing(model.stream(ENDLESS_REQUEST)) as parts:
                assert isinstance(await anext(parts), str)
        case "cancel":
            task = asyncio.create_task(model.complete(ENDLESS_REQUEST))
            await asyncio.sleep(3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        case _:
            with pytest.raises(ModelTimeout):
                await model.complete(replace(ENDLESS_REQUEST, deadline_s=3.0))
    assert (await model.complete(replace(REQUEST, deadline_s=30.0))).text == f"[1] {BARN}"


async def test_what_a_killed_runner_said_is_a_cut_answer_and_the_next_call_has_another(
    own_ollama: OllamaServer,
) -> None:
    model = OllamaChat(own_ollama.url, CHAT, options=THREADS)
    async with aclosing(model.stream(ENDLESS_REQUEST)) as parts:
        said = await anext(parts)
        assert isinstance(said, str)
        assert own_ollama.kill_runners() == 1
        *more, last = [part async for part in parts]
    assert isinstance(last, Completion)
    assert last.truncated
    assert last.text == "".join([said, *(part for part in more if isinstance(part, str))])
    assert (await model.complete(REQUEST)).text == f"[1] {BARN}"
    await model.aclose()


async def test_another_template_is_another_model(own_ollama: OllamaServer) -> None:
    model = OllamaChat(own_ollama.url, CHAT, options=THREADS)
    before = await model.identity()
    async with httpx.AsyncClient(base_url=own_ollama.url, timeout=60, trust_env=False) as client:
        body = {"model": CHAT, "from": CHAT, "system": "Be brief.", "stream": False}
        (await client.post("/api/create", json=body)).raise_for_status()
    after = await model.identity()
    assert after.digest != before.digest
    assert after.details["weights"] == before.details["weights"]
    assert after.details["modelfile"] != before.details["modelfile"]
    await model.aclose()
