"""Wordings that ask what another one asks, and those near them that ask something else."""

from __future__ import annotations

import pytest

from ai.intent.lexicon import Lexicon
from ai.intent.plan_ids import ids_of
from ai.intent.reader import read_intent
from ai.model import MapContext
from retrieval.algebra.domain import Domain, FigureKind
from retrieval.algebra.operations import Operation
from retrieval.gazetteer import Gazetteer
from retrieval.index import GazetteerEntry
from retrieval.model import EntityRef
from tests.unit.test_intent import GAZETTEER, POP, RELATIONS

ORCHARDS = Lexicon.of(
    GAZETTEER,
    Domain(
        (
            FigureKind("orchards", "ha", "county"),
            FigureKind(POP, "people", "county"),
            FigureKind("wheat", "t", "county"),
        ),
        RELATIONS,
    ),
)


def operations(question: str) -> tuple[Operation, ...]:
    return read_intent(question, MapContext(), lexicon=ORCHARDS).intent.operations


SAME = [
    ("Which counties had fewer people in 1930 than in 1900?", "Which counties lost people between 1900 and 1930?"),
    ("Which counties had more people in 1900 than in 1930?", "Which counties lost people between 1900 and 1930?"),
    ("How many counties had more people in 1930 than in 1900?", "How many counties gained people between 1900 and 1930?"),
    ("Which counties did not have more people in 1930 than 1900?", "Which counties did not gain people between 1900 and 1930?"),
    ("Which counties had more orchards in 1930 than in 1900?", "Which counties gained orchards between 1900 and 1930?"),
    ("Which county came second by population in 1930?", "Which county was the second highest by population in 1930?"),
    ("Which county was third in population in 1930?", "Which county was the third highest by population in 1930?"),
    ("Which county ranked third by orchards in 1930?", "Which county had the third most orchards in 1930?"),
    ("Which county was the most sparsely populated in 1930?", "Which county was the least densely populated in 1930?"),
    ("Which county was the most thinly populated in 1930?", "Which county was the least densely populated in 1930?"),
    ("Which county was the least sparsely populated in 1930?", "Which county was the most densely populated in 1930?"),
    (
        "What was the population density of Shawnee County in 1930, in people per square mile?",
        "How many people per square mile lived in Shawnee County in 1930?",
    ),
    (
        "I am looking for counties with both more than 5000 people and at least 50 orchards in 1930",
        "Which counties had more than 5000 people and at least 50 orchards in 1930?",
    ),
    ("How far is it in a straight line from Shawnee County to Douglas County?", "How far is it from Shawnee County to Douglas County?"),
    ("What was the orchard area of Shawnee County in 1930?", "What was the orchards of Shawnee County in 1930?"),
    ("How large was the orchard area of Shawnee County in 1930, in hectares?", "What was the orchards of Shawnee County in 1930?"),
    ("How many hectares of orchards did Shawnee County have in 1930?", "How many orchards did Shawnee County have in 1930?"),
    ("How many tonnes of wheat did Shawnee County have in 1930?", "How much wheat did Shawnee County have in 1930?"),
    ("Which counties had at least 655 hectares of orchards in 1930?", "Which counties had at least 655 orchards in 1930?"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME, ids=[one for one, _ in SAME])
def test_two_wordings_ask_for_the_same(one: str, other: str) -> None:
    assert operations(one) == operations(other) != ()


@pytest.mark.parametrize(
    "question",
    [
        "Which counties had at most 10 fewer people in 1930 than in 1900?",
        "Which counties had 1000 more people in 1930 than in 1900?",
        "Which counties had more orchards in 1930 than people in 1900?",
        "Which counties had more people in 1930 than in 1930?",
        "Which county was second in 1930?",
        "What was the orchard area of Shawnee County in 1930, in square kilometres?",
        "How many hectares of wheat did Shawnee County have in 1930?",
        "How many tonnes of orchards did Shawnee County have in 1930?",
        "What was the wheat area of Shawnee County in 1930?",
        "What was the population density of Shawnee County in 1930, in orchards per square mile?",
    ],
)
def test_what_asks_for_something_else_is_not_read(question: str) -> None:
    assert operations(question) == ()


TAMBER = [
    GazetteerEntry(EntityRef(f"{kind}:{name.lower()}", name, kind), (name,), "c", "d")
    for kind, name in (("district", "Tamber"), ("town", "Tamber"), ("district", "Marl"), ("town", "Quern"))
]
DISTRICTS = Lexicon.of(
    Gazetteer(TAMBER),
    Domain(
        (FigureKind(POP, "people", "district"), FigureKind(POP, "people", "town"), FigureKind("schools", "", "town"))
    ),
)


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("What was the population of the town of Tamber in 2010?", ("town:tamber",)),
        ("What was the population of Tamber district in 2010?", ("district:tamber",)),
        ("How many schools did Tamber have in 2010?", ("town:tamber",)),
        ("How many schools did Tamber district have in 2010?", ()),
        ("How many schools did the district of Tamber have in 2010?", ()),
        ("What was the population of the town of Marl in 2010?", ()),
        ("What was the population of the district of Quern in 2010?", ()),
        ("What was the population of Tamber in 2010?", ("district:tamber", "town:tamber")),
        ("What was the population of Quern in 2010?", ("town:quern",)),
    ],
)
def test_a_name_of_two_kinds_is_of_the_one_that_is_said(question: str, places: tuple[str, ...]) -> None:
    reading = read_intent(question, MapContext(), lexicon=DISTRICTS)
    assert ids_of(reading.intent.operations) == places
    assert [each.code for each in reading.overridden] == ["SHARED_NAME"] * (len(places) > 1)


NAMESAKES = Lexicon.of(
    Gazetteer(
        [
            GazetteerEntry(EntityRef(f"town:{place}", name, "town"), (name,), "c", "d")
            for place, name in (("marl-1", "Marl"), ("marl-2", "Marl"), ("quern", "Quern"))
        ]
    ),
    Domain((FigureKind(POP, "people", "town"),)),
)


@pytest.mark.parametrize(
    "question",
    [
        "How far is Marl from Quern?",
        "How far is Quern from Marl?",
        "Did Marl grow between 2000 and 2010?",
        "Which towns are within 20 km of Marl?",
        "Which towns had a larger population than Marl in 2010?",
        "How much larger was the population of Quern than that of Marl in 2010?",
    ],
)
def test_of_places_that_nothing_tells_apart_none_is_taken(question: str) -> None:
    reading = read_intent(question, MapContext(), lexicon=NAMESAKES)
    assert reading.intent.operations == () and reading.intent.reading == ""
    assert [each.message for each in reading.overridden] == [
        "“Marl” is the name of several towns, and nothing says which is meant."
    ]
    assert read_intent(question.replace("Marl", "Quern"), MapContext(), lexicon=NAMESAKES).overridden == ()


def test_the_figures_of_all_of_them_are_given() -> None:
    reading = read_intent("What was the population of Marl in 2010?", MapContext(), lexicon=NAMESAKES)
    assert ids_of(reading.intent.operations) == ("town:marl-1", "town:marl-2")


def test_of_two_kinds_the_one_that_was_taken_is_named() -> None:
    reading = read_intent("Did Tamber grow between 2000 and 2010?", MapContext(), lexicon=DISTRICTS)
    (told,) = reading.overridden
    assert told.message == "“Tamber” is the name of places of several kinds, district and town; the district was taken."
