"""The query algebra: sets of places by conditions, figures over them, and what is asked of both. Values only.

A reader composes them from a question, an asker may send them (`options.plan`), and `retrieval.spatial` evaluates them.
Bounds are decimal text; distances are metres, areas square kilometres.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrieval.algebra.aggregates import AggregateName


@dataclass(frozen=True, slots=True)
class Value:
    """The recorded figure of a measure; `year` None is the latest year on record."""

    measure: str
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Growth:
    """The difference of a measure between two years; `relative` in per cent of the first."""

    measure: str
    from_year: int
    to_year: int
    relative: bool = False


Square = Literal["km²", "mi²"]


@dataclass(frozen=True, slots=True)
class Area:
    """The area on the WGS 84 ellipsoid, from the outline on the map; bounds on it are square kilometres, `unit` is how
    it is told."""

    unit: Square = "km²"


@dataclass(frozen=True, slots=True)
class Density:
    """A measure for each square kilometre, or square mile."""

    measure: str
    year: int | None = None
    unit: Square = "km²"


@dataclass(frozen=True, slots=True)
class Gap:
    """Metres between the nearest points of a place and another."""

    place_id: str


Figure = Value | Growth | Area | Density | Gap


@dataclass(frozen=True, slots=True)
class Inside:
    """Lies in a place; not so where `holds` is false."""

    place_id: str
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Bordering:
    """Shares a border with a place; not so where `holds` is false."""

    place_id: str
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Where:
    """A figure lies between bounds; an open bound is excluded. `holds` false turns it round."""

    figure: Figure
    low: str | None = None
    high: str | None = None
    low_open: bool = False
    high_open: bool = False
    holds: bool = True


@dataclass(frozen=True, slots=True)
class OneOf:
    """Is one of some places; none of them where `holds` is false."""

    place_ids: tuple[str, ...]
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Than:
    """A figure is more (or less) than the same figure of a place; not so where `holds` is false."""

    figure: Figure
    place_id: str
    more: bool = True
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Shown:
    """Meets the box of a map: west, south, east and north in degrees; west > east is across the antimeridian."""

    box: tuple[str, str, str, str]
    holds: bool = True


Simple = Inside | Bordering | Where | OneOf | Than | Shown


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of some conditions holds; none of them where `holds` is false. No place is held against itself."""

    conditions: tuple[Simple, ...]
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Foremost:
    """Is one of `limit` places, from the `first` in order on, by a figure, of those for which every other condition
    holds; those that tie with one of them are too."""

    figure: Figure
    order: Literal["largest", "smallest"]
    first: int = 1
    limit: int = 1


Condition = Simple | AnyOf | Foremost


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a kind for which every condition holds. A place that others are held against is one of them only
    where `centred` is true."""

    kind: str
    conditions: tuple[Condition, ...] = ()
    centred: bool = False


@dataclass(frozen=True, slots=True)
class Select:
    """The places themselves, with the figure where one is asked for."""

    places: Places
    figure: Figure | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How many places there are."""

    places: Places


@dataclass(frozen=True, slots=True)
class Rank:
    """The places by a figure, from the `first` in order on, `limit` of them; those that tie with one are named too."""

    places: Places
    figure: Figure
    order: Literal["largest", "smallest"]
    first: int = 1
    limit: int = 1


@dataclass(frozen=True, slots=True)
class Total:
    """A sum, mean or the like of a figure over places."""

    function: AggregateName
    places: Places
    figure: Figure


@dataclass(frozen=True, slots=True)
class Figures:
    """A figure of named places."""

    figure: Figure
    place_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weigh:
    """One figure at two places: the difference, or how many times the one is the other."""

    figure: Figure
    place_ids: tuple[str, str]
    way: Literal["difference", "ratio"]


@dataclass(frozen=True, slots=True)
class Part:
    """A figure of parts of a place: their share of it in per cent, or what is left of it without them. The parts must
    lie in it."""

    figure: Figure
    place_id: str
    part_ids: tuple[str, ...]
    way: Literal["share", "rest"]


@dataclass(frozen=True, slots=True)
class Peak:
    """The year on record in which a measure of a place was highest or lowest."""

    measure: str
    place_id: str
    order: Literal["largest", "smallest"]


@dataclass(frozen=True, slots=True)
class Test:
    """True if conditions hold of one place."""

    place: str
    kind: str
    conditions: tuple[Condition, ...]


Way = Literal["list", "count", "any", "earliest", "latest", "most", "fewest", "busiest"]


@dataclass(frozen=True, slots=True)
class Had:
    """A row about all of `entities` in days; none such where `holds` is false."""

    entities: tuple[str, ...] = ()
    from_day: str | None = None
    to_day: str | None = None
    holds: bool = True


@dataclass(frozen=True, slots=True)
class Stated:
    """Statements of rows about a type (treaties): the things of that type in rows about all of `entities`, in days.
    `way` lists or counts them, says whether there are any, gives the first or the last, or ranks them by how many of
    the type `via` each has, or gives the year with the most of them. `without` leaves out these themselves, and those
    that rows about one of these name; `at_least` and `at_most` bound how many of the type `via` each has. `having` are
    further rows that each must have, or must not have."""

    type: str
    via: str | None = None
    entities: tuple[str, ...] = ()
    from_day: str | None = None
    to_day: str | None = None
    way: Way = "list"
    limit: int = 1
    without: tuple[str, ...] = ()
    at_least: int | None = None
    at_most: int | None = None
    having: tuple[Had, ...] = ()


Plan = Select | Tally | Rank | Total | Figures | Weigh | Part | Peak | Test | Stated
"""One composed question."""
