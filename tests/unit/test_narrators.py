"""Whose the first person is, by what the passage says of the narrator."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from ai.text.meaning.meant import Meant

PEOPLE = ("Daniel Harker", "Peter Harker", "Ruth Sillito", "Marta Lund")
DEEDS = (
    ("Whom did {} marry?", "I married Kim Lowther in 1961."),
    ("What did {} read at Durham?", "I read history at Durham."),
    ("When did {} leave the mill?", "In 1950 I had left the mill."),
    ("Where did {} serve?", "I never served at sea, and I served in Malta."),
)
SELVES = ("I, {}, came home in spring.", "My name is {}.", "My name was {} then.")


def follows(question: str, text: str, *around: str) -> bool:
    return Meant.of(question, frozenset()).follows(text, around)


@pytest.mark.parametrize(("asked", "told"), DEEDS)
def test_what_the_narrator_did_another_did_not(asked: str, told: str) -> None:
    for (one, other), self_named in product(permutations(PEOPLE, 2), SELVES):
        said = self_named.format(one)
        assert not follows(asked.format(other), told, said), (one, other, said)
        assert follows(asked.format(one), told, said), (one, said)
        assert follows(asked.format(other), told), "nobody says who tells it"


@pytest.mark.parametrize("relative", ["brother", "older sister", "uncle", "grandfather", "friend"])
def test_the_narrators_relative_is_not_the_narrator(relative: str) -> None:
    for (asked, told), person in product(DEEDS, PEOPLE):
        for said in (f"My {relative} {person} was tall.", f"Then came {person}, my {relative}, with a cart."):
            assert not follows(asked.format(person), told, said), (person, said)
            assert follows(asked.format(person), told.replace("I ", f"{person.split()[0]} "), said)


@pytest.mark.parametrize("kin", ["father", "mother", "wife", "uncle"])
def test_my_father_is_not_my_cousins(kin: str) -> None:
    for person in PEOPLE:
        question, said = f"Who was {person}'s {kin}?", f"My cousin {person} lived with us."
        assert not follows(question, f"They had two children: my {kin} Evelyn and Tom.", said), question
        assert follows(question, f"His {kin} was called Evelyn, and my {kin} Jean.", said)
        assert follows(question, f"The {kin} of the family was called Evelyn.", said)
        assert follows(question, f"My {kin} was called Evelyn.", f"I, {person}, was born at Rigg.")


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        ("Where was Bill Simms born?", "I was born in Missouri.", "My name is Bill Simms."),
        ("Where did Bill Simms serve?", "I served in Malta.", "Bill Simms was a tall man who sat on his porch."),
        ("Where did Mr Simms serve?", "I served in Malta.", "My name is William Simms."),
        ("Where did W. Simms serve?", "I served in Malta.", "My name is William Simms."),
        ("Where did Bill serve?", "I served in Malta.", "My name is Bill Simms."),
        ("Where did the miller serve?", "I served in Malta.", "My name is Bill Simms."),
    ],
)
def test_where_it_is_not_plain_the_narrator_may_be_meant(question: str, text: str, said: str) -> None:
    assert follows(question, text, said)
