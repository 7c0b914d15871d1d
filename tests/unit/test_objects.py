"""To whom it was done, by name, and who of two did it."""

from __future__ import annotations

from itertools import permutations

import pytest

from ai.text.meaning.meant import Meant
from ai.text.support import WORD, fold

PEOPLE = ("Hannah Wyle", "Colin Tate", "Ilse Brandt", "HV-3", "HV-2")
PLACES = ("Sarn", "Lusk", "Kendal", "Great Dunmow")
DEEDS = (("succeeds", "succeeds"), ("replaced", "replaced"), ("taught", "had taught"), ("accused", "openly accused"))


def agrees(question: str, text: str) -> bool:
    tokens = frozenset(fold(word) for word in WORD.findall(text))
    return Meant.of(question, tokens).agrees(text, tokens, read=True, reworded=True)


@pytest.mark.parametrize(("deed", "done"), DEEDS)
@pytest.mark.parametrize("asks", ["Who", "What", "Which teacher", "Which spare part"])
def test_to_another_it_is_not_done_to_the_one_asked_about(asks: str, deed: str, done: str) -> None:
    for one, other in permutations(PEOPLE, 2):
        question = f"{asks} {deed} {one}?"
        assert not agrees(question, f"She {done} {other}, who left at Easter."), question
        assert not agrees(question, f"It {done} the younger {other}."), question
        assert agrees(question, f"She {done} {one}, who left at Easter."), question
        assert agrees(question, f"She {done} {other} and {one}."), question
        assert not agrees(question, f"{one} {done} {other}, who left at Easter."), question
        assert agrees(question, f"{other} {done} {one}, who left at Easter."), question
        assert asks == "Who" or agrees(question, f"{one} {done} {other}, and Miss Poole {done} {one}."), question
        assert agrees(question, f"She {done} him in May."), question
        assert agrees(question, f"She {done} Latin to him for years."), question
        assert agrees(question, f"In May she {done} the old head."), question


def test_another_place_is_not_reached() -> None:
    for one, other in permutations(PLACES, 2):
        question = f"When did the railway reach {one}?"
        assert not agrees(question, f"The railway reached {other} in 1863."), question
        assert agrees(question, f"The railway reached {other} in 1863, and {one} in 1870."), question
        assert agrees(question, "The railway reached the town in 1863."), question


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who married Anna Weir?", "In 1881 she married Karl Roth."),
        ("Who founded the BBC?", "John Reith founded the British Broadcasting Company."),
        ("Who invaded Britain?", "Caesar invaded British soil."),
    ],
)
def test_the_same_in_another_form_stays(question: str, text: str) -> None:
    assert agrees(question, text)


MEN = ("Emil Drexler", "Gustav Holm", "Per Lund")


def test_what_another_beside_him_did_he_did_not() -> None:
    for one, other in permutations(MEN, 2):
        first = other.split()[0]
        question, text = (
            f"Why did {one} travel to Leeds?",
            f"{one} kept the books and {first} travelled to Leeds to trade.",
        )
        assert not agrees(question, text), text
        assert agrees(f"Why did {other} travel to Leeds?", text), text
        assert agrees(question, f"{one} and {other} travelled to Leeds to trade."), one
        assert agrees(question, f"{other} travelled with {one} to Leeds to trade."), one
        assert agrees(question, f"{one}, a friend of {other}, travelled to Leeds to trade."), one
        assert agrees(question, f"{one} of Holmby travelled to Leeds to trade."), one


def test_where_one_lies_another_does_not() -> None:
    for one, other in permutations(PLACES, 2):
        text = f"{one} lies on the right bank of the Orle, twelve miles above {other}."
        assert agrees(f"On which bank does {one} lie?", text)
        assert not agrees(f"On which bank does {other} lie?", text)


@pytest.mark.parametrize(("one", "other"), [*permutations(("pump", "burner", "fan"), 2)])
def test_what_runs_on_after_the_other_stops(one: str, other: str) -> None:
    text = f"The {one} runs on for five minutes after the {other} stops."
    assert agrees(f"How long does the {one} run on after the {other} stops?", text)
    assert not agrees(f"How long does the {other} run on after the {one} stops?", text)


@pytest.mark.parametrize("thing", ["pump", "fan", "siren"])
def test_what_starts_does_not_stop(thing: str) -> None:
    starts, stops = f"The {thing} starts at 60 °C.", f"The {thing} stops at 40 °C."
    for asked, told, other in (("start", starts, stops), ("stop", stops, starts)):
        question = f"At what temperature does the {thing} {asked}?"
        assert agrees(question, told)
        assert agrees(question, f"{starts[:-1]} and stops at 40 °C.")
        assert not agrees(question, other)


@pytest.mark.parametrize(("asked", "told"), [*permutations(("proposed", "seconded"), 2)])
def test_who_proposed_did_not_second(asked: str, told: str) -> None:
    question = f"Who {asked} the limit in Mill Road?"
    assert not agrees(question, f"Cllr Voss {told} a limit in Mill Road.")
    assert agrees(question, f"Cllr Voss {asked} a limit in Mill Road, and Cllr Pym {told} it.")
    assert not agrees("Who abstained on the limit in Mill Road?", f"Cllr Voss {told} a limit in Mill Road.")
