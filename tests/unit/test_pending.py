"""What an index was given and has not written yet: nothing is lost by an error, and one writer has it to himself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.errors import ChannelUnavailable
from retrieval.files.pending import Pending
from retrieval.fulltext.tantivy import TantivyIndex
from retrieval.index import ChannelIndex
from retrieval.vector.numpy import NumpyVectorIndex
from tests.corpora import ADMITTED, corpus
from tests.fakes_retrieval import HashEmbedder

INDEXES: dict[str, Callable[[Path], ChannelIndex]] = {
    "tantivy": TantivyIndex,
    "numpy": lambda root: NumpyVectorIndex(root, embedder=HashEmbedder()),
}
BATCH = next(iter(corpus(3, documents=3).batches()))
NAMES = frozenset(record.document_id for record in BATCH.records)


@pytest.fixture(params=INDEXES)
def opened(request: pytest.FixtureRequest) -> Callable[[Path], ChannelIndex]:
    return INDEXES[request.param]


async def test_what_could_not_be_written_is_written_by_the_next_commit(
    opened: Callable[[Path], ChannelIndex], tmp_path: Path
) -> None:
    root = tmp_path / "index"
    root.write_bytes(b"")  # no folder can be made here
    index = opened(root)
    await index.add(BATCH)
    with pytest.raises(ChannelUnavailable):
        await index.commit()
    root.unlink()
    await index.commit()
    assert await index.documents() == NAMES
    await index.aclose()


async def test_a_document_in_two_classes_is_refused_and_changes_nothing_that_is_pending(
    opened: Callable[[Path], ChannelIndex], tmp_path: Path
) -> None:
    index = opened(tmp_path / "index")
    await index.add(BATCH)
    first = BATCH.records[0]
    other = next(each.class_id for each in ADMITTED if each.class_id != first.class_id)
    torn = replace(BATCH, records=(first, replace(first, record_id="other", class_id=other)))
    with pytest.raises(ValueError, match="two classes"):
        await index.add(torn)
    await index.commit()
    assert await index.documents() == NAMES
    await index.aclose()


async def test_what_comes_while_it_is_written_waits_and_stays() -> None:
    pending = Pending[str]()
    await pending.add({"a": "old"})
    async with pending.written() as anything:
        assert anything
        later = asyncio.create_task(pending.add({"b": "new"}))
        await asyncio.sleep(0)
        assert pending.added == {"a": "old"}
    await later
    assert (pending.added, pending.removed) == ({"b": "new"}, {"b"})


async def test_a_writer_who_goes_away_leaves_it_as_it_was() -> None:
    pending = Pending[str]()
    await pending.add({"a": "1", "b": "2"})
    await pending.remove(["b", "c"])
    with pytest.raises(asyncio.CancelledError):
        async with pending.written():
            raise asyncio.CancelledError
    assert (pending.added, pending.removed) == ({"a": "1"}, {"a", "b", "c"})
    with pytest.raises(OSError, match="disk"):
        async with pending.forgotten():
            raise OSError("disk")
    async with pending.written() as anything:
        assert not anything
