"""Measures without a time in words: `a height of more than 20 m`, but `more than 3 doors`."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.algebra.wording import CALENDAR_YEAR, in_unit, singular, with_article
from retrieval.english.lists import word_list
from retrieval.english.stems import is_many

_SUMS = word_list("""
    assets costs damages dues earnings expenses fees funds goods losses proceeds profits revenues royalties sales
    savings takings taxes tips wages winnings
    """)
"""Plurals that are amounts, and count nothing."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure as sentences say it; it counts things where it is their plural (`doors`) and has no unit."""

    name: str
    unit: str = ""

    @property
    def many(self) -> bool:
        """True for a plural: `doors`, `earnings`."""
        return is_many(self._head)

    @property
    def counts(self) -> bool:
        """True for the number of some things."""
        return self.many and not self.unit and self._head not in _SUMS

    @property
    def yearly(self) -> bool:
        """True for the year in which something was."""
        return self.unit == CALENDAR_YEAR

    @property
    def noun(self) -> str:
        """`height`, `number of doors`."""
        return f"number of {self.name}" if self.counts else self.name

    @property
    def be(self) -> str:
        """The verb behind the noun."""
        return "are" if self.many and not self.counts else "is"

    @property
    def that(self) -> str:
        """The word for the noun: `that of Golf`."""
        return "those" if self.many and not self.counts else "that"

    def degree(self, order: str) -> str:
        """`largest`, `fewest`, `earliest`: of all."""
        if self.yearly:
            return "latest" if order == "largest" else "earliest"
        return ("most" if order == "largest" else "fewest") if self.counts else order

    def amount(self, said: str) -> str:
        """A figure in words: `54 m`."""
        return in_unit(said, self.unit)

    def had(self, bound: str, last: str) -> str:
        """The words for things whose figure lies in a bound that ends with `last`: `a height of more than 20 m`, `more
        than 3 doors`, `exactly 1 door`."""
        if self.counts:
            return f"{bound} {self._one if last == '1' else self.name}"
        return f"{self.name if self.many else with_article(self.name)} of {bound}"

    def beyond(self, other: str, *, more: bool) -> str:
        """The words for things that have more than another: `a height above that of Golf`, `more doors than Golf`."""
        if self.counts:
            return f"{'more' if more else 'fewer'} {self.name} than {other}"
        way = ("after" if more else "before") if self.yearly else "above" if more else "below"
        return f"{self.name if self.many else with_article(self.name)} {way} {self.that} of {other}"

    def stated(self, name: str, said: str) -> str:
        """`The height of Fastnet is 54 m.`, `Golf has 5 doors.`"""
        if self.counts:
            return f"{name} has {said} {self._one if said == '1' else self.name}."
        return f"The {self.name} of {name} {self.be} {self.amount(said)}."

    @property
    def _head(self) -> str:
        return self.name.partition(" per ")[0].rpartition(" ")[2]

    @property
    def _one(self) -> str:
        """The noun of one: `door`, `hour per week`."""
        counted, per, each = self.name.partition(" per ")
        return f"{singular(counted)}{per}{each}"
