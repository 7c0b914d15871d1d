"""Questions that repeat a heading, and those that differ in one word of it."""

from __future__ import annotations

import pytest

from ai.text.headings import asks_the_same

THINGS = ("drip stop", "lych gate", "loyalty card", "sluice")
SAME = (
    ("Who invented the {}?", "Who invented our {}?"),
    ("Why does the hall have a {}?", "why does your hall have the {}"),
    ("Can I borrow the {}?", "May we borrow the {}?"),
    ("How do I clean the {}?", "How do you clean a {}?"),
    ("Where was the {} made?", "Where was my {} made?"),
    ("The {} is too loud. What can I do?", "What should I do if the {} is too loud?"),
    ("The {} is too loud. What can I do?", "The {} is too loud. What can I do?"),
    ("The {} leaks.", "What can we do when the {} leaks?"),
    ("The {} leaks.", "If the {} leaks, what should I do?"),
    ("Why isn't there a {}?", "Why is there not a {}?"),
)
OTHER = (
    ("Who invented the {}?", "Who designed the {}?"),
    ("Who invented the {}?", "Who invented the {} lid?"),
    ("Who invented the {}?", "When was the {} invented?"),
    ("Can I borrow the {}?", "Must I borrow the {}?"),
    ("Can I borrow the {}?", "Can I not borrow the {}?"),
    ("Can I borrow the {}?", "Can she borrow the {}?"),
    ("Where does the {} go to?", "Where does the {} come from?"),
    ("Is the {} open?", "Was the {} open?"),
    ("How many {}s are there?", "How much is the {}?"),
    ("The {} is too loud. What can I do?", "What should I do if the {} is loud?"),
    ("The {} is too loud. What can I do?", "Why is the {} too loud?"),
    ("The {} leaks.", "Why does the {} leak?"),
    ("The {} leaks.", "What should I do if the {} does not leak?"),
    ("The {}", "What is the {}?"),
    ("Does the {} wake the dog?", "Does the dog wake the {}?"),
)


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("pair", SAME)
def test_a_question_repeats_a_heading(pair: tuple[str, str], thing: str) -> None:
    heading, question = (each.format(thing) for each in pair)
    assert asks_the_same(question, heading)


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("pair", OTHER)
def test_another_word_is_another_question(pair: tuple[str, str], thing: str) -> None:
    heading, question = (each.format(thing) for each in pair)
    assert not asks_the_same(question, heading)


def test_no_text_is_slow() -> None:
    for text in ("what " * 800, "what if " * 500, "is. what? " * 400, "a" * 4_000 + ". what"):
        assert not asks_the_same(text, "Who?")
        asks_the_same("Who?", text)
