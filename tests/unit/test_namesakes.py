"""Of names that end alike one is not the other."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.text.meaning.meant import Meant
from ai.text.meaning.namesakes import Namesakes
from ai.text.support import WORD, all_roots, fold
from retrieval.english.stems import root_of

ALIKE = (
    ("Warsaw Museum", "Katyn Museum"), ("European Union", "American Union"), ("Silver Jubilee Bridge", "Old Town Bridge"),
    ("Ida Holm", "Per Holm"), ("Cold War", "Boer War"), ("Tugh Temür", "Kusala Temür"), ("Scottish Parliament", "Spanish Parliament"),
)  # fmt: skip
FRAMES = (
    ("When was the {} founded?", "The {} was founded in 1974."),
    ("Who wrote about {}?", "A book about {} was written by Olaf Dahl."),
    ("What did the {} cost?", "It cost the {} £400."),
)


def agrees(question: str, text: str, title: str = "") -> bool:
    tokens = frozenset(fold(word) for word in WORD.findall(f"{title} {text}"))
    return Meant.of(question, tokens).namesakes.agrees(text, frozenset(map(root_of, tokens)))


@pytest.mark.parametrize(("pair", "frame"), list(product([p for a in ALIKE for p in permutations(a)], FRAMES)))
def test_what_is_said_of_a_namesake_is_not_meant(pair: tuple[str, str], frame: tuple[str, str]) -> None:
    question, text = frame[0].format(pair[0]), frame[1].format(pair[1])
    assert not agrees(question, text)
    assert agrees(question, frame[1].format(pair[0]))
    assert agrees(question, text, title=pair[0])


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What did Woodrow Wilson propose?", "The inquiry was the idea of President Wilson."),
        ("Which is older, the British Empire or the Ethiopian Empire?", "The Ethiopian Empire is the older one."),
        ("When did World War II end?", "The Great War II ended in 1945."),
        ("When was the Maastrich Treaty signed?", "The Maastricht Treaty was signed in 1992."),
        ("Who founded the Warsaw Museum?", "The Museum was founded by Olaf Dahl."),
        ("Who founded the Warsaw Museum?", "The Katyn Library was founded by Olaf Dahl."),
        ("Did Ida Holm write it?", "Holm wrote it in May."),
        ("Who was the first keeper?", "Olaf Dahl was the First Keeper of Skerrow Rock."),
    ],
)
def test_what_may_be_said_of_it_is_left(question: str, text: str) -> None:
    assert agrees(question, text)


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_repeats_the_question_names_nobody_else(question: str, text: str) -> None:
    assert Namesakes.of(question).agrees(text, all_roots(text) | all_roots(question))
