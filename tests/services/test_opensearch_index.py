"""The write side on a real OpenSearch: killed, taken over, refused, changed behind its back; and searches beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from opensearchpy import AsyncOpenSearch

from retrieval.errors import ChannelFault, ChannelUnavailable, IndexNotReady
from retrieval.fulltext.opensearch_schema import IndexNames, class_key, creation
from retrieval.model import Hit, Run
from retrieval.scope import Scope
from tests.channel_backends import Backend, Opener
from tests.channel_backends import tantivy as tantivy_backend
from tests.contracts.test_channel_index import CONTENT, PROBES, WRITER, fill, seen, seen_of
from tests.corpora import ADMITTED, TENANT, Corpus, corpus, probes, reworded
from tests.services.opensearch_backend import DEADLINE_S, opener_on, prefix_of, wipe
from tests.writer_kills import write_and_kill

pytestmark = pytest.mark.services
SERVER_WRITER = WRITER.replace(
    "tests.channel_backends import BACKENDS", "tests.services.opensearch_backend import opener_on"
).replace("BACKENDS[sys.argv[1]](Path(sys.argv[2]))", "opener_on(sys.argv[1])(Path(sys.argv[2]))")


@pytest.fixture
async def opener(opensearch_url: str) -> AsyncIterator[Opener]:
    yield opener_on(opensearch_url)
    await wipe(opensearch_url)


@pytest.fixture
async def backend(opener: Opener, tmp_path: Path) -> AsyncIterator[Backend]:
    async with opener(tmp_path / "index") as opened:
        yield opened


@pytest.fixture
def names(tmp_path: Path) -> IndexNames:
    return IndexNames(prefix_of(tmp_path / "index"))


@pytest.fixture
async def client(opensearch_url: str) -> AsyncIterator[AsyncOpenSearch]:
    async with AsyncOpenSearch(opensearch_url, timeout=DEADLINE_S) as opened:
        yield opened


@pytest.mark.parametrize("after_s", [0.1, 1.0])
async def test_after_a_writer_is_killed_every_document_is_wholly_there(
    opensearch_url: str,
    opener: Opener,
    backend: Backend,
    tmp_path: Path,
    after_s: float,
) -> None:
    folder = tmp_path / "index"
    await write_and_kill(SERVER_WRITER, opensearch_url, folder, after_s=after_s, watching=backend.index)
    listed = await backend.index.documents()
    assert listed <= set(CONTENT.document_ids)
    stands = CONTENT.without(set(CONTENT.document_ids) - listed)
    assert await seen(backend) == await seen_of(opener, tmp_path / "stands", stands)
    await fill(backend, CONTENT)
    assert await seen(backend) == await seen_of(opener, tmp_path / "fresh", CONTENT)


async def test_a_second_writer_takes_the_index_and_the_first_is_told(opener: Opener, tmp_path: Path) -> None:
    other = corpus(22, prefix="x")
    async with opener(tmp_path / "index") as first, opener(tmp_path / "index") as second:
        await first.index.add(CONTENT.batch())
        await fill(second, other)
        with pytest.raises(ChannelUnavailable):
            await first.index.add(corpus(23, prefix="y").batch())
        with pytest.raises(ChannelUnavailable, match="add it again"):
            await first.index.commit()
        assert await second.index.documents() == set(other.document_ids)
        await fill(first, CONTENT)
        assert await first.index.documents() == {*CONTENT.document_ids, *other.document_ids}


async def test_two_writers_of_one_state_cannot_both_commit(opener: Opener, tmp_path: Path) -> None:
    async with opener(tmp_path / "index") as first, opener(tmp_path / "index") as second:
        await fill(first, CONTENT)
        await second.index.remove(CONTENT.document_ids[:2])
        await first.index.remove(CONTENT.document_ids[2:4])  # begins after the second and clears its stage away
        with pytest.raises(ChannelUnavailable):
            await second.index.commit()
        await first.index.commit()
        assert await second.index.documents() == set(CONTENT.document_ids) - set(CONTENT.document_ids[2:4])


async def test_searches_beside_a_rebuild_see_the_old_index_or_the_new(backend: Backend) -> None:
    """Re-indexing never leaves a moment without an answer."""
    await fill(backend, CONTENT)
    before = await seen(backend)
    assert any(before)

    async def rebuild() -> None:
        for _ in range(2):
            await backend.index.clear()
            await fill(backend, CONTENT)

    task, looks = asyncio.create_task(rebuild()), 0
    while not task.done():
        assert await seen(backend) == before
        looks += 1
    await task
    assert looks > 1


async def test_a_search_beside_commits_sees_each_whole_or_not_at_all(
    backend: Backend, opener: Opener, tmp_path: Path
) -> None:
    one, other = corpus(31, documents=6), corpus(32, documents=6)
    states = [await seen_of(opener, tmp_path / f"alone{i}", content) for i, content in enumerate((one, other))]
    await fill(backend, one)

    async def alternate() -> None:
        for content in (other, one, other):
            await fill(backend, content)

    task, looks = asyncio.create_task(alternate()), 0
    while not task.done():
        found = await seen(backend)
        assert all(hits in (states[0][i], states[1][i]) for i, hits in enumerate(found))
        looks += 1
    await task
    assert looks > 1


async def test_a_refused_entry_is_told_and_nothing_of_its_batch_is_seen(backend: Backend) -> None:
    await fill(backend, CONTENT)
    before = await seen(backend)
    refused = _with_an_id_that_no_server_takes(corpus(22, prefix="x"))
    with pytest.raises(ChannelFault, match=r"refused 1 of \d+ entries"):
        await backend.index.add(refused.batch())
    await backend.index.commit()
    assert await seen(backend) == before
    assert await backend.index.documents() == set(CONTENT.document_ids)


async def test_work_that_was_lost_with_a_refused_entry_is_told_at_the_commit(backend: Backend) -> None:
    await backend.index.add(CONTENT.batch())
    with pytest.raises(ChannelFault):
        await backend.index.add(_with_an_id_that_no_server_takes(corpus(22, prefix="x")).batch())
    with pytest.raises(ChannelUnavailable, match="add it again"):
        await backend.index.commit()
    assert await backend.index.documents() == frozenset()
    await fill(backend, CONTENT)
    assert await backend.index.documents() == set(CONTENT.document_ids)


async def test_an_index_of_another_analysis_is_never_searched_and_a_rebuild_mends_it(
    backend: Backend, client: AsyncOpenSearch, names: IndexNames, opener: Opener, tmp_path: Path
) -> None:
    await fill(backend, CONTENT)
    await _replace(client, names, _other_analysis())
    await _stays_unready_until_rebuilt(backend)
    assert await seen(backend) == await seen_of(opener, tmp_path / "fresh", CONTENT)


@pytest.mark.parametrize(
    "mappings",
    [{}, {"properties": {"text": {"type": "keyword"}, "record_id": {"type": "text"}}}],
    ids=["none", "wrong"],
)
async def test_a_wrong_mapping_is_never_searched_and_a_rebuild_mends_it(
    backend: Backend, client: AsyncOpenSearch, names: IndexNames, mappings: dict[str, object]
) -> None:
    await fill(backend, CONTENT)
    await _replace(client, names, {"mappings": mappings})
    await _stays_unready_until_rebuilt(backend)


async def test_a_lost_index_is_no_empty_class(
    backend: Backend, client: AsyncOpenSearch, names: IndexNames, opener: Opener, tmp_path: Path
) -> None:
    await fill(backend, CONTENT)
    lost, *others = CONTENT.classes
    alias = names.alias(class_key(lost.class_id))
    await client.indices.delete(index=next(iter(await client.indices.get_alias(name=alias))))
    with pytest.raises(IndexNotReady, match="exhibit index rebuild"):
        await backend.channel.search(PROBES[0])
    scope = Scope.of(TENANT, others)
    kept = CONTENT.without(d.facts.document_id for d in CONTENT.documents if d.facts.visibility == lost)
    for query in probes(kept, scope=scope, top_k=50):  # who may not see the lost class is not touched
        await backend.channel.search(query)
    assert await backend.index.documents() == set(kept.document_ids)  # so that a repair adds what is lost
    await fill(backend, CONTENT.without(kept.document_ids))
    assert await seen(backend) == await seen_of(opener, tmp_path / "fresh", CONTENT)


async def test_another_spelling_finds_the_word(backend: Backend) -> None:
    said = _saying("The labourers ploughed the land at Ft. Leavenworth, near St. Joseph.", CONTENT)
    await backend.index.add(said.batch())
    await backend.index.commit()
    scope = Scope.of(TENANT, ADMITTED)
    asked = ["laborers", "plowing", "Fort", "Saint Joseph", "LABOUR", "“Fort Leavenworth”"]
    for text in asked:
        query = reworded(replace(PROBES[0], scope=scope), text)
        assert (await backend.channel.search(query)).hits, text
    assert not (await backend.channel.search(reworded(PROBES[0], "Forty laboratories"))).hits


async def test_a_search_of_some_documents_is_the_whole_run_without_the_others(backend: Backend) -> None:
    await fill(backend, CONTENT)
    some = frozenset(CONTENT.document_ids[::2])
    for query in PROBES:
        whole = await backend.channel.search(replace(query, top_k=100))
        narrowed = await backend.channel.search(replace(query, top_k=100, documents=some))
        kept = [(h.record_id, h.score) for h in whole.hits if h.record_id.split("#")[0] in some]
        assert [(h.record_id, h.score) for h in narrowed.hits] == kept
        assert narrowed.ceiling == whole.ceiling
        assert not (await backend.channel.search(replace(query, documents=frozenset()))).hits
    many = frozenset(f"none{i}" for i in range(61_000)) | some
    assert (await backend.channel.search(replace(PROBES[0], documents=many))).hits


async def test_the_same_records_in_the_same_order_as_the_index_in_a_folder(backend: Backend, tmp_path: Path) -> None:
    content = corpus(5, documents=30)
    asked = probes(content, top_k=20)
    async with tantivy_backend(tmp_path / "folder") as folder:
        await fill(folder, content)
        expected = [await folder.channel.search(query) for query in asked]
    await fill(backend, content)
    found = [await backend.channel.search(query) for query in asked]
    shared = sum(len(_records(a) & _records(b)) for a, b in zip(found, expected, strict=True))
    assert shared >= 0.95 * sum(len(run.hits) for run in expected)
    for one, other in zip(found, expected, strict=True):
        assert one.ceiling * 2.2 == pytest.approx(other.ceiling, rel=0.01)  # Tantivy's scores hold a factor (k1 + 1)
    assert sum(a.hits[0].record_id == b.hits[0].record_id for a, b in zip(found, expected, strict=True)) >= 0.9 * len(
        asked
    )


def _records(run: Run) -> set[str]:
    return {hit.record_id for hit in run.hits}


def _with_an_id_that_no_server_takes(content: Corpus) -> Corpus:
    first, *others = content.records
    return replace(content, records=(replace(first, record_id="x" * 40_000), *others))


def _saying(text: str, content: Corpus) -> Corpus:
    record = next(r for r in content.records if r.measurement is None)
    return Corpus((), (replace(record, text=text, statement=None, heading=None),))


def _other_analysis() -> dict[str, object]:
    body = creation()
    settings = {**body["settings"], "analysis": {"analyzer": {"other": {"type": "standard"}}}}
    text = {"type": "text", "analyzer": "other"}
    return {
        "settings": settings,
        "mappings": {**body["mappings"], "properties": {**body["mappings"]["properties"], "text": text}},
    }


async def _replace(client: AsyncOpenSearch, names: IndexNames, body: dict[str, object]) -> None:
    """Puts an index of that making in the place of one that is published, as somebody else might."""
    key = class_key(CONTENT.classes[0].class_id)
    (published,) = await client.indices.get_alias(name=names.alias(key))
    other = names.new_version(key)
    await client.indices.create(index=other, body=body)
    actions = [{"remove_index": {"index": published}}, {"add": {"index": other, "alias": names.alias(key)}}]
    await client.indices.update_aliases(body={"actions": actions})


async def _stays_unready_until_rebuilt(backend: Backend) -> None:
    with pytest.raises(IndexNotReady, match="exhibit index rebuild"):
        await backend.channel.search(PROBES[0])
    with pytest.raises(IndexNotReady, match="exhibit index rebuild"):
        await backend.index.documents()
    with pytest.raises(IndexNotReady):
        await backend.index.add(CONTENT.batch())
    await backend.index.clear()
    await fill(backend, CONTENT)
    found: list[tuple[Hit, ...]] = await seen(backend)
    assert any(found)
    assert await backend.index.documents() == set(CONTENT.document_ids)
