"""A question is read in full or not at all: one word more never leaves the plan as it was, unless it changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.canonical import plan_json, plan_of
from ai.intent import planned, read_intent
from ai.intent.lexicon import Lexicon
from ai.intent.tokens import read_items
from ai.intent.words import CHANGES_NOTHING, DWELLING
from ai.model import MapContext
from retrieval.algebra.operations import Compare, Count, Lookup, Operation
from retrieval.algebra.plan import (
    Bordering,
    Foremost,
    Gap,
    Had,
    Inside,
    OneOf,
    Places,
    Rank,
    Select,
    Stated,
    Total,
    Value,
    Weigh,
    Where,
)
from retrieval.gazetteer import Gazetteer
from tests.unit.test_intent import CASES, DOUGLAS, KANSAS, LEXICON, SHAWNEE, TOPEKA, entry, read

POP = Value("population", 1930)
FAULTS: dict[str, tuple[Operation, ...]] = {
    "How many Black residents did Topeka have in 1900?": (),
    "How many white people lived in Topeka in 1900?": (),
    "What was the rural population of Topeka in 1900?": (),
    "How many people born in Missouri lived in Topeka in 1900?": (),
    "What is the largest city in western Kansas?": (),
    "How many people live in Topeka now?": (),
    "How many people did not live in Topeka in 1930?": (),
    "Which cities are not in Douglas County?": (
        Select(Places("city", (Inside(KANSAS), Inside(DOUGLAS, holds=False)))),
    ),
    "Which counties border neither Shawnee County nor Douglas County?": (
        Select(Places("county", (Inside(KANSAS), Bordering(SHAWNEE, holds=False), Bordering(DOUGLAS, holds=False)))),
    ),
    "Which cities are more than 50 km from Topeka?": (
        Select(Places("city", (Inside(KANSAS), Where(Gap(TOPEKA), low="50000", low_open=True))), Gap(TOPEKA)),
    ),
    "Which counties had fewer than 5,000 people in 1930?": (
        Select(Places("county", (Inside(KANSAS), Where(POP, high="5000", high_open=True))), POP),
    ),
    "Which counties had no more than 5,000 people in 1930?": (
        Select(Places("county", (Inside(KANSAS), Where(POP, high="5000"))), POP),
    ),
    "Which counties had between 20,000 and 30,000 people in 1930?": (
        Select(Places("county", (Inside(KANSAS), Where(POP, "20000", "30000"))), POP),
    ),
    "What was the largest county apart from Shawnee County in 1930?": (
        Rank(Places("county", (Inside(KANSAS), OneOf((SHAWNEE,), holds=False))), POP, "largest"),
    ),
    "What was the largest city outside Douglas County in 1930?": (
        Rank(Places("city", (Inside(KANSAS), Inside(DOUGLAS, holds=False))), POP, "largest"),
    ),
    "How many counties did Kansas have in 1870?": (Count("county", KANSAS, 1870),),
    "How many counties are there in Kansas in 1870?": (Count("county", KANSAS, 1870),),
    "How many counties did Kansas have before 1870?": (),
    "List all treaties of 1867": (Stated("treaty", from_day="1867-01-01", to_day="1867-12-31"),),
    "Which nation signed the most treaties?": (Stated("nation", via="treaty", way="most"),),
    "What was the combined population of the five most populous counties in 1930?": (
        Total("sum", Places("county", (Inside(KANSAS), Foremost(POP, "largest", 1, 5))), POP),
    ),
    "What was the combined population of the most populous county in 1930?": (),
    "How many people lived in the second most populous county in 1930?": (
        Rank(Places("county", (Inside(KANSAS),)), POP, "largest", 2),
    ),
    "How many counties had the most people in 1930?": (),
    "How many people lived in the two most populous counties in 1930?": (),
    "How many times as many people as Shawnee County did Douglas County have in 1930?": (
        Weigh(POP, (DOUGLAS, SHAWNEE), "ratio"),
    ),
    "How many people as Shawnee County did Douglas County have in 1930?": (),
    "Which counties had more than 5,000 people in 1930 but fewer than 9,000?": (
        Select(
            Places(
                "county",
                (Inside(KANSAS), Where(POP, low="5000", low_open=True), Where(POP, high="9000", high_open=True)),
            )
        ),
    ),
    "Which counties had more than 5,000 people in 1930 or fewer than 900?": (),
    "All counties except those that border Shawnee County and Shawnee County itself": (
        Select(Places("county", (Inside(KANSAS), Bordering(SHAWNEE, holds=False)))),
    ),
    "All counties except those that border Shawnee County": (),
    "Which nations signed treaties in both 1865 and 1867?": (
        Stated(
            "nation",
            via="treaty",
            having=(Had((), "1865-01-01", "1865-12-31"), Had((), "1867-01-01", "1867-12-31")),
        ),
    ),
    "Which nations signed treaties in both 1865, 1866 and 1867?": (),
    "Which nations signed treaties in 1867 but not in 1865?": (
        Stated(
            "nation",
            via="treaty",
            having=(Had((), "1867-01-01", "1867-12-31"), Had((), "1865-01-01", "1865-12-31", holds=False)),
        ),
    ),
    "Which nations did not sign treaties in 1867 but not in 1865?": (),
    "Did the Kansa sign a treaty in 1867 but not in 1865?": (),
    "In which year were the most treaties signed?": (Stated("treaty", way="busiest"),),
    "In which year did the most nations sign treaties?": (),
    "In which year were the fewest treaties signed?": (),
    "Which nations came before 1850?": (),
    "How many people live in the county that borders Shawnee County?": (),
    "How many people lived in the counties that border Shawnee County in 1930?": (
        Total("sum", Places("county", (Bordering(SHAWNEE),)), POP),
    ),
    "By how much did the population of Shawnee County exceed that of Douglas County in 1930?": (
        Compare("population", (SHAWNEE, DOUGLAS), 1930),
    ),
    "By how much did the population of Shawnee County exceed 5,000 in 1930?": (),
}


@pytest.mark.parametrize("question", FAULTS)
def test_what_was_answered_with_another_question_s_answer(question: str) -> None:
    assert read(question).operations == FAULTS[question]


ANSWERED = [question for question, operations in CASES if operations]
HARMLESS = {*CHANGES_NOTHING, *DWELLING}
STRANGE = (
    "rural", "western", "Black", "now", "nearly", "foreign-born", "twice", "€", "male", "seldom", "roughly", "only", "formerly",
    "annually", "half", "previously", "centuries",
)  # fmt: skip


@given(st.sampled_from(ANSWERED), st.sampled_from(STRANGE), st.integers(0, 40))
@settings(max_examples=300, deadline=None)
def test_a_word_that_nobody_knows_leaves_no_plan(question: str, word: str, place: int) -> None:
    words = question.rstrip("?").split()
    words.insert(place % (len(words) + 1), word)
    assert read(" ".join(words)).operations == ()


@pytest.mark.parametrize("question", ANSWERED)
def test_what_is_left_over_is_named(question: str) -> None:
    intent = read(f"{question.rstrip('?')} zzyzx?")
    assert intent.operations == ()
    assert "zzyzx" in intent.unread or not intent.unread


@pytest.mark.parametrize("question", ANSWERED)
def test_a_plan_comes_back_from_json_as_it_was(question: str) -> None:
    operations = read(question).operations
    assert plan_of(plan_json(operations)) == operations


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"_type": "Drop"},
        {"_type": "Lookup", "measure": "population", "place_ids": ["x"], "year": 0},
        {"_type": "Rank", "places": {"kind": "county"}, "figure": {"_type": "Area"}, "order": "largest", "first": 0},
        {"_type": "Rank", "places": {"kind": "county"}, "figure": {"_type": "Area"}, "order": "odd"},
        {"_type": "WithinDistance", "place_id": "x", "place_type": "city", "distance_km": "nan"},
        {"_type": "Stated", "type": "treaty", "from_day": "1867-02-30"},
        {"_type": "Tally", "places": {"kind": "county"}, "extra": 1},
        "Tally",
        None,
    ],
)
def test_what_is_no_plan_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not a plan"):
        plan_of([value])


def test_a_plan_that_names_what_is_not_known_asks_for_nothing() -> None:
    reading = read_intent("largest county", MapContext(), lexicon=LEXICON)
    asked = planned(reading, (Lookup("population", ("county:hidden",), 1930),), lexicon=LEXICON)
    assert asked.intent.operations == ()
    assert [note.code for note in asked.overridden] == ["UNKNOWN_PLACE"]
    known = planned(reading, (Lookup("population", (SHAWNEE,), 1930),), lexicon=LEXICON)
    assert known.intent.operations == (Lookup("population", (SHAWNEE,), 1930),)
    assert known.intent.reading == "Population in 1930 of Shawnee County"


@pytest.mark.parametrize("question", ["population of Topeka in 1930 and ", "not in Shawnee County, ", "5,000 people "])
def test_twice_the_question_is_at_most_twice_the_items(question: str) -> None:
    sizes = [len(read_items(question * n, LEXICON)) for n in (8, 16, 32)]
    assert sizes[1] <= 2 * sizes[0] + 1
    assert sizes[2] <= 2 * sizes[1] + 1


def test_a_name_that_ends_with_its_kind_is_of_that_kind() -> None:
    names = Gazetteer(
        [entry("city:co-greeley", "Greeley", "Greeley, CO"), entry("county:20071", "Greeley County", "Greeley Co.")]
    )
    lexicon = Lexicon.of(names, LEXICON.domain)
    said = read_intent("population in 1910", MapContext(place="Greeley County"), lexicon=lexicon).intent.operations
    assert said == (Lookup("population", ("county:20071",), 1910),)
