"""Folding for detection: what is read, and that every place leads back into the original."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai.gate.normalise import View, fold, hidden_text, joined, latin, reversed_view, rot13, unleet

ANY = st.text(st.characters(codec=None), max_size=60)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Straße ÉTÉ", "strasse ete"),
        ("ﬁnal ﬂow", "final flow"),
        ("Ｈｅｌｌｏ", "hello"),
        ("he\u200bl\u00adlo\ufeff", "hello"),
        ("“hi” ‘hi’ — hi…", "\"hi\" 'hi' - hi."),
        ("a\u0301bc", "abc"),
        ("👩\u200d🌾️ farm → 5 €", ".. farm . 5 ."),
        ("ⓘⓖ 🅸🆂 🇮", "ig is i"),
        ("№ ½ ²", "no . 2"),
        ("ЁЖ й", "еж и"),
        ("", ""),
        ("\ud800x", ".x"),
    ],
)
def test_folded_text_is_what_a_reader_sees(text: str, read: str) -> None:
    assert fold(text).text == read


def test_lookalikes_are_read_as_latin_only_in_words_that_can_wholly_be() -> None:
    assert latin(fold("ѕуѕtеm рrоmрt")).text == "system prompt"
    assert latin(fold("Топика, что")).text == fold("Топика, что").text.replace("топика", "топика")
    assert latin(fold("щука")).text == "щука"


def test_tag_characters_spell_their_text_and_keep_their_places() -> None:
    text = "a\U000e0068\U000e0069b"
    view = hidden_text(text)
    assert (view.text, view.span(0, 2)) == ("hi", (1, 3))
    assert hidden_text("a flag").text == ""


def test_single_letters_are_joined_with_their_places() -> None:
    text = "so: i g n o r e it"
    view = joined(fold(text))
    assert view.text == "ignore\n"
    assert text[slice(*view.span(0, 6))] == "i g n o r e"
    assert joined(fold("a b c and U. S. law")).text == ""


def test_reading_backwards_turns_spans_around() -> None:
    view = reversed_view(fold("abc xyz"))
    assert view is not None
    assert view.text == "zyx cba"
    assert view.span(0, 3) == (4, 7)


def test_digits_for_letters_are_read_both_ways() -> None:
    assert [view.text for view in unleet(View("1gn0r3 a11"))] == ["ignore aii", "lgnore all"]


def test_rot13_undoes_itself() -> None:
    assert rot13(rot13(View("ignore 13"))).text == "ignore 13"


@settings(max_examples=150, deadline=None)
@given(ANY)
def test_every_place_of_the_folded_text_is_a_place_of_the_original(text: str) -> None:
    for view in (fold(text), latin(fold(text)), joined(fold(text)), hidden_text(text)):
        assert view.origin is None or len(view.origin) == len(view.text)
        assert view.origin is None or list(view.origin) == sorted(view.origin)
        assert view.origin is not None or len(view.text) == len(text)
        for at in range(len(view.text)):
            start, end = view.span(at, at + 1)
            assert 0 <= start < end <= len(text)


@settings(max_examples=100, deadline=None)
@given(ANY)
def test_folding_reads_a_text_as_it_reads_its_parts(text: str) -> None:
    assert fold(text).text == "".join(fold(char).text for char in text)
