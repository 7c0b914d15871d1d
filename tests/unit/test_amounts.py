"""A number answers only where it is a number of what is asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.text.amounts import amounts_of, states_amount, wanted_amount

THINGS = ("sailors", "photographs", "lanterns", "ledgers", "horses", "windows")
TIMES = ("minutes", "days", "weeks", "years")
LENGTHS = ("metres", "miles", "km", "feet")
numbers = st.one_of(st.integers(2, 1_400).map(str), st.sampled_from(["eleven", "two hundred", "1,250", "a dozen"]))


def states(question: str, sentence: str, *, loosely: bool = False) -> bool:
    wanted = wanted_amount(question)
    assert wanted is not None
    return states_amount(sentence, wanted, loosely=loosely)


@given(numbers, st.sampled_from(THINGS), st.sampled_from(THINGS), st.sampled_from(TIMES + LENGTHS))
def test_a_number_counts_what_is_beside_it(number: str, thing: str, other: str, unit: str) -> None:
    question = f"How many {thing} did she save?"
    assert states(question, f"In that winter she saved {number} {thing} from the flood.")
    assert states(question, f"She saved {number} of the old {thing}.")
    if other != thing:
        assert not states(question, f"She saved {number} {other} and lost what she had.")
    assert not states(question, f"She saved them all within {number} {unit}.")
    assert not states(question, f"She saved them all within {number} {unit}.", loosely=True)
    assert not states(question, "She saved the others in 1923.", loosely=True)
    assert not states(question, "She saved the others on 3 September.", loosely=True)


@given(numbers, st.sampled_from(THINGS), st.sampled_from(TIMES + LENGTHS), st.sampled_from((",", ";", ":", ".", "(")))
def test_a_number_of_another_phrase_counts_nothing(number: str, thing: str, unit: str, stop: str) -> None:
    question = f"How many {thing} are there?"
    assert not states(question, f"Below {number} {unit}/s{stop} the {thing} are brought in.")
    assert not states(question, f"After {number} {unit} the {thing} are counted.")
    assert not states(question, f"It opens at {number}{stop} {thing} come later.")
    assert states(question, f"It has {number} {thing}{stop} and no more.")


@given(numbers, st.sampled_from(THINGS), st.sampled_from(THINGS))
def test_a_number_may_stand_behind_what_it_counts(number: str, thing: str, other: str) -> None:
    question = f"How many {thing} are there?"
    for said in (
        f"The {{}}, of which there are {number}, are kept upstairs.",
        f"The {{}} number {number} in all.",
        f"The {{}} are {number} in number.",
    ):
        if " " in number:  # `two hundred in number` begins with a word of its own
            continue
        assert states(question, said.format(thing))
        if other != thing:
            assert not states(question, said.format(other))
    assert not states(question, f"The {thing}, of which there are many, are kept upstairs.")
    assert not states(question, f"The {thing} are old, and {number} km away is a mill.")


@given(
    st.sampled_from(("three", "3", "12", "two")), st.sampled_from(TIMES), st.sampled_from(("notice", "leave", "pay"))
)
def test_a_time_has_a_genitive(number: str, unit: str, what: str) -> None:
    said = f"Either side gives {number} {unit}' {what} in writing."
    assert states(f"How much {what} is given?", said)
    assert not states("How much sugar is given?", said)
    assert not states(f"How much {what} is given?", f"Either side gives {what} in the {number} mills' yard.")
    assert not states(f"How much {what} is given?", f"The {unit}' {what} is given in writing.")


@given(st.sampled_from(("32", "twelve", "4")), st.sampled_from(("bytes", "pages", "letters", "planks")))
def test_a_measure_of_any_unit_says_its_adjective(number: str, unit: str) -> None:
    for word, other in (("long", "wide"), ("deep", "high"), ("thick", "old")):
        assert states(f"How {word} is it?", f"It is {number} {unit} {word} and is never changed.")
        assert not states(f"How {other} is it?", f"It is {number} {unit} {word}.") or other == "old"
    assert not states("How long is it?", f"It has {number} {unit} and is long.")


@given(numbers, st.sampled_from(TIMES), st.sampled_from(THINGS))
def test_how_long_is_a_time_or_a_length(number: str, unit: str, thing: str) -> None:
    assert states("How long does it last?", f"It lasts {number} {unit}.")
    assert not states("How long does it last?", f"It holds {number} {thing}.")
    assert not states("How long does it last?", f"It holds {number} {thing}.", loosely=True)
    assert not states("How tall is it?", f"It lasts {number} {unit}.", loosely=True)
    assert not states("How much water is needed?", f"It lasts {number} {unit}.", loosely=True)
    assert not states("How heavy is it?", f"It lasts {number} {unit}.", loosely=True)


@pytest.mark.parametrize(
    ("question", "sentence", "expected"),
    [
        ("How often is it cleaned?", "It is cleaned every 60 days.", True),
        ("How often is it cleaned?", "It is cleaned with 60 brushes.", False),
        ("How old was he?", "He was 43 when he came.", True),
        ("How old is the bridge?", "It was closed for two years.", False),
        ("How old is the battery?", "It is full after four and a half hours.", False),
        ("How old is the bridge?", "It is 90 years old.", True),
        ("How old was the boy?", "He had turned eleven years when he came.", True),
        ("How old was he?", "He died in 1999.", False),
        ("How much does it cost?", "A ticket is $12.", True),
        ("How much does it cost?", "Entry is free.", True),
        ("How much does it cost?", "It is open for three months.", False),
        ("How long did she keep it?", "She kept it from 1911 to 1938.", True),
        ("How long did she keep it?", "She kept it in 1938.", False),
        ("How many posters are there?", "It has one of the largest collections of posters.", False),
        ("How many posters are there?", "It has one poster.", True),
        ("How many posters are there?", "There are no posters.", True),
    ],
)
def test_amounts(question: str, sentence: str, expected: bool) -> None:
    assert states(question, sentence) is expected


@pytest.mark.parametrize("question", ["Who was he?", "How did she do it?", "Why?", "", "how"])
def test_other_questions_want_no_amount(question: str) -> None:
    assert wanted_amount(question) is None


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    amounts_of(text)
    wanted_amount(f"How many {text}?")


MEASURES = (
    ("long", "long", "length"),
    ("high", "high", "height"),
    ("tall", "tall", "height"),
    ("wide", "wide", "width"),
    ("wide", "broad", "breadth"),
    ("deep", "deep", "depth"),
    ("thick", "thick", "thickness"),
)


@given(
    st.sampled_from(("3", "42", "5.1", "twelve")),
    st.sampled_from(("m", "metres", "km", "feet")),
    st.sampled_from(MEASURES),
    st.sampled_from(MEASURES),
)
def test_a_length_in_another_direction_is_no_answer(
    number: str, unit: str, told: tuple[str, str, str], asked: tuple[str, str, str]
) -> None:
    same = {told[2], asked[2]} in ({told[2]}, {"width", "breadth"})
    for said in (
        f"It is {number} {unit} {told[1]} and was built in 1871.",
        f"The tunnel, with a {told[2]} of {number} {unit}, was built in 1871.",
        f"The tunnel has a {told[2]} of about {number} {unit}.",
        f"A tunnel of {number} {unit} {told[2]} was built.",
        f"It is {number} {unit} in {told[2]}.",
        f"Its {told[2]} is {number} {unit}.",
    ):
        assert states(f"How {asked[0]} is it?", said, loosely=True) == same, said
        assert states(f"How {asked[0]} is it?", f"{said} It is 8 m {asked[1]}."), said


@given(
    st.sampled_from(("ten", "20", "two")),
    st.sampled_from(("minute", "hour")),
    st.sampled_from(("walk", "drive", "ride")),
)
def test_how_long_one_walks_is_not_how_long_a_thing_is(number: str, unit: str, way: str) -> None:
    for said in (
        f"The beach is a {number}-{unit} {way} along the dune path.",
        f"The beach is {number} {unit}s' {way} from here.",
        f"The beach is within {number} {unit}s by car or on foot.",
        f"The beach is {number} {unit}s on foot.",
    ):
        assert not states("How long is the beach?", said, loosely=True), said
        for asked in (
            "How far is the beach?",
            f"How long is the {way} to the beach?",
            "How long does it take to get to the beach?",
            "How long is the way to the beach?",
            "How long is the crossing?",
            "How long is the journey to the beach?",
        ):
            assert states(asked, said, loosely=True), (asked, said)
    assert states("How long is the tour?", f"The tour takes {number} {unit}s.", loosely=True)


@given(
    st.sampled_from(("port 7420", "room 12", "page 40", "version 3", "step 4", "line 17", "platform 9", "floor 2")),
    st.sampled_from(("ports", "rooms", "pages", "versions", "badges", "trains")),
)
def test_a_number_behind_its_noun_names_one(label: str, counted: str) -> None:
    question = f"How many {counted} are there?"
    for said in (f"They are at {label}.", f"Start it: `tideq serve --{label}`", f"Go to {label} and wait."):
        assert not states(question, said, loosely=True), said
    assert states(question, f"At {label} there are 5 {counted}.")
    assert states(question, "The hall has 40.", loosely=True)
    assert states("How high is it?", f"It has a {label.split(maxsplit=1)[0]} 4 m high.")
