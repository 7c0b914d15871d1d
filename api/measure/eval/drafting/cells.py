"""Cells of the corpus' tables as drafts about them need them: questions, words, and drafts of one sentence."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from api.measure.eval.drafting.model import Fact, Sources, Trial

Table = Mapping[tuple[str, str], Sequence[Fact]]
"""The figures of a place and measure, by year."""


def grouped(facts: Sequence[Fact]) -> dict[tuple[str, str], list[Fact]]:
    """The facts by place and measure."""
    found: dict[tuple[str, str], list[Fact]] = {}
    for fact in sorted(facts, key=lambda f: (f.place_id, f.measure, f.year)):
        found.setdefault((fact.place_id, fact.measure), []).append(fact)
    return found


def question_of(fact: Fact) -> str:
    """The plain question for the cell."""
    return f"What was the {words(fact.measure)} of {fact.place} in {fact.year}?"


def words(measure: str) -> str:
    """A measure as it is written."""
    return measure.replace("_", " ")


def shown(value: str) -> str:
    """The figure with its thousands separated."""
    return f"{Decimal(value):,}"


def index_of(fact: Fact, sources: Sources) -> int | None:
    """The number of the source that states the fact."""
    return next((s.index for s in sources if s.statement == fact.statement), None)


def plainly(fact: Fact, value: str | None = None) -> str:
    """The fact in words of no source."""
    return f"The {words(fact.measure)} of {fact.place} in {fact.year} was {value or shown(fact.value)}{unit_of(fact)}."


def unit_of(fact: Fact) -> str:
    """The unit as it follows the value; empty where the measure says it."""
    return "" if fact.measure.startswith(fact.unit) or fact.unit == "people" else f" {fact.unit}"


Known = set[tuple[str, str, str]]
Make = Callable[[str, Fact, Table, Known, random.Random], Trial | None]


def others_of(fact: Fact, table: Table) -> list[Fact]:
    """The figures of other places for the same measure and year, with another value."""
    return [
        f
        for (place, measure), group in table.items()
        if measure == fact.measure and place != fact.place_id
        for f in group
        if f.year == fact.year and f.value != fact.value
    ]


def never_its_own(fact: Fact, table: Table, known: Known) -> list[Fact]:
    """Figures of other places that are on record for the place of the fact in no year."""
    return [f for f in others_of(fact, table) if (fact.place_id, fact.measure, f.value) not in known]


def years_of(fact: Fact, table: Table) -> list[Fact]:
    """The figures of the place for other years, with another value."""
    return [f for f in table[fact.place_id, fact.measure] if f.year != fact.year and f.value != fact.value]


def one(
    kind: str, fact: Fact, sentence: str, cite: Fact | None, *, question: str = "", frame: str = "{} [{}]"
) -> Trial:
    """A draft of one sentence that cites the source of a fact; none: it cites nothing."""

    def write(sources: Sources) -> tuple[str, tuple[str, ...]] | None:
        at = index_of(cite or fact, sources)
        if at is None:
            return None
        return (frame.format(sentence, at) if cite else sentence), (sentence,)

    return Trial("figure", kind, question or question_of(fact), write, (fact.statement,))


def two(kind: str, question: str, cited: tuple[Fact, Fact], sentence: str) -> Trial:
    """A draft of one sentence that cites the sources of two facts."""
    return several(kind, question, cited, sentence)


def several(kind: str, question: str, cited: Sequence[Fact], sentence: str) -> Trial:
    """A draft of one sentence that cites the sources of several facts."""

    def write(sources: Sources) -> tuple[str, tuple[str, ...]] | None:
        at = [index_of(f, sources) for f in cited]
        return None if None in at else (f"{sentence[:-1]} {''.join(f'[{n}]' for n in at)}.", (sentence,))

    return Trial("figure", kind, question, write, tuple(f.statement for f in cited))


def swapped_in(text: str, old: str, new: str) -> str:
    """The text with one number in place of another."""
    return re.sub(rf"(?<![\d,.]){re.escape(old)}(?![\d]|[.,]\d)", new, text, count=1)
