"""What full text adds to the channel's contract: stemming, phrases, and weights taken over the admitted classes
together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.fulltext.tantivy import TantivyChannel, TantivyIndex
from retrieval.index import IndexBatch
from retrieval.model import Locator, Query, Record, RecordKind
from retrieval.scope import Scope, VisibilityClass
from tests.corpora import ADMITTED, HIDDEN, TENANT

LARGE, SMALL = ADMITTED[:2]
EVERYTHING = Scope.of(TENANT, ADMITTED)


def passage(record_id: str, text: str, visible: VisibilityClass = LARGE) -> Record:
    locator = Locator(0, len(text), 0, len(text.encode()))
    return Record(record_id, RecordKind.PASSAGE, record_id, "s", visible.class_id, 0, text, locator)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[TantivyIndex]:
    opened = TantivyIndex(tmp_path)
    yield opened
    await opened.aclose()


@pytest.fixture
async def channel(tmp_path: Path) -> AsyncIterator[TantivyChannel]:
    opened = TantivyChannel(tmp_path)
    yield opened
    await opened.aclose()


async def put(index: TantivyIndex, *records: Record) -> None:
    await index.add(IndexBatch(TENANT, records))
    await index.commit()


async def found(channel: TantivyChannel, text: str, scope: Scope = EVERYTHING) -> list[str]:
    return [hit.record_id for hit in (await channel.search(Query(text, scope, 10))).hits]


async def test_forms_of_a_word_find_each_other(index: TantivyIndex, channel: TantivyChannel) -> None:
    await put(index, passage("a", "The settlers were farming."), passage("b", "Nothing of that."))
    assert await found(channel, "Did a settler farm?") == ["a"]


async def test_accents_and_case_make_no_difference(index: TantivyIndex, channel: TantivyChannel) -> None:
    await put(index, passage("a", "The ÉLAN of the pioneers"))
    assert await found(channel, "elan") == ["a"]


async def test_the_heading_is_searched_and_the_statement_instead_of_the_row(
    index: TantivyIndex, channel: TantivyChannel
) -> None:
    row = replace(passage("a", "Shawnee;85200"), heading="Census", statement="Shawnee had 85,200 inhabitants.")
    await put(index, row)
    assert await found(channel, "census") == await found(channel, "inhabitants") == ["a"]


async def test_cells_are_not_indexed(index: TantivyIndex, channel: TantivyChannel) -> None:
    await put(index, replace(passage("a", "85200"), kind=RecordKind.OBSERVATION, statement="Shawnee had 85,200."))
    assert await found(channel, "Shawnee 85200") == []
    assert await index.documents() == {"a"}


async def test_a_quoted_phrase_lifts_the_passage_that_has_it(index: TantivyIndex, channel: TantivyChannel) -> None:
    apart = passage("a", "ruffians came, border men fled, ruffians and border again")
    together = passage("b", "and then came some of the border ruffians from the far east of the river")
    await put(index, apart, together)
    assert await found(channel, "border ruffians") == ["a", "b"]
    assert await found(channel, '"border ruffians"') == ["b", "a"]


async def test_equal_texts_weigh_the_same_in_a_small_and_in_a_large_class(
    index: TantivyIndex, channel: TantivyChannel
) -> None:
    many = [passage(f"m{n:02d}", "wheat and barley grew here") for n in range(30)]
    few = [passage("a", "wheat and barley grew here", SMALL), passage("b", "sand and gravel lay there", SMALL)]
    await put(index, *many, *few)
    run = await channel.search(Query("wheat gravel", EVERYTHING, 40))
    scores = {hit.record_id: hit.score for hit in run.hits}
    assert run.hits[0].record_id == "b"
    assert scores["a"] == pytest.approx(scores["m00"], rel=0.01)


async def test_a_class_outside_the_scope_has_no_say_in_the_weights(
    index: TantivyIndex, channel: TantivyChannel
) -> None:
    await put(index, passage("a", "wheat grew here"), passage("b", "salt lay there"))
    before = await channel.search(Query("wheat salt", EVERYTHING, 10))
    await put(index, *(passage(f"h{n}", "salt salt salt", HIDDEN[0]) for n in range(20)))
    assert await channel.search(Query("wheat salt", EVERYTHING, 10)) == before


async def test_a_removed_text_is_gone_from_the_folder(index: TantivyIndex, tmp_path: Path) -> None:
    await put(index, passage("a", "zanzibar quagmire"), passage("b", "wheat"))
    await index.remove(["a"])
    await index.commit()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"zanzibar" not in file.read_bytes()
    assert len(list(tmp_path.glob("class-*"))) == 1
