"""Passages that lead on: a heading that a leading passage writes out, a name that the best one shares with few."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.model import (
    ChannelName,
    ChannelRank,
    Lifecycle,
    Locator,
    Query,
    Record,
    RecordKind,
    SourcedRecord,
    SourceFacts,
)
from retrieval.ranking.dedupe import Candidate
from retrieval.ranking.links import MOST_NAMES, leading_scores, shared_names
from retrieval.ranking.rerank import RerankWeights, rerank
from retrieval.scope import Scope, VisibilityClass

PUBLIC = VisibilityClass("default", "kansas", "public")
QUESTION = "Who was the mother of the founder of Lindsborg?"


def passage(record_id: str, heading: str, text: str, score: int) -> Candidate:
    record = Record(
        record_id, RecordKind.PASSAGE, "d", "s", PUBLIC.class_id, 0, text, Locator(0, len(text), 0, len(text)), heading
    )
    source = SourceFacts(
        "s", "d", "T", "CC0", None, None, "kansas", "sha256:0", "sha256:0", Lifecycle.ACTIVE, None, PUBLIC
    )
    rank = ChannelRank(ChannelName.FULLTEXT, "s", 1, 1.0)
    return Candidate(record_id, (SourcedRecord(record, source),), (rank,), score)


LEAD = passage("a", "Lindsborg", "The town was founded by Olof Olsson (a pastor) in 1869.", 1000)
NEXT = passage("b", "Olof Olsson", "He was born to Anna Jonsdotter.", 300)
OTHER = passage("c", "Emporia", "The mother of the founder was a teacher.", 600)


def leaders(*ordered: Candidate, question: str = QUESTION) -> dict[str, int]:
    return leading_scores(ordered, {c.record_id: c.score_nano for c in ordered}, question)


def test_what_the_best_passage_names_leads_on() -> None:
    assert leaders(LEAD, OTHER, NEXT) == {"b": 1000}


def test_the_score_is_that_of_the_passage_that_names_it() -> None:
    assert leaders(OTHER, passage("a", "Lindsborg", "Founded by Olof Olsson.", 450), NEXT) == {"b": 450}


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("", QUESTION),
        ("The Of And", QUESTION),
        ("Olof", "Who was Olof's mother?"),  # the question says it: nothing new
        ("Olsso", QUESTION),  # a part of a word is no name
        ("Anders Olsson", QUESTION),
    ],
)
def test_other_headings_lead_nowhere(heading: str, question: str) -> None:
    assert leaders(LEAD, passage("b", heading, "x", 300), question=question) == {}


def test_a_passage_does_not_lead_to_itself_or_its_namesake() -> None:
    assert leaders(passage("a", "Olof Olsson", "Olof Olsson wrote.", 900), NEXT) == {}


def test_what_stands_in_brackets_is_no_part_of_the_name() -> None:
    assert leaders(LEAD, passage("b", "Olof Olsson (pastor)", "x", 300)) == {"b": 1000}


def test_only_the_best_three_lead() -> None:
    above = [passage(f"x{n}", f"Town {n}", "Nothing.", 1000 - n) for n in range(3)]
    assert leaders(*above, passage("a", "Lindsborg", "Olof Olsson.", 500), NEXT) == {}
    assert leaders() == {}


@pytest.mark.parametrize(("linked", "order"), [(0, ["a", "c", "b"]), (400, ["a", "b", "c"]), (9000, ["a", "b", "c"])])
def test_the_weight_brings_it_up_and_never_past_what_leads_to_it(linked: int, order: list[str]) -> None:
    query = Query(QUESTION, Scope.of("default", [PUBLIC]), 10)
    weights = RerankWeights(fused=1000, coverage=0, entity=0, time=0, linked=linked)
    assert [c.record_id for c in rerank([OTHER, NEXT, LEAD], query=query, weights=weights)] == order


SON = passage("d", "Dalarna", "A pastor, Olof Olsson, left for Kansas.", 200)


def test_a_name_of_the_best_passage_leads_to_those_that_say_it_too() -> None:
    assert shared_names([LEAD, OTHER, SON], QUESTION) == {"d": 1000}


def test_a_name_counts_the_less_the_more_say_it() -> None:
    others = [passage(f"d{n}", "", "Olof Olsson again.", 100) for n in range(4)]
    assert shared_names([LEAD, *others], QUESTION) == dict.fromkeys(["d0", "d1", "d2", "d3"], 400)
    rarer = passage("e", "", "Olof Olsson, in 1869.", 100)
    assert shared_names([LEAD, *others, rarer], QUESTION)["e"] == 1000


@pytest.mark.parametrize(
    "text",
    [
        "Nothing of the kind.",
        "Lindsborg is a town.",  # the question says it: nothing new
        "olof's olssons",  # parts of words are no name
        "Olof went, and Olsson stayed.",  # not in one piece
        "The He And It",
    ],
)
def test_what_is_not_a_name_of_the_best_passage_leads_nowhere(text: str) -> None:
    assert shared_names([LEAD, passage("b", "", text, 300)], QUESTION) == {}


def test_only_the_best_passage_shares_its_names() -> None:
    first = passage("x", "Emporia", "A town without a founder.", 2000)
    assert shared_names([first, LEAD, SON], QUESTION) == {}
    assert shared_names([], QUESTION) == {}


def test_names_are_looked_for_up_to_a_bound() -> None:
    listed = ". ".join(f"Name{n}" for n in range(MOST_NAMES + 1))
    last = [passage("b", "", f"Name{MOST_NAMES - 1}", 1), passage("c", "", f"Name{MOST_NAMES}", 1)]
    assert shared_names([passage("a", "", listed, 2), *last], QUESTION) == {"b": 1000}


@pytest.mark.parametrize(("shared", "order"), [(0, ["a", "c", "d"]), (500, ["a", "d", "c"]), (9000, ["a", "d", "c"])])
def test_a_shared_name_brings_a_passage_up_and_never_past_the_best(shared: int, order: list[str]) -> None:
    query = Query(QUESTION, Scope.of("default", [PUBLIC]), 10)
    weights = RerankWeights(fused=1000, coverage=0, entity=0, time=0, shared=shared)
    assert [c.record_id for c in rerank([OTHER, SON, LEAD], query=query, weights=weights)] == order


SENTENCES = st.lists(st.sampled_from(["Olof Olsson", "Anna", "a pastor", "Kansas", "in 1869", "Lindsborg"]), max_size=5)


@given(st.lists(st.tuples(SENTENCES, SENTENCES, st.integers(0, 1000)), max_size=6))
def test_the_best_stays_and_no_passage_is_lost(told: list[tuple[list[str], list[str], int]]) -> None:
    found = [passage(str(n), ", ".join(h), ". ".join(t), score) for n, (h, t, score) in enumerate(told)]
    query = Query(QUESTION, Scope.of("default", [PUBLIC]), 10)
    plain, weighed = (
        rerank(found, query=query, weights=RerankWeights(1000, 0, 0, 0, shared=shared)) for shared in (0, 700)
    )
    assert {c.record_id for c in plain} == {c.record_id for c in weighed}
    assert [c.record_id for c in plain[:1]] == [c.record_id for c in weighed[:1]]
    assert all(0 < milli <= 1000 for milli in shared_names(plain, QUESTION).values())
