"""What `retrieval.index.ChannelIndex` promises, asked of every backend, and seen through its channel."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.errors import ChannelUnavailable
from retrieval.model import Hit
from tests.channel_backends import BACKENDS, DURABLE, Backend, Opener
from tests.corpora import Corpus, corpus, probes
from tests.writer_kills import write_and_kill

SEEDS = (1, 2)
CONTENT = corpus(21, documents=9)
PROBES = probes(corpus(0, documents=30), top_k=50)  # its scope holds every class that a corpus can lie in


@pytest.fixture(params=BACKENDS)
def opener(request: pytest.FixtureRequest) -> Opener:
    return BACKENDS[request.param]


@pytest.fixture(params=DURABLE)
def durable(request: pytest.FixtureRequest) -> Opener:
    return BACKENDS[request.param]


@pytest.fixture
async def backend(opener: Opener, tmp_path: Path) -> AsyncIterator[Backend]:
    async with opener(tmp_path / "index") as opened:
        yield opened


async def fill(backend: Backend, content: Corpus) -> None:
    for batch in content.batches():
        await backend.index.add(batch)
    await backend.index.commit()


async def seen(backend: Backend) -> list[tuple[Hit, ...]]:
    return [(await backend.channel.search(query)).hits for query in PROBES]


async def seen_of(opener: Opener, folder: Path, content: Corpus) -> list[tuple[Hit, ...]]:
    """What a fresh index of `content` shows."""
    async with opener(folder) as fresh:
        await fill(fresh, content)
        return await seen(fresh)


async def test_nothing_is_visible_before_commit(backend: Backend) -> None:
    await backend.index.add(CONTENT.batch())
    assert not any(await seen(backend))
    assert await backend.index.documents() == frozenset()
    await backend.index.commit()
    assert any(await seen(backend))
    assert await backend.index.documents() == set(CONTENT.document_ids)


async def test_removal_is_not_visible_before_commit(backend: Backend) -> None:
    await fill(backend, CONTENT)
    before = await seen(backend)
    await backend.index.remove(CONTENT.document_ids[:3])
    assert await seen(backend) == before


async def test_a_commit_without_changes_changes_nothing(backend: Backend) -> None:
    await backend.index.commit()
    await fill(backend, CONTENT)
    before = await seen(backend)
    await backend.index.commit()
    assert await seen(backend) == before


async def test_adding_again_changes_nothing(backend: Backend) -> None:
    await fill(backend, CONTENT)
    before = await seen(backend)
    await fill(backend, CONTENT)
    assert await seen(backend) == before
    assert await backend.index.documents() == set(CONTENT.document_ids)


async def test_adding_twice_in_one_commit_adds_once(backend: Backend) -> None:
    await backend.index.add(CONTENT.batch())
    await fill(backend, CONTENT)
    for hits in await seen(backend):
        assert len({hit.record_id for hit in hits}) == len(hits)


@pytest.mark.parametrize("seed", SEEDS)
async def test_after_removal_all_is_as_if_the_documents_had_never_been(
    backend: Backend, opener: Opener, tmp_path: Path, seed: int
) -> None:
    content = corpus(seed, documents=12)
    gone = content.document_ids[::2]
    await fill(backend, content)
    await backend.index.remove(gone)
    await backend.index.commit()
    assert await seen(backend) == await seen_of(opener, tmp_path / "fresh", content.without(gone))
    assert await backend.index.documents() == set(content.document_ids) - set(gone)


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_replaced_document_is_as_if_it_had_always_been_so(
    backend: Backend, opener: Opener, tmp_path: Path, seed: int
) -> None:
    await fill(backend, corpus(seed + 100, documents=9))
    await fill(backend, corpus(seed, documents=9))
    assert await seen(backend) == await seen_of(opener, tmp_path / "fresh", corpus(seed, documents=9))


async def test_the_number_of_commits_makes_no_difference(backend: Backend, opener: Opener, tmp_path: Path) -> None:
    for document_id in CONTENT.document_ids:
        await fill(backend, CONTENT.without(set(CONTENT.document_ids) - {document_id}))
    assert await seen(backend) == await seen_of(opener, tmp_path / "fresh", CONTENT)


async def test_removing_what_is_not_there_is_no_error(backend: Backend) -> None:
    await backend.index.remove(["nothing"])
    await backend.index.commit()
    await fill(backend, CONTENT)
    before = await seen(backend)
    await backend.index.remove(["nothing", "'; drop table"])
    await backend.index.commit()
    assert await seen(backend) == before


async def test_an_addition_taken_back_before_commit_never_was(backend: Backend) -> None:
    await backend.index.add(CONTENT.batch())
    await backend.index.remove(CONTENT.document_ids)
    await backend.index.commit()
    assert await backend.index.documents() == frozenset()
    assert not any(await seen(backend))


async def test_everything_can_be_removed_and_added_again(backend: Backend) -> None:
    await fill(backend, CONTENT)
    before = await seen(backend)
    await backend.index.remove(CONTENT.document_ids)
    await backend.index.commit()
    assert not any(await seen(backend))
    assert await backend.index.documents() == frozenset()
    await fill(backend, CONTENT)
    assert await seen(backend) == before


async def test_clear_forgets_what_was_committed_and_what_was_not(backend: Backend) -> None:
    await fill(backend, CONTENT)
    await backend.index.add(corpus(22, prefix="x").batch())
    await backend.index.clear()
    await backend.index.commit()
    assert await backend.index.documents() == frozenset()
    assert not any(await seen(backend))


async def test_cleared_and_filled_in_one_commit_is_as_if_filled_afresh(
    backend: Backend, opener: Opener, tmp_path: Path
) -> None:
    await fill(backend, corpus(22, prefix="x") + CONTENT)
    await backend.index.clear()
    await fill(backend, CONTENT)
    assert await backend.index.documents() == set(CONTENT.document_ids)
    assert await seen(backend) == await seen_of(opener, tmp_path / "fresh", CONTENT)


async def test_a_document_that_a_channel_has_no_use_for_is_still_listed(backend: Backend) -> None:
    only_cells = replace(CONTENT, records=tuple(r for r in CONTENT.records if r.measurement is not None))
    await fill(backend, only_cells)
    there = {r.document_id for r in only_cells.records}
    assert await backend.index.documents() == there
    await backend.index.remove(sorted(there)[:1])
    await backend.index.commit()
    assert await backend.index.documents() == set(sorted(there)[1:])


async def test_what_was_committed_is_there_after_reopening(durable: Opener, tmp_path: Path) -> None:
    async with durable(tmp_path / "index") as first:
        await fill(first, CONTENT)
        before = await seen(first)
        await first.index.add(corpus(22, prefix="x").batch())
    async with durable(tmp_path / "index") as second:
        assert await seen(second) == before
        assert await second.index.documents() == set(CONTENT.document_ids)


async def test_an_open_channel_sees_what_another_index_commits(durable: Opener, tmp_path: Path) -> None:
    async with durable(tmp_path / "index") as reader:
        assert not any(await seen(reader))
        async with durable(tmp_path / "index") as writer:
            await fill(writer, CONTENT)
            assert await seen(reader) == await seen(writer)
            await writer.index.remove(CONTENT.document_ids[:5])
            await writer.index.commit()
            assert await seen(reader) == await seen(writer)


WRITER = """
import asyncio, sys
from pathlib import Path
from tests.channel_backends import BACKENDS
from tests.corpora import corpus

