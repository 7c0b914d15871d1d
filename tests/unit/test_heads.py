"""One of several things of a kind, by the word before its noun."""

from __future__ import annotations

from itertools import permutations

import pytest

from ai.text.meaning.meant import Meant

KINDS = (
    ("counter", ("ash", "service", "fault")),
    ("service", ("daytime", "evening", "holiday")),
    ("valve", ("safety", "filling", "steam")),
    ("licence", ("fishing", "trading", "pilot")),
)
DESCRIBE = {"evening", "holiday", "safety", "filling", "fishing", "trading"}
QUESTION, SAID = "When is the {} {} reset?", "In May the {} {} is reset by the warden."


def follows(question: str, text: str, before: tuple[str, ...] = (), after: tuple[str, ...] = ()) -> bool:
    return Meant.of(question, frozenset()).follows(text, before, after)


@pytest.mark.parametrize(("noun", "words"), KINDS)
def test_another_of_the_kind_is_another(noun: str, words: tuple[str, ...]) -> None:
    for asked, told, third in permutations(words):
        question, text = QUESTION.format(asked, noun), SAID.format(told, noun)
        apart, named = f"The {third} {noun} is blue.", f"The {asked} {noun} is green."
        # a word that describes may be said in another, and only what names the thing tells it apart
        assert follows(question, text, (apart,)) == (asked in DESCRIBE), question
        assert not follows(question, text, (), (named,)), question
        assert follows(question, text), "nothing tells them apart"
        assert follows(question, SAID.format(asked, noun), (apart,))
        assert follows(QUESTION.format("big", noun), text.replace(told, "large"))
        assert follows(question, f"The {noun} is reset in May.", (named, apart)), "it may be the one before"


@pytest.mark.parametrize("which", ["wooden", "toll", "railway", "second"])
@pytest.mark.parametrize("noun", ["bridge", "church", "scanner", "mill"])
def test_what_comes_as_new_behind_is_not_meant_before(which: str, noun: str) -> None:
    question, text = f"When was the {which} {noun} built?", f"The {noun} was built in 1822."
    behind = (f"It replaced a {which} {noun} that was swept away.",)
    assert not follows(question, text, (), behind)
    assert follows(question, text, behind), "told of before, it may be meant"
    assert follows(question, text, (), (f"It was a {which} {noun} of great beauty.",)), "it says what it is"
    assert follows(question, text, (), (f"The {which} {noun} stood for years.",))
    assert follows(f"When was the {noun} built?", text, (), behind)
    assert follows(question, f"The {which} {noun} was built in 1822.", (), behind)
