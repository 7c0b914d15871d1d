"""Who types a name without its accents, or with a letter too few, means the sources' name; and no other one."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.models.extractive import VERSION, ExtractiveModel
from ai.models.reading.versions import RELEASED
from ai.text.catalogue import ABSTAIN, PHRASES
from ai.text.spelling import respelt, unaccented
from ai.text.support import WORD, fold
from retrieval.model import Intent, Mention
from tests.fakes_ai import an_item
from tests.unit.test_extractive import request
from tests.unit.test_read_answers import answered

NAMES = (
    "Beauséjour",
    "Temür",
    "Muñoz",
    "Málaga",
    "Ångström",
    "Škoda",
    "Žižkov",
    "Đorđević",
    "Łódź",
    "Straße",
    "Ærøskøbing",
    "Curaçao",
)
PLAIN = {"Đorđević": "Dordevic", "Łódź": "Lodz", "Ærøskøbing": "Aeroskobing"}
TWINS = (("Bassett", "Basset"), ("Muller", "Müller"), ("Annapolis", "Anapolis"), ("Whittaker", "Whitaker"))
OTHERS = (
    ("Hansen", "Jansen"), ("Petersen", "Peterson"), ("Johnson", "Johnston"), ("Marta", "Marty"), ("Ana", "Anna"),
    ("Elin", "Ellin"), ("Temür", "Timur"), ("Beauséjour", "Beausoleil"),
)  # fmt: skip


def vocabulary(*texts: str) -> frozenset[str]:
    return frozenset(fold(word) for text in texts for word in WORD.findall(text))


def spelt(question: str, *texts: str) -> str:
    return respelt(question, Intent(), vocabulary(*texts))[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("question", ["Who built {}?", "Where is {}’s bridge?", "What did {} pay for?"])
def test_a_name_without_accents_is_the_one_with_them(name: str, question: str) -> None:
    typed = PLAIN.get(name, unaccented(name))
    assert spelt(question.format(typed), f"{name} paid.") == question.format(name)
    assert spelt(question.format(name), f"{typed} paid.") == question.format(typed)


@pytest.mark.parametrize(("one", "other"), [*TWINS, *(twin[::-1] for twin in TWINS)])
def test_a_letter_that_is_doubled_makes_no_other_name(one: str, other: str) -> None:
    assert spelt(f"Who was Colonel {one}?", f"Colonel {other} came.") == f"Who was Colonel {other}?"


@pytest.mark.parametrize(("one", "other"), [*OTHERS, *(pair[::-1] for pair in OTHERS)])
def test_another_name_stays_another_one(one: str, other: str) -> None:
    assert spelt(f"Who was {one}?", f"{other} came.") == f"Who was {one}?"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is served at the diner?", "Dinner is served at six."),
        ("Who was hoping to come?", "They were hopping over the fence."),
        ("Where is the desert?", "The dessert is in the fridge."),
    ],
)
def test_a_letter_is_doubled_in_names_alone(question: str, text: str) -> None:
    assert spelt(question, text) == question


def test_a_possessive_stays_where_a_letter_is_two_in_lower_case() -> None:
    assert spelt("Where is Muñozstraße's bridge?", "Munozstrasse is long.") == "Where is Munozstrasse's bridge?"


def test_of_several_spellings_none_is_meant() -> None:
    assert spelt("Who was Temur?", "Temür came.", "Témur went.") == "Who was Temur?"


@pytest.mark.parametrize("name", NAMES)
def test_what_the_sources_have_stays_as_it_is_typed(name: str) -> None:
    bare = unaccented(name)
    assert spelt(f"Who was {bare}?", f"{name} came.", f"{bare} went.") == f"Who was {bare}?"


def test_the_names_that_were_read_are_written_so_too() -> None:
    read = Intent(mentions=(Mention("Fort Beausejour", 9, 24, ()),))
    question, intent = respelt("Who took Fort Beausejour?", read, vocabulary("Fort Beauséjour was taken."))
    assert question == "Who took Fort Beauséjour?"
    assert intent.unknown_names == ("Fort Beauséjour",)


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=8))
def test_nothing_else_of_a_question_changes(question: str, texts: list[str]) -> None:
    words = vocabulary(*texts)
    once, _ = respelt(question, Intent(), words)
    assert WORD.sub("", once) == WORD.sub("", question)
    assert respelt(once, Intent(), words)[0] == once
    for before, after in zip(WORD.findall(question), WORD.findall(once), strict=True):
        assert before == after or (fold(before) not in words and fold(after) in words)


@given(st.text(alphabet="éèüñåa", max_size=8))
def test_a_text_without_accents_has_none(text: str) -> None:
    assert unaccented(text) == unaccented(unicodedata.normalize("NFD", text))
    assert unaccented(text).isascii()


SAID = [("Fort {} was taken in 1755.", "When was Fort {} taken?"), ("{} paid for the organ.", "What did {} pay for?")]


@pytest.mark.parametrize(("name", "told"), list(product(("Beauséjour", "Temür", "Muñoz"), SAID)))
def test_the_default_answers_and_what_it_says_is_an_answer(name: str, told: tuple[str, str]) -> None:
    text, typed = told[0].format(name), unaccented(name)
    question = told[1].format(typed)
    asked = request(question, [an_item(text)], Intent(mentions=(Mention(typed, 0, 1, ()),)))
    lines = [asyncio.run(ExtractiveModel(version=version).complete(asked)).text for version in (VERSION, str(RELEASED))]
    assert lines == [f"{text} [1]", PHRASES[ABSTAIN]]
    assert answered(text, [an_item(text)], None, question=question)


@pytest.mark.parametrize(("one", "other"), [pair for pair in OTHERS if pair[0].isascii() and pair[1].isascii()])
def test_the_default_answers_nothing_about_another_name(one: str, other: str) -> None:
    text, question = f"{one} paid for the organ.", f"What did {other} pay for?"
    asked = request(question, [an_item(text)], Intent(mentions=(Mention(other, 0, 1, ()),)))
    assert asyncio.run(ExtractiveModel().complete(asked)).text == PHRASES[ABSTAIN]


def test_the_versions_of_releases_run() -> None:
    made = [ExtractiveModel.of(document) for document in ExtractiveModel.documents()]
    assert {json.loads(each.document)["code"] for each in made if each} == {str(RELEASED), VERSION}
    others = map(str, (0, RELEASED - 1, *range(RELEASED + 1, int(VERSION)), int(VERSION) + 1))
    assert all(ExtractiveModel.of(ExtractiveModel(version=other).document) is None for other in others)
