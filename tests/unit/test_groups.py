"""A question that is limited to a group of which no source speaks, and one that asks how often."""

from __future__ import annotations

import pytest

from ai.text.meaning.groups import Group
from ai.text.meaning.meant import Meant
from retrieval.english.lists import word_list

WORDS = word_list("the storm engulfed a church in ulysses farmers and their older bees of rooks county")
UNHEARD = (
    "beekeepers",
    "the beekeepers",
    "its older beekeepers",
    "left-handed sailors",
    "beekeepers of Rooks County",
    "all Lutherans",
)
HEARD = (
    "farmers",
    "the farmers",
    "older farmers of the valley",
    "bees",
    "the church in Ulysses",
    "others",
    "other things",
    "them",
)


@pytest.mark.parametrize("before", ["among", "amongst", "except", "except for", "excluding", "apart from"])
@pytest.mark.parametrize("group", UNHEARD)
def test_a_group_of_which_no_source_speaks_is_unheard_of(before: str, group: str) -> None:
    assert Group.of(f"What did the storm engulf {before} {group}?", WORDS).unheld


@pytest.mark.parametrize("before", ["among", "amongst", "except", "excluding", "apart from"])
@pytest.mark.parametrize("group", HEARD)
def test_a_group_that_a_source_names_is_not(before: str, group: str) -> None:
    named = WORDS | {"other", "things"}
    assert not Group.of(f"What did the storm engulf {before} {group}?", named).unheld


def test_what_is_limited_to_an_unheard_group_is_answered_by_nothing() -> None:
    text = "The storm engulfed a church in Ulysses."
    for question, agrees in (
        ("What did the storm engulf?", True),
        ("What did the storm engulf among beekeepers?", False),
    ):
        assert Meant.of(question, WORDS).agrees(text, WORDS) is agrees


OFTEN = (
    "It is open every day.", "It is open on Mondays.", "It opens twice a week.", "The museum is open daily.", "It is never open.",
    "It is opened when the keeper is there.", "It was open three times in 1911.", "It is open on the first Sunday of the month.",
    "Opened at intervals.", "It is open in alternate years.",
)  # fmt: skip
SELDOM = (
    "Since 1998 the tower has been a museum, which is open from June to August.",
    "The museum is open in summer.",
    "The museum was opened in 1998 by the mayor.",
    "The museum is open to the public.",
)


@pytest.mark.parametrize("text", OFTEN)
def test_how_often_is_told_by_what_recurs(text: str) -> None:
    assert Meant.of("How often is the museum open?", frozenset({"museum"})).stated.agrees(text)


@pytest.mark.parametrize("text", SELDOM)
def test_how_often_is_not_told_by_a_time(text: str) -> None:
    for question in ("How often is the museum open?", "how frequently is the museum open"):
        assert not Meant.of(question, frozenset({"museum"})).stated.agrees(text)
