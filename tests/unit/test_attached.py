"""Words that go with the one beside them: drafts that part a unit from its number, a role from its name, a part from its
whole or a term from what it limits, made from templates; beside each the draft that does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.answer.claims.prose import compare
from ai.answer.claims.tokens import read_tokens

SIGNS = {"£": "pounds", "$": "dollars", "€": "euros", "¥": "yen"}
UNITS = (("km", "kilometres"), ("m", "metres"), ("cm", "centimetres"), ("mm", "millimetres"))
ROLES = ("treasurer", "secretary", "auditor", "steward", "surveyor")
NAMES = ("Petra Vane", "Ivo Lund", "Carla Beck", "Tim Oakes", "Dan Roy")
PLURALS = ("members", "guns", "visitors", "horses", "samples")
WHICH = ("Foreign", "Toy", "Retired", "Sick", "Adult", "Wooden")
TERMS = (
    *("in the event of illness", "in exceptional cases", "subject to a licence", "on request", "by appointment"),
    *("with the written consent of the owner", "against a deposit", "for a small fee", "at low tide", "in theory"),
    *("under supervision", "in case of fire", "upon presentation of a card", "for the time being", "with a permit"),
)
RULES = ("Refunds are granted", "Residents may fish in the pond", "Boats can be hired", "The gate is opened")


def borne_out(said: str, source: str) -> bool:
    return compare(read_tokens(said), source, frozenset()).verdict == "borne_out"


@given(st.sampled_from(sorted(SIGNS)), st.sampled_from(sorted(SIGNS)), st.integers(2, 9_999_999))
def test_a_sum_is_of_its_currency(sign: str, other: str, amount: int) -> None:
    source = f"The society bought the mill for {sign}{amount:,} in all."
    assert borne_out(f"The society bought the mill for {other}{amount:,}.", source) is (sign == other)


@given(st.sampled_from(sorted(SIGNS)), st.sampled_from((*SIGNS.values(), "crowns")), st.integers(3000, 9_999_999))
def test_a_sum_in_words_is_of_its_currency(sign: str, word: str, amount: int) -> None:
    source = f"The new baths cost {amount:,} {word} in all."
    assert borne_out(f"The new baths cost {sign}{amount:,}.", source) is (SIGNS[sign] == word)


@given(st.sampled_from(UNITS), st.sampled_from(UNITS), st.integers(2, 900), st.booleans())
def test_a_length_is_of_its_unit(unit: tuple[str, str], other: tuple[str, str], n: int, spelt: bool) -> None:
    source = f"The glacier has retreated by {n} {unit[0]} since 1950."
    assert borne_out(f"The glacier has retreated by {n} {other[0]}.", source) is (unit == other)
    source = f"The glacier has retreated by {n} {unit[spelt]} since 1950."
    assert not (borne_out(f"The glacier has retreated by {n} {other[0]}.", source) and unit != other)


@given(
    st.lists(st.sampled_from(NAMES), min_size=3, max_size=3, unique=True),
    st.lists(st.sampled_from(ROLES), min_size=3, max_size=3, unique=True),
    st.sampled_from(("{n} ({r})", "{n}, the {r}", "{n}, {r}")),
    st.sampled_from(("The {r} is {n}.", "{n} is the {r}.", "The {r} was {n}.")),
    st.integers(0, 2),
    st.integers(0, 2),
)
def test_a_role_is_that_of_the_name_before_it(
    names: list[str], roles: list[str], form: str, said: str, one: int, other: int
) -> None:
    mark = "; " if form == "{n}, {r}" else ", "
    source = f"Present were {mark.join(form.format(n=n, r=r) for n, r in zip(names, roles, strict=True))}."
    draft = said.format(n=names[one], r=roles[other])
    if one != other:
        assert not borne_out(draft, source), (draft, source)


@given(st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True))
def test_a_role_is_that_of_the_name_behind_it(names: list[str]) -> None:
    source = f"The vicar {names[0]} and the organist {names[1]} founded the festival."
    assert not borne_out(f"The organist is {names[0]}.", source)
    assert not borne_out(f"{names[1]} is the vicar.", source)
    assert borne_out(f"The organist {names[1]} founded the festival.", source)


@pytest.mark.parametrize(
    ("source", "wrong", "right"),
    [
        ("Staff can choose a pension or a cash bonus.", "Staff can choose a pension and a cash bonus.", ""),
        ("Holt and Ben Kay signed the contract.", "Holt or Ben Kay signed the contract.", ""),
        ("Fires are allowed between September and April.", "Fires are allowed between April and September.", ""),
        ("The rooms are let between Friday and Tuesday.", "The rooms are let between Tuesday and Friday.", ""),
        ("Output rose by a third in four years.", "Output rose to a third in four years.", "Output rose by a third."),
        ("The price fell by half in May.", "The price fell to half in May.", "The price fell by half."),
        ("It brought back 2,340 specimens, of which 1,105 were plants.", "It brought back 2,340 plants.", "It brought back 2,340 specimens."),
        ("The rebuilding cost £7,400, of which £5,000 was covered.", "The rebuilding £7,400 was covered.", "The rebuilding cost £7,400."),
        ("The oldest sample was about 3,000 years old.", "The sample was about 3,000 years old.", ""),
        ("The second crew won in 2016.", "The crew won in 2016.", ""),
        ("The island lacks a hospital.", "The island has a hospital.", ""),
        ("Hardly any glass was wasted.", "Glass was wasted.", ""),
        ("The tram line was temporarily closed in 2005.", "The tram line was closed in 2005.", ""),
    ],
)  # fmt: skip
def test_what_goes_with_a_word_stays_with_it(source: str, wrong: str, right: str) -> None:
    assert not borne_out(wrong, source)
    assert borne_out(right or source, source)


@given(st.sampled_from(WHICH), st.sampled_from(PLURALS))
def test_what_is_said_of_some_kind_is_not_said_of_all(which: str, many: str) -> None:
    source = f"{which} {many} are kept in the yard behind the mill."
    assert not borne_out(f"{many.capitalize()} are kept in the yard.", source)
    assert borne_out(f"{which} {many} are kept in the yard.", source)


@given(st.sampled_from(RULES), st.sampled_from(TERMS))
def test_terms_are_not_left_out(rule: str, terms: str) -> None:
    assert not borne_out(f"{rule}.", f"{rule} {terms}.")
    assert borne_out(f"{rule} {terms}.", f"{rule} {terms}.")
