"""Who held an office once."""

from __future__ import annotations

import pytest

from ai.text.meaning.modifiers import Modifiers
from ai.text.support import all_roots


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
