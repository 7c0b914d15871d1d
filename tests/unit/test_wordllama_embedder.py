"""The embedder's vectors are the wheel's own, without importing the package or touching a network."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from retrieval.embedding.wordllama import BATCH, BULK, DIMENSION, WordllamaEmbedder
from tests.corpora import corpus

TEXTS = [r.text for r in corpus(3, documents=6).records] + ["x", "Élan 東京 🚜", "  spaces  ", "a\nb", "word " * 600]


@pytest.fixture
async def embedder() -> AsyncIterator[WordllamaEmbedder]:
    loaded = await WordllamaEmbedder.load()
    yield loaded
    await loaded.aclose()


async def test_equal_to_the_packages_own_vectors(embedder: WordllamaEmbedder) -> None:
    import wordllama

    cache = Path(wordllama.__file__).parent
    own = wordllama.WordLlama.load(cache_dir=cache, disable_download=True).embed(TEXTS, norm=True)
    assert np.array_equal(await embedder.embed(TEXTS), own)


async def test_vectors_do_not_depend_on_the_batch(embedder: WordllamaEmbedder) -> None:
    many = (TEXTS * (BATCH // len(TEXTS) + 2))[: BATCH + 5]
    assert len(TEXTS) >= BULK
    together = await embedder.embed(many)
    for row in (0, 1, len(TEXTS) - 1, BATCH, BATCH + 4):
        assert np.array_equal(together[row], (await embedder.embed([many[row]]))[0])


async def test_rows_are_unit_vectors(embedder: WordllamaEmbedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), DIMENSION)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


async def test_no_text_gives_no_rows_and_an_empty_text_the_zero_vector(embedder: WordllamaEmbedder) -> None:
    assert (await embedder.embed([])).shape == (0, DIMENSION)
    vectors = await embedder.embed(["", "river"])
    assert not vectors[0].any()
    assert vectors[1].any()


async def test_a_lone_surrogate_is_no_fault(embedder: WordllamaEmbedder) -> None:
    assert np.isfinite(await embedder.embed(["\ud800 river"])).all()


async def test_the_model_is_named_with_its_weights(embedder: WordllamaEmbedder) -> None:
    name, weights = (await embedder.identity()).name.split("@")
    assert name.startswith("wordllama-")
    assert name.endswith("/l2_supercat_256")
    assert len(weights) == 12


def test_loading_imports_neither_the_package_nor_a_network_client() -> None:
    program = (
        "import asyncio, sys\n"
        "from retrieval.embedding.wordllama import WordllamaEmbedder\n"
        "async def main():\n"
        "    embedder = await WordllamaEmbedder.load()\n"
        "    await embedder.embed(['river'])\n"
        "    await embedder.aclose()\n"
        "asyncio.run(main())\n"
        "print(sorted({'wordllama', 'requests', 'urllib3', 'huggingface_hub', 'httpx', 'torch'} & set(sys.modules)))\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "[]"
