"""Words that relate one thing to another, contraries that are denied, and what a reader found."""

from __future__ import annotations

from itertools import product

import pytest

from ai.text.meaning.meant import Meant
from ai.text.support import folded_words

TURNED = (("before", "after"), ("above", "below"), ("upstream of", "downstream of"))
THINGS = ("lighthouse", "flood", "mill", "second gate", "old bridge")
ASKED = ("Who was seen {by} the {thing}?", "What did Ida Holm paint {by} the {thing}?", "who slept {by} the {thing}")
TOLD = (
    "Ida Holm was seen {by} the {thing}.",
    "Ida Holm painted a boat {by} the {thing}.",
    "Two men slept {by} the {thing}.",
)


def agrees(question: str, text: str, *, read: bool = True) -> bool:
    """Whether a sentence is of what the question means."""
    tokens = folded_words(text)
    return Meant.of(question, tokens).agrees(text, tokens, read=read)


@pytest.mark.parametrize(("asked", "told"), list(zip(ASKED, TOLD, strict=True)))
def test_a_relation_is_the_contrary_of_another_of_the_same_thing_alone(asked: str, told: str) -> None:
    for (one, other), thing, another in product((*TURNED, *((b, a) for a, b in TURNED)), THINGS, THINGS):
        question, text = asked.format(by=one, thing=thing), told.format(by=other, thing=another)
        assert agrees(question, text) is (thing != another), (question, text)
        assert not agrees(question, text, read=False) or not one.isalpha(), (question, text)


@pytest.mark.parametrize(
    ("question", "told", "denied"),
    [
        ("What is unknown about the dyer?", "The year of the dyer's birth is {} known.", "not"),
        ("Which papers are unsigned?", "The papers of 1811 are {} signed.", "not"),
        ("What can the non-elected members do?", "Members who are {} elected may speak.", "not"),
        ("Which rooms are unheated?", "The attic rooms were {} heated.", "never"),
    ],
)
def test_a_contrary_that_is_denied_is_none(question: str, told: str, denied: str) -> None:
    text = told.format(denied)
    assert agrees(question, text)
    assert not agrees(question, " ".join(told.format("").split()))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What discount is there on a hire of three days or more?", "Who hires for three days or longer pays a fifth less."),
        ("Why shouldn't I use warm water on the jug?", "Rinse the jug with cold water, since hot water bakes the milk on."),
        ("How much space is left behind the printer?", "20 cm are left behind it so that warm air can escape."),
        ("What must be left behind the door?", "A strip of at least 20 cm must be left behind it as warm air rises."),
        ("Evolution of what part of the system occurred in fish?", "Evolution of the immune system occurred in fish."),
        ("Members of which bodies are disqualified?", "Members of the police are disqualified."),
        ("Who may sit in the SP?", "An adult may sit in the Scottish Parliament."),
        ("Who may change the date, on the proposal of the PO?", "The Monarch may change the date, on the proposal of the Presiding Officer."),
        ("In what did she hide her letters in the war?", "She hid her letters in a milk churn behind the barn."),
        ("Who leads the youth group?", "Our youth group, led by Saskia Thorne, has chosen a play."),
        ("What work did they do in Central Asia?", "They were moved to Central Asian towns to work as smiths."),
        ("Who applies European Law?", "European Union law is applied by the courts."),
        ("How old is Ida Roos?", "Its driver, Ida Roos, 41, was freed after three hours."),
        ("How old was Edric Vane when he enlisted?", "The recruiting sergeant made him seventeen."),
        ("By what time was the fire lit?", "I had the fire lit by four."),
        ("In which year did the river take the bridge?", "The river took the bridge in 'fifty-seven."),
        ("How long had he been in the shop?", "He was in the shop only six days when the strike came."),
        ("By how much was the grant reduced?", "The grant was reduced by eight per cent."),
        ("How big should the drop of oil be?", "A drop of oil the size of a lentil is plenty."),
        ("What date is on the coin?", "A coin of 1794 lay under the boards."),
    ],
)  # fmt: skip
def test_these_are_no_contraries_and_no_other_things(question: str, text: str) -> None:
    assert agrees(question, text)


def test_a_number_that_labels_counts_no_deed() -> None:
    told = "Version 2 came out in June 2016, version 3 in May 2018, version 4 in April 2022."
    for number in range(1, 8):
        assert agrees(f"When did version {number} come out?", told) is (number in (2, 3, 4)), number


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What was the bin made of?", "A bin was canvas on poles."),
        ("How did Beckwith win her?", "So Beckwith sent her one sock."),
        ("Who made the organ?", "Its organ, by Forster & Andrews, was sold to a church."),
    ],
)  # fmt: skip
def test_what_the_reader_found_need_not_say_of_what_kind_it_is(question: str, text: str) -> None:
    assert agrees(question, text)
    assert not agrees(question, text, read=False)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What happens on Wednesday?", "The choir meets on Tuesday."),
        ("What happens on Wednesday?", "The choir meets at seven."),
        ("When was Black Monday?", "April 14, 1935 became one of the defining days of the Dust Bowl."),
        ("What time did they leave Oban?", "They left Oban on the third of June 1936."),
        ("How old is the captain?", "The captain has 41 goats."),
        ("What colour are its eyes?", "Its eyes are large."),
        ("How big is a full plot?", "The rent for a full plot is £54."),
        ("Who succeeded Piers Langley?", "Her successor is Piers Langley."),
        ("What does hive 4 hold?", "Hive 3 holds nine frames."),
        ("How long is a two-bedroom flat let for?", "A one-bedroom flat is let for a year."),
        ("How thick is a coin of five groats?", "A coin of two groats is 3 mm thick."),
        ("How many sails has a ship of 3 masts?", "A ship of 2 masts has nine sails."),
        ("How long has Ida Farrant been treasurer?", "It must reach the treasurer, Ida Farrant, within twenty-eight days."),
        ("How many days do part-time workers get?", "Every full-time worker gets 27 days."),
        ("Who closed the café in 1958?", "The café was opened in 1958 by Ida Holm."),
        ("Who may revoke the licence of an inspector?", "The minister may appoint the inspector of a licence."),
        ("What was removed in version 4.2?", "Version 4.2 adds a button for printing."),
        ("When did Ida leave the choir?", "Ida joined the choir in 1958."),
        ("Which offer did the board refuse?", "The board accepted the offer of the brewery."),
        ("Who works in New Mexico?", "The New York office works."),
        ("Who sits in the SP?", "An adult sits in the Supreme Court."),
        ("How long does the journey by ship take?", "The journey by railway takes eight hours."),
    ],
)  # fmt: skip
def test_the_reader_does_not_outweigh_what_says_otherwise(question: str, text: str) -> None:
    assert not agrees(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many hours do full-time staff work?", "Full-time staff work 38 hours, part-time staff half of that."),
        ("When does the shop close?", "The shop is open from nine to five."),
        ("Until what time is the shop open?", "The shop closes at five o'clock."),
        ("Which offer did the board not accept?", "The board refused the offer of the brewery."),
        ("Who opened the café, and who closed it?", "The café was opened in 1958 by Ida Holm."),
    ],
)
def test_a_contrary_says_what_is_asked(question: str, text: str) -> None:
    assert agrees(question, text)
