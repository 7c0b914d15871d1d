"""Gold: what an answer has to say, and what it may say beside that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

MILES = 1.609344
SQUARE_MILES = MILES**2


@dataclass(frozen=True)
class Figure:
    """A number that is due, in each of the forms that say the same; `slack` is the relative error that is allowed,
    beside the rounding that is seen."""

    forms: tuple[float, ...]
    slack: float = 0.0


@dataclass(frozen=True)
class Gold:
    """One right answer.

    `names` are the ids that have to be named, and no other of their kinds; None where no names are asked for. `order`
    says that they come in this order. `first` is the one of several that is asked for, `most` whether it
    has most of them: it is named first, or the answer says of the other that it has more (or less). `may` are figures that
    are true and of the matter, `may_names` likewise. `own` are the figures of each name, `by_year` those of each year:
    an answer that gives one of them to another name or year is false. Yes or no (`truth`) may also be said by what makes it
    so: any of `instead`. `row` is the table row of which one figure is due: an answer may quote the row, year by year.
    """

    figures: tuple[Figure, ...] = ()
    names: frozenset[str] | None = None
    order: tuple[str, ...] = ()
    first: str | None = None
    most: bool = True
    truth: bool | None = None
    instead: tuple[Gold, ...] = ()
    days: tuple[date, ...] = ()
    words: tuple[str, ...] = ()
    said: str | None = None
    rising: bool | None = None
    may: frozenset[float] = frozenset()
    may_names: frozenset[str] = frozenset()
    years: frozenset[int] = frozenset()
    own: Mapping[str, frozenset[float]] = field(default_factory=dict)
    by_year: Mapping[int, float] = field(default_factory=dict)
    row: Mapping[int, float] = field(default_factory=dict)
    kinds: frozenset[str] = frozenset()
    total: int | None = None

    @property
    def is_abstention(self) -> bool:
        return self == ABSTAIN


ABSTAIN = Gold()
"""The sources do not answer the question."""


class Doubtful(Exception):
    """A question whose answer hangs on a tie or on a hair's breadth; a bank holds none, a generator drops it."""


def kilometres(value: float) -> Figure:
    return Figure((value, value / MILES, value * 1000), 0.005)


def square_kilometres(value: float, slack: float = 0.005) -> Figure:
    return Figure((value, value / SQUARE_MILES, value * 100), slack)


def merged(of: Iterable[Mapping[str, frozenset[float]]]) -> dict[str, frozenset[float]]:
    """The figures of each name in all of them."""
    found: dict[str, frozenset[float]] = {}
    for each in of:
        for name, numbers in each.items():
            found[name] = found.get(name, frozenset()) | numbers
    return found
