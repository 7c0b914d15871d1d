"""The place of a house by its number, and who held an office once."""

from __future__ import annotations

from itertools import product

import pytest

from ai.text.meaning.modifiers import Modifiers
from ai.text.meaning.where import Where
from ai.text.support import all_roots

STREETS = ("Mill Road", "High Street", "Kirkgate", "St Mary's Lane")
BEFORE = ("at", "in", "near", "opposite")


@pytest.mark.parametrize(("street", "before", "number"), list(product(STREETS, BEFORE, ("4", "12", "117b"))))
def test_a_house_number_is_a_place(street: str, before: str, number: str) -> None:
    where = Where.of("Where is the service centre?")
    assert where.agrees(f"The service centre is {before} {number} {street}, Barford.")


@pytest.mark.parametrize("told", ["at 12 May 1990", "at 4 p.m.", "at 12 Noon", "in 1990", "in 3 weeks", "at 9 O'Clock"])
def test_a_time_is_no_place(told: str) -> None:
    assert not Where.of("Where is the fair?").agrees(f"The fair begins {told}.")


def agrees(question: str, text: str) -> bool:
    return Modifiers.of(question).agrees(text, all_roots(text))


OFFICES = ("captain", "mayor", "treasurer", "head teacher")


@pytest.mark.parametrize("office", OFFICES)
@pytest.mark.parametrize("once", ["former", "ex", "retired"])
def test_who_asks_of_the_past_is_told_of_a_former_holder(office: str, once: str) -> None:
    text = f"Joe Marr, a {once} {office} of the club, spoke."
    assert agrees(f"Who was {office} of the club?", text)
    assert agrees(f"Was Joe Marr ever {office}?", text)
    assert not agrees(f"Who is the {office} of the club?", text)
    assert not agrees(f"Who was {office} of the club in 1990?", text)
    assert not agrees(f"Who was {office} when the club was sold?", text)


@pytest.mark.parametrize("office", OFFICES)
@pytest.mark.parametrize("other", ["deputy", "acting", "assistant"])
def test_a_deputy_is_another_at_any_time(office: str, other: str) -> None:
    for question in (f"Who was {office}?", f"Who is the {office}?"):
        assert not agrees(question, f"Joe Marr, the {other} {office}, spoke.")
