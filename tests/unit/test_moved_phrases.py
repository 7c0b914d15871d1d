"""A phrase of a source that a draft moves from the front to the back is still said; words that change sides are not."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from ai.answer.claims.prose import compare
from ai.answer.claims.tokens import read_tokens

FRONTS = (
    "During the First Sino-Japanese War in 1894", "In the United States", "After the Treaty of Great Skerrow",
    "At the court of Queen Maud", "On the island of Sankt Olaf", "In May 1921", "Before the Battle of Lake George",
)  # fmt: skip
CLAUSES = (
    "Japan took Formosa", "the Dutch Republic received the largest group of guests, a total of 75,000 people",
    "the Hartfield Rowing Club bought two boats from Nils Berg", "old men argued about the bridge",
)  # fmt: skip


def verdict(said: str, source: str) -> str:
    return compare(read_tokens(said), source, frozenset()).verdict


def capital(text: str) -> str:
    return text[0].upper() + text[1:]


def small(text: str) -> str:
    return text[0].lower() + text[1:]


@pytest.mark.parametrize(("front", "clause"), list(product(FRONTS, CLAUSES)))
def test_a_phrase_may_move_to_the_back_and_to_the_front(front: str, clause: str) -> None:
    before, after = f"{front}, {clause}.", f"{capital(clause)} {small(front)}."
    assert verdict(after, before) == "borne_out"
    assert verdict(before, after) == "borne_out"


@pytest.mark.parametrize(("fronts", "clause"), list(product(permutations(FRONTS[1:4], 2), CLAUSES)))
def test_the_phrase_of_another_sentence_may_not(fronts: tuple[str, str], clause: str) -> None:
    source, said = f"{fronts[0]}, {clause}.", f"{capital(clause)} {small(fronts[1])}."
    assert verdict(said, source) != "borne_out"


TWO = [
    ("In the United States, Ida Holm met Per Lund.", "Per Lund met Ida Holm in the United States."),
    ("At the court of Queen Maud, Nils Berg sold Skerrow to Olaf Dahl.",
     "Olaf Dahl sold Skerrow to Nils Berg at the court of Queen Maud."),
    ("After the Treaty of Great Skerrow, the Dutch Republic left the Northern League.",
     "The Northern League left the Dutch Republic after the Treaty of Great Skerrow."),
    ("In the United States, Ida Holm spoke, and in Great Skerrow, Per Lund sang.",
     "Ida Holm spoke in Great Skerrow, and Per Lund sang in the United States."),
    ("Before the Battle of Lake George, Queen Maud was crowned in Great Skerrow.",
     "Queen Maud was crowned before the Battle of Great Skerrow in Lake George."),
    ("Ida Holm came in 1894 and Per Lund in 1921.", "In 1921 Ida Holm came and Per Lund in 1894."),
    ("In May 1921 Ida Holm came, and in June Per Lund went.", "Ida Holm came in June, and Per Lund went in May 1921."),
]  # fmt: skip


@pytest.mark.parametrize(("source", "said"), [*TWO, *(pair[::-1] for pair in TWO)])
def test_names_that_change_sides_are_never_borne_out(source: str, said: str) -> None:
    assert verdict(source, source) == "borne_out"
    assert verdict(said, source) != "borne_out"


@pytest.mark.parametrize("order", list(permutations(("Great", "Skerrow", "Rowing", "League")))[1:])
def test_the_words_of_one_name_have_an_order(order: tuple[str, ...]) -> None:
    source = "Ida Holm rows for the Great Skerrow Rowing League in May."
    said = source.replace("Great Skerrow Rowing League", " ".join(order))
    assert verdict(source, source) == "borne_out"
    assert verdict(said, source) != "borne_out"


@pytest.mark.parametrize("order", list(permutations(("Newham", "Tower Hamlets", "Waltham Forest"))))
def test_the_names_of_a_list_have_none(order: tuple[str, ...]) -> None:
    source = "Ida Holm rows for Newham, Tower Hamlets and Waltham Forest in May."
    assert verdict(f"Ida Holm rows for {order[0]}, {order[1]} and {order[2]} in May.", source) == "borne_out"
