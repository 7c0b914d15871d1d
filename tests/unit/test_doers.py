"""What another did is no answer to what somebody did; nor what another thing does to what a thing does."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.text.meaning.deeds.doers import Doer
from ai.text.meaning.meant import Meant
from ai.text.support import WORD, all_roots, fold
from retrieval.english.stems import root_of

NAMES = ("Toyota", "Ida Holm", "Mitsubishi", "Per Lund", "Hartfield")
THINGS = ("minister", "baker", "harbour master")
DEEDS = (
    ("close the works", "closed the works in 1974"), ("win the regatta", "also won the regatta in May"),
    ("build a mill", "had built a mill of brick"), ("leave the guild", "never left the guild"),
)  # fmt: skip
CASES = [
    (f"When did {article}{pair[0]} {deed}?", f"{new}{pair[1]} {done}.")
    for doers, article, new in ((NAMES, "", ""), (THINGS, "the ", "A "))
    for pair, (deed, done) in product(permutations(doers, 2), DEEDS)
]


def agrees(question: str, text: str, title: str = "") -> bool:
    tokens = frozenset(fold(word) for word in WORD.findall(f"{title} {text}"))
    return Meant.of(question, tokens).doer.agrees(text, frozenset(map(root_of, tokens)))


@pytest.mark.parametrize(("question", "text"), CASES)
def test_what_another_did_is_no_answer(question: str, text: str) -> None:
    assert not agrees(question, text)
    doer = question.removeprefix("When did ").removeprefix("the ").split(" close")[0].split(" win")[0]
    assert agrees(question, text, title=doer.split(" build")[0].split(" leave")[0])  # the title says who it is


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When did Toyota close the works?", "Toyota closed the works in 1974."),
        ("When did Toyota close the works?", "It closed the works in 1974."),
        ("When did Toyota close the works?", "The company closed the works in 1974."),
        ("When did Toyota close the works?", "The works, which had been closed before, burned in 1974."),
        ("When did Toyota close the works?", "In 1974 the works were closed."),
        ("When did Britain close the works?", "The British closed the works in 1974."),
        ("When did the mayor open the bridge?", "Ida Holm opened the bridge in May."),
        ("When did the mayor open the bridge?", "In May he opened the bridge."),
        ("What did the guild pay for?", "The weavers paid for the organ."),
        ("When did the boy dive?", "Boys dive in March."),
        ("What does the pump do?", "The motor turns the wheel."),
        ("When does the gate open?", "Opening is at nine."),
        ("Who closed the works?", "Mitsubishi closed the works."),
        ("When was Ida Holm born?", "Per Lund was born in 1974."),  # others refuse that
    ],
)
def test_what_may_be_done_by_who_is_asked_about_is_left(question: str, text: str) -> None:
    assert agrees(question, text)


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_repeats_the_question_is_by_the_same(question: str, text: str) -> None:
    assert Doer.of(question).agrees(text, all_roots(text) | all_roots(question))
