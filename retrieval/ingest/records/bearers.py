"""The places that bear one name in a table with positions: rows of one name that lie apart are of two places."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

NEAR_KM = 1.0
"""Positions that are no farther apart are of one place."""
_DEGREE_KM = 111.2
_MOST = 100
"""Places of one name that are told apart."""
_Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bearers:
    """Names of a table that several places bear, by the id that these would share: `shared` has the positions of those
    places, the first of each, and `moved` the ids that are at several positions without being of several places, so
    that nobody knows where the place is."""

    shared: Mapping[str, tuple[_Point, ...]] = field(default_factory=dict)
    moved: frozenset[str] = frozenset()

    def which(self, entity_id: str, longitude: str, latitude: str) -> str | None:
        """The id of the place of that name at that position: the one that it has where no other bears it, None where
        the row does not say which is meant."""
        places = self.shared.get(entity_id)
        if places is None:
            return entity_id
        at = position(longitude, latitude)
        if at is None:
            return None
        x, y = min(places, key=lambda each: _apart_km(each, at))
        return f"{entity_id}-{_degrees(y, 'ns')}-{_degrees(x, 'ew')}"


def bearers(rows: Iterable[tuple[str, str, str, str]]) -> Bearers:
    """The bearers of each name among rows of (id, longitude, latitude, time). A name is of several places where it is
    at two at one time; where each time has its own position, or most names are at several, things move."""
    first: dict[str, list[_Point]] = {}
    at_once: dict[tuple[str, str], set[int]] = {}
    for called, longitude, latitude, time in rows:
        at = position(longitude, latitude)
        known = first.setdefault(called, [])
        if at is None or len(known) > _MOST:
            continue
        which = next((n for n, each in enumerate(known) if _apart_km(each, at) <= NEAR_KM), len(known))
        if which == len(known):
            known.append(at)
        at_once.setdefault((called, time), set()).add(which)
    several = {called for called, known in first.items() if len(known) > 1}
    together = {called for (called, _), places in at_once.items() if len(places) > 1}
    together = {called for called in together if len(first[called]) <= _MOST}
    if len(first) * 2 < sum(map(len, first.values())):
        together = set()
    return Bearers({called: tuple(first[called]) for called in several & together}, frozenset(several - together))


def position(longitude: str, latitude: str) -> _Point | None:
    """The position in degrees that two cells are, None where they are none."""
    try:
        x, y = float(longitude), float(latitude)
    except ValueError:
        return None
    return (x, y) if abs(x) <= 181 and abs(y) <= 91 else None


def _apart_km(one: _Point, other: _Point) -> float:
    """The distance of two positions, as well as it needs to be known of near ones."""
    east = abs(one[0] - other[0]) % 360
    east = min(east, 360 - east) * math.cos(math.radians((one[1] + other[1]) / 2))
    return math.hypot(east, one[1] - other[1]) * _DEGREE_KM


def _degrees(value: float, sides: str) -> str:
    """Degrees for an id: `50.100n`."""
    rounded = round(value, 3)
    return f"{abs(rounded):.3f}{sides[rounded < 0]}"
