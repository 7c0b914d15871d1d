"""Figures without a time in words: what they are, in the present, and of how many things they are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from retrieval.algebra.wording import (
    CALENDAR_YEAR,
    agreeing,
    counted,
    difference_in,
    in_unit,
    listed,
    number,
    plural,
    with_figure,
)
from retrieval.english.stems import is_many

Named = tuple[str, Decimal]
"""A thing and its figure."""
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Untimed:
    """A measure as sentences say it of one kind of thing, `inside` where these lie in one place."""

    measure: str
    unit: str
    kind: str = ""
    inside: str = ""

    def superlative(self, order: str, chosen: Sequence[Named], considered: int) -> str:
        """`Fastnet has the largest height, 54 m, of 11 lighthouses with a figure.`"""
        which, among = f"the {self._degree(order)} {self.measure}", self._among(considered)
        if len(chosen) == 1:
            ((name, value),) = chosen
            return f"{name} has {which}, {self._said(value)}, {among}."
        return f"The {plural(self.kind)} with {which} are {self._listed(chosen)}, {among}."

    def aggregate(self, word: str, value: Decimal, considered: int) -> str:
        """`The average height of 11 lighthouses with a figure is 37.7 m.`"""
        return f"The {word} {self.measure} {self._among(considered)} {self._be} {self._said(value)}."

    def comparison(self, ranked: Sequence[Named]) -> str:
        """`Skerryvore (48 m) has a larger height than Bell Rock (35.3 m), a difference of 12.7 m.`"""
        if len(ranked) > 2:
            first, last = self._degree("largest"), self._degree("smallest")
            return f"By {self.measure}, from {first} to {last}: {self._listed(ranked)}."
        (first, most), (second, least) = ranked
        if most == least:
            return f"{first} and {second} have the same {self.measure}, {self._said(most)}."
        larger = "a later" if self.unit == CALENDAR_YEAR else "more" if self._many else "a larger"
        size = difference_in(number(most - least), self.unit)
        lead = f"{first} ({self._said(most)}) has {larger} {self.measure}"
        return f"{lead} than {second} ({self._said(least)}), a difference of {size}."

    def reaching(self, minimum: Decimal, reached: Sequence[Named], considered: int) -> str:
        """`8 lighthouses have at least 31 m, of 11 lighthouses with a figure: ...`"""
        names = f": {self._listed(reached)}" if 0 < len(reached) <= _NAMED else ""
        have = "has" if len(reached) == 1 else "have"
        lead = f"{counted(len(reached), self.kind)} {have} at least {self._said(minimum)}"
        return f"{lead}, {self._among(considered)}{names}."

    def figures(self, told: Sequence[Named]) -> str:
        """`The height of Fastnet is 54 m.`"""
        if len(told) == 1:
            ((name, value),) = told
            return f"The {self.measure} of {name} {self._be} {self._said(value)}."
        return f"The {self.measure} {self._be} {listed([f'{self._said(v)} ({name})' for name, v in told], most=100)}."

    @property
    def _many(self) -> bool:
        """True for a measure in the plural: `moons`."""
        return is_many(self.measure.rpartition(" ")[2])

    @property
    def _be(self) -> str:
        return "are" if self._many else "is"

    def _degree(self, order: str) -> str:
        if self.unit == CALENDAR_YEAR:
            return "latest" if order == "largest" else "earliest"
        return ("most" if order == "largest" else "fewest") if self._many and not self.unit else order

    def _among(self, considered: int) -> str:
        inside = agreeing(self.inside, considered)
        return f"of {counted(considered, self.kind)}{inside}{with_figure(inside)}"

    def _said(self, value: Decimal) -> str:
        return in_unit(number(value), self.unit)

    def _listed(self, named: Sequence[Named]) -> str:
        return listed([f"{name} ({self._said(value)})" for name, value in named])
