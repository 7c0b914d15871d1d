"""Numbers that name rows, by the header before them."""

from __future__ import annotations

import pytest

from ai.text.tables.numbered import has_other_number, label_of, named_by_number, numbers_asked

TABLE = (
    {"Tram": "14", "Stop number": "3", "Fare": "2.50", "Year": "1998"},
    {"Tram": "3", "Stop number": "14", "Fare": "3", "Year": "2004"},
)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("When does tram 14 leave?", {"Tram"}),
        ("When does tram no. 14 leave?", {"Tram"}),
        ("When does tram number 14 leave?", {"Tram"}),
        ("When do trams 2, 7 and 14 leave?", {"Tram"}),
        ("Who waits at stop 3?", {"Stop number"}),
        ("Who pays 14?", set()),
        ("Who waits at stop 14?", set()),
        ("Who waits at gate 14?", set()),
        ("Does tram 14.5 leave?", set()),
    ],
)
def test_the_header_stands_before_the_number(question: str, named: set[str]) -> None:
    assert named_by_number(question, TABLE[0]) == named


@pytest.mark.parametrize(
    "question", ["When does tram 14 leave?", "Who waits at stop 3?", "When do trams 7 and 14 leave?"]
)
def test_a_row_of_another_number_is_another_row(question: str) -> None:
    asked = numbers_asked(question, TABLE)
    assert [has_other_number(row, asked) for row in TABLE] == [False, True]


@pytest.mark.parametrize("question", ["What was the fare 1911?", "What does fare zone 3 cost?", "Is fare 2.50 enough?"])
def test_what_may_be_a_year_or_an_amount_names_none(question: str) -> None:
    assert numbers_asked(question, TABLE) == {}


@pytest.mark.parametrize(
    ("value", "label"),
    [("3", "3"), ("007", "7"), ("12A", "12a"), ("No. 5", "5"), ("3.5", ""), ("12 m", ""), ("£40", ""), ("Alma", "")],
)
def test_an_amount_is_no_number_of_a_thing(value: str, label: str) -> None:
    assert label_of(value) == label
