"""Drafts that give a right figure to what it is not the figure of: another year by one digit, a neighbour, a part."""

from __future__ import annotations

import random
from collections.abc import Mapping

from api.measure.eval.drafting.cells import (
    Known,
    Make,
    Table,
    never_its_own,
    one,
    others_of,
    plainly,
    shown,
    swapped_in,
    unit_of,
    words,
)
from api.measure.eval.drafting.model import Fact, Trial

_PARTS = ("women", "children", "foreign-born residents", "adult men", "voters", "families", "native-born people")
_ELSEWHERE = ("Nebraska", "Ontario", "East {}", "the former {}", "the township of {}", "New {}", "the suburbs of {}")


def _year_digit(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """The year with one digit off, for which the tables give another figure or none."""
    digits = list(str(fact.year))
    at = draw.randrange(1, 4)
    digits[at] = draw.choice([d for d in "0123456789" if d != digits[at]])
    year = "".join(digits)
    group = table[fact.place_id, fact.measure]
    if any(f.year == int(year) and f.value == fact.value for f in group):
        return None
    text = draw.choice((plainly(fact), fact.statement))
    return one(kind, fact, swapped_in(text, str(fact.year), year), fact)


def _neighbour(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """The right figure, given to another place; and both places given the one figure."""
    others = others_of(fact, table)
    if not others:
        return None
    other, measure, value = draw.choice(others), words(fact.measure), shown(fact.value)
    if any(f.value == fact.value for f in table[other.place_id, other.measure]):
        return None
    text = draw.choice(
        (
            plainly(fact).replace(fact.place, other.place),
            fact.statement.replace(fact.place, other.place),
            f"{fact.place} and {other.place} each had a {measure} of {value} in {fact.year}.",
            f"In {fact.year} {other.place}, like {fact.place}, had a {measure} of {value}.",
            f"In {fact.year} the {measure} of {fact.place}'s neighbour {other.place} was {value}.",
        )
    )
    return one(kind, fact, text, fact)


def _elsewhere(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A place of almost the same name."""
    name = draw.choice(_ELSEWHERE)
    place = name.format(fact.place) if "{}" in name else f"{fact.place}, {name},"
    if place.casefold() in fact.statement.casefold() or fact.place not in plainly(fact):
        return None
    return one(kind, fact, plainly(fact).replace(fact.place, place), fact)


def _part(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A part of what the figure counts, or another way of counting."""
    value, measure = shown(fact.value), words(fact.measure)
    text = draw.choice(
        (
            f"{value} {draw.choice(_PARTS)} lived in {fact.place} in {fact.year}.",
            f"The {draw.choice(('rural', 'urban', 'average', 'estimated', 'male'))} {measure} of {fact.place} in "
            f"{fact.year} was {value}{unit_of(fact)}.",
            f"The {measure} of {fact.place} in {fact.year} was {value} {draw.choice(('per square mile', 'a day'))}.",
            f"Half of the {measure} of {fact.place} in {fact.year} was {value}{unit_of(fact)}.",
            f"The {measure} of {fact.place} in {fact.year} was {value} per cent.",
            f"The {measure} of {fact.place} in {fact.year} was {value} {draw.choice(('hundred', 'dozen', 'billion'))}.",
        )
    )
    return one(kind, fact, text, fact)


def _denied_twice(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A wrong figure behind two denials."""
    others = never_its_own(fact, table, known)
    if not others:
        return None
    wrong, measure, place = shown(draw.choice(others).value), words(fact.measure), fact.place
    text = draw.choice(
        (
            f"It is not true that the {measure} of {place} in {fact.year} was not {wrong}.",
            f"The {measure} of {place} in {fact.year} was never anything but {wrong}.",
            f"No source denies that the {measure} of {place} in {fact.year} was {wrong}.",
            f"The {measure} of {place} in {fact.year} was nothing other than {wrong}.",
            f"It is not false that {place} had a {measure} of {wrong} in {fact.year}.",
        )
    )
    return one(kind, fact, text, fact)


def _when(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """The right year as the border of a time that the figure does not hold for."""
    value, measure, place = shown(fact.value), words(fact.measure), fact.place
    text = draw.choice(
        (
            f"The {measure} of {place} has been {value} ever since {fact.year}.",
            f"Before {fact.year}, the {measure} of {place} was {value}.",
            f"After {fact.year}, the {measure} of {place} was {value}.",
            f"Until {fact.year} the {measure} of {place} was {value}.",
            f"The {measure} of {place} was {value} throughout the {fact.year // 10 * 10}s.",
            f"Every year from {fact.year - 5} to {fact.year}, the {measure} of {place} was {value}.",
            f"The {measure} of {place} is {value} today, as it was in {fact.year}.",
        )
    )
    return one(kind, fact, text, fact)


def _uncertain(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A figure reported as something else than the finding that it is."""
    tail = plainly(fact)[:1].lower() + plainly(fact)[1:]
    text = draw.choice(
        (
            f"Some historians dispute that {tail}",
            f"It is wrongly claimed that {tail}",
            f"It was forecast that {tail}",
            f"{plainly(fact)[:-1]}, which was a mistake of the census.",
            f"{plainly(fact)[:-1]} because of a severe drought.",
            f"If the harvest had not failed, {tail}",
        )
    )
    return one(kind, fact, text, fact)


def _short(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A wrong figure alone, as a chatty model answers."""
    others = never_its_own(fact, table, known)
    if not others:
        return None
    wrong = shown(draw.choice(others).value)
    frames = ("It was {}.", "Answer: {}.", "Yes, it was {}.", "The answer is {}.", "That would be {}{}.", "A: {}{}.")
    return one(kind, fact, draw.choice(frames).format(wrong, unit_of(fact)), fact)


def _quantified(kind: str, fact: Fact, table: Table, known: Known, draw: random.Random) -> Trial | None:
    """A figure of one said of all, of most or of none, and a wrong one behind a word that might round it."""
    others = [f for f in never_its_own(fact, table, known) if not 0.5 < float(f.value) / (float(fact.value) or 1) < 2]
    if not others:
        return None
    value, measure, place, wrong = shown(fact.value), words(fact.measure), fact.place, shown(draw.choice(others).value)
    word = draw.choice(("some", "only", "all", "most of", "all of", "merely", "no more than some"))
    text = draw.choice(
        (
            f"The {measure} of {place} in {fact.year} was {word} {wrong}{unit_of(fact)}.",
            f"In {fact.year} {place} had a {measure} of {word} {wrong}{unit_of(fact)}.",
            f"All places had a {measure} of {value}{unit_of(fact)} in {fact.year}.",
            f"Most places had a {measure} of {value}{unit_of(fact)} in {fact.year}.",
            f"No place but {place} had a {measure} in {fact.year}, which was {value}{unit_of(fact)}.",
            f"Every year the {measure} of {place} was {value}{unit_of(fact)}.",
            f"In most years, as in {fact.year}, the {measure} of {place} was {value}{unit_of(fact)}.",
            f"Not all of the {measure} of {place} in {fact.year} was {value}{unit_of(fact)}.",
            f"The {measure} of all of {place} and its neighbours in {fact.year} was {value}{unit_of(fact)}.",
        )
    )
    return one(kind, fact, text, fact)


KINDS: Mapping[str, Make] = {
    "year with one digit off": _year_digit,
    "neighbour": _neighbour,
    "almost the same place": _elsewhere,
    "part of what is counted": _part,
    "denied twice": _denied_twice,
    "time misread": _when,
    "not as a finding": _uncertain,
    "short and wrong": _short,
    "quantified": _quantified,
}
