"""Vectors made anew: beside the old ones, resumable, and put in their place at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from retrieval.errors import ChannelUnavailable, EmbedModelMismatch
from retrieval.index import IndexBatch
from retrieval.ingest.pipeline import Ingest
from retrieval.ingest.upkeep.reembed import ReembedReport, reembed
from retrieval.ingest.upkeep.upkeep import IngestStore
from retrieval.model import Query, Run
from retrieval.registry.sqlite import open_sqlite_store
from retrieval.scope import Scope
from retrieval.vector.numpy import NumpyVectorChannel, NumpyVectorIndex, NumpyVectorRenewal
from tests.fakes_retrieval import HashEmbedder
from tests.shipped_terms import shipped_terms

OLD, NEW, THIRD = HashEmbedder("hash/1", 32), HashEmbedder("hash/2", 48), HashEmbedder("hash/3", 16)
DOCUMENTS = 40


@dataclass
class Home:
    """A store with documents, and their vectors."""

    store: IngestStore
    files: Path
    vectors: Path

    async def ingest(self, embedder: HashEmbedder) -> None:
        index = NumpyVectorIndex(self.vectors, embedder=embedder)
        await Ingest(terms=shipped_terms, store=self.store, indexes=[index]).run(
            [self.files], tenant="default", collection="kansas", label="public"
        )
        await index.aclose()

    async def search(self, embedder: HashEmbedder, text: str) -> Run:
        channel = NumpyVectorChannel(self.vectors, embedder=embedder)
        try:
            scope = Scope.of("default", await self.store.classes("default"))
            return await channel.search(Query(text=text, scope=scope, top_k=3))
        finally:
            await channel.aclose()

    async def reembed(self, embedder: HashEmbedder, *, stop_after: int | None = None) -> ReembedReport | None:
        current = NumpyVectorIndex(self.vectors, embedder=embedder)
        renewal = Stopping(self.vectors, embedder, stop_after)
        try:
            return await reembed(store=self.store, current=current, renewal=renewal)
        finally:
            await current.aclose()
            await renewal.aclose()


class Stopping(NumpyVectorRenewal):
    """Fails after some batches, as a server that goes away."""

    def __init__(self, root: Path, embedder: HashEmbedder, batches: int | None) -> None:
        super().__init__(root, embedder=embedder)
        self._left = batches

    async def add(self, batch: IndexBatch) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise ChannelUnavailable("vector", "the embedding server has gone")
        await super().add(batch)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    files = tmp_path / "files"
    await asyncio.to_thread(files.mkdir)
    for number in range(DOCUMENTS):
        (files / f"{number}.txt").write_text(f"Note {number} tells of the river and of barn number {number}.")
    made = Home(open_sqlite_store(tmp_path / "record.sqlite"), files, tmp_path / "vector")
    await made.ingest(OLD)
    yield made
    await made.store.aclose()


async def test_the_old_vectors_answer_until_the_new_ones_do(home: Home) -> None:
    before = await home.search(OLD, "barn number 7")
    with pytest.raises(EmbedModelMismatch, match="exhibit index reembed"):
        await home.search(NEW, "barn number 7")
    with pytest.raises(ChannelUnavailable):
        await home.reembed(NEW, stop_after=2)
    assert await home.search(OLD, "barn number 7") == before
    with pytest.raises(EmbedModelMismatch):
        await home.search(NEW, "barn number 7")
    done = await home.reembed(NEW)
    assert done == ReembedReport(documents=DOCUMENTS - 32, resumed=32)
    assert len((await home.search(NEW, "barn number 7")).hits) == len(before.hits) == 3
    with pytest.raises(EmbedModelMismatch):
        await home.search(OLD, "barn number 7")
    assert await home.reembed(NEW) is None


async def test_an_open_channel_finds_the_new_vectors(home: Home) -> None:
    channel = NumpyVectorChannel(home.vectors, embedder=NEW)
    query = Query(text="river", scope=Scope.of("default", await home.store.classes("default")), top_k=3)
    with pytest.raises(EmbedModelMismatch):
        await channel.search(query)
    await home.reembed(NEW)
    assert (await channel.search(query)).hits
    await channel.aclose()


async def test_what_an_earlier_run_made_with_a_third_model_is_not_used(home: Home) -> None:
    with pytest.raises(ChannelUnavailable):
        await home.reembed(THIRD, stop_after=1)
    assert await home.reembed(NEW) == ReembedReport(documents=DOCUMENTS, resumed=0)


async def test_what_changed_since_an_earlier_run_is_seen(home: Home) -> None:
    with pytest.raises(ChannelUnavailable):
        await home.reembed(NEW, stop_after=2)
    for file in sorted(home.files.iterdir())[:5]:
        file.write_text("Another text, of a bridge.")
    await home.ingest(OLD)
    await home.reembed(NEW)
    index = NumpyVectorIndex(home.vectors, embedder=NEW)
    assert await index.documents() == {d.document_id for d in await home.store.stored("default")}
    await index.aclose()


async def test_no_file_of_the_old_vectors_stays(home: Home) -> None:
    before = {path.name for path in home.vectors.glob("segment-*")}
    await home.reembed(NEW)
    after = {path.name for path in home.vectors.iterdir()}
    assert not after & before
    assert "next.json" not in after


async def test_an_ingest_between_two_runs_keeps_what_was_made(home: Home) -> None:
    """Whoever sweeps stray segments of the one manifest leaves those of the other."""
    with pytest.raises(ChannelUnavailable):
        await home.reembed(NEW, stop_after=1)
    (home.files / "new.txt").write_text("A new note of a ferry.")
    await home.ingest(OLD)
    done = await home.reembed(NEW)
    assert done == ReembedReport(documents=DOCUMENTS + 1 - 16, resumed=16)
    assert (await home.search(NEW, "ferry")).hits


async def test_an_empty_corpus_has_nothing_to_make(tmp_path: Path) -> None:
    store = open_sqlite_store(tmp_path / "record.sqlite")
    await store.put_files([])
    index, renewal = NumpyVectorIndex(tmp_path / "v", embedder=NEW), NumpyVectorRenewal(tmp_path / "v", embedder=NEW)
    assert await reembed(store=store, current=index, renewal=renewal, force=True) == ReembedReport(0, 0)
    assert await index.documents() == frozenset()
    for part in (index, renewal, store):
        await part.aclose()
