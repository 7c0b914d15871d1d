"""What the vector channel adds to the channel's contract: the model's identity, the floor, and few segments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval.errors import EmbedModelMismatch
from retrieval.vector.numpy import MAX_SEGMENTS, NumpyVectorChannel, NumpyVectorIndex
from tests.corpora import corpus, probes
from tests.fakes_retrieval import HashEmbedder

CONTENT = corpus(3, documents=24)
QUERY = probes(CONTENT)[0]


async def fill(folder: Path, embedder: HashEmbedder) -> None:
    index = NumpyVectorIndex(folder, embedder=embedder)
    await index.add(CONTENT.batch())
    await index.commit()
    await index.aclose()


@pytest.mark.parametrize("other", [HashEmbedder("hash/2", 32), HashEmbedder("hash/1", 64)])
async def test_vectors_of_another_model_or_dimension_are_refused(tmp_path: Path, other: HashEmbedder) -> None:
    await fill(tmp_path, HashEmbedder("hash/1", 32))
    channel, index = NumpyVectorChannel(tmp_path, embedder=other), NumpyVectorIndex(tmp_path, embedder=other)
    with pytest.raises(EmbedModelMismatch):
        await channel.search(QUERY)
    with pytest.raises(EmbedModelMismatch):
        await index.documents()
    await index.add(CONTENT.batch())
    with pytest.raises(EmbedModelMismatch):
        await index.commit()
    await index.clear()
    await index.add(CONTENT.batch())
    await index.commit()
    assert (await channel.search(QUERY)).hits
    await channel.aclose()
    await index.aclose()


async def test_nothing_below_the_floor_is_a_hit(tmp_path: Path) -> None:
    await fill(tmp_path, HashEmbedder())
    channel = NumpyVectorChannel(tmp_path, embedder=HashEmbedder(), minimum_milli=600)
    low = NumpyVectorChannel(tmp_path, embedder=HashEmbedder())
    high_hits, all_hits = (await channel.search(QUERY)).hits, (await low.search(QUERY)).hits
    assert all(hit.score >= 0.6 for hit in high_hits)
    assert high_hits == tuple(hit for hit in all_hits if hit.score >= 0.6)
    await channel.aclose()
    await low.aclose()


async def test_many_commits_leave_few_segments_and_no_stray_folder(tmp_path: Path) -> None:
    index = NumpyVectorIndex(tmp_path, embedder=HashEmbedder())
    for document_id in CONTENT.document_ids:
        await index.add(CONTENT.without(set(CONTENT.document_ids) - {document_id}).batch())
        await index.commit()
        classes = json.loads((tmp_path / "manifest.json").read_bytes())["classes"]
        assert all(len(names) <= MAX_SEGMENTS for names in classes.values())
        assert sorted(p.name for p in tmp_path.glob("segment-*")) == sorted(
            n for names in classes.values() for n in names
        )
    assert await index.documents() == set(CONTENT.document_ids)
    await index.aclose()
