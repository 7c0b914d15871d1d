"""Operations that a question can ask of structured data. Values only: `ai.intent` reads them, the spatial channel
answers them.

Places are entity ids, so that one question means the same on every store. `place_type` is the gazetteer's type
(`county`, `city`, `state` ...).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from retrieval.algebra.aggregates import AggregateName
from retrieval.algebra.plan import Plan


@dataclass(frozen=True, slots=True)
class Lookup:
    """The value of a measure at a place in a year; `year` None asks for what is recorded, no place for those in the
    region that the map shows. `unit`: that of the figures, where it is recorded in several and the question names
    one."""

    measure: str
    place_ids: tuple[str, ...]
    year: int | None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """The difference of a measure at a place between two years. `unit` as of a lookup."""

    measure: str
    place_ids: tuple[str, ...]
    from_year: int
    to_year: int
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Superlative:
    """The places of a type with the largest or smallest value of a measure in a year, inside `within` if given."""

    measure: str
    place_type: str
    year: int | None
    order: Literal["largest", "smallest"]
    within: str | None = None
    limit: int = 1


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Sum, mean, median, minimum, maximum of a measure over the places of a type in a year."""

    function: AggregateName
    measure: str
    place_type: str
    year: int | None
    within: str | None = None


@dataclass(frozen=True, slots=True)
class Compare:
    """The same measure at two or more places in one year, and which is larger."""

    measure: str
    place_ids: tuple[str, ...]
    year: int | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The places of the same type that share a border with a place."""

    place_id: str


@dataclass(frozen=True, slots=True)
class Nearest:
    """The places of a type nearest to a place, by geodesic distance."""

    place_id: str
    place_type: str
    limit: int = 1


@dataclass(frozen=True, slots=True)
class WithinDistance:
    """The places of a type within a geodesic distance of a place."""

    place_id: str
    place_type: str
    distance_km: float


@dataclass(frozen=True, slots=True)
class ContainedIn:
    """The places of a type inside a place (which cities are in the county?)."""

    place_id: str
    place_type: str


@dataclass(frozen=True, slots=True)
class ContainerOf:
    """The place of a type that contains a place (in which county is the city?)."""

    place_id: str
    place_type: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many places of a type are inside a place or a region, in a year where the records are dated; `minimum` counts
    only those whose measure reaches it."""

    place_type: str
    within: str | None = None
    year: int | None = None
    measure: str | None = None
    minimum: int | None = None


@dataclass(frozen=True, slots=True)
class Distance:
    """The geodesic distance between two places."""

    from_id: str
    to_id: str


Operation = (
    Lookup
    | Change
    | Superlative
    | Aggregate
    | Compare
    | Neighbours
    | Nearest
    | WithinDistance
    | ContainedIn
    | ContainerOf
    | Count
    | Distance
    | Plan
)
"""The short forms, and those of the algebra (`retrieval.algebra.plan`)."""
