"""The second look: each feature moves an item as it says, and ties fall back to the fused order."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.model import Computation, Intent, Query, SourcedRecord, TimeRange
from retrieval.ranking.dedupe import Candidate
from retrieval.ranking.rerank import RerankWeights, rerank
from retrieval.scope import Scope
from tests.corpora import COUNTIES, MEASURE, Corpus, corpus, probe, table_document, visibility

TABLE: Corpus = table_document("t", visibility(), random.Random(1))
CELLS = [s for s in TABLE.sourced().values() if s.record.measurement is not None]
ROWS = [s for s in TABLE.sourced().values() if s.record.measurement is None]
SCOPE = TABLE.scope()


def item(sourced: SourcedRecord, *, score: int = 1000, computed: Computation | None = None) -> Candidate:
    record_id = sourced.record.record_id if computed is None else computed.record_id
    return Candidate(record_id, (sourced,), (), score, computed)


def prose(record_id: str, text: str, **facts: object) -> Candidate:
    base = ROWS[0]
    record = replace(base.record, record_id=record_id, text=text, statement=None, entities=(), **facts)  # type: ignore[arg-type]
    return item(replace(base, record=record))


def order(candidates: list[Candidate], query: Query, **weights: int) -> list[str]:
    rules = RerankWeights(**({"fused": 0, "coverage": 0, "entity": 0, "time": 0, "direct": 0} | weights))
    return [c.record_id for c in rerank(candidates, query=query, weights=rules)]


def ask(text: str, intent: Intent | None = None) -> Query:
    return Query(text, Scope("default", frozenset()), 5, intent or Intent())


def test_without_a_feature_the_fused_order_stays() -> None:
    items = [replace(prose("b", "x"), score_nano=5), replace(prose("a", "x"), score_nano=5), prose("c", "x")]
    assert order(items, ask("river")) == ["c", "a", "b"]


def test_coverage_counts_the_questions_words_in_any_form() -> None:
    items = [prose("a", "Nothing of the kind."), prose("b", "Dust."), prose("c", "A dust STORM covered all counties.")]
    assert order(items, ask("Which county did the dust storms cover?"), coverage=1000) == ["c", "b", "a"]


def test_the_heading_and_title_count_too() -> None:
    items = [prose("a", "They signed."), prose("b", "They signed.", heading="Treaty of 1825")]
    assert order(items, ask("treaty"), coverage=1000) == ["b", "a"]


def test_an_item_about_the_named_entity_rises() -> None:
    place = CELLS[0].record.entities[0]
    other = next(c for c in CELLS if c.record.entities[0] != place)
    query = probe(place, 1870, SCOPE)
    assert order([item(other), item(CELLS[0])], query, entity=1000)[0] == CELLS[0].record.record_id


def test_an_item_of_the_asked_time_rises() -> None:
    early, late = item(CELLS[0]), item(CELLS[3])
    intent = Intent(times=(TimeRange.year(1900),))
    assert order([early, late], ask("x", intent), time=1000)[0] == late.record_id


def test_a_computed_answer_to_an_operation_comes_first_whatever_else_speaks_for_others() -> None:
    made = Computation("lookup", {}, (CELLS[0].record.record_id,), "sha256:0", {}, "It is so.")
    query = probe(COUNTIES[0], 1870, SCOPE)
    loud = replace(prose("a", query.text), score_nano=10**9)
    computed = item(CELLS[0], score=1, computed=made)
    assert rerank([loud, computed], query=query, weights=RerankWeights())[0] is computed


def test_without_an_operation_a_computed_item_has_no_such_right() -> None:
    made = Computation("count", {}, (CELLS[0].record.record_id,), "sha256:0", {}, "One.")
    items = [item(CELLS[0], score=1, computed=made), prose("a", "The river flood.")]
    assert rerank(items, query=ask("river flood"), weights=RerankWeights())[0].record_id == "a"


@pytest.mark.parametrize("wrong", ["place", "year", "measure"])
def test_only_the_cell_of_the_asked_place_time_and_measure_is_a_direct_answer(wrong: str) -> None:
    place, year = CELLS[0].record.entities[0], 1870
    query = probe(place, year, SCOPE)
    if wrong == "place":
        query = probe(next(c for c in COUNTIES if c != place), year, SCOPE)
    if wrong == "year":
        query = probe(place, 1880, SCOPE)
    if wrong == "measure":
        query = replace(query, intent=replace(query.intent, measures=("area",)))
    first = order([prose("#", "x"), item(CELLS[0])], query, direct=1000)[0]
    assert first == "#"
    right = probe(place, year, SCOPE)
    assert right.intent.measures == (MEASURE,)
    assert order([prose("#", "x"), item(CELLS[0])], right, direct=1000)[0] == CELLS[0].record.record_id


@given(st.integers(0, 2**16), st.randoms())
@settings(max_examples=25)
def test_the_given_order_has_no_say(seed: int, chance: random.Random) -> None:
    records = list(corpus(seed).sourced().values())
    items = [item(s, score=1 + n // 3) for n, s in enumerate(records)]
    shuffled = list(items)
    chance.shuffle(shuffled)
    query = probe(COUNTIES[seed % 4], 1880, SCOPE)
    once = rerank(items, query=query, weights=RerankWeights())
    assert rerank(shuffled, query=query, weights=RerankWeights()) == once
    assert sorted(c.record_id for c in once) == sorted(c.record_id for c in items)


def test_nothing_gives_nothing() -> None:
    assert rerank([], query=ask(""), weights=RerankWeights()) == ()
    assert order([replace(prose("a", ""), score_nano=0)], ask(""), fused=1, coverage=1) == ["a"]
