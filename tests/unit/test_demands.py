"""What a sentence must say to answer: the deed, the numbers, the name, and no denial; and words that no source holds."""

from __future__ import annotations

import re

import pytest

from ai.models.context import prompt_source
from ai.models.reading.clause import clause_of
from ai.models.reading.question import ReadQuestion
from ai.models.reading.source import ReadSource
from ai.models.reading.terms import question_terms
from retrieval.model import Intent
from tests.unit.test_extractive import an_item, ask

ABSTAINS = ["The sources do not answer this question."]
TEXTS = {
    "bread": "Bake the wheat loaves for 40 minutes. Let the rye loaves cool for two hours. Flour is stored in a dry cupboard.",
    "line": (
        "The Night Line was opened in 1904 by Clara Moss. The Day Line was closed in 1931. Twelve drivers work on the "
        "Night Line. Tickets are not sold on board after 22:00. The mayor said that he would not return to Hartfield."
    ),
    "rules": "Members may borrow six records. Overdue records cost 20 cents a day. Lost records must be replaced within 30 days.",
}
RIGHT = {
    "How long do wheat loaves bake?": "40 minutes",
    "How long should rye loaves cool?": "two hours",
    "Where is flour stored?": "dry cupboard",
    "When was the Night Line opened?": "1904",
    "Who opened the Night Line?": "Clara Moss",
    "When was the Day Line closed?": "1931",
    "How many drivers work on the Night Line?": "Twelve",
    "How many records may members borrow?": "six records",
    "How soon must lost records be replaced?": "30 days",
    "When did the Night Line start?": "",
}
FALSE = (
    "How long do wheat loaves cool?",
    "How long do rye loaves bake?",
    "How long do wheat loaves keep?",
    "Where is flour sold?",
    "Where is flour milled?",
    "When was the Night Line closed?",
    "When was the Night Line painted?",
    "When was not the Night Line opened?",
    "When was the Night Line not opened?",
    "Who did not open the Night Line?",
    "How many drivers do not work on the Night Line?",
    "When was the Day Line opened?",
    "Who painted the Night Line?",
    "How many drivers sleep on the Night Line?",
    "Where would the mayor return to?",
    "How many records may members sell?",
    "How many 20 cent records may members borrow?",
    "How soon must lost records be burnt?",
    "How soon must lost umbrellas be replaced?",
    "When do members borrow 50 records?",
)


def answer(question: str) -> str:
    items = [an_item(text, n) for n, text in enumerate(TEXTS.values(), 1)]
    return " ".join(ask(question, *items))


@pytest.mark.parametrize("question", [q for q, says in RIGHT.items() if says])
def test_what_is_said_answers(question: str) -> None:
    assert RIGHT[question] in answer(question)


@pytest.mark.parametrize("question", FALSE)
def test_what_is_said_of_another_deed_does_not(question: str) -> None:
    assert answer(question) == ABSTAINS[0]


@pytest.mark.parametrize(
    ("question", "clause"),
    [
        ("How long do wheat loaves cool?", ("wheat", "loaves", "cool")),
        ("Can I freeze fish again?", ("fish", "freeze")),
        ("When was the Night Line opened?", ("opened",)),
        ("What novel did Sand write in 1847?", ("write",)),
        ("Who wrote the letter?", ("wrote",)),
        ("Where is the mill?", ()),
        ("What is the height of the tower?", ()),
        ("Why?", ()),
        ("", ()),
        ("?" * 500, ()),
    ],
)
def test_the_clause_with_its_verb_last(question: str, clause: tuple[str, ...]) -> None:
    assert clause_of(question) == clause


def turns(question: str, others: list[str]) -> list[str]:
    """The question with a content word of another question, of the same ending, in place of one of its own."""
    own, made = question_terms(question, Intent()), []
    words = {term for other in others for term in question_terms(other, Intent()) if term in other} - own
    for found in re.finditer(r"(?<=\s)[a-z]{4,}", question):
        if found[0] in own:
            ending = next((end for end in ("ed", "s") if found[0].endswith(end)), "")
            fitting = (w for w in sorted(words) if (w.endswith(ending) if ending else not w.endswith(("ed", "s"))))
            made += [question[: found.start()] + word + question[found.end() :] for word in fitting]
    return made


def test_a_word_of_another_question_turns_an_answer_into_none() -> None:
    """Over every question that is answered and every word that may stand in place of one of its own. What is left over
    is a word that says how something is asked, not what."""
    answered = [question for question, says in RIGHT.items() if says]
    asked = [turned for q in answered for turned in turns(q, [o for o in answered if o != q])]
    false = [turned for turned in asked if answer(turned) != ABSTAINS[0]]
    assert len(asked) > 60
    assert len(false) <= len(asked) // 20, false


def test_demands_are_read_in_time_linear_in_the_question() -> None:
    """A question of many words over one source: nothing blows up."""
    source = prompt_source(an_item(TEXTS["bread"], 1), Intent())
    asked = ReadQuestion.of("How long do " + "loaves " * 5_000 + "cool?", Intent(), [ReadSource.of(source)])
    assert asked.demands is not None
    assert asked.demands.deed is not None
