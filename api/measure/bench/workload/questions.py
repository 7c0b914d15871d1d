"""The load: questions of the kinds that the demonstration asks, answerable from the smallest scaled corpus."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from api.measure.bench.workload.corpus import Passage, admitted_passages
from api.measure.bench.workload.texts import CENSUS_YEARS, Texts

KINDS = ("lookup", "spatial", "graph", "narrative", "abstain")
SMALLEST = 1000
"""Passages of the corpus whose contents are asked for; a larger corpus holds them too."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the load."""

    kind: str
    text: str


def questions(texts: Texts, count: int, seed: int) -> tuple[Question, ...]:
    """`count` questions, the kinds in turn."""
    chance = random.Random(f"{seed}/questions")  # noqa: S311 - reproducible, not secret
    told = list(islice(admitted_passages(texts, SMALLEST, seed), 500))
    makers: dict[str, Callable[[], str]] = {
        "lookup": lambda: _lookup(texts, chance),
        "spatial": lambda: _spatial(texts, chance),
        "graph": lambda: _graph(texts, chance),
        "narrative": lambda: _narrative(told, chance),
        "abstain": lambda: _abstain(texts, chance),
    }
    kinds = (KINDS[i % len(KINDS)] for i in range(count))
    return tuple(Question(kind, makers[kind]()) for kind in kinds)


def _lookup(texts: Texts, chance: random.Random) -> str:
    place = chance.choice([*texts.counties, *(town for town, _ in texts.towns)])
    return f"What was the population of {place} in {chance.choice(CENSUS_YEARS)}?"


def _spatial(texts: Texts, chance: random.Random) -> str:
    county, (town, _), year = chance.choice(texts.counties), chance.choice(texts.towns), chance.choice(CENSUS_YEARS)
    return chance.choice(
        [
            f"Which counties border {county}?",
            f"Which cities lie within {chance.choice((20, 40, 60))} km of {town}?",
            f"Which was the largest county in Kansas by population in {year}?",
            f"How did the population of {county} change between 1920 and 1950?",
        ]
    )


def _graph(texts: Texts, chance: random.Random) -> str:
    nation = chance.choice(texts.nations)
    return chance.choice(
        [
            f"Which treaties did the {nation} sign?",
            f"Where did the {nation} sign a treaty?",
            f"Which treaty was signed with the {nation} in {chance.randrange(1820, 1868)}?",
        ]
    )


def _narrative(told: Sequence[Passage], chance: random.Random) -> str:
    passage = chance.choice(told)
    terms = sorted({word.lower() for word in re.findall(r"[A-Za-z]{7,}", passage.text)})
    first, second = chance.sample(terms, 2)
    return chance.choice(
        [
            f"What did {passage.person} do at {passage.town}?",
            f"Who {passage.deed} at {passage.town} in {passage.year}?",
            f"What happened at {passage.town} in {passage.year}?",
            f"What is told of {first} and {second}?",
        ]
    )


def _abstain(texts: Texts, chance: random.Random) -> str:
    county = chance.choice(texts.counties)
    return chance.choice(
        [
            f"What was the population of {county} in {chance.choice((1850, 1860, 1870))}?",
            f"What was the population of Atlantis County in {chance.choice(CENSUS_YEARS)}?",
            f"Which telescope was built at {chance.choice(texts.towns)[0]} for the observatory of Zurich?",
        ]
    )
