"""The facts of a corpus as plain Python reads them from its files: places, figures and events.

Nothing here imports the product: what is computed from a world is the key by which the product is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from math import cos, radians

from pyproj import Geod
from shapely import transform
from shapely.geometry import MultiPoint, Point
from shapely.geometry.base import BaseGeometry
from shapely.ops import nearest_points

GEOD = Geod(ellps="WGS84")
SQUARE_KM = 1_000_000.0
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Place:
    """A thing that has a name and perhaps a position, an outline, areas by reading (km²) and containers by record."""

    id: str
    name: str
    kind: str
    names: tuple[str, ...] = ()
    inside: frozenset[str] = frozenset()
    point: tuple[float, float] | None = None
    outline: BaseGeometry | None = None
    areas: Mapping[str, float] = field(default_factory=dict)

    @property
    def shape(self) -> BaseGeometry | None:
        return self.outline if self.outline is not None else None if self.point is None else Point(self.point)


@dataclass(frozen=True)
class Event:
    """Something with a day, those who took part, and a place; `name` is how an answer tells it from others. A day that is
    not `plain` was read from a form that a careful reader may refuse. `figures` are those of its rows, which an answer may
    repeat."""

    id: str
    kind: str
    name: str
    year: int | None = None
    day: date | None = None
    who: tuple[str, ...] = ()
    where: str | None = None
    plain: bool = True
    figures: frozenset[float] = frozenset()


@dataclass(frozen=True)
class World:
    """All facts of a corpus. `figures` are by place, measure and year; `home` is the place that everything lies in."""

    places: Mapping[str, Place]
    figures: Mapping[tuple[str, str], Mapping[int, float]]
    events: tuple[Event, ...] = ()
    home: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def by_name(self) -> dict[str, list[Place]]:
        """Places by the names under which a specification may call them."""
        found: dict[str, list[Place]] = {}
        for place in self.places.values():
            for name in {place.name, *place.names}:
                found.setdefault(name, []).append(place)
        return found

    def place(self, name: str) -> Place:
        """The one place that a specification names, by id or name; its own name goes before its other names,
        and what lies on the map before what does not."""
        if name in self.places:
            return self.places[name]
        candidates = self.by_name.get(name, [])
        exact = [p for p in candidates if p.name == name] or candidates
        exact = [p for p in exact if p.shape is not None] or exact
        if len(exact) != 1:
            raise KeyError(f"{name!r} names {len(exact)} places")
        return exact[0]

    @cached_property
    def surfaces(self) -> dict[str, frozenset[str]]:
        """Lower-cased names with the ids of all that bear them: places, takers part, events and their places."""
        found: dict[str, set[str]] = {}
        for place in self.places.values():
            for name in {place.name, *place.names}:
                found.setdefault(plain(name), set()).add(place.id)
        for event in self.events:
            found.setdefault(plain(event.name), set()).add(event.id)
        return {name: frozenset(ids) for name, ids in found.items()}

    @cached_property
    def by_first_word(self) -> dict[str, list[str]]:
        """The surfaces that begin with a word, the longest first."""
        found: dict[str, list[str]] = {}
        for name in sorted(self.surfaces, key=len, reverse=True):
            found.setdefault(_WORD.search(name)[0], []).append(name)  # type: ignore[index]
        return found

    def named(self, text: str) -> list[tuple[int, int, frozenset[str]]]:
        """The known names in a text with what they name. Names may overlap ("Emporia, Kansas City"); one inside a longer
        one is none."""
        flat = text.replace("’", "'").lower()
        found: list[tuple[int, int, frozenset[str]]] = []
        for word in _WORD.finditer(flat):
            start = word.start()
            for name in self.by_first_word.get(word[0], ()):
                end = start + len(name)
                if flat.startswith(name, start) and not flat[end : end + 1].isalnum():
                    if self._overrun(flat, name, start):
                        continue  # `Independence, Kansas City` is two names
                    if not (found and end <= found[-1][1]):
                        found.append((start, end, self.surfaces[name]))
                    break
        return found

    def _overrun(self, flat: str, name: str, start: int) -> bool:
        """True if what stands after the comma of a name begins a longer name there."""
        at = start + name.find(", ") + 2
        if at == start + 1:
            return False
        tail = _WORD.match(flat, at)
        longer = (n for n in self.by_first_word.get(tail[0], ()) if at + len(n) > start + len(name)) if tail else ()
        return any(flat.startswith(n, at) and not flat[at + len(n) : at + len(n) + 1].isalnum() for n in longer)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The kind of each id."""
        return {p.id: p.kind for p in self.places.values()} | {e.id: e.kind for e in self.events}

    @cached_property
    def event(self) -> dict[str, Event]:
        """Events by id."""
        return {e.id: e for e in self.events}

    def of_kind(self, kind: str) -> frozenset[str]:
        return frozenset(p.id for p in self.places.values() if p.kind == kind)


def plain(text: str) -> str:
    """Lower case with one space and straight quotes, as names are compared."""
    return re.sub(r"\s+", " ", text.replace("’", "'").replace("“", '"').replace("”", '"')).strip().lower()


def area_km2(shape: BaseGeometry) -> float:
    """The geodesic area of an outline."""
    return abs(GEOD.geometry_area_perimeter(shape)[0]) / SQUARE_KM


def metres(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The geodesic between two points."""
    return float(GEOD.inv(a[0], a[1], b[0], b[1])[2])


def apart_km(a: BaseGeometry, b: BaseGeometry) -> float:
    """The shortest distance between two shapes: nearest points in a plane that is scaled at their latitude."""
    if a.intersects(b):
        return 0.0
    middle = (a.centroid.y + b.centroid.y) / 2
    squeeze = max(0.05, cos(radians(middle)))
    flat_a, flat_b = (transform(shape, lambda points: points * (squeeze, 1)) for shape in (a, b))
    p, q = nearest_points(flat_a, flat_b)
    return metres((p.x / squeeze, p.y), (q.x / squeeze, q.y)) / 1000


def share_line(a: BaseGeometry, b: BaseGeometry) -> bool:
    """Two outlines with a stretch of border in common, and not a corner alone."""
    common = a.intersection(b)
    return not common.is_empty and not isinstance(common, Point | MultiPoint) and common.length > 0


def years_of(row: Mapping[str, str], *, no_figure: Iterable[str] = ("",)) -> dict[int, float]:
    """The figures of a row whose columns are years."""
    dead = {"", *no_figure}
    return {int(k): float(v) for k, v in row.items() if re.fullmatch(r"\d{4}", k) and v.strip() not in dead}
