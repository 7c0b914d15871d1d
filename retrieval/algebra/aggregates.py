"""Aggregates: one figure from those of many places. All that one is stands in its row, which reading, computing and
telling take from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import Literal, Protocol, TypeVar

AggregateName = Literal["sum", "mean", "median", "minimum", "maximum"]
Number = TypeVar("Number", Decimal, Fraction)


class Aggregation(Protocol):
    """Computes the one figure of at least one."""

    def __call__(self, values: Sequence[Number], /) -> Number:
        """The figure, exact."""


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """One aggregate: how it is computed, called in an answer, and asked for."""

    compute: Aggregation
    word: str
    """As in `The average population of 105 counties was ...`."""
    asked: tuple[str, ...] = ()
    """Words of a question that mean it; none for one that questions ask for in another way."""
    rounded: bool = False
    """True if the result of whole figures may be no whole one; it is rounded as it is told."""
    adds: bool = False
    """True if it adds figures up, which densities do not allow."""
    hides: bool = False
    """True if no figure of a single place can be read from it, so that it may be told of figures that are closed."""


def _sum(values: Sequence[Number]) -> Number:
    return sum(values[1:], values[0])


def _mean(values: Sequence[Number]) -> Number:
    return _sum(values) / len(values)


AGGREGATES: Mapping[AggregateName, AggregateFunction] = {
    "sum": AggregateFunction(
        _sum,
        "total",
        ("total", "sum", "combined", "add up", "sum up", "together", "altogether", "in all", "in total"),
        adds=True,
        hides=True,
    ),
    "mean": AggregateFunction(_mean, "average", ("average", "mean"), rounded=True, hides=True),
    "median": AggregateFunction(median, "median", ("median",), rounded=True, hides=True),
    "minimum": AggregateFunction(min, "lowest"),
    "maximum": AggregateFunction(max, "highest"),
}
