"""Where something is, goes or was done: a sentence about one place does not answer for another of the same document."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.unit.test_extractive import an_item, ask

NONE = ["The sources do not answer this question."]
NAMES = ("Brekke", "Tangen", "Osmark", "Lomen")
BESIDE = ("at", "in", "near", "from")
SENTENCES = {  # the deed as it is said, and the question
    "The bookmobile calls {at} {one} on Mondays and {at} {two} on Thursdays.": "When does the bookmobile call {at} {name}?",
    "The ferry departs {at} {one} at 8.30 and {at} {two} at 9.15.": "When does the ferry depart {at} {name}?",
    "Ida Holm repaired the bridge {at} {one} in 1971.": "Who repaired the bridge {at} {name}?",
    "The band plays {at} {one} on 12 May 2024.": "When does the band play {at} {name}?",
}


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("at", BESIDE)
def test_the_place_that_is_asked_for_is_the_one_that_is_told(sentence: str, at: str) -> None:
    for one, two, other in permutations(NAMES, 3):
        text, question = sentence.format(at=at, one=one, two=two), SENTENCES[sentence]
        item = an_item(f"The office is closed in winter. {text} A joiner lives in {other}.", 1)
        assert text in " ".join(ask(question.format(at=at, name=one), item))
        assert ask(question.format(at=at, name=other), item) == NONE


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_place_of_the_title_is_not_that_of_a_sentence_that_names_another(sentence: str) -> None:
    text, question = sentence.format(at="at", one="Brekke", two="Tangen"), SENTENCES[sentence]
    item = an_item(text, 1, title="Services of Askelund")
    assert ask(question.format(at="at", name="Askelund"), item) == NONE


def test_the_place_of_the_title_is_that_of_a_sentence_that_names_none() -> None:
    item = an_item(
        "The library was converted by Mirjam Sten in 1988. It has two floors.", 1, title="Services of Askelund"
    )
    assert "1988" in " ".join(ask("When was the library at Askelund converted?", item))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who issues day cards?", "Fishing requires a day card, which the harbour master issues."),
        ("Who sells the tokens?", "Showers take tokens, which the warden sells."),
        ("Who painted the chapel?", "The road ends at the chapel, which a pupil of Holm painted."),
    ],
)
def test_a_doer_in_a_relative_clause_is_one(question: str, text: str) -> None:
    assert text in " ".join(ask(question, an_item(f"{text} The gate is locked at night.", 1)))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who issues day cards?", "Fishing requires a day card, which is issued daily."),
        ("Who sells the tokens?", "The warden, who sells maps, lives near the tokens."),
    ],
)
def test_a_relative_clause_without_the_doer_tells_none(question: str, text: str) -> None:
    assert ask(question, an_item(f"{text} The gate is locked at night.", 1)) == NONE


@pytest.mark.parametrize(
    "question",
    ["What is the price of a wheelchair?", "What was the fee for wheelchairs?", "What is the rent of a wheelchair?"],
)
def test_a_price_is_an_amount(question: str) -> None:
    assert ask(question, an_item("Wheelchairs can be borrowed at the entrance.", 1)) == NONE
    told = "A wheelchair has a price of 4 euros, a fee for the day and a rent of 9 euros for the week."
    assert told in " ".join(ask(question, an_item(told, 1)))


CAUSES = [("the compost", "late", "the lorry", "broken"), ("the concert", "short", "the organ", "cold")]


@pytest.mark.parametrize("because", ["because", "since"])
@pytest.mark.parametrize(("thing", "how", "cause", "state"), CAUSES)
def test_the_reason_of_one_thing_is_not_that_of_its_cause(
    thing: str, how: str, cause: str, state: str, because: str
) -> None:
    told = f"{thing[0].upper()}{thing[1:]} was {how} {because} {cause} was {state}."
    turned = f"{because[0].upper()}{because[1:]} {cause} was {state}, {thing} was {how}."
    for text in (told, turned):
        item = an_item(f"{text} Nobody came on Monday.", 1)
        assert text in " ".join(ask(f"Why was {thing} {how}?", item)), text
        assert ask(f"Why was {cause} {how}?", item) == NONE, text
