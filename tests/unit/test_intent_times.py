"""Times read from questions."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.intent.lexicon import Lexicon, Role
from ai.intent.times import read_times
from ai.intent.tokens import read_items
from retrieval.algebra.domain import Domain
from retrieval.gazetteer import Gazetteer
from retrieval.model import TimeRange


def times(text: str) -> list[TimeRange]:
    return [span.time for span in read_times(text)]


def days(first: str, last: str) -> TimeRange:
    return TimeRange(date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in 1930", "1930-01-01", "1930-12-31"),
        ("in 1930?", "1930-01-01", "1930-12-31"),
        ("the year 1930.", "1930-01-01", "1930-12-31"),
        ("1930's census", "1930-01-01", "1939-12-31"),
        ("in the 1930s", "1930-01-01", "1939-12-31"),
        ("on April 14, 1935", "1935-04-14", "1935-04-14"),
        ("on 14 April 1935", "1935-04-14", "1935-04-14"),
        ("on the 14th of April, 1935", "1935-04-14", "1935-04-14"),
        ("on Apr. 14th 1935", "1935-04-14", "1935-04-14"),
        ("on 1935-04-14", "1935-04-14", "1935-04-14"),
        ("in April 1935", "1935-04-01", "1935-04-30"),
        ("in February of 1936", "1936-02-01", "1936-02-29"),
        ("between 1900 and 1930", "1900-01-01", "1930-12-31"),
        ("from 1854 to 1861", "1854-01-01", "1861-12-31"),
        ("from 1854 until 1861", "1854-01-01", "1861-12-31"),
        ("1854-1861", "1854-01-01", "1861-12-31"),
        ("1854\u20131861", "1854-01-01", "1861-12-31"),
        ("1854-61", "1854-01-01", "1861-12-31"),
        ("between 1930 and 1900", "1900-01-01", "1930-12-31"),
        ("from April 1935 to June 1935", "1935-04-01", "1935-06-30"),
        ("before 1900", "0001-01-01", "1899-12-31"),
        ("prior to 1900", "0001-01-01", "1899-12-31"),
        ("after 1861", "1862-01-01", "9999-12-31"),
        ("since 1861", "1861-01-01", "9999-12-31"),
        ("on February 30, 1935", "1935-01-01", "1935-12-31"),
    ],
)
def test_a_time_is_read(text: str, first: str, last: str) -> None:
    assert times(text) == [days(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "in 930",
        "in 19300",
        "at least 2000 inhabitants",
        "more than 1900",
        "within 1500 km",
        "1,930 people",
        "1930 people",
        "$1930",
        "10 Stat. 979",
        "1930.5",
        "no. 1.1930",
        "3000",
        "route1930",
        "12/1930",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert times(text) == []


def test_two_years_with_and_are_two_unless_between_stands_before() -> None:
    assert times("in 1900 and 1930") == [TimeRange.year(1900), TimeRange.year(1930)]


@pytest.mark.parametrize(
    ("text", "years"),
    [("from 1900 to 1930", (1900, 1930)), ("in the 1930s", (1930, 1940)), ("in 1930", None), ("since 1930", None)],
)
def test_a_span_says_between_which_years_it_compares(text: str, years: tuple[int, int] | None) -> None:
    assert [span.years for span in read_times(text)] == [years]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in the 19th century", 1801, 1900),
        ("a nineteenth-century mill", 1801, 1900),
        ("in the 1800s", 1800, 1899),
        ("in the 2000s", 2000, 2009),
        ("in the mid-1960s", 1963, 1966),
        ("in the late 1930s", 1936, 1939),
        ("in the second half of the 1860s", 1865, 1869),
        ("by the early 18th century", 1701, 1740),
        ("in the first half of the nineteenth century", 1801, 1850),
        ("in the 17th and 18th centuries", 1601, 1800),
        ("between the 17th and the 19th century", 1601, 1900),
        ("from the late 17th century to the mid 19th century", 1661, 1870),
    ],
)
def test_a_century_and_a_part_of_one_or_of_a_decade_are_read(text: str, first: int, last: int) -> None:
    assert [span.time for span in read_times(text)] == [TimeRange.year(first, last)]


@pytest.mark.parametrize(
    "text",
    ["the 5th century BC", "12th century B.C.", "the 20th Century Fox", "route 19th", "the 3rd century", "the 99th"],
)
def test_no_century_is_read(text: str) -> None:
    assert read_times(text) == ()


@given(st.integers(11, 21), st.sampled_from(["", "early ", "mid-", "late ", "first half of the "]))
def test_a_part_lies_within_its_century(nth: int, part: str) -> None:
    ending = "st" if nth == 21 else "th"
    (span,) = read_times(f"in the {part}{nth}{ending} century")
    assert 100 * (nth - 1) < span.time.start.year <= span.time.end.year <= 100 * nth


@given(
    st.text(alphabet="0123456789 -,.'\u2013AaprilMy/betwndchus\ud800", max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "the",
                "18th",
                "1800s",
                "century",
                "centuries",
                "and",
                "early",
                "half",
                "of",
                "first",
                "mid-",
                "19th",
                "to",
                "BC",
            ]
        )
    ).map(" ".join),
)
@settings(max_examples=200)
def test_any_text_is_read_without_an_error_and_spans_lie_apart(text: str) -> None:
    end = 0
    for span in read_times(text):
        assert end <= span.start_char < span.end_char <= len(text)
        end = span.end_char


@given(st.dates(min_value=date(1000, 1, 1), max_value=date(2099, 12, 31)))
@settings(max_examples=50)
def test_every_day_is_read_in_both_orders(day: date) -> None:
    month = day.strftime("%B")
    for said in (f"on {month} {day.day}, {day.year}", f"on {day.day} {month} {day.year}", f"on {day.isoformat()}"):
        assert times(said) == [TimeRange(day, day)]


@pytest.mark.parametrize("year", ["1867", "1901", "2021"])
@pytest.mark.parametrize(
    ("said", "is_year"),
    [
        *(
            (each, True)
            for each in ("in {}", "the {} stone bridge", "the {} second treaty", "on {} day", "{} in Kansas")
        ),
        *((each, True) for each in ("the {} hour", "since {}", "between 1850 and {}", "before {} it stood", "{}?")),
        *((each, False) for each in ("over {} mm", "above {}", "€{}", "more than £{}", "less than {}", "{} tonnes")),
        *((each, False) for each in ("between 1800 and {} mm", "{} kg or more", "at least {} °F", "exactly {} km")),
    ],
)
def test_a_number_that_only_looks_like_a_year(year: str, said: str, is_year: bool) -> None:
    lexicon = Lexicon.of(Gazetteer(), Domain())
    items = read_items(f"What was it {said.format(year)}", lexicon)
    assert any(item.has(Role.TIME) and year in item.text for item in items) is is_year


@pytest.mark.parametrize("year", ["1005", "1867", "2021"])
@pytest.mark.parametrize(
    "thing", ["item no", "item no.", "Ticket", "room", "order number", "bus", "invoice", "lot", "Nos"]
)
def test_the_number_of_a_thing_is_no_year(year: str, thing: str) -> None:
    assert read_times(f"What is {thing} {year} for?") == ()
    (span,) = read_times(f"What did {thing} {year} cost in 1930?")
    assert span.time.start.year == 1930
    assert len(read_times(f"How many people had a {thing.rstrip('.')} in {year}?")) == 1
