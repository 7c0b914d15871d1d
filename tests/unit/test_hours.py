"""Days that a text names, in the forms in which hours are written, and lines that are hours."""

from __future__ import annotations

from itertools import product

import pytest

from ai.text.labels.hours import are_hours, days_of, without_days
from ai.text.lines import Entry, lines_of

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SHORT = (("Mon",), ("Tue", "Tues"), ("Wed", "Weds"), ("Thu", "Thur", "Thurs"), ("Fri",), ("Sat",), ("Sun",))
RANGES = ("{}-{}", "{}–{}", "{} – {}", "{} to {}", "{} until {}")
TIMES = ("9-5", "9:00 – 17:30", "9.30am–4.30pm", "9 am to 5 pm", "closed", "from 10am", "by appointment")


def forms(at: int) -> tuple[str, ...]:
    return (DAYS[at], f"{DAYS[at]}s", DAYS[at].upper(), *SHORT[at], f"{SHORT[at][0]}.")


@pytest.mark.parametrize("at", range(7))
def test_a_day_in_all_its_forms(at: int) -> None:
    assert {days_of(f"open {form} 9-5") for form in forms(at)} == {frozenset({at})}
    assert days_of(f"open {DAYS[at].lower()} at nine") == {at}


@pytest.mark.parametrize(("first", "last"), [*product(range(7), repeat=2)])
def test_a_range_has_all_days_between(first: int, last: int) -> None:
    due = {(first + step) % 7 for step in range((last - first) % 7 + 1)}
    for form, one, other in product(RANGES, forms(first), forms(last)):
        said = form.format(one, other)
        assert days_of(said) == due, said
        assert not without_days(said) - {"to", "until"}


def test_groups_and_words_that_are_no_days() -> None:
    assert days_of("weekdays 9-5") == set(range(5)) and days_of("Weekends") == {5, 6}
    assert days_of("daily") == days_of("Every day 8-8") == set(range(7))
    assert not days_of("The sun sat on the wed lawn; Sunny Montague thudded, Satie wedged and Frieda tuned")


@pytest.mark.parametrize(
    ("day", "time"), [*product(("Monday to Friday", "Mon–Fri", "Sat, Sun", "Weds & Thurs"), TIMES)]
)
def test_a_line_of_hours_is_an_entry(day: str, time: str) -> None:
    for line in (f"{day} {time}", f"{day}: {time}", f"- {day}: {time}"):
        assert [(each.label, each.value) for each in lines_of(line) if isinstance(each, Entry)] == [(day, time)]
    assert are_hours(day, time)


@pytest.mark.parametrize("line", [
    "Sunday 5 May is the day of the fair", "Monday was cold", "Saturday night fever", "Mon ami Pierrot",
    "Friday 13 people came",
])  # fmt: skip
def test_a_sentence_that_begins_with_a_day_is_none(line: str) -> None:
    assert lines_of(line) == ()


@pytest.mark.parametrize("value", ["19:00 folk session", "5", "quiz night", "£4.50", "01632 960 100", "4 May"])
def test_what_else_a_day_or_a_thing_may_have_is_no_hours(value: str) -> None:
    assert not are_hours("Monday", value)


def test_a_run_is_cut_where_its_sentences_end() -> None:
    text = "Dogs: £8/night. Cot: free. Check-in: from 15.00."
    found = [each for each in lines_of(text) if isinstance(each, Entry)]
    assert [text[each.start : each.end].strip() for each in found] == ["Dogs: £8/night.", "Cot: free.", text[27:]]
    assert [each.label for each in found] == ["Dogs", "Cot", "Check-in"]
    assert lines_of("She asked him at noon. Nobody knew: it was late.") == ()
