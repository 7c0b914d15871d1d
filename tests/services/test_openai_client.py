"""The client of OpenAI's chat interface against a real Ollama's own `/v1`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from ai.errors import ModelMissing
from ai.model import Completion
from ai.models.chat_model import Message, StructuredRequest
from ai.models.openai_client import OpenAIChat
from tests.services.ollama_server import Models
from tests.services.test_ollama_client import ENDLESS_REQUEST, LONG_S, REQUEST

pytestmark = pytest.mark.services


@pytest.fixture
async def model(ollama: Models) -> AsyncIterator[OpenAIChat]:
    made = OpenAIChat(f"{ollama.url}/v1", ollama.chat)
    yield made
    await made.aclose()


async def test_it_answers_the_same_twice_and_counts_its_tokens(model: OpenAIChat) -> None:
    one, two = await model.complete(REQUEST), await model.complete(REQUEST)
    assert one == two
    assert one.text and one.prompt_tokens > 50 and one.output_tokens > 0


async def test_the_pieces_of_a_stream_are_the_output(model: OpenAIChat) -> None:
    parts = [part async for part in model.stream(REQUEST)]
    assert isinstance(parts[-1], Completion)
    assert "".join(part for part in parts if isinstance(part, str)) == parts[-1].text


async def test_output_follows_the_schema(model: OpenAIChat) -> None:
    schema = {"type": "object", "properties": {"done": {"type": "boolean"}}, "required": ["done"]}
    order = StructuredRequest((Message("user", "Is it done?"),), schema, 60, 0, 1, LONG_S)
    completion = await model.structured(order)
    assert not completion.truncated
    assert set(json.loads(completion.text)) == {"done"}


async def test_a_model_that_is_not_there_is_missing(ollama: Models) -> None:
    other = OpenAIChat(f"{ollama.url}/v1", "nobody-has-this")
    with pytest.raises(ModelMissing):
        await other.complete(REQUEST)
    await other.aclose()


async def test_leaving_the_stream_and_cancelling_free_the_server(model: OpenAIChat) -> None:
    async with aclosing(model.stream(ENDLESS_REQUEST)) as parts:
        assert await anext(parts)
    task = asyncio.create_task(model.complete(ENDLESS_REQUEST))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await model.complete(REQUEST)).text  # the server is free again
