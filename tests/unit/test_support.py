"""Support: what collapses it, and that it stays in its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.text.support import COLLAPSED_MILLI, carries, number_form, support_milli

QUICK = settings(deadline=None, max_examples=50)
QUOTE = "General Lane came to Lawrence with forty men on September 4, 1856, and 85,200 acres were surveyed."


def support(sentence: str, *quotes: str) -> int:
    return support_milli(sentence, quotes or (QUOTE,), quotes or (QUOTE,))


@pytest.mark.parametrize(
    "sentence",
    [
        QUOTE,
        "Lane came to Lawrence.",
        "On 4 September 1856 Lane came.",
        "85200 acres were surveyed.",
        "The acres surveyed were 85,200.",
    ],
)
def test_words_of_the_quote_support(sentence: str) -> None:
    assert support(sentence) >= 900


@pytest.mark.parametrize(
    "sentence",
    [
        "General Lane came to Lawrence in 1857.",
        "General Lane came to Lawrence with 40 men.",
        "General Lane came to Topeka with forty men.",
        "General Robinson came with Lane to Lawrence.",
        "General Lane never came to Lawrence.",
        "85,201 acres were surveyed.",
        "8,520 acres were surveyed.",
    ],
)
def test_a_wrong_number_name_or_negation_collapses(sentence: str) -> None:
    assert support(sentence) <= COLLAPSED_MILLI


def test_an_unrelated_sentence_has_none() -> None:
    assert support("Bananas grow slowly here.") == 0


@pytest.mark.parametrize("sentence", ["", "   ", "the of and", "...", "[]"])
def test_nothing_said_is_not_supported(sentence: str) -> None:
    assert support(sentence) == 0


def test_no_quote_no_support() -> None:
    assert support_milli("Lane came.", (), ()) == 0


def test_two_items_support_together() -> None:
    one, two = "Lane came to Lawrence.", "Robinson stayed at Topeka."
    assert support("Lane came to Lawrence and Robinson stayed at Topeka.", one, two) == 1000


def test_a_false_citation_beside_a_true_one_counts() -> None:
    assert support("Lane came to Lawrence.", "Lane came to Lawrence.", "Bananas grow slowly.") == 0


@QUICK
@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_always_in_bounds(sentence: str, quotes: list[str]) -> None:
    assert 0 <= support_milli(sentence, quotes, quotes) <= 1000


@QUICK
@given(st.text(alphabet=st.characters(categories=["L", "N"], include_characters=" .,"), max_size=80))
def test_a_text_supports_itself(text: str) -> None:
    assert support_milli(text, (text,), (text,)) in {0, 1000}


@pytest.mark.parametrize(
    ("one", "other"), [("85,200", "85200"), ("3.50", "3.5"), ("07", "7"), ("0", "0"), ("1,000.0", "1000")]
)
def test_numbers_compare_in_one_form(one: str, other: str) -> None:
    assert number_form(one) == number_form(other)


@pytest.mark.parametrize(("word", "held"), [("treaties", True), ("sign", True), ("signature", False), ("sig", False)])
def test_forms_of_a_word(word: str, held: bool) -> None:
    assert carries(frozenset({"treaty", "signed"}), word) is held
