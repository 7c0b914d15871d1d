"""Rows of tables as the default model reads them: the row that a question names, asked for a column, and no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.models.reading.rows import Row

RUN = "race: Family run; kilometres: 5; runners: 800; start: 14:00."
ROUTER = "model: Nimbus R1; price_eur: 49; ports: 2; released: 2019; colour: blue."
TOOL = "tool: Loppers; price_eur: 49; weight_kg: 1.2; guarantee_years: 10."
ANSWERED = [
    (RUN, "How many kilometres is the Family run?"),
    (RUN, "When does the Family run start?"),
    (RUN, "How many runners does the Family run have?"),
    (ROUTER, "What is the price of the Nimbus R1?"),
    (ROUTER, "What does the Nimbus R1 cost?"),
    (ROUTER, "When was the Nimbus R1 released?"),
    (ROUTER, "What colour is the Nimbus R1?"),
    (ROUTER, "How many ports does the model Nimbus R1 have?"),
    (TOOL, "How heavy are the loppers?"),
    (TOOL, "How many years is the guarantee of the loppers?"),
]
BOAT = "Boat: Kayak; Seats: 1; Per hour: 6; Deposit: 20."
VACCINE = "Vaccine: Tetanus; Doses: 3; Interval: 6 months."
PITCH = "Pitch: Caravan; Low season: 22; High season: 31."
OF_A_TITLE = [
    (BOAT, "Boats", "How much does a kayak cost per hour?"),
    (BOAT, "Boats", "What is the deposit for the kayak?"),
    (VACCINE, "Vaccinations", "How many doses of tetanus are needed?"),
    (VACCINE, "Vaccinations", "What interval is required for tetanus?"),
    (PITCH, "Campsite — Prices", "How much does a caravan cost in high season?"),
]
NOT_OF_A_TITLE = [
    (BOAT, "Boats", "How much does a kayak cost per day?"),
    (BOAT, "Boats", "What does the kayak cost?"),
    (BOAT, "Boats", "What do the seats of the kayak cost?"),
    (BOAT, "Boats", "How much does a canoe cost per hour?"),
    (VACCINE, "Vaccinations", "How many doses of tetanus and measles are needed?"),
    (PITCH, "Campsite — Prices", "How much does a caravan cost in winter?"),
    (PITCH, "Campsite — Boats", "How much does a caravan cost in high season?"),
    (PITCH, "Campsite — Prices", "How much does a bungalow cost in high season?"),
]
PASSED_OVER = [
    (RUN, "How many kilometres is the Fun run?"),
    (RUN, "Where does the Family run start?"),
    (RUN, "When does the Family run end?"),
    (RUN, "How many runners does the Family run not have?"),
    (RUN, "How many runners did the Family run have in 2019?"),
    (RUN, "How many runners more than the Marathon does the Family run have?"),
    (RUN, "What is the Family run?"),
    (ROUTER, "What is the price of the Nimbus R2?"),
    (ROUTER, "What is the price of the Nimbus R1 Pro?"),
    (ROUTER, "What is the price of the Nimbus?"),
    (ROUTER, "What is the price of the Nimbus R1 in Norway?"),
    (ROUTER, "Who released the Nimbus R1?"),
    (ROUTER, "Is the price of the Nimbus R1 over 100?"),
    (ROUTER, "What is the weight of the Nimbus R1?"),
    (TOOL, "How wide are the loppers?"),
    (TOOL, "What is the price of the loppers and the rake?"),
    (TOOL, "Which tool is dearer than the loppers?"),
]


@pytest.mark.parametrize(("statement", "question"), ANSWERED)
def test_a_row_answers_for_its_columns(statement: str, question: str) -> None:
    row = Row.of(statement, "things")
    assert row is not None and row.answers(question)


@pytest.mark.parametrize(("statement", "title", "question"), OF_A_TITLE)
def test_a_row_answers_under_its_heading(statement: str, title: str, question: str) -> None:
    row = Row.of(statement, title)
    assert row is not None and row.answers(question)


@pytest.mark.parametrize(("statement", "title", "question"), NOT_OF_A_TITLE)
def test_a_heading_answers_for_no_other_column(statement: str, title: str, question: str) -> None:
    row = Row.of(statement, title)
    assert row is not None and not row.answers(question)


@pytest.mark.parametrize(("statement", "question"), PASSED_OVER)
def test_a_row_answers_nothing_else(statement: str, question: str) -> None:
    row = Row.of(statement, "things")
    assert row is not None and not row.answers(question)


@pytest.mark.parametrize(
    "text", ["", "A sentence.", "Note: this is one.", "a: 1; a: 2.", "one: 1; two.", "said he: go; b: 2; c"]
)
def test_what_is_no_row_is_none(text: str) -> None:
    assert Row.of(text, "things") is None


WORD = st.text("bdfgklmnprtvz", min_size=4, max_size=9)


@given(st.lists(WORD, min_size=5, max_size=5, unique=True), st.integers(1, 10**6))
def test_a_row_answers_for_its_own_name_and_column_alone(words: list[str], value: int) -> None:
    name, column, empty, other, stray = words
    row = Row.of(f"thing: {name}; {column}: {value}; {other}: {value + 1}.", "things")
    assert row is not None
    assert row.answers(f"What is the {column} of the {name}?")
    assert not row.answers(f"What is the {column} of the {stray}?")
    assert not row.answers(f"What is the {empty} of the {name}?")
    assert not row.answers(f"What is the {stray} {column} of the {name}?")
    assert not row.answers(f"What is not the {column} of the {name}?")
