"""For which side, and on which day."""

from __future__ import annotations

from datetime import date
from itertools import permutations

import pytest

from ai.models.reading.times import follows_day
from ai.text.meaning.meant import Meant
from ai.text.support import folded_words
from retrieval.model import TimeRange

PARTIES = ("the United States", "the Osage", "the town", "Kyoto", "the miners", "the French")
DEEDS = (
    ("Who signed the treaty {side} {party}?", "James Hart signed the treaty {side} {party}."),
    ("Who spoke {side} {party} at the talks?", "At the talks Lena Ek spoke {side} {party}."),
    ("Which envoy negotiated {side} {party}?", "The envoy Lucio Bem negotiated {side} {party} in 1814."),
    ("Who presented the petition {side} {party}?", "Ada Moss presented the petition {side} {party}."),
)
SIDES = ("for", "on behalf of", "in the name of", "against")


def agrees(question: str, text: str, *, title: str = "") -> bool:
    """Whether a sentence, which a reader found, is of what the question means."""
    tokens = folded_words(f"{text} {title}")
    return Meant.of(question, tokens).agrees(text, tokens, read=True, reworded=True)


@pytest.mark.parametrize(("asked", "told"), DEEDS)
@pytest.mark.parametrize("side", SIDES)
def test_who_did_it_for_one_side_did_not_for_another(asked: str, told: str, side: str) -> None:
    for one, other in permutations(PARTIES, 2):
        question = asked.format(side=side, party=one)
        assert not agrees(question, told.format(side=side, party=other)), (question, other)
        assert agrees(question, told.format(side=side, party=one)), question
        turned = "for" if side == "against" else "against"
        assert not agrees(question, told.format(side=turned, party=one)), question


def test_the_nation_that_signed_did_not_sign_for_the_other_side() -> None:
    told, title = "The Kansa signed a treaty (7 Stat. 244) at St. Louis.", "Treaties of the United States"
    for side in ("for", "on behalf of", "in the name of"):
        assert not agrees(f"Who signed 7 Stat. 244 {side} the United States?", told, title=title)
        assert agrees(f"Who signed 7 Stat. 244 {side} the Kansa?", told, title=title)
    assert not agrees("Who signed 7 Stat. 244 with the Kansa?", told)
    assert agrees("Who signed 7 Stat. 244 with the United States?", told)
    assert agrees("Who signed 7 Stat. 244?", told)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who played for Odense?", "For ten years Mikkel Ross of Odense played in goal."),
        ("Who signed it for the U.S.?", "James Hart signed it for the US."),
        ("Who signed for the town in 1900?", "She signed for the town for the first time in 1900."),
        ("Who paid for the roof?", "The guild paid for the roof."),
        ("What did she work for?", "She worked for a week for nothing."),
    ],
)
def test_these_are_of_that_side(question: str, text: str) -> None:
    assert agrees(question, text)


@pytest.mark.parametrize(
    "field",
    [
        ("at dawn", "at noon", "at dusk", "at midnight"),
        ("in spring", "in summer", "in autumn", "in winter"),
        ("at Easter", "at Christmas", "at Whitsun", "at Michaelmas"),
    ],
)
def test_one_occasion_is_no_other(field: tuple[str, ...]) -> None:
    for one, other in permutations(field, 2):
        question = f"What is sold {one}?"
        assert not agrees(question, f"{other.capitalize()} rams are sold."), (one, other)
        assert agrees(question, f"{one.capitalize()} rams are sold.")
        assert agrees(question, f"Rams are sold {other} and {one}.")
        assert agrees(question, "Rams are sold.")


def test_an_undated_sentence_is_of_the_nearest_day_before_it() -> None:
    before = ("The council met on 4 March 2019.", "Councillor Ege asked for a lamp.")
    for day in range(1, 29):
        asked = TimeRange(date(2019, 3, day), date(2019, 3, day))
        assert follows_day(before, (asked,)) is (day == 4)
    assert follows_day(before, (TimeRange(date(2019, 3, 1), date(2019, 3, 31)),))
    assert not follows_day(before, (TimeRange(date(2019, 4, 1), date(2019, 4, 30)),))
    assert follows_day(before, (TimeRange.year(2019),))
    assert follows_day(("In 2019 the council met.",), (TimeRange(date(2019, 3, 5), date(2019, 3, 5)),))
