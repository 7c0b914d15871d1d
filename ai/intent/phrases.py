"""The phrases of a question, as values: conditions, figures, superlatives, names, times, and the items left over."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from decimal import Decimal

from ai.intent.lexicon import Role
from ai.intent.times import TimeSpan
from ai.intent.tokens import Item
from retrieval.algebra.aggregates import AggregateName
from retrieval.model import EntityRef


@dataclass(frozen=True, slots=True)
class Listed:
    """Places or things that stand together, and the word between the last two."""

    refs: tuple[EntityRef, ...]
    joined: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """Numbers that a figure is held against: `unit` is a role and its value, None where the question says none, and
    `said` its words."""

    low: Decimal | None = None
    high: Decimal | None = None
    low_open: bool = False
    high_open: bool = False
    unit: tuple[Role, object] | None = None
    holds: bool = True
    said: str = ""
    times: tuple[TimeSpan, ...] | None = None
    """The times of a condition that has its own; None where those of the question are its times."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A figure that grows (1), falls (-1) or changes (0); `times` as of a `Bound`."""

    direction: int
    holds: bool = True
    times: tuple[TimeSpan, ...] | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """Places that a condition names; `holds` false where it is denied."""

    listed: Listed
    holds: bool = True
    said: str = ""


@dataclass(frozen=True, slots=True)
class Top:
    """A superlative: `scale` is what it orders by, from the `first` on, `limit` of them."""

    order: str
    scale: str
    first: int = 1
    limit: int | None = None


@dataclass(slots=True)
class Phrases:
    """The phrases of a question, by kind. `left` are the items that no phrase took."""

    asked: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    named: list[Listed] = field(default_factory=list)
    things: list[Listed] = field(default_factory=list)
    inside: list[Related] = field(default_factory=list)
    borders: list[Related] = field(default_factory=list)
    neighbours: list[bool] = field(default_factory=list)
    gaps: list[tuple[Bound, EntityRef]] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    excepted: list[EntityRef] = field(default_factory=list)
    things_excepted: list[EntityRef] = field(default_factory=list)
    things_denied: list[EntityRef] = field(default_factory=list)
    measures: list[tuple[str, ...]] = field(default_factory=list)
    areas: list[bool] = field(default_factory=list)
    densities: list[bool] = field(default_factory=list)
    per: list[str] = field(default_factory=list)
    """The unit of area of a density, where it is said."""
    units: list[tuple[Role, object]] = field(default_factory=list)
    """Units that an answer is wanted in (`in miles`)."""
    series: list[bool] = field(default_factory=list)
    shares: list[bool] = field(default_factory=list)
    changes: list[Moved] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    """Changes that are conditions beside another figure, each with its own times."""
    relative: list[bool] = field(default_factory=list)
    differences: list[bool] = field(default_factory=list)
    ratios: list[bool] = field(default_factory=list)
    tops: list[Top] = field(default_factory=list)
    aggregates: list[AggregateName] = field(default_factory=list)
    compared: list[str] = field(default_factory=list)
    than: list[bool] = field(default_factory=list)
    """For each, whether a place is named before it; else what follows is what the others are held against."""
    towards: list[EntityRef] = field(default_factory=list)
    within: list[str] = field(default_factory=list)
    holds: list[bool] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    times: list[TimeSpan] = field(default_factory=list)
    """The times of the figure that is asked for."""
    scattered: list[bool] = field(default_factory=list)
    """True where two figures have two times: no plan holds them together."""
    here: list[bool] = field(default_factory=list)
    dwelling: list[bool] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    left: list[Item] = field(default_factory=list)
    bases: list[EntityRef] = field(default_factory=list)
    """The places that others are so many times as large as (`twice as many as Topeka`)."""
    joint: list[Listed] = field(default_factory=list)
    """Things that take part together with others."""
    occurring: list[bool] = field(default_factory=list)
    """Words that say of what is dated that it was."""
    times_denied: list[TimeSpan] = field(default_factory=list)
    both_times: list[bool] = field(default_factory=list)
    """True where each of the times has to hold."""
    order: list[str] = field(default_factory=list)
    """The kinds and types in the order in which they are said."""
    singular: list[str] = field(default_factory=list)
    """The kinds and types that are said of one (`the county that ...`)."""
    counted: list[str] = field(default_factory=list)
    """The sort of phrase that follows `how many`: a `kind`, a `type` or a `measure`."""

    @property
    def filled(self) -> frozenset[str]:
        """The kinds of phrase that there are."""
        return frozenset(
            f.name for f in fields(self) if getattr(self, f.name) and f.name not in ("order", "counted", "singular")
        )
