"""Walks over relationships, as a Protocol over the graph stores."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol, runtime_checkable

from retrieval.scope import Scope

MOST_WALKED = 5_000
"""Most relationships that one walk looks at."""
Direction = Literal["outgoing", "incoming", "both"]


@dataclass(frozen=True, slots=True)
class Walk:
    """From the entities `starts` over at most `hops` relationships, each from its subject to its object (`outgoing`),
    the other way, or both. `predicates` narrow (none: all), `day` lies in the time of each, or that has none."""

    starts: tuple[str, ...]
    hops: int
    direction: Direction = "both"
    predicates: tuple[str, ...] = ()
    day: date | None = None

    def onward(self, at: str, subject: str, other: str) -> str | None:
        """Where a relationship of these two leads from `at`; None where the walk does not follow it."""
        if at == subject and self.direction != "incoming":
            return other
        return subject if at == other and self.direction != "outgoing" else None


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The records that state what a walk passes, in order of their ids; `cut`: there are more."""

    record_ids: tuple[str, ...]
    cut: bool = False


@runtime_checkable
class Traversal(Protocol):
    """A graph that can be walked over. `around` reads inside the scope, at one moment: nothing of other classes or
    tenants is followed, counted or returned. Raises `ChannelError`."""

    async def around(self, walk: Walk, *, scope: Scope) -> Neighbourhood: ...
