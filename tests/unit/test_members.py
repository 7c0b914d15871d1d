"""`Which X are in Y?` is answered by a sentence that names members, never by one that merely says X and Y."""

from __future__ import annotations

import pytest

from ai.text.meaning.members import Members
from tests.unit.test_extractive import an_item, ask

ABSTAINS = "The sources do not answer this question."
KINDS = ("boats", "bells", "looms", "mills", "statues", "trees", "clocks")
PLACES = ("Vardal", "the north hall", "Lomen harbour", "the old town")
NAMING = (
    "The {kind} in {place} are Tern, Skua and Petrel.",
    "The {kind} that stand in {place} are called Tern and Skua.",
    "In {place} one finds the {kind} Tern and Skua.",
    "There are three {kind} in {place}: Tern, Skua and Petrel.",
    "{kind}, such as the Tern and the Skua, are kept in {place}.",
)
SAYING = (
    "The club keeps six {kind} in {place}.",
    "The club keeps six {kind} in {place} and two in Aske.",
    "All {kind} in {place} are cleaned in May.",
    "The {kind} in {place} were paid for by the guild.",
    "Nobody counted the {kind} in {place}.",
    "{kind} may not be left in {place} over night.",
    "How many {kind} are in {place} is not known.",
    "Our {kind} came to {place} from Bergen.",
    "The {kind} Tern and Skua lie outside {place}.",
    "Behind {place} stand the {kind} Tern and Skua.",
    "The {kind} were brought to {place} in 1931.",
)
OTHER_QUESTIONS = (
    "When were the boats in Vardal built?",
    "Who built the boats in Vardal?",
    "Which boats are painted?",
    "Which boats sail from Vardal to Lomen?",
    "How many boats are in Vardal?",
    "Which of the two is in Vardal?",
    "Are the boats in Vardal?",
    "",
    "?" * 300,
)


def asked(kind: str, place: str) -> Members:
    members = Members.of(f"Which {kind} are in {place}?")
    assert members is not None
    return members


def filled(form: str, kind: str, place: str) -> str:
    text = form.format(kind=kind, place=place)
    return text[0].upper() + text[1:]


@pytest.mark.parametrize("form", NAMING)
def test_a_sentence_that_names_members_answers(form: str) -> None:
    for kind in KINDS:
        for place in PLACES:
            assert asked(kind, place).named_in(filled(form, kind, place)), (form, kind, place)


@pytest.mark.parametrize("form", SAYING)
def test_a_sentence_that_merely_says_the_kind_and_the_place_does_not(form: str) -> None:
    for kind in KINDS:
        for place in PLACES:
            assert not asked(kind, place).named_in(filled(form, kind, place)), (form, kind, place)


def test_more_sentences_name_none() -> None:
    assert len(SAYING) > 2 * len(NAMING)


@pytest.mark.parametrize("question", OTHER_QUESTIONS)
def test_other_questions_ask_for_no_members(question: str) -> None:
    assert Members.of(question) is None


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_model_picks_the_sentence_that_names_them(kind: str) -> None:
    said = "The club keeps six {kind} in Vardal and two in Lomen."
    question = f"Which {kind} are in Vardal?"
    assert ask(question, an_item(said.format(kind=kind), 1)) == [ABSTAINS]
    both = f"{said} The {{kind}} in Vardal are Tern, Skua, Petrel and Fulmar.".format(kind=kind)
    answer = " ".join(ask(question, an_item(both, 1)))
    assert "Skua" in answer
    assert "Lomen" not in answer
