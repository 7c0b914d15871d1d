"""What a question looks for in full text, and how words are compared elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.english.words import beginning_of, content_beginnings, occurs, words
from retrieval.fulltext.tantivy_folder import splitter, stemmer
from retrieval.fulltext.terms import MAX_PHRASES, MAX_TERMS, Terms, read_terms

SPLIT, STEM = splitter().analyze, stemmer().analyze


def terms(text: str) -> Terms:
    return read_terms(text, split=SPLIT, stem=STEM)


def test_words_are_stemmed_and_stop_words_dropped() -> None:
    assert terms("What were the populations of Süd-Kansas?").words == ("popul", "sud", "kansa")


def test_a_question_of_stop_words_keeps_them() -> None:
    assert terms("To be or not to be").words == ("to", "be", "or", "not")


@pytest.mark.parametrize("text", ['"border ruffians"', "“border ruffians”", "«border ruffians»"])
def test_a_quoted_phrase_is_kept_in_order(text: str) -> None:
    assert terms(f"Who were the {text}?").phrases == (("border", "ruffian"),)


@pytest.mark.parametrize("text", ['"one"', '""', '"', '"open', 'a "b', '"?!"'])
def test_what_is_no_phrase_of_two_words_is_none(text: str) -> None:
    assert terms(text).phrases == ()


def test_length_is_bounded() -> None:
    long = (
        " ".join(f"word{n}" for n in range(1000)) + ' "a quoted phrase"' * 3 + "".join(f' "x{n} y"' for n in range(50))
    )
    assert len(terms(long).words) == MAX_TERMS
    assert len(terms(long).phrases) <= MAX_PHRASES


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=200))
def test_any_text_gives_plain_words(text: str) -> None:
    found = terms(text)
    assert len(set(found.words)) == len(found.words) <= MAX_TERMS
    assert all(word and not word.isspace() for word in found.words)


@pytest.mark.parametrize(
    ("word", "beginning"),
    [
        ("populations", "popul"),
        ("counties", "count"),
        ("treaty", "treat"),
        ("dust", "dust"),
        ("1930s", "1930s"),
        ("was", "was"),
    ],
)
def test_stem_takes_off_one_ending_and_leaves_four_characters(word: str, beginning: str) -> None:
    assert beginning_of(word) == beginning


@pytest.mark.parametrize(
    ("beginning", "text", "found"),
    [
        ("popul", "the population of", True),
        ("popul", "repopulated", False),
        ("popul", "repopulated, populated", True),
        ("war", "the war ended", True),
        ("war", "a warning", False),
        ("1850", "in 1850.", True),
        ("1850", "in 18500", False),
        ("1850", "in 11850", False),
    ],
)
def test_occurs_matches_beginnings_of_words_and_whole_short_words_and_numbers(
    beginning: str, text: str, found: bool
) -> None:
    assert occurs(beginning, text) is found


@given(st.text(max_size=100))
def test_every_word_of_a_text_occurs_in_it(text: str) -> None:
    for beginning in content_beginnings(text):
        assert beginning in text.casefold()
    assert all(word == word.casefold() for word in words(text))
