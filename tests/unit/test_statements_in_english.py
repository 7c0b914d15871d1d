"""Statements of figures without a time over many measures, kinds and figures: articles, numbers of nouns and verbs,
and what each condition is said of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest

from retrieval.algebra.json import plan_json
from retrieval.algebra.plan import (
    AnyOf,
    Condition,
    Figures,
    Inside,
    Places,
    Plan,
    Rank,
    Select,
    Tally,
    Than,
    Total,
    Value,
    Weigh,
    Where,
)
from retrieval.algebra.plan import Test as Whether
from retrieval.algebra.wording import CALENDAR_YEAR, plural, singular
from retrieval.english.collectives import is_person
from retrieval.model import EntityRef
from retrieval.spatial.computing.compute import compute
from retrieval.spatial.facts import Fact

MEASURES = (
    ("age", ""),
    ("age", "years"),
    ("height", "m"),
    ("hourly rate", "EUR"),
    ("unit price", "$"),
    ("usage", "kWh"),
    ("doors", ""),
    ("children", ""),
    ("hours per week", ""),
    ("annual visitors", ""),
    ("earnings", ""),
    ("sales", "€"),
    ("year opened", CALENDAR_YEAR),
)
KINDS = ("employee", "hourly_worker", "staff_member", "person", "head_of_cattle", "unit", "shelf", "city")
GROUPS = {
    "listed:is:colour:red": "red",
    "listed:is:lit:not-lit": "not lit",
    "listed:has:free-entry:free-entry": "free entry",
    "listed:of:breed:dog:beagle": "Beagle",
    "listed:of:breed:dog:collie": "Collie",
    "listed:town:arden": "Arden",
}
CONDITIONS: tuple[tuple[Condition, ...], ...] = (
    (),
    *((Inside(group),) for group in GROUPS),
    (Inside("listed:is:colour:red"), Inside("listed:town:arden")),
    (Inside("listed:is:colour:red"), Inside("listed:has:free-entry:free-entry")),
    (AnyOf((Inside("listed:of:breed:dog:beagle"), Inside("listed:of:breed:dog:collie"))),),
    (AnyOf((Inside("listed:is:colour:red"), Inside("listed:is:lit:not-lit"))),),
)
VALUES = (("3", "1", "1"), ("1850", "7", "1"), ("5", "5", "2"))


def facts(kind: str, measure: str, unit: str, values: tuple[str, ...]) -> list[Fact]:
    names = ("Golf", "Polo", "Clio")
    return [
        Fact(f"r{n}", "s", EntityRef(f"listed:{kind}:{name}", name, kind), measure, value, unit)
        for n, (name, value) in enumerate(zip(names, values, strict=True))
    ]


def plans(kind: str, measure: str, values: tuple[str, ...]) -> Iterator[Plan]:
    figure = Value(measure)
    one, other = (f"listed:{kind}:{name}" for name in ("Golf", "Clio"))
    bounds = [Where(figure, value, value) for value in dict.fromkeys((*values, "9999"))]
    bounds += [Where(figure, low="1", low_open=True), Where(figure, low="1"), Where(figure, "1", "3", holds=False)]
    held: list[Condition] = [*bounds, Than(figure, one), Than(figure, other), Than(figure, one, more=False)]
    for conditions in CONDITIONS:
        yield Select(Places(kind, conditions), figure)
        yield Select(Places(kind, conditions))
        yield Tally(Places(kind, conditions))
        yield Rank(Places(kind, conditions), figure, "largest")
        yield Rank(Places(kind, conditions), figure, "smallest", 1, 2)
        yield Total("mean", Places(kind, conditions), figure)
        yield from (Select(Places(kind, (*conditions, each)), figure) for each in held)
        yield from (Tally(Places(kind, (*conditions, each))) for each in held)
        if conditions:
            yield Whether(one, kind, conditions)
    yield Figures(figure, (one,))
    yield Figures(figure, (one, other))
    yield Weigh(figure, (one, other), "difference")
    yield Weigh(figure, (one, other), "ratio")


def statements(kind: str, measure: str, unit: str, values: tuple[str, ...]) -> Iterator[str]:
    given = facts(kind, measure, unit, values)
    units = {"units": {measure: unit}} if unit else {}
    simple = {"measure": measure, "place_type": kind, "year": None, **units}
    for order, limit in product(("largest", "smallest"), (1, 2)):
        yield compute("superlative", {**simple, "order": order, "limit": limit}, given).statement
    for function in ("sum", "mean", "maximum"):
        yield compute("aggregate", {**simple, "function": function}, given).statement
    for some in (given, given[:2], given[1:]):
        yield compute("compare", {**simple, "place_ids": []}, some).statement
        yield compute("lookup", {**simple, "place_ids": []}, some).statement
    yield compute("lookup", simple, given[:1]).statement
    for least in () if unit == CALENDAR_YEAR else (1, 3, 10_000):
        yield compute("count", {**simple, "minimum": least}, given).statement
    for group, name in GROUPS.items():
        for some in (given, given[:1]):
            yield compute("count", {"place_type": kind, "within": group, "within_name": name}, some).statement
    every = [fact.place.entity_id for fact in given]
    for plan in plans(kind, measure, values):
        names = {**GROUPS, **{fact.place.entity_id: fact.place.name for fact in given}}
        for inside in (every, every[:1], []):
            parameters = {
                "plan": plan_json(plan),
                "names": names,
                "inside": dict.fromkeys(GROUPS, inside),
                **units,
            }
            try:
                yield compute(type(plan).__name__.lower(), parameters, given).statement
            except ValueError:
                continue  # a rank or a sum of nothing


def faults(said: str, kind: str) -> Iterator[str]:
    words = kind.replace("_", " ")
    silent, spoken = r"(?:unit|usage)", r"(?:hourly|hour)"
    yield from re.findall(rf"\ba (?:[aeio]\w*|{spoken}|u(?!nit|sage)\w+)", said, re.IGNORECASE)
    yield from re.findall(rf"\ban (?:{silent}|(?!{spoken})[^aeiou\W]\w*)", said, re.IGNORECASE)
    yield from re.findall(rf"\b1 {plural(words)}\b" if plural(words) != words else "(?!)", said)
    yield from re.findall(rf"(?<![\d,])[02-9] {words}\b" if plural(words) != words else "(?!)", said)
    yield from re.findall(r"\b1 (?:years|doors|children|hours|annual visitors)\b", said)
    yield from re.findall(r"(?:doors|children|visitors|hours per week) of (?:exactly|more|at|less|between)", said)
    yield from re.findall(r"\b(?:a|an) (?:doors|children|annual visitors|earnings|sales)\b", said)
    yield from re.findall(rf"(?<![\d,])1 {words}[^,:]*? (?:(?:that|who) are|(?<!not )have|are on record)\b", said)
    yield from re.findall(
        rf"(?<![\d,])(?:[02-9]|[1-9]\d+) {plural(words)}[^,:]*? (?:(?:that|who) is|has|is on record)\b", said
    )
    yield from re.findall(r"with (?:a figure|exactly [^:,.]*?|an? [^:,.]*?) (?:(?:that|who) (?:is|are)|whose)\b", said)
    yield from re.findall(r"\bThe (?:average |total |highest )?(?:doors|children|annual visitors)\b", said)
    yield from re.findall(r"\bThe (?:\w+ )?(?:earnings|sales)\b[^:.]* is [\d€]", said)
    yield from re.findall(r"\b(?:a|with) (?:larger|more) (?:age|height|rate|price|usage)\b|  | ,|\.\.", said)
    yield from re.findall(r"\b(?:earnings|sales)\b[^:.]* that of", said)
    pronoun = "that" if is_person(kind) else "who"
    yield from re.findall(rf"\b{pronoun} (?:is|are|has|have)\b", said)


@pytest.mark.parametrize(("measure", "unit"), MEASURES)
def test_statements_are_english(measure: str, unit: str) -> None:
    found: dict[str, str] = {}
    count = 0
    for kind, values in product(KINDS, VALUES):
        figures = ("1850", "1901", "1901") if unit == CALENDAR_YEAR else values
        for said in statements(kind, measure, unit, figures):
            count += 1
            assert not said[0].islower() and said.endswith("."), said
            found |= dict.fromkeys(faults(said, kind), said)
    assert count > 1_000 and not found, found


def test_nouns_have_one_plural() -> None:
    for one in (
        "man",
        "child",
        "wolf",
        "shelf",
        "sheep",
        "bus",
        "city",
        "valley",
        "class",
        "box",
        "fire chief",
        "woman",
        "person",
        "staff member",
        "head of cattle",
        "foreman",
        "midwife",
        "grandchild",
        "human",
        "specimen",
    ):
        assert singular(plural(one)) == one
