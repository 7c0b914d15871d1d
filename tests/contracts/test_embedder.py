"""The Embedder contract, over every embedder: the one in the package, Ollama's client (against a double of the server),
and the fake. The real Ollama is met in `make test-services`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.embedding.embedder import Embedder
from retrieval.embedding.ollama import OllamaEmbedder, halves
from retrieval.embedding.wordllama import WordllamaEmbedder
from retrieval.errors import ChannelError, ChannelFault, ChannelTimeout, ChannelUnavailable
from tests.fakes_retrieval import HashEmbedder
from tests.ollama_double import WEIGHTS, OllamaDouble, serving

TEXTS = [
    "The storm destroyed the barn in 1935.",
    "",
    "Ünïcode — “quoted”",
    "the barn",
    "\ud800 river",
    "river " * 90,
]


@asynccontextmanager
async def over(double: OllamaDouble, **options: Any) -> AsyncIterator[OllamaEmbedder]:
    """An embedder on the double."""
    async with serving(double) as url:
        made = OllamaEmbedder(url, "tiny", **options)
        try:
            yield made
        finally:
            await made.aclose()


@asynccontextmanager
async def opened(name: str) -> AsyncIterator[Embedder]:
    match name:
        case "wordllama":
            made = await WordllamaEmbedder.load()
            yield made
            await made.aclose()
        case "hash":
            yield HashEmbedder()
        case _:
            async with over(OllamaDouble(window=40)) as embedder:
                yield embedder


@pytest.fixture(params=["wordllama", "hash", "ollama"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    async with opened(request.param) as made:
        yield made


async def test_unit_rows_in_order_and_zero_for_nothing(embedder: Embedder) -> None:
    vectors, model = await embedder.embed(TEXTS), await embedder.identity()
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), model.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 1, 1, 1], atol=1e-5)
    assert (await embedder.embed([])).shape == (0, model.dimension)


async def test_a_vector_does_not_depend_on_its_batch(embedder: Embedder) -> None:
    together = await embedder.embed(TEXTS * 12)
    for row, text in enumerate(TEXTS):
        assert np.allclose(together[row], (await embedder.embed([text]))[0], atol=1e-6)
        assert np.allclose(together[row], together[row + len(TEXTS)], atol=1e-6)


async def test_the_identity_is_stable(embedder: Embedder) -> None:
    assert await embedder.identity() == await embedder.identity()
    assert (await embedder.identity()).name


async def test_concurrent_calls_do_not_mix(embedder: Embedder) -> None:
    alone = [await embedder.embed([text]) for text in TEXTS]
    together = await asyncio.gather(*(embedder.embed([text]) for text in TEXTS))
    assert all(np.allclose(one, two, atol=1e-6) for one, two in zip(alone, together, strict=True))


async def test_closing_twice_is_harmless(embedder: Embedder) -> None:
    await embedder.embed(["river"])
    await embedder.aclose()
    await embedder.aclose()


# ---------------------------------------------------------------- Ollama alone


async def test_the_server_is_told_to_leave_nothing_out() -> None:
    double = OllamaDouble()
    async with over(double, options={"num_thread": 1}) as embedder:
        await embedder.embed(["the river"])
    assert all(body["truncate"] is False and body["options"] == {"num_thread": 1} for body in double.bodies)
    assert double.bodies[-1]["input"] == ["the river"]


async def test_a_text_over_the_window_counts_whole() -> None:
    """Its last words move its vector, though they are far outside the window; and its neighbours are as without it."""
    river, storm = "river " * 300, "river " * 150 + "storm " * 150
    async with over(OllamaDouble(window=40)) as embedder:
        vectors = await embedder.embed([river, "the barn", storm])
        assert np.allclose(vectors[1], (await embedder.embed(["the barn"]))[0], atol=1e-6)
        words = await embedder.embed(["river", "storm"])
    assert vectors[0] @ words[0] == pytest.approx(1, abs=1e-5)
    assert vectors[2] @ words[1] > 0.5


@given(st.text(max_size=80))
@settings(max_examples=50)
def test_halves_lose_nothing_but_space(text: str) -> None:
    parts = halves(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert len(parts) == 2 or len(text.strip()) < 2
    assert all(len(part) < max(2, len(text)) for part in parts)


async def test_a_text_without_a_word_the_model_knows_is_the_zero_vector() -> None:
    async with over(OllamaDouble()) as embedder:
        vectors = await embedder.embed(["the barn", " \n ", "—", "river"])
    assert vectors.any(axis=1).tolist() == [True, False, False, True]


async def test_other_weights_under_the_same_name_are_another_model() -> None:
    shown = OllamaDouble().shown
    other = shown | {"modelfile": shown["modelfile"].replace("ab", "cd")}
    moved = shown | {"modelfile": shown["modelfile"].replace("/root", "/srv")}
    names = []
    for told in (shown, other, moved):
        async with over(OllamaDouble(shown=told)) as embedder:
            names.append((await embedder.identity()).name)
    assert names[0] == names[2] == f"ollama/tiny@{WEIGHTS[:12]}"
    assert names[1] != names[0]


async def test_a_model_that_changes_its_dimension_is_a_fault_and_is_asked_again() -> None:
    double = OllamaDouble()
    async with over(double) as embedder:
        await embedder.embed(["river"])
        double.dimension = 25
        with pytest.raises(ChannelFault):
            await embedder.embed(["river"])
        assert (await embedder.embed(["river"])).shape == (1, 25)


@pytest.mark.parametrize(
    ("double", "error"),
    [
        (OllamaDouble(missing=True), ChannelUnavailable),
        (OllamaDouble(status=500), ChannelUnavailable),
        (OllamaDouble(status=302), ChannelUnavailable),
        (OllamaDouble(status=400, error="invalid option"), ChannelUnavailable),
        (OllamaDouble(shown={}), ChannelFault),
        (OllamaDouble(shown={"modelfile": "FROM somewhere else"}), ChannelFault),
        (OllamaDouble(shown={"modelfile": 7}), ChannelFault),
        (OllamaDouble(window=0), ChannelFault),
        (OllamaDouble(embeddings=7), ChannelFault),
        (OllamaDouble(embeddings=[]), ChannelFault),
        (OllamaDouble(embeddings=[[]]), ChannelFault),
        (OllamaDouble(embeddings=[[1.0, 2.0], [1.0, 2.0]]), ChannelFault),
        (OllamaDouble(embeddings=[["a"]]), ChannelFault),
        (OllamaDouble(embeddings=[[1e39, 1.0]]), ChannelFault),
        (OllamaDouble(embeddings=[{"a": 1}]), ChannelFault),
    ],
)
async def test_ollamas_failures_are_the_channels(double: OllamaDouble, error: type[ChannelError]) -> None:
    async with over(double) as embedder:
        with pytest.raises(error) as caught:
            await embedder.embed(["river"])
    assert "127.0.0.1" not in caught.value.message


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://no-such-host.invalid:11434"])
async def test_a_server_that_is_not_there_is_unavailable(url: str) -> None:
    embedder = OllamaEmbedder(url, "tiny")
    with pytest.raises(ChannelUnavailable):
        await embedder.identity()
    await embedder.aclose()


async def test_a_slow_server_times_out() -> None:
    async with over(OllamaDouble(stall_s=60), deadline_s=0.3) as embedder:
        with pytest.raises(ChannelTimeout):
            await embedder.embed(["river"])


async def test_cancelling_stops_the_servers_work() -> None:
    double = OllamaDouble()
    async with over(double) as embedder:
        await embedder.identity()
        double.stall_s = 60
        task = asyncio.create_task(embedder.embed(["river"]))
        await asyncio.wait_for(double.asked.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(double.stopped.wait(), 5)
