"""Figures without a time in words: what they are, in the present, and of how many things they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from retrieval.algebra.measures import Measure
from retrieval.algebra.wording import arranged, counted, difference_in, listed, number, plural

Named = tuple[str, Decimal]
"""A thing and its figure."""
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Untimed:
    """A measure as sentences say it of one kind of thing, `inside` where these lie in one place."""

    measure: Measure
    kind: str = ""
    inside: str = ""

    def superlative(self, order: str, chosen: Sequence[Named], considered: int) -> str:
        """`Fastnet has the largest height, 54 m, of 11 lighthouses with a figure.`"""
        which, among = f"the {self.measure.degree(order)} {self.measure.name}", self._among(considered)
        if len(chosen) == 1:
            ((name, value),) = chosen
            return f"{name} has {which}, {self._said(value)}, {among}."
        return f"The {plural(self.kind)} with {which} are {self._listed(chosen)}, {among}."

    def aggregate(self, word: str, value: Decimal, considered: int) -> str:
        """`The average height of 11 lighthouses with a figure is 37.7 m.`"""
        return f"The {word} {self.measure.noun} {self._among(considered)} {self.measure.be} {self._said(value)}."

    def comparison(self, ranked: Sequence[Named]) -> str:
        """`Skerryvore (48 m) has the larger height, Bell Rock (35.3 m) the smaller, a difference of 12.7 m.`"""
        measure = self.measure
        if len(ranked) > 2:
            first, last = measure.degree("largest"), measure.degree("smallest")
            return f"By {measure.noun}, from {first} to {last}: {self._listed(ranked)}."
        (first, most), (second, least) = ranked
        if most == least:
            return f"{first} and {second} have the same {measure.noun}, {self._said(most)}."
        size = difference_in(number(most - least), measure.unit)
        one, other = (f"{name} ({self._said(value)})" for name, value in ranked)
        if measure.counts:
            return f"{one} has more {measure.name} than {other}, a difference of {size}."
        larger, smaller = ("later", "earlier") if measure.yearly else ("larger", "smaller")
        return f"{one} has the {larger} {measure.name}, {other} the {smaller}, a difference of {size}."

    def reaching(self, minimum: Decimal, reached: Sequence[Named], considered: int) -> str:
        """`8 lighthouses have a height of at least 31 m, of 11 lighthouses with a figure: ...`"""
        names = f": {self._listed(reached)}" if 0 < len(reached) <= _NAMED else ""
        have = "has" if len(reached) == 1 else "have"
        had = self.measure.had(f"at least {self._said(minimum)}", number(minimum))
        return f"{counted(len(reached), self.kind)} {have} {had}, {self._among(considered)}{names}."

    def figures(self, told: Sequence[Named]) -> str:
        """`The height of Fastnet is 54 m.`"""
        if len(told) == 1:
            ((name, value),) = told
            return self.measure.stated(name, number(value))
        said = listed([f"{self._said(value)} ({name})" for name, value in told], most=100)
        return f"The {self.measure.noun} {self.measure.be} {said}."

    def _among(self, considered: int) -> str:
        conditions = [each for each in (self.inside.strip(), "with a figure") if each]
        return f"of {counted(considered, self.kind)}{arranged(conditions, considered, self.kind)}"

    def _said(self, value: Decimal) -> str:
        return self.measure.amount(number(value))

    def _listed(self, named: Sequence[Named]) -> str:
        return listed([f"{name} ({self._said(value)})" for name, value in named])
