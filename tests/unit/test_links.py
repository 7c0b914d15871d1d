"""Passages that lead on: a heading that a leading passage writes out."""

from __future__ import annotations

import pytest

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
from retrieval.ranking.links import leading_scores
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
