"""A true sentence that says little of the question beside one that says most of it does not answer; what a sentence
leans on, and the question that it stands right behind, count with it."""

from __future__ import annotations

import pytest

from ai.answer.claims.check import Sources
from ai.answer.draft.citations import draft_sentences
from ai.model import Completion, ModelIdentity, Sentence
from retrieval.model import Intent
from tests.fakes_ai import an_item

AGENCY = "The news agency of Skerrow set up a printing house and a school for clerks."
SEATS = "Seven agency offices have their seats in the old harbour."
HELD = "They employ a cook."
FERRY = "The ferry company owns four agency boats."
ASKED = "What did the Skerrow news agency set up for clerks?"
FAQ = "How long does a full charge of the battery take?\nFour and a half hours.\n\nThe battery is charged at night."


ITEMS = (
    an_item(f"{AGENCY} {FERRY}", 1, title="Harbour"),
    an_item(f"{SEATS} {HELD}", 2, title="Agencies"),
    an_item(FAQ, 3, title="Questions"),
)


def checked(text: str, cited: int, sources: Sources) -> Sentence:
    """The last sentence of a draft of one."""
    said = Completion(f"{text} [{cited}]", ModelIdentity("scripted", "sha256:0"), 0, 0)
    asked = sources.wanted.question
    return draft_sentences(said, ITEMS, find=lambda text: (), sources=sources, asked=asked).sentences[-1]


def answers(text: str, cited: int, question: str) -> bool:
    """Whether a sentence answers."""
    return checked(text, cited, Sources.of(ITEMS, Intent(), question)).answers


@pytest.mark.parametrize(("text", "cited"), [(SEATS, 2), (FERRY, 1)])
def test_what_says_little_beside_what_says_most_is_beside_the_point(text: str, cited: int) -> None:
    assert answers(AGENCY, 1, ASKED)
    assert not answers(text, cited, ASKED)


def test_it_is_the_nearest_sentence_that_a_sentence_is_weighed_against() -> None:
    """The very sentence answers where nothing says more of the question."""
    assert answers(SEATS, 2, "Where has an agency its seat?")


def test_what_it_leans_on_counts_with_it() -> None:
    sources = Sources.of(ITEMS, Intent(), "What is there in the seven agency offices?")
    sentence = checked(HELD, 2, sources)
    assert sentence.answers
    assert not sources.wanted.is_answered(sentence, sources.direct)
    assert not sources.wanted.is_answered(sentence, sources.direct, AGENCY)


def test_the_question_that_it_stands_behind_counts_with_it() -> None:
    asked = "How long does a full charge of the battery take?"
    assert answers("Four and a half hours.", 3, asked)
    assert not answers("Four and a half hours.", 3, "How long does a letter to the harbour take?")
