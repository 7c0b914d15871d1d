"""A question for the gold medal is not answered by what is said of the silver one; and one for the medal is."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.text.meaning.meant import Meant
from ai.text.meaning.qualified import Qualified
from ai.text.support import WORD, all_roots, fold
from retrieval.english.stems import root_of

KINDS = (
    ("gold", "silver", "bronze"), ("junior", "senior", "adult"), ("spring", "autumn"), ("gas", "electric", "diesel"),
    ("national", "regional", "local"), ("written", "oral"), ("printed", "digital"), ("oak", "pine"), ("wool", "cotton"),
    ("chess", "poetry"), ("history", "science"), ("basic", "premium"), ("wheat", "barley"), ("goat", "cow"),
    ("hardback", "paperback"), ("outgoing", "incoming"), ("vegetarian", "vegan"), ("Dutch", "French"),
)  # fmt: skip
DEEDS = frozenset({"written", "printed", "outgoing", "incoming"})
"""Without an article before them they may be what somebody does."""
PAIRS = [pair for kind in KINDS for pair in permutations(kind, 2)]
FRAMES = (
    ("Who won the {} prize?", "The {} prize was won by Ida Holm."),
    ("When does the {} course start?", "The {} course starts on 4 May."),
    ("How much does a {} ticket cost?", "Each {} ticket costs £14."),
    ("Where is the {} door?", "The {} door is behind the barn."),
    ("How much do {} tickets cost?", "We sell {} tickets for £14."),
)


def agrees(question: str, text: str, title: str = "", *, read: bool = False) -> bool:
    tokens = frozenset(fold(word) for word in WORD.findall(f"{title} {text}"))
    return Meant.of(question, tokens).agrees(text, tokens, read=read)


@pytest.mark.parametrize(("pair", "frame"), list(product(PAIRS, FRAMES)))
def test_what_is_said_of_another_one_is_not_meant(pair: tuple[str, str], frame: tuple[str, str]) -> None:
    question, text = frame[0].format(pair[0]), frame[1].format(pair[1])
    if "do {}" not in frame[0] or not DEEDS.intersection(pair):
        assert not agrees(question, text)
    assert agrees(question, frame[1].format(pair[0]))
    assert agrees(frame[0].replace(" {}", "").format(), text)  # who asks for the prize may be told of any


READ = [pair for pair in PAIRS if not {"chess", "Dutch"} & set(pair)]


@pytest.mark.parametrize(("pair", "frame"), list(product(READ, FRAMES[:4])))
def test_nor_is_one_of_the_same_kind_where_it_was_read(pair: tuple[str, str], frame: tuple[str, str]) -> None:
    question, text = frame[0].format(pair[0]), frame[1].format(pair[1])
    assert agrees(question, text, read=True) is False


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What aided the relief efforts?", "Radio was used to aid the rescue efforts."),
        ("What are the central themes?", "The primary themes are injustice and war."),
        ("With whom did he give his final concert?", "With Franchomme he gave his last concert."),
    ],
)
def test_what_was_read_may_say_it_in_other_words(question: str, text: str) -> None:
    assert agrees(question, text, read=True)


@pytest.mark.parametrize(
    ("question", "text", "title"),
    [
        ("Who won the gold medal?", "The medal was won by Ida Holm.", ""),
        ("Who won the gold medal?", "The silver medal was won by Per Lund, and the gold by Ida Holm.", ""),
        ("Who won the gold medal?", "The silver medal was won by Per Lund, and the medal in gold by Ida Holm.", ""),
        ("Who won the chess prize?", "The first prize was won by Ida Holm.", "Chess club"),
        ("Who was the famous painter?", "The Dutch painter was Ida Holm.", ""),
        ("What did the guild pay for?", "The weavers paid for the organ.", ""),
        ("What was the final effect of the rain?", "Its most striking effect was the flood.", ""),
        ("When was the Skerrow prize given?", "The silver prize was given in May.", ""),
        ("Where is the gold medal?", "He quickly sold medals in Hartfield.", ""),
    ],
)
def test_what_may_be_said_of_it_is_meant(question: str, text: str, title: str) -> None:
    assert agrees(question, text, title)


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_repeats_the_question_is_never_another(question: str, text: str) -> None:
    asked = Qualified.of(question)
    assert asked.agrees(
        text, frozenset(map(root_of, (fold(word) for word in WORD.findall(text)))) | all_roots(question)
    )
    assert asked.agrees(question, all_roots(question))
