"""The embedder against a real Ollama, whose model gives the package's own vectors, cut to 64 components; and its vectors
in both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from retrieval.embedding.ollama import OllamaEmbedder
from retrieval.embedding.wordllama import WordllamaEmbedder
from retrieval.errors import ChannelTimeout, ChannelUnavailable, EmbedModelMismatch
from retrieval.ingest.upkeep.reembed import reembed
from retrieval.registry.sqlite import open_sqlite_store
from retrieval.vector.numpy import NumpyVectorChannel, NumpyVectorIndex
from retrieval.vector.pgvector import PgvectorChannel, PgvectorIndex, PgvectorRenewal
from tests.corpora import corpus, probes
from tests.fakes_retrieval import HashEmbedder
from tests.services.ollama_server import EMBED, THREADS, Models, OllamaServer
from tests.services.postgres_backends import schema_of
from tests.services.tiny_embedder import WIDTH, WORDS
from tests.shipped_terms import shipped_terms

pytestmark = pytest.mark.services
TEXTS = ["Shawnee County had 85,200 inhabitants in 1930.", "“Bleeding Kansas” — 1854 to 1861", "", "naïve café", "x"]
CONTENT = corpus(3, documents=6)


@pytest.fixture
async def embedder(ollama: Models) -> AsyncIterator[OllamaEmbedder]:
    made = OllamaEmbedder(ollama.url, ollama.embed, options=THREADS)
    yield made
    await made.aclose()


async def expected(texts: list[str]) -> NDArray[np.float32]:
    package = await WordllamaEmbedder.load()
    vectors = (await package.embed(texts))[:, :WORDS]
    await package.aclose()
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(norms, 1e-9)).astype(np.float32)


async def test_the_server_gives_the_packages_vectors(embedder: OllamaEmbedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), WIDTH) == (len(TEXTS), (await embedder.identity()).dimension)
    assert np.allclose(vectors[:, :WORDS], await expected(TEXTS), atol=2e-3)
    assert not vectors[:, WORDS:].any()


async def test_a_text_over_the_window_counts_to_its_end(embedder: OllamaEmbedder) -> None:
    long = "The river rose. " * 150 + "The granary of Lebanon burned. " * 150
    whole, river, granary = await embedder.embed(
        [long, "The river rose. " * 20, "The granary of Lebanon burned. " * 20]
    )
    assert whole @ river > 0.5
    assert whole @ granary > 0.5


async def test_the_identity_pins_the_weights(embedder: OllamaEmbedder, ollama: Models) -> None:
    name = (await embedder.identity()).name
    assert name.startswith(f"ollama/{EMBED}@")
    latest = OllamaEmbedder(ollama.url, f"{EMBED}:latest", options=THREADS)
    assert await latest.identity() == await embedder.identity()
    await latest.aclose()


async def test_a_model_that_the_server_does_not_have(ollama: Models) -> None:
    missing = OllamaEmbedder(ollama.url, "nobody-made-this")
    with pytest.raises(ChannelUnavailable, match="no such"):
        await missing.embed(["x"])
    await missing.aclose()


async def test_a_server_that_is_paused_killed_and_there_again(own_ollama: OllamaServer) -> None:
    embedder = OllamaEmbedder(own_ollama.url, EMBED, options=THREADS, deadline_s=20)
    before = await embedder.embed(TEXTS)
    own_ollama.pause()
    hasty = OllamaEmbedder(own_ollama.url, EMBED, deadline_s=0.5)
    with pytest.raises(ChannelTimeout):
        await hasty.embed(["x"])
    await hasty.aclose()
    own_ollama.resume()
    assert np.allclose(await embedder.embed(TEXTS), before, atol=1e-4)
    own_ollama.kill()
    with pytest.raises(ChannelUnavailable):
        await embedder.embed(["x"])
    own_ollama.start()
    assert np.allclose(await embedder.embed(TEXTS), before, atol=1e-4)
    await embedder.aclose()


async def test_both_stores_find_the_same_with_its_vectors(
    embedder: OllamaEmbedder, tmp_path: Path, postgres_dsn: str
) -> None:
    schema = schema_of(tmp_path)
    indexes = (
        NumpyVectorIndex(tmp_path, embedder=embedder),
        PgvectorIndex.open(postgres_dsn, embedder=embedder, schema=schema),
    )
    for index in indexes:
        await index.add(CONTENT.batch())
        await index.commit()
        assert await index.documents() == set(CONTENT.document_ids)
    channels = (
        NumpyVectorChannel(tmp_path, embedder=embedder),
        PgvectorChannel.open(postgres_dsn, embedder=embedder, schema=schema, statement_timeout_ms=10_000),
    )
    for query in probes(CONTENT)[:4]:
        file, server = [await channel.search(query) for channel in channels]
        assert file.hits
        assert [hit.record_id for hit in file.hits] == [hit.record_id for hit in server.hits]
    for part in (*indexes, *channels):
        await part.aclose()


async def test_pgvector_takes_another_model_and_keeps_who_may_read(
    embedder: OllamaEmbedder, tmp_path: Path, postgres_dsn: str
) -> None:
    schema, old = schema_of(tmp_path), HashEmbedder()
    files = tmp_path / "files"
    files.mkdir()
    for number in range(20):
        (files / f"{number}.txt").write_text(f"Note {number} tells of the river.")
    store = open_sqlite_store(tmp_path / "record.sqlite")
    index = PgvectorIndex.open(postgres_dsn, embedder=old, schema=schema)
    from retrieval.ingest.pipeline import Ingest

    await Ingest(terms=shipped_terms, store=store, indexes=[index]).run(
        [files], tenant="default", collection="k", label="public"
    )
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f'GRANT SELECT ON "{schema}".vector_row TO PUBLIC'.encode())
    current = PgvectorIndex.open(postgres_dsn, embedder=embedder, schema=schema)
    with pytest.raises(EmbedModelMismatch, match="exhibit index reembed"):
        await current.documents()
    half = PgvectorRenewal.open(postgres_dsn, embedder=embedder, schema=schema)
    held = sorted(d.document_id for d in await store.stored("default"))
    await half.add(await store.batch("default", held[:7]))
    await half.commit()
    await half.aclose()
    assert len(await index.documents()) == 20
    renewal = PgvectorRenewal.open(postgres_dsn, embedder=embedder, schema=schema)
    done = await reembed(store=store, current=current, renewal=renewal)
    assert done is not None
    assert (done.documents, done.resumed) == (13, 7)
    assert len(await current.documents()) == 20
    with pytest.raises(EmbedModelMismatch):
        await index.documents()
    with psycopg.connect(postgres_dsn) as connection:
        [count] = connection.execute("SELECT has_table_privilege('public', %s, 'SELECT')", (f'"{schema}".vector_row',))
        left = connection.execute("SELECT to_regnamespace(%s)", (f'"{schema}_next"',)).fetchone()
    assert count == (True,)
    assert left == (None,)
    for part in (index, current, renewal, store):
        await part.aclose()
