"""The question that is offered in place of one that was not read in full: it keeps every name, number and direction."""

from __future__ import annotations

import re
from itertools import product

import pytest

from ai.intent.lexicon import Lexicon
from ai.intent.reader import read_intent
from ai.model import MapContext
from retrieval.algebra.domain import Domain, FigureKind
from retrieval.gazetteer import Gazetteer
from retrieval.index import GazetteerEntry
from retrieval.model import EntityRef

NAMES = ("Arden", "Brinmoor", "Kelby Weir")
LEXICON = Lexicon.of(
    Gazetteer([GazetteerEntry(EntityRef(name.casefold(), name, "station"), (name,), "c", "d") for name in NAMES]),
    Domain((FigureKind("rainfall", "mm", "station"), FigureKind("population", "", "station"))),
)
ASKED = (
    "Which {} stations had a rainfall over 600 mm in 2019?",
    "How many {} stations had at least 1,200 people in 2019?",
    "What was the {} rainfall of Arden in 2019?",
    "Which {} station had the second smallest population in 2018?",
    "What was the average {} rainfall of the stations in 2019?",
    "How did the {} rainfall of Brinmoor change between 2018 and 2019?",
    "Which {} stations had more rainfall than Kelby Weir in 2019?",
)
LEFT_OUT = ("lovely", "blooming", "rural", "famous")
TURNS = ("never", "wettest", "drier", "doubled", "plunged", "without", "half", "Greater", "30", "1990", "Atlantis")
BESIDE = (
    "Which stations had a rainfall over 600 {} in 2019?",
    "Which stations had a rainfall of {} 600 mm in 2019?",
    "What was the rainfall of {} Arden in 2019?",
    "What was the rainfall of Arden {} 2019?",
    "Which stations had more rainfall than Arden {} in 2019?",
)
WORDS = ("furlongs", "around", "outer", "circa", "roughly", "inland", "°", "stone")


def offered(question: str) -> str:
    """The suggestion beside a question, empty where there is none."""
    intent = read_intent(question, MapContext(), lexicon=LEXICON).intent
    return intent.nearest.partition("This would be answered: ")[2]


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text.replace(",", "").replace("second", "2")))


@pytest.mark.parametrize(("asked", "word"), [*product(ASKED, LEFT_OUT)])
def test_a_word_that_changes_nothing_asked_is_left_out(asked: str, word: str) -> None:
    said = offered(asked.format(word))
    assert said and numbers(said) == numbers(asked), said
    assert {name for name in NAMES if name in said} == {name for name in NAMES if name in asked}


@pytest.mark.parametrize(("asked", "word"), [*product(ASKED, TURNS)])
def test_a_word_that_may_turn_the_question_round_is_not(asked: str, word: str) -> None:
    assert offered(asked.format(word)) == ""


@pytest.mark.parametrize(("asked", "word"), [*product(BESIDE, WORDS)])
def test_neither_is_one_beside_a_name_a_number_or_a_time(asked: str, word: str) -> None:
    assert offered(asked.format(word)) == ""


OF_TEXTS = (
    "Where is the {} area of the garden?",
    "On what condition may a {} stay in the area?",
    "How should the neighbours be told of the {}?",
    "Can a neighbour object to the {}?",
    "How far above the rung shall the {} be placed?",
)
OF_THE_CORPUS = (
    "Which {} stations border Arden?",
    "Which {} stations are more than 10 km away?",
    "How far is the {} from Brinmoor?",
    "What {} area does Kelby Weir have?",
    "Which {} has a rainfall over 600 mm?",
)
THINGS = ("crane", "press", "lantern", "celebration")


@pytest.mark.parametrize("lexicon", [LEXICON, Lexicon.of(Gazetteer(), Domain())])
@pytest.mark.parametrize(("asked", "thing"), [*product(OF_TEXTS, THINGS)])
def test_an_area_or_a_neighbour_of_nothing_in_the_corpus_is_one_of_texts(
    asked: str, thing: str, lexicon: Lexicon
) -> None:
    assert read_intent(asked.format(thing), MapContext(), lexicon=lexicon).intent.unread == ()


@pytest.mark.parametrize(("asked", "thing"), [*product(OF_THE_CORPUS, THINGS)])
def test_beside_a_word_of_the_corpus_it_is_none(asked: str, thing: str) -> None:
    assert read_intent(asked.format(thing), MapContext(), lexicon=LEXICON).intent.unread
