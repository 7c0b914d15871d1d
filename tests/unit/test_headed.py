"""Headings that are a date or a version: which are, which questions they answer, and what is set under them."""

from __future__ import annotations

from datetime import date
from itertools import product

import pytest

from ai.models.reading.headed import Head, under_head
from ai.models.reading.times import is_of_titled_day
from retrieval.model import TimeRange

DAY = TimeRange(date(1862, 6, 3), date(1862, 6, 3))
DAYS = ("3 June 1862", "June 3, 1862", "1862-06-03", "3rd of June 1862")
AROUND = ("{}", "Tuesday {}", "Bideford, {}", "{} at Cape Clear", "Day 4: {}", "({})")
PATHS = ("Log of the Mary Ann — {}", "Log — Outward > {}")
NO_HEADS = (
    "Minutes of 12 May 2025",
    "Meeting 12 May 2025",
    "Letter to the owner, 3 June 1862",
    "Newsletter March 2024",
    "Budget 2023",
    "The Kansas Act of 1854",
    "A fire on the night of 3 June 1862 and what came of it",
    "From 3 June 1862 to 5 June 1862",
    "Opening hours",
    "Chapter 4",
    "",
)
SAID = "The mainsail split in a squall."


@pytest.mark.parametrize(("day", "around", "path"), [*product(DAYS, AROUND, PATHS)])
def test_a_date_with_hardly_more_heads_a_section(day: str, around: str, path: str) -> None:
    text = around.format(day)
    head = Head.of(path.format(text))
    assert head is not None and head.time == DAY and head.text == text
    assert under_head("When did the mainsail split?", path.format(text), SAID) == f"{text}: {SAID}"


@pytest.mark.parametrize(("title", "forms"), [
    ("Bideford, 9 June 1862", ("Bideford, 9 June 1862: The crew was paid.", "The crew was paid on 9 June 1862.")),
    ("March 2024", ("March 2024: The crew was paid.", "The crew was paid in March 2024.")),
    ("3.2.0", ("3.2.0: The crew was paid.",)),
])  # fmt: skip
def test_a_sentence_has_its_forms_under_a_heading(title: str, forms: tuple[str, ...]) -> None:
    head = Head.of(f"Log — {title}")
    assert head is not None and head.forms("The crew was paid.") == forms
    assert {head.without(each) for each in forms} == {"The crew was paid."}
    assert head.without("The crew was paid on 8 June 1862.") == "The crew was paid on 8 June 1862."


@pytest.mark.parametrize("version", ["3.2.0", "v1.4", "2.0.0-rc.1", "10.0.1"])
@pytest.mark.parametrize("around", ["{}", "Version {}", "{} (2024-11-02)", "Tidepool {}"])
def test_a_version_heads_a_section(version: str, around: str) -> None:
    title, said = around.format(version), "Dark mode was added."
    head = Head.of(f"Changelog — {title}")
    assert head is not None and head.version == version
    path, told = f"Changelog — {title}", f"{title}: {said}"
    assert under_head("Which version added dark mode?", path, said) == told
    assert under_head("When was dark mode added?", path, said) == (told if head.time else said)
    assert head.is_asked(f"What is new in {version}?") and head.is_asked(f"What changed in version {version}?")
    assert not head.is_asked("What is new in 3.2.9?")


@pytest.mark.parametrize("title", NO_HEADS)
def test_other_headings_are_none(title: str) -> None:
    assert Head.of(f"Log — {title}") is None


@pytest.mark.parametrize(
    "title", ["1984", "March 2024", "The 1850s", "The Courier, 14 January 2019", "Bideford, 9 June 1862"]
)
def test_the_date_of_a_whole_document_is_that_of_a_text(title: str) -> None:
    assert Head.of(title) is None


@pytest.mark.parametrize("day", DAYS)
def test_a_document_that_is_called_by_its_day_alone_is_of_that_day(day: str) -> None:
    head = Head.of(day)
    assert head is not None and head.time == DAY


@pytest.mark.parametrize(
    "question",
    [
        "Where did the mainsail split?",
        "What split?",
        "Which version added dark mode?",
        "When does the café open?",
        "What time did the sail split?",
        "How long ago did it split?",
    ],
)
def test_what_does_not_ask_for_a_date_gets_none(question: str) -> None:
    assert under_head(question, "Log — 3 June 1862", SAID) == SAID


@pytest.mark.parametrize("said", ["On 1 June 1862 the mainsail split.", "It split in a squall.", "Split in 1861."])
def test_a_sentence_with_its_own_time_or_that_leans_on_another_stands_as_it_is(said: str) -> None:
    assert under_head("When did the mainsail split?", "Log — 3 June 1862", said) == said


@pytest.mark.parametrize("asked", ["On what day did it split?", "On which date did it split?"])
def test_a_year_is_no_day(asked: str) -> None:
    assert under_head(asked, "Chronicle — 1862", SAID) == SAID
    assert under_head("In what year did it split?", "Chronicle — 1862", SAID) == f"1862: {SAID}"


@pytest.mark.parametrize("day", DAYS)
def test_what_happened_on_its_day_is_the_section(day: str) -> None:
    head = Head.of(f"Log — {day}")
    assert head is not None
    assert head.is_asked("What happened on 3 June 1862?") and head.is_asked("what was done on June 3, 1862")
    for other in (
        "What happened on 4 June 1862?",
        "What happened in June 1862?",
        "What happened to Jem on 3 June 1862?",
    ):
        assert not head.is_asked(other)


def test_a_section_of_another_day_is_of_another_time() -> None:
    other = TimeRange(date(1862, 6, 9), date(1862, 6, 9))
    assert is_of_titled_day(SAID, "Log — 3 June 1862", [DAY])
    assert not is_of_titled_day(SAID, "Log — 3 June 1862", [other])
    assert is_of_titled_day(SAID, "Log — Outward", [other])
