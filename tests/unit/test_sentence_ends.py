"""Sentences that end behind an amount, a time of day or a letter; and what looks so and does not end there."""

from __future__ import annotations

import pytest

from ai.answer.render import marked
from ai.text.sentences import bare_sentences, split_sentences, trimmed

OPENINGS = ("The fair is over.", "It rained.", "They went home.", "In the hall tea is served.", "We were late.")
NAMED = ("Dogs must be kept on a lead.", "Staff may stay.", "Bring a cup.", "Mr Orr agreed.")
AMOUNTS = (
    "A cake is £1.50.",
    "The pool is 2.75 m deep and the rope 3.5.",
    "It rose to 1,204.5.",
    "(The fee was €4.90.)",
)
CLOCKS = ("The fair ends at 4 p.m.", "The gate is shut from 11 a.m. to 4 p.m.", "Doors open at 7:30 a.m.")
LETTERS = (
    "It was lost in World War I.",
    "Oranges have vitamin C.",
    "They chose plan B.",
    "He sat in row K.",
    "It is of type A.",
)
WHOLE = (
    "The book is by J. A. Smith of Hove.",
    "It was T. E. Lawrence who wrote it.",
    "Ask Sarah J. Then or Ida B. Wells.",
    "The train leaves at 7 p.m. Eastern time.",
    "The train leaves at 7 p.m. EST on weekdays.",
    "We meet at 7 p.m. Tuesday.",
    "We meet at 7 p.m. May is the month.",
    "The U.S. Army and Dr. Orr came.",
    "The rate of 3.5 per cent is low.",
)


def said(text: str) -> list[str]:
    return [text[span.start : span.end] for span in bare_sentences(text, lined=True)]


@pytest.mark.parametrize("opening", [*OPENINGS, *NAMED])
@pytest.mark.parametrize("first", [*AMOUNTS, *CLOCKS])
def test_an_amount_and_a_time_of_day_end_a_sentence(first: str, opening: str) -> None:
    assert said(f"{first} {opening}") == [first, opening]


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("first", LETTERS)
def test_a_letter_ends_a_sentence_before_a_word_that_opens_one(first: str, opening: str) -> None:
    assert said(f"{first} {opening}") == [first, opening]


@pytest.mark.parametrize("text", WHOLE[:2] + WHOLE[3:])
def test_initials_zones_and_days_do_not(text: str) -> None:
    assert said(text) == [text]


@pytest.mark.parametrize("name", ["J. He", "L. An", "K. So", "M. You", "A. No"])
def test_a_short_name_behind_an_initial_is_a_name(name: str) -> None:
    text = f"It was found by Lisa {name} of Leeds."
    assert said(text) == [text]


def test_the_number_of_a_section_does_not() -> None:
    assert said("4.2. Fees are due in March.") == ["4.2. Fees are due in March."]


@pytest.mark.parametrize("opening", NAMED)
def test_earlier_cuts_stay(opening: str) -> None:
    for first in (AMOUNTS[0], CLOCKS[0]):
        text = f"{first} {opening}"
        for spans in (split_sentences(text), split_sentences(text, lined=True, finer=False)):
            assert [trimmed(text, span) for span in spans] == [trimmed(text, spans[0])]


@pytest.mark.parametrize("last", ["4 p.m.", "9.15 a.m.", "the U.S.", "Washington, D.C."])
def test_the_stop_of_an_abbreviation_stays_with_it(last: str) -> None:
    assert marked(f"It ends at {last}", [1]) == f"It ends at {last} [1]."
    assert marked(f"It ends at {last}", [1], whole=False) == f"It ends at {last[:-1]} [1]."
    assert marked("It ends at noon.", [1, 2]) == "It ends at noon [1] [2]."
