"""What befalls people and things: of the states of one field, another one is no answer."""

from __future__ import annotations

from itertools import permutations

import pytest

from ai.text.meaning.meant import Meant
from ai.text.support import folded_words

ASKED_AND_TOLD = (
    ("How many people were {}?", "Nine people were {} in the fire.", "killed injured rescued evacuated trapped captured"),
    ("When was Henry Gaunt {}?", "Henry Gaunt was {} in 1899.", "charged arrested convicted acquitted released"),
    ("When was Elias Thorn {}?", "Elias Thorn was {} in 1801.", "born baptised buried"),
    ("When was the bridge plan {}?", "The bridge plan was {} in 1988.", "proposed adopted vetoed repealed"),
    ("When was the steamer {}?", "The steamer was {} in 1911.", "launched commissioned scrapped"),
    ("Who {} the castle?", "Jean Perrin {} the castle in 1880.", "built restored demolished"),
    ("Who {} the farm?", "Tove Lind {} the farm in 1954.", "bought leased inherited donated stole"),
    ("When did Mara Quill marry?", "Mara Quill was {} in 1904.", "married divorced"),
    ("How many saplings were {}?", "In January 600 saplings were {}.", "ordered planted delivered harvested"),
    ("How many children were {}?", "Thirty children were {} in March.", "vaccinated infected hospitalised"),
    ("Who {} the novel?", "Piet Vos {} the novel in 1962.", "translated filmed published"),
    ("How much was {} in May?", "In May 900 pounds were {}.", "borrowed repaid pledged earned spent"),
)  # fmt: skip


def agrees(question: str, text: str, *, read: bool = True) -> bool:
    """Whether a sentence is of what the question means."""
    tokens = folded_words(text)
    return Meant.of(question, tokens).agrees(text, tokens, read=read)


@pytest.mark.parametrize(("asked", "told", "states"), ASKED_AND_TOLD)
def test_another_state_of_the_field_is_no_answer(asked: str, told: str, states: str) -> None:
    for one, other in permutations(states.split(), 2):
        question = asked.format(one)
        if "{}" in asked or one == "married":
            assert not agrees(question, told.format(other)), (question, other)
            assert agrees(question, told.format(one)), (question, one)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many people were killed?", "Twelve sailors drowned before help came."),
        ("How many were killed and how many injured?", "Nine were injured."),
        ("How many people died?", "Nine people were injured, and the fire claimed four lives."),
        ("What happened to the arrested men?", "The men were convicted in May."),
        ("What did he do after he was arrested?", "He was convicted on his own words."),
        ("How many climbers were rescued?", "Helicopters brought down forty of the injured climbers."),
        ("How long was Henry Gaunt in jail?", "Henry Gaunt was sentenced to nine months."),
        ("Who bought the farm?", "In 1954 Tove Lind sold the farm to the council."),
        ("When was the bill passed?", "The bill became law in 1973."),
        ("Who was not injured?", "Three of the sailors drowned."),
        ("What do natural killer cells attack?", "They destroy cells that are missing a marker."),
        ("How were the injured evacuated?", "The injured left by boat."),
        ("When was the fair opened?", "In order to please the mayor it began in May."),
        ("How much was charged for the hall?", "The hall is released against a fee of 9 euros."),
    ],
)
def test_these_tell_what_is_asked(question: str, text: str) -> None:
    assert agrees(question, text), (question, text)


def test_what_stands_in_the_question_itself_tells_no_state() -> None:
    told = "Mara Quill was nominated for the Sander prize in 2004."
    assert not agrees("When was Mara Quill awarded the Sander prize?", told)
    assert agrees("When was Mara Quill nominated for the Sander prize?", told)
