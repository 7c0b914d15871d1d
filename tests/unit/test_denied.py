"""What is denied, and what did it for what it was done to, each beside its true twin."""

from __future__ import annotations

from itertools import permutations

import pytest

from ai.text.meaning.deeds.parties import Party
from ai.text.meaning.meant import Meant
from ai.text.support import folded_words

PLACES = {"allowed on": "Otter Island", "used in": "the upper yard", "sold at": "the west gate", "kept in": "the mill"}
THINGS = ("dogs", "petrol motors", "fireworks")
PAIRS = tuple(permutations(("T4 press", "T2 press", "Harrow line"), 2))
DEEDS = (("replaced", "replace"), ("absorbed", "absorb"), ("outlived", "outlive"))


def _agrees(question: str, text: str) -> bool:
    return Meant.of(question, folded_words(text)).agrees(text, folded_words(text), read=True)


@pytest.mark.parametrize("done", PLACES)
@pytest.mark.parametrize("thing", THINGS)
def test_where_something_is_done_is_not_told_by_where_it_is_not(done: str, thing: str) -> None:
    verb, way = done.split()
    said, question = thing.capitalize(), f"Where are {thing} {verb}?"
    for text in (
        f"{said} are not {verb} {way} {PLACES[done]}.",
        f"{said} are never {verb} {way} {PLACES[done]}.",
        f"{said} must not be {verb} {way} {PLACES[done]}.",
        f"No {thing} are {verb} {way} {PLACES[done]}.",
        f"Kites are {verb} by the lake, but {thing} are not {verb} {way} {PLACES[done]}.",
    ):
        assert not _agrees(question, text), text
    for text in (
        f"{said} are {verb} {way} {PLACES[done]}.",
        f"{said} are {verb} {way} {PLACES[done]}, but kites are not {verb} there.",
        f"{said} are not {verb} {way} {PLACES[done]} until May.",
        f"{said} are {verb} only {way} {PLACES[done]}, not by the lake.",
    ):
        assert _agrees(question, text), text
    assert _agrees(f"Where are {thing} not {verb}?", f"{said} are not {verb} {way} {PLACES[done]}.")
    assert _agrees(f"Are {thing} {verb} {way} {PLACES[done]}?", f"{said} are not {verb} {way} {PLACES[done]}.")


@pytest.mark.parametrize("forbidden", ["forbidden", "prohibited", "banned"])
def test_what_is_forbidden_is_not_allowed(forbidden: str) -> None:
    text = f"Fires are {forbidden} on Heron Island."
    assert not _agrees("On which island are fires allowed?", text)
    assert not _agrees("Where are fires permitted?", text)
    assert _agrees(f"Where are fires {forbidden}?", text)
    assert _agrees("Where are fires allowed?", f"Fires are allowed on Otter Island, and {forbidden} nowhere.")


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize(("did", "do"), DEEDS)
def test_what_did_it_is_not_told_by_what_it_was_done_to(one: str, other: str, did: str, do: str) -> None:
    noun = other.rsplit(maxsplit=1)[-1]
    for text in (f"The {one} {did} the {other} in 1964.", f"The {other} was {did} by the {one} in 1964."):
        for question, told in (
            (f"What {did} the {other}?", True),
            (f"What {did} the {one}?", False),
            (f"Which {noun} {did} the {one}?", False),
            (f"What did the {one} {do}?", True),
            (f"What did the {other} {do}?", False),
            (f"Which {noun} did the {other} {do}?", False),
        ):
            assert _agrees(question, text) is told, (question, text)


def test_a_way_is_part_of_the_deed_and_mutual_deeds_are_of_both() -> None:
    assert not _agrees("What flows into the Ems?", "The Ems flows into the Aller.")
    assert _agrees("What flows into the Aller?", "The Ems flows into the Aller.")
    assert not _agrees("Who followed Captain Moss as master?", "Captain Moss followed Captain Lyle as master.")
    assert _agrees("Who followed Captain Lyle as master?", "Captain Moss followed Captain Lyle as master.")
    assert _agrees("Which river meets the Aller?", "The Aller meets the Ems at Rethem.")


def test_who_is_given_something_is_no_deed() -> None:
    text = "Oswin Dale promptly gave it to the school kitchen."
    assert not _agrees("What did the school kitchen give Oswin Dale?", text)
    assert not _agrees("What did the kitchen give the boy?", "The boy gave the kitchen a pear.")


def test_what_type_something_is_is_no_deed() -> None:
    for question in ("What type is Studio Nine?", "Which types are Studio Nine?", "What colours has Studio Nine?"):
        assert Party.of(question) is None, question
