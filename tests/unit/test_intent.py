"""What questions ask for, with the map and without."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.intent import read_intent
from ai.intent.lexicon import Lexicon
from ai.model import MapContext
from retrieval.algebra.domain import Domain, FigureKind, RelationKind
from retrieval.algebra.operations import (
    Aggregate,
    Change,
    Compare,
    ContainedIn,
    ContainerOf,
    Count,
    Distance,
    Lookup,
    Nearest,
    Neighbours,
    Operation,
    Superlative,
    WithinDistance,
)
from retrieval.algebra.plan import Area, Figures
from retrieval.gazetteer import Gazetteer
from retrieval.index import GazetteerEntry
from retrieval.model import EntityRef, Intent, TimeRange

POP = "population"
SHAWNEE, DOUGLAS, TOPEKA, WICHITA = "county:20177", "county:20045", "city:ks-topeka", "city:ks-wichita"
KANSAS, MISSOURI = "state:20", "state:29"


def entry(entity_id: str, *names: str, document_id: str = "d1") -> GazetteerEntry:
    return GazetteerEntry(EntityRef(entity_id, names[0], entity_id.partition(":")[0]), names, "c", document_id)


GAZETTEER = Gazetteer(
    [
        entry(SHAWNEE, "Shawnee County", "Shawnee", "Shawnee County, Kansas"),
        entry(DOUGLAS, "Douglas County", "Douglas"),
        entry(TOPEKA, "Topeka", "Topeka, Kansas", "Topeka, KS"),
        entry(WICHITA, "Wichita", "Wichita, Kansas"),
        entry("county:20203", "Wichita County", "Wichita"),
        entry("city:ks-shawnee", "Shawnee", "Shawnee, Kansas"),
        entry("city:ok-shawnee", "Shawnee", "Shawnee, Oklahoma"),
        entry("city:ks-springfield", "Springfield", "Springfield, Kansas"),
        entry("city:mo-springfield", "Springfield", "Springfield, Missouri"),
        entry(KANSAS, "Kansas", "KS"),
        entry(KANSAS, "Kansas", document_id="d2"),
        entry(MISSOURI, "Missouri"),
        entry("nation:shawnee", "Shawnee"),
        entry("nation:kansas", "Kansas"),
        entry("nation:kansa", "Kansa"),
        entry("place:santa-fe", "Santa Fe", "Santa Fe, on the old trail"),
        entry("event:black-sunday", "Black Sunday"),
    ]
)


RELATIONS = tuple(
    RelationKind(*relation)
    for relation in (
        ("city", "located_in", "county"),
        ("city", "located_in", "state"),
        ("county", "located_in", "state"),
        ("event", "occurred_on", "date"),
        ("nation", "signed", "treaty"),
        ("treaty", "signed_at", "place"),
    )
)
DOMAIN = Domain(tuple(FigureKind(POP, "people", kind) for kind in ("city", "county", "state")), RELATIONS)
LEXICON = Lexicon.of(GAZETTEER, DOMAIN)


def read(question: str, context: MapContext = MapContext()) -> Intent:  # noqa: B008
    return read_intent(question, context, lexicon=LEXICON).intent


def entities(question: str) -> list[str]:
    return [e.entity_id for e in read(question).entities]


CASES: list[tuple[str, tuple[Operation, ...]]] = [
    ("What was the population of Shawnee County in 1930?", (Lookup(POP, (SHAWNEE,), 1930),)),
    ("population of shawnee county 1930", (Lookup(POP, (SHAWNEE,), 1930),)),
    ("How many people lived in Topeka in 1900?", (Lookup(POP, (TOPEKA,), 1900),)),
    ("How many inhabitants did Topeka, KS have in 1900?", (Lookup(POP, (TOPEKA,), 1900),)),
    ("What was the population of Shawnee County in 1870?", (Lookup(POP, (SHAWNEE,), 1870),)),
    ("What is the population of Topeka?", (Lookup(POP, (TOPEKA,), None),)),
    ("What was the population of Shawnee in 1930?", (Lookup(POP, ("city:ks-shawnee", "city:ok-shawnee"), 1930),)),
    ("What was the population of Shawnee, Kansas in 1930?", (Lookup(POP, ("city:ks-shawnee",), 1930),)),
    ("How many square miles is Shawnee County?", (Figures(Area("mi²"), (SHAWNEE,)),)),
    ("population of the city of Wichita in 1930", (Lookup(POP, (WICHITA,), 1930),)),
    ("population of Wichita county in 1930", (Lookup(POP, ("county:20203",), 1930),)),
    ("Population of Topeka, Kansas in 1930", (Lookup(POP, (TOPEKA,), 1930),)),
    ("Population of Shawnee and Douglas counties in 1930", (Lookup(POP, (SHAWNEE, DOUGLAS), 1930),)),
    ("Population of Kansas in 1900 and 1930", (Lookup(POP, (KANSAS,), 1900), Lookup(POP, (KANSAS,), 1930))),
    ("population of Topeka from 1900 to 1930", (Lookup(POP, (TOPEKA,), None),)),
    ("How did the population of Shawnee County change between 1900 and 1930?", (Change(POP, (SHAWNEE,), 1900, 1930),)),
    ("How much did Shawnee County grow from 1900 to 1930?", (Change(POP, (SHAWNEE,), 1900, 1930),)),
    ("Did the population of Topeka decline in the 1930s?", (Change(POP, (TOPEKA,), 1930, 1940),)),
    ("Largest county in 1930?", (Superlative(POP, "county", 1930, "largest", KANSAS),)),
    ("Which county had the most inhabitants in 1930?", (Superlative(POP, "county", 1930, "largest", KANSAS),)),
    ("Least populous county of Kansas in 1950", (Superlative(POP, "county", 1950, "smallest", KANSAS),)),
    ("biggest town in Missouri in 1930", (Superlative(POP, "city", 1930, "largest", MISSOURI),)),
    ("the five largest cities in 1930", (Superlative(POP, "city", 1930, "largest", KANSAS, 5),)),
    ("largest city in Shawnee County", (Superlative(POP, "city", None, "largest", SHAWNEE),)),
    ("total population of all counties in 1930", (Aggregate("sum", POP, "county", 1930, KANSAS),)),
    ("average population of Kansas counties in 1930", (Aggregate("mean", POP, "county", 1930, KANSAS),)),
    ("median population of towns in Missouri in 1930", (Aggregate("median", POP, "city", 1930, MISSOURI),)),
    ("Which of Topeka and Wichita was larger in 1930?", (Compare(POP, (TOPEKA, WICHITA), 1930),)),
    ("Which county had more inhabitants in 1930, Shawnee or Douglas?", (Compare(POP, (SHAWNEE, DOUGLAS), 1930),)),
    (
        "Which county is smaller: Wichita, Douglas or Shawnee?",
        (Compare(POP, ("county:20203", DOUGLAS, SHAWNEE), None),),
    ),
    ("Which city was larger in 1930, Topeka or Wichita?", (Compare(POP, (TOPEKA, WICHITA), 1930),)),
    ("Did Shawnee County have more people than Douglas County in 1930?", (Compare(POP, (SHAWNEE, DOUGLAS), 1930),)),
    ("Which counties border Shawnee County?", (Neighbours(SHAWNEE),)),
    ("neighbors of Douglas County", (Neighbours(DOUGLAS),)),
    ("What is the nearest town to Topeka?", (Nearest(TOPEKA, "city"),)),
    ("the three counties closest to Topeka", (Nearest(TOPEKA, "county", 3),)),
    ("Which towns are within 50 km of Topeka?", (WithinDistance(TOPEKA, "city", 50.0),)),
    ("cities within 10 miles of Topeka", (WithinDistance(TOPEKA, "city", 16.093),)),
    ("Which cities are in Shawnee County?", (ContainedIn(SHAWNEE, "city"),)),
    ("In which county is Topeka?", (ContainerOf(TOPEKA, "county"),)),
    ("Which county contains Topeka?", (ContainerOf(TOPEKA, "county"),)),
    ("How many counties are there in Kansas?", (Count("county", KANSAS),)),
    ("How many counties had at least 20,000 inhabitants in 1930?", (Count("county", KANSAS, 1930, POP, 20_000),)),
    ("How many towns had more than 9,999 inhabitants in 1930?", (Count("city", KANSAS, 1930, POP, 10_000),)),
    ("How far is Topeka from Wichita?", (Distance(TOPEKA, WICHITA),)),
]


@pytest.mark.parametrize(("question", "operations"), CASES, ids=[q for q, _ in CASES])
def test_a_question_asks_for_its_operations(question: str, operations: tuple[Operation, ...]) -> None:
    assert read(question).operations == operations


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?",
        "What happened in Kansas in 1850?",
        "What happened on Black Sunday?",
        "How many people died in Topeka in 1935?",
        "How many people were killed in Topeka?",
        "population",
        "the largest",
        "within 50 km of",
        "Which counties border?",
        "Tell me about Topeka.",
        "Where is the largest tree in Topeka?",
        "Which counties border Topeka?",
        "In which county is Wichita or Topeka?",
        "How many cities border Shawnee County?",
        "Which states are adjacent to Douglas County?",
    ],
)
def test_what_no_operation_answers_asks_for_none(question: str) -> None:
    assert read(question).operations == ()


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("What was the population of Atlantis County in 1930?", "Atlantis County"),
        ("What was the population of Topeka County in 1930?", "Topeka County"),
        ("population of topeka county in 1930", "topeka county"),
        ("What was the population of Atlantis, Kansas in 1930?", "Atlantis"),
        ("Was Atlantis larger than Topeka in 1930?", "Atlantis"),
        ("What is the largest city in Atlantis?", "Atlantis"),
        ("Which towns are within 50 km of Atlantis?", "Atlantis"),
        ("What is the population of Topeka Heights?", "Topeka Heights"),
        ("What was the population of Shawnee County, Missouri in 1930?", "Shawnee County"),
        ("What was the population of Shawnee County in Missouri in 1930?", "Shawnee County"),
        ("population of shawnee county missouri 1930", "shawnee county"),
        ("What was the population of Topeka, in the state of Missouri?", "Topeka"),
        ("What was the population of Topeka, Oregon in 1900?", "Topeka"),
        ("Which counties border Shawnee County, Missouri?", "Shawnee County"),
        ("Which towns are within 50 km of Topeka, Missouri?", "Topeka"),
    ],
)
def test_an_unknown_place_is_named_and_no_other_is_asked_in_its_stead(question: str, unknown: str) -> None:
    intent = read(question, MapContext(place_id=SHAWNEE))
    assert unknown in intent.unknown_names
    assert intent.operations == ()


def test_a_name_that_nothing_answers_to_stops_a_question_wherever_it_stands() -> None:
    intent = read("According to the Gazette, what was the population of Topeka in 1930?")
    assert intent.unknown_names == ("Gazette",)
    assert intent.operations == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Shawnee County", [SHAWNEE]),
        ("treaties of the Shawnee", ["nation:shawnee"]),
        ("the county of Shawnee", [SHAWNEE]),
        ("the city of Wichita", [WICHITA]),
        ("Shawnee and Douglas counties", [SHAWNEE, DOUGLAS]),
        ("which Kansas county", [KANSAS, "nation:kansas"]),
        ("tell me of Shawnee", ["city:ks-shawnee", SHAWNEE, "nation:shawnee"]),
        ("What treaties were signed at Santa Fe?", ["place:santa-fe"]),
        ("the town of Springfield in Missouri", ["city:mo-springfield", MISSOURI]),
        ("Springfield", ["city:ks-springfield"]),
        ("Topeka in Kansas", [TOPEKA, KANSAS, "nation:kansas"]),
        ("Topeka, Wichita and Missouri", [TOPEKA, WICHITA, "county:20203", MISSOURI]),
        ("Douglas County, Missouri", [DOUGLAS, MISSOURI]),
        ("treaties signed at Santa Fe in Missouri", ["place:santa-fe", MISSOURI]),
        ("treaties of the Shawnee in Missouri", ["nation:shawnee", MISSOURI]),
    ],
)
def test_words_beside_a_name_settle_what_it_names(question: str, expected: list[str]) -> None:
    assert entities(question) == expected


def test_the_map_fills_in_place_and_year() -> None:
    context = MapContext(place_id=SHAWNEE, time=TimeRange.year(1930))
    reading = read_intent("What was the population?", context, lexicon=LEXICON)
    assert reading.intent.operations == (Lookup(POP, (SHAWNEE,), 1930),)
    assert reading.intent.entities[0].entity_id == SHAWNEE
    assert reading.intent.times == (TimeRange.year(1930),)
    assert reading.overridden == ()


def test_the_map_may_name_its_place() -> None:
    assert read("Which counties border it?", MapContext(place="Shawnee County")).operations == (Neighbours(SHAWNEE),)


@pytest.mark.parametrize(
    ("question", "operations"),
    [
        ("What was the population here in 1930?", (Lookup(POP, (), 1930),)),
        ("What was the population of Topeka in 1930?", (Lookup(POP, (TOPEKA,), 1930),)),
        ("What was the population of Atlantis in 1930?", ()),
        ("What happened here in 1930?", ()),
        ("What was the largest county in 1930?", (Superlative(POP, "county", 1930, "largest", KANSAS),)),
    ],
)
def test_a_figure_without_a_place_is_asked_of_the_region_that_the_map_shows(
    question: str, operations: tuple[Operation, ...]
) -> None:
    assert read(question, MapContext(bbox=(-96.0, 38.0, -95.0, 39.0))).operations == operations
    assert read(question, MapContext(geometry='{"type":"Point","coordinates":[-95.7,39]}')).operations == operations
    with_place = read(question, MapContext(bbox=(-96.0, 38.0, -95.0, 39.0), place="Shawnee County")).operations
    assert Lookup(POP, (), 1930) not in with_place


def test_without_a_map_a_figure_of_no_place_is_not_asked_for() -> None:
    assert read("What was the population here in 1930?").operations == ()


def test_the_maps_range_is_what_a_change_is_between() -> None:
    context = MapContext(place_id=TOPEKA, time=TimeRange.year(1900, 1930))
    assert read("How did the population change?", context).operations == (Change(POP, (TOPEKA,), 1900, 1930),)


@pytest.mark.parametrize(
    "context",
    [
        MapContext(place_id="county:hidden", place="Hidden County"),
        MapContext(place_id="county:hidden"),
        MapContext(place="Hidden County"),
        MapContext(place="Shawnee County, Missouri"),
        MapContext(place="Topeka, Illinois"),
        MapContext(place="Topeka Heights"),
        MapContext(place="not Topeka"),
    ],
)
@pytest.mark.parametrize("question", ["What was the population in 1930?", "largest city in 1930"])
def test_a_place_of_the_map_that_the_scope_does_not_know_is_named(question: str, context: MapContext) -> None:
    reading = read_intent(question, context, lexicon=LEXICON)
    assert reading.intent.operations == ()
    assert reading.intent.unknown_names == (context.place or context.place_id,)
    assert [note.code for note in reading.overridden] == ["UNKNOWN_PLACE"]
    assert (context.place or context.place_id or "?") in reading.overridden[0].message


def test_the_question_wins_over_the_map_and_says_so() -> None:
    context = MapContext(place_id=DOUGLAS, time=TimeRange.year(1900))
    question = "What was the population of Shawnee County in 1930?"
    reading = read_intent(question, context, lexicon=LEXICON)
    assert reading.intent.operations == (Lookup(POP, (SHAWNEE,), 1930),)
    assert [o.code for o in reading.overridden] == ["CONTEXT_OVERRIDDEN"] * 2
    assert "Shawnee County" in reading.overridden[0].message
    assert "Douglas County" in reading.overridden[0].message
    assert "1930" in reading.overridden[1].message


@pytest.mark.parametrize(
    "context",
    [
        MapContext(),
        MapContext(place_id=SHAWNEE, time=TimeRange.year(1930)),
        MapContext(place_id=KANSAS, time=TimeRange.year(1900, 1950)),
        MapContext(place_id="county:hidden"),
        MapContext(place="nowhere"),
        MapContext(bbox=(-96.0, 38.0, -95.0, 39.0)),
    ],
)
def test_a_map_that_agrees_overrides_nothing(context: MapContext) -> None:
    question = "What was the population of Shawnee County in 1930?"
    codes = [note.code for note in read_intent(question, context, lexicon=LEXICON).overridden]
    assert "CONTEXT_OVERRIDDEN" not in codes


def test_a_measure_of_the_corpus_is_named_by_its_own_words() -> None:
    question = "What was the corn yield of Shawnee County in 1930?"
    with_corn = Domain((*DOMAIN.figures, FigureKind("corn_yield", "bushels", "county")), RELATIONS)
    intent = read_intent(question, MapContext(), lexicon=Lexicon.of(GAZETTEER, with_corn)).intent
    assert intent.operations == (Lookup("corn_yield", (SHAWNEE,), 1930),)
    assert read(question).operations == ()


def test_terms_are_the_words_that_carry_meaning() -> None:
    assert read("What did the railroad change in Topeka in 1900?").terms == ("railroad", "change")


PIECES = st.sampled_from(
    [w for q, _ in CASES for w in q.split()]
    + ["Atlantis", "@0", "#0", "99999999999999999999", "miles", "1e9", "\ud800"]
)
CONTEXTS = st.builds(
    MapContext,
    place=st.none() | st.text(max_size=20) | st.just("Topeka"),
    place_id=st.none() | st.sampled_from([SHAWNEE, KANSAS, "nation:kansa", "x"]),
    time=st.none()
    | st.builds(lambda a, b: TimeRange(min(a, b), max(a, b)), st.dates(), st.dates())
    | st.just(TimeRange(date.min, date.max)),
)


@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=24).map(" ".join)), CONTEXTS)
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_without_an_error_and_always_the_same(text: str, context: MapContext) -> None:
    first = read_intent(text, context, lexicon=LEXICON)
    assert read_intent(text, context, lexicon=LEXICON) == first
    admitted = {*map(GAZETTEER.entity, [e.entity_id for e in first.intent.entities])}
    assert None not in admitted


@given(st.text(max_size=50))
@settings(max_examples=50, deadline=None)
def test_nothing_is_known_without_a_gazetteer(text: str) -> None:
    intent = read_intent(text, MapContext(place_id=SHAWNEE), lexicon=Lexicon.of(Gazetteer(), DOMAIN)).intent
    assert intent.entities == ()
    assert all(isinstance(o, Superlative | Count | Aggregate) for o in intent.operations)


def test_a_very_long_question_is_read_to_its_bound() -> None:
    assert read("x " * 500_000 + "population of Topeka").operations == ()