async def main():
    content = corpus(21, documents=9)
    async with BACKENDS[sys.argv[1]](Path(sys.argv[2])) as backend:
        print("ready", flush=True)
        while True:
            for document_id in content.document_ids:
                await backend.index.add(content.without(set(content.document_ids) - {document_id}).batch())
                await backend.index.commit()
            await backend.index.remove(content.document_ids[::2])
            await backend.index.commit()

asyncio.run(main())
"""


@pytest.mark.parametrize("name", DURABLE)
async def test_after_a_kill_every_document_is_wholly_there_or_can_be_added_again(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    for delay_s in (0.03, 0.12):
        await write_and_kill(WRITER, name, folder, after_s=delay_s)
        async with BACKENDS[name](folder) as reopened:
            listed = await reopened.index.documents()
            shown = {hit.record_id.split("#")[0] for hits in await seen(reopened) for hit in hits}
            assert listed <= set(CONTENT.document_ids)
            assert shown <= set(CONTENT.document_ids)
            await fill(reopened, CONTENT)
            assert await seen(reopened) == await seen_of(BACKENDS[name], tmp_path / f"fresh{delay_s}", CONTENT)


@pytest.mark.parametrize("name", DURABLE)
async def test_a_damaged_index_is_unavailable_and_says_no_path(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    async with BACKENDS[name](folder) as backend:
        await fill(backend, CONTENT)
    for file in [folder] if folder.is_file() else [p for p in folder.rglob("*") if p.is_file()]:
        file.write_bytes(b"\x00damaged")
    async with BACKENDS[name](folder) as backend:
        with pytest.raises(ChannelUnavailable) as raised:
            await backend.channel.search(PROBES[0])
        assert str(tmp_path) not in raised.value.message
        with pytest.raises(ChannelUnavailable) as raised:
            await backend.index.documents()
        assert not any(word in raised.value.message for word in ("neo4j", "postgis", str(tmp_path)))  # it is a file
