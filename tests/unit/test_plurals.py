"""Nouns that mean several: the same list wherever it is asked, and the sure ones among those that may."""

from __future__ import annotations

import pytest

from ai.text.tables.counts import counts_nothing
from retrieval.english.stems import is_many, may_be_many


@pytest.mark.parametrize("word", ["men", "children", "oxen", "geese", "cattle", "whales", "members"])
def test_what_means_several_may_be_a_plural(word: str) -> None:
    assert is_many(word) and may_be_many(word)


@pytest.mark.parametrize("word", ["sheep", "fish", "deer", "aircraft", "bus", "basis"])
def test_what_may_mean_one_is_not_sure(word: str) -> None:
    assert may_be_many(word) and not is_many(word)


@pytest.mark.parametrize("word", ["man", "child", "glass", "mill", "of"])
def test_one_is_none(word: str) -> None:
    assert not may_be_many(word) and not is_many(word)


@pytest.mark.parametrize("what", ["oxen", "geese", "sheep", "horses"])
def test_how_many_of_them_is_told_by_a_count_of_them(what: str) -> None:
    question = f"How many white {what} were kept at Alder?"
    assert not counts_nothing(question, {"Farm": "Alder", f"White {what}": "12", "Price": "€40"})
    assert counts_nothing(question, {"Farm": "Alder", "Price": "€40", "Tenant": "Ida Holm"})
