"""Short cuts of the checks give what the long way gives: the bound before a number, one search for all patterns of
appeals, the words of a whole item before those of its sentences."""

from __future__ import annotations

import random

import pytest

from ai.answer.claims.lexicon import BOUNDS, bound_of
from ai.gate import appeals
from ai.gate.appeals import KINDS
from ai.gate.linear import Pattern, Work, spelled, union

WORDS = sorted({word for words, _ in BOUNDS for word in words} | {"some", "nearly", "county", ""})
TEXTS = (
    "Please call us at once.",
    "Visit www.example.org for more.",
    "The mill was built in 1859.",
    "To learn more, write to info@example.org",
    "You must pay 20 dollars to the account below.",
    "Log in with your password.",
    "",
    "Søk nå — please ring oss.",
)


def test_the_bound_before_a_number_is_the_first_of_the_list_that_fits() -> None:
    draw = random.Random("bounds")
    seen = set()
    for _ in range(4000):
        before = tuple(draw.choices(WORDS, k=draw.randrange(6)))
        fitting = [(len(words), bound) for words, bound in BOUNDS if before[-len(words) :] == words]
        assert bound_of(before) == (fitting[0] if fitting else None), before
        seen.add(bound_of(before))
    assert {found[1] for found in seen if found} == {bound for _, bound in BOUNDS}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS)
def test_one_search_finds_a_kind_of_appeal_where_one_of_its_patterns_does(kind: str, text: str) -> None:
    view, patterns = spelled(text.casefold()), appeals._PATTERNS[kind]

    def matches(*some: Pattern) -> bool:
        return any(next(each.spans(view, work=Work(10_000)), None) is not None for each in some)

    assert matches(union(patterns)) == matches(*patterns)


def test_texts_of_both_sorts_are_tried() -> None:
    found = [bool(appeals.find_appeals(text)) for text in TEXTS]
    assert found == [True, True, False, True, True, True, False, True]
