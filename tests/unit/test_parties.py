"""One group for another, and whose somebody is."""

from __future__ import annotations

from itertools import permutations

import pytest

from ai.text.meaning.meant import Meant
from ai.text.support import folded_words

KINDS = ("whales", "polar bears", "herons", "mosses", "welders", "members", "trams")
DEEDS = (
    ("What do {} need in winter?", "{} need fresh water in winter."),
    ("When may {} leave the yard?", "{} may leave the yard at four."),
    ("How are {} counted?", "{} are counted by hand."),
    ("How much do {} pay?", "{} always pay twelve crowns."),
)
GROUPS = ("teachers", "students", "settlers", "rebels", "nurses", "carters")
RELATIVES = ("wife", "brother", "daughter", "uncle", "children", "tenant")


def agrees(question: str, text: str, *, source: str = "") -> bool:
    """Whether a sentence, which a reader found, is of what the question means."""
    tokens = folded_words(text)
    meant = Meant.of(question, tokens | folded_words(source))
    return meant.agrees(text, tokens, read=True, reworded=True)


@pytest.mark.parametrize(("asked", "told"), DEEDS)
def test_a_kind_is_no_other_kind(asked: str, told: str) -> None:
    for one, other in permutations(KINDS, 2):
        question, text = asked.format(one), told.format(other).capitalize()
        assert not agrees(question, text), (question, text)
        assert agrees(question, told.format(one).capitalize()), question
        assert agrees(question, told.format(f"these {other}").capitalize()), "it may mean them"


def test_a_group_that_a_source_tells_of_is_no_other_group() -> None:
    for one, other in permutations(GROUPS, 2):
        question, source = f"What did the {one} demand?", f"The {one} met in the church."
        assert not agrees(question, f"The {other} demanded bread.", source=source), (one, other)
        assert agrees(question, f"The {one} demanded bread.", source=source)
        assert agrees(question, f"The {one} and the {other} demanded bread.", source=source)
    assert agrees("What did the weavers demand?", "The strikers demanded bread."), "no source tells of weavers"
    assert not agrees("What did the teachers demand?", "The students demanded bread."), "teachers are no students"
    assert agrees("What did the pupils demand?", "The students demanded bread.")


def test_whose_somebody_is() -> None:
    for who, whose in permutations(RELATIVES, 2):
        told = (f"My {whose}'s {who} came from Malta.", f"The {who} of my {whose} came from Malta.")
        for text in told:
            assert not agrees(f"Where did my {who} come from?", text), (who, text)
            assert agrees(f"Where did my {whose}'s {who} come from?", text), text
        assert agrees(f"Where did my {who} come from?", f"My {who} came from Malta."), who
        assert agrees(f"Where did my {who} come from?", f"Anna's {who} came from Malta."), who
        assert not agrees(f"Where did my {whose}'s {who} come from?", f"My {who} came from Malta."), (who, whose)
        assert not agrees(f"What did my {whose}'s {who} sell?", f"My {whose} sold eels."), (who, whose)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where do editors delete accounts?", "Editors delete accounts from the console."),
        ("What do birds of the marsh eat?", "Birds of the marsh eat worms, as herons eat fish."),
        ("What do astronaughts feel in orbit?", "Astronauts feel no weight in orbit."),
        ("What did the company sell?", "The owners sold the mill."),
        ("What do the dogs need?", "Puppies of such dogs need milk."),
        ("Who married his brother's daughter?", "Otto Lenz married the daughter of his brother."),
        ("When did the children of Anders Holm's brother leave?", "The brother's children left in 1882."),
    ],
)
def test_these_are_the_same(question: str, text: str) -> None:
    assert agrees(question, text, source=question)
