"""What `retrieval.channels.channel.Channel` promises, asked of every backend."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.model import Query, Run
from retrieval.scope import Scope
from tests.channel_backends import BACKENDS, Backend, Opener
from tests.corpora import ADMITTED, HIDDEN, TENANT, Corpus, corpus, hidden, probes, reworded

SEEDS = (1, 2, 3)
VISIBLE = corpus(7, documents=12)


@pytest.fixture(params=BACKENDS)
def opener(request: pytest.FixtureRequest) -> Opener:
    return BACKENDS[request.param]


@pytest.fixture
async def backend(opener: Opener, tmp_path: Path) -> AsyncIterator[Backend]:
    async with opener(tmp_path / "index") as opened:
        yield opened


@pytest.fixture
async def filled(backend: Backend) -> Backend:
    await fill(backend, VISIBLE)
    return backend


async def fill(backend: Backend, content: Corpus) -> None:
    for batch in content.batches():
        await backend.index.add(batch)
    await backend.index.commit()


async def ask_all(backend: Backend, queries: Sequence[Query]) -> list[Run]:
    return [await backend.channel.search(query) for query in queries]


async def test_the_probes_find_something(filled: Backend) -> None:
    runs = await ask_all(filled, probes(VISIBLE))
    assert all(run.channel == filled.channel.name and run.store == filled.channel.store for run in runs)
    assert sum(bool(run.hits) for run in runs) > len(runs) / 2


@pytest.mark.parametrize("top_k", [1, 2, 10, 100])
async def test_hits_are_ranked_from_one_without_gaps_and_at_most_top_k(filled: Backend, top_k: int) -> None:
    for run in await ask_all(filled, probes(VISIBLE, top_k=top_k)):
        assert [hit.rank for hit in run.hits] == list(range(1, len(run.hits) + 1))
        assert len(run.hits) <= top_k


async def test_no_record_stands_twice_in_a_run(filled: Backend) -> None:
    for run in await ask_all(filled, probes(VISIBLE, top_k=100)):
        ids = [hit.record_id for hit in run.hits]
        assert len(ids) == len(set(ids))


async def test_best_first_and_ties_by_record_id(filled: Backend) -> None:
    for run in await ask_all(filled, probes(VISIBLE, top_k=100)):
        order = [(-hit.score, hit.record_id) for hit in run.hits]
        assert order == sorted(order)


async def test_equal_records_tie_and_stand_in_order_of_their_ids_wherever_the_run_is_cut(backend: Backend) -> None:
    one = corpus(11, documents=1)
    copies = Corpus()
    for name in ("e", "c", "g", "a", "f", "b", "d"):
        copies += _renamed(one, f"{name}0")
    await fill(backend, copies)
    for query in probes(copies, top_k=100):
        whole = (await backend.channel.search(query)).hits
        for top_k in (1, 2, 3, 5, 8, 13):
            cut = (await backend.channel.search(replace(query, top_k=top_k))).hits
            assert cut == whole[:top_k]


async def test_a_smaller_top_k_gives_the_beginning_of_the_same_run(filled: Backend) -> None:
    for query in probes(VISIBLE, top_k=50):
        whole = await filled.channel.search(query)
        assert (await filled.channel.search(replace(query, top_k=3))).hits == whole.hits[:3]


async def test_only_admitted_records_are_returned(filled: Backend) -> None:
    await fill(filled, hidden(8, documents=12))
    admitted = {r.record_id for r in VISIBLE.records}
    for run in await ask_all(filled, probes(VISIBLE, top_k=100)):
        named = [i for hit in run.hits for i in (hit.computed.inputs if hit.computed else (hit.record_id,))]
        assert set(named) <= admitted


@pytest.mark.parametrize("seed", SEEDS)
async def test_hidden_documents_change_no_rank_score_or_record(backend: Backend, seed: int) -> None:
    content = corpus(seed, documents=9)
    await fill(backend, content)
    before = await ask_all(backend, probes(content, top_k=20))
    unseen = hidden(seed, documents=12)
    await fill(backend, unseen)
    assert await ask_all(backend, probes(content, top_k=20)) == before
    await backend.index.remove(unseen.document_ids)
    await backend.index.commit()
    assert await ask_all(backend, probes(content, top_k=20)) == before


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_narrow_scope_equals_a_corpus_of_nothing_else(opener: Opener, tmp_path: Path, seed: int) -> None:
    content = corpus(seed, documents=12)
    for number, visible in enumerate(content.classes):
        scope = Scope.of(TENANT, [visible])
        only = content.without(d.facts.document_id for d in content.documents if d.facts.visibility != visible)
        async with opener(tmp_path / f"all{number}") as everything, opener(tmp_path / f"one{number}") as alone:
            await fill(everything, content)
            await fill(alone, only)
            queries = probes(content, top_k=20, scope=scope)
            assert await ask_all(everything, queries) == await ask_all(alone, queries)


async def test_an_empty_scope_sees_nothing(filled: Backend) -> None:
    for run in await ask_all(filled, probes(VISIBLE, scope=Scope(TENANT, frozenset()))):
        assert run.hits == ()


async def test_classes_without_documents_see_nothing(filled: Backend) -> None:
    scope = Scope.of(TENANT, [c for c in HIDDEN if c.tenant == TENANT])
    for run in await ask_all(filled, probes(VISIBLE, scope=scope)):
        assert run.hits == ()


async def test_another_tenants_scope_sees_nothing(filled: Backend) -> None:
    for run in await ask_all(filled, probes(VISIBLE, scope=Scope.of("other", HIDDEN))):
        assert run.hits == ()


async def test_a_scope_never_takes_a_class_of_another_tenant() -> None:
    assert Scope.of("other", ADMITTED).class_ids == frozenset()


async def test_an_index_that_was_never_written_gives_empty_runs(backend: Backend) -> None:
    for run in await ask_all(backend, probes(VISIBLE)):
        assert run.hits == ()


@pytest.mark.parametrize("top_k", [0, -1])
async def test_nothing_asked_for_is_nothing_returned(filled: Backend, top_k: int) -> None:
    for run in await ask_all(filled, probes(VISIBLE, top_k=top_k)):
        assert run.hits == ()


STRANGE = [
    "",
    " \t\n",
    "?",
    "\x00\x01\x7f",
    "\ud800 lone surrogate \udfff",
    "東京 タワー 🚜 Élan",
    "E\u0301lan",
    "a\u202eb\u200bc",
    "x" * 100_000,
    "railroad " * 5_000,
]


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
async def test_any_text_is_answered_inside_the_scope(filled: Backend, text: str) -> None:
    admitted = {r.record_id for r in VISIBLE.records}
    run = await filled.channel.search(reworded(probes(VISIBLE)[0], text))
    named = {i for hit in run.hits for i in (hit.computed.inputs if hit.computed else (hit.record_id,))}
    assert named <= admitted


SYNTAX = ["*:*", ")(", '"', "' ; --", "^~*?", "[* TO *]", "{$ne: 1}", "\\", "/.*/", "&& ||", "+ -", "<<>>", "%_"]


@pytest.mark.parametrize("syntax", SYNTAX)
async def test_no_store_syntax_in_the_text_has_an_effect(filled: Backend, syntax: str) -> None:
    query = probes(VISIBLE, top_k=50)[0]
    without = "".join(c if c.isalnum() else " " for c in syntax)
    plain = await filled.channel.search(reworded(query, f"{without} {query.text} {without}"))
    assert await filled.channel.search(reworded(query, f"{syntax} {query.text} {syntax}")) == plain


@pytest.mark.parametrize(
    "text", ["record_id:d0", "document_id:d0 railroad", "NOT railroad", "railroad AND NOT railroad"]
)
async def test_operators_and_field_names_are_words(filled: Backend, text: str) -> None:
    query = probes(VISIBLE, top_k=50)[0]
    words = text.replace(":", " ").replace("_", " ")
    assert await filled.channel.search(reworded(query, text)) == await filled.channel.search(reworded(query, words))


async def test_asking_twice_gives_the_same_run(filled: Backend) -> None:
    assert await ask_all(filled, probes(VISIBLE)) == await ask_all(filled, probes(VISIBLE))


async def test_concurrent_searches_give_what_they_give_one_by_one(filled: Backend) -> None:
    queries = probes(VISIBLE) * 4
    one_by_one = await ask_all(filled, queries)
    assert await asyncio.gather(*(filled.channel.search(q) for q in queries)) == one_by_one


async def test_a_cancelled_search_ends_and_the_channel_goes_on(filled: Backend) -> None:
    query = probes(VISIBLE)[0]
    expected = await filled.channel.search(query)
    for yields in range(6):
        task = asyncio.create_task(filled.channel.search(query))
        for _ in range(yields):
            await asyncio.sleep(0)
        if not task.done():
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    assert await filled.channel.search(query) == expected


async def test_closing_does_not_wait_for_ever(opener: Opener, tmp_path: Path) -> None:
    async with opener(tmp_path / "closing") as backend:
        await fill(backend, VISIBLE)
        task = asyncio.create_task(backend.channel.search(probes(VISIBLE)[0]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def _renamed(content: Corpus, document_id: str) -> Corpus:
    """The same words in another document."""
    old = content.document_ids[0]

    def new(record_id: str) -> str:
        return record_id.replace(f"{old}#", f"{document_id}#")

    return Corpus(
        tuple(replace(d, facts=replace(d.facts, document_id=document_id)) for d in content.documents),
        tuple(replace(r, record_id=new(r.record_id), document_id=document_id) for r in content.records),
        tuple(replace(e, document_id=document_id) for e in content.entries),
        tuple(replace(r, document_id=document_id, record_id=new(r.record_id)) for r in content.relationships),
        tuple(replace(m, document_id=document_id, record_id=new(m.record_id)) for m in content.mentions),
    )
