"""The part of the language that every word uses: places and figures of a world in one reading, and what was looked up."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from shapely.geometry import Point

from tests.golden.questions.gold import MILES, SQUARE_MILES, Doubtful, Figure, Gold
from tests.golden.questions.world import Event, Place, World, apart_km, metres, share_line

COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
HAIR = 0.003
"""A distance this near (relatively) to its limit is doubtful."""


@dataclass(frozen=True)
class Some:
    """Places or events; in order if `ranked`."""

    ids: tuple[str, ...]
    ranked: bool = False

    def joined(self, other: Some) -> Some:
        return Some(tuple(dict.fromkeys(self.ids + other.ids)))

    def common(self, other: Some) -> Some:
        return Some(tuple(i for i in self.ids if i in set(other.ids)), self.ranked)

    def without(self, other: Some) -> Some:
        return Some(tuple(i for i in self.ids if i not in set(other.ids)), self.ranked)


@dataclass(frozen=True)
class Key:
    """What places are ranked by. `shown` are the figures that an answer may give with a place."""

    value: Callable[[str], float | None]
    shown: Callable[[str], frozenset[float]]


@dataclass
class Lookups:
    """One world in one reading. What is looked up on the way may be said in the answer."""

    world: World
    reading: dict[str, str]
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    own: dict[str, frozenset[float]] = field(default_factory=dict)
    may: set[float] = field(default_factory=set)
    years: set[int] = field(default_factory=set)
    named: set[str] = field(default_factory=set)

    @property
    def _events(self) -> dict[str, Event]:
        return self.world.event

    def _choose(self, choice: str, values: tuple[str, ...]) -> str:
        self.choices.setdefault(choice, values)
        return self.reading.get(choice, values[0])

    def _place(self, name: str) -> Place:
        place = self.world.place(name)
        self.named.add(place.id)
        return place

    def _one(self, who: str | Some) -> Place:
        if isinstance(who, str):
            return self._place(who)
        (only,) = who.ids
        self.named.add(only)
        return self.world.places[only]

    def _value(self, id: str, measure: str, year: int) -> float | None:
        return self.world.figures.get((id, measure), {}).get(year)

    def _due(self, id: str, measure: str, year: int) -> float:
        value = self._value(id, measure, year)
        self.years.add(year)
        if value is None:
            raise Doubtful(f"no {measure} of {id} in {year}")
        self.own[id] = self.own.get(id, frozenset()) | {value}
        return value

    def _values(self, some: Some, measure: str, year: int) -> dict[str, float]:
        found = {i: v for i in some.ids if (v := self._value(i, measure, year)) is not None}
        self.years.add(year)
        self.may |= {len(found), len(some.ids)}
        if not found:
            raise Doubtful(f"no {measure} in {year}")
        for i, v in found.items():
            self.own[i] = self.own.get(i, frozenset()) | {v}
        return found

    def _sum_of(self, figure: Figure, ids: Iterable[str]) -> Gold:
        return Gold(figures=(figure,), may_names=frozenset(ids), kinds=frozenset(self.world.kinds[i] for i in ids))

    def _area(self, id: str) -> float | None:
        areas = self.world.places[id].areas
        return areas[self._choose("area", tuple(areas))] if areas else None

    def _lies_in(self, place: Place, container: Place, by: str) -> bool:
        if by == "record" or container.outline is None:
            return container.id in place.inside
        shape = place.shape
        return shape is not None and container.outline.contains(shape.centroid)

    def _borders(self, a: Place, b: Place) -> bool:
        if a.outline is None or b.outline is None:
            return False
        if self._choose("border", ("line", "corner")) == "corner":
            return bool(a.outline.intersects(b.outline))
        return share_line(a.outline, b.outline)

    def _middle(self, id: str) -> tuple[float, float]:
        shape = self.world.places[id].shape
        assert shape is not None
        return shape.centroid.x, shape.centroid.y

    def _apart(self, one: str, other: str) -> float:
        """Kilometres between two places: points; for an outline its edge or its middle."""
        a, b = self.world.places[one].shape, self.world.places[other].shape
        assert a is not None
        assert b is not None
        if isinstance(a, Point) and isinstance(b, Point):
            return metres((a.x, a.y), (b.x, b.y)) / 1000
        if self._choose("distance", ("edge", "middle")) == "edge":
            return apart_km(a, b)
        return metres(self._middle(one), self._middle(other)) / 1000

    def _by_distance(self, some: Some, km: float, name: str, keep: Callable[[float], bool], itself: bool) -> Some:
        place = self._place(name)
        self.may |= {km, km / MILES}
        kept = []
        for i in some.ids:
            if i == place.id and not itself:
                continue
            if self.world.places[i].shape is None:
                continue
            apart = self._apart(i, place.id)
            if abs(apart - km) <= HAIR * km:
                raise Doubtful(f"{i} is {apart:.2f} km from {name}")
            if keep(apart):
                kept.append(i)
                self.own[i] = self.own.get(i, frozenset()) | both_distances(apart)
        return Some(tuple(kept))

    def _ranked(self, some: Some, key: Key, sign: int, start: int, end: int) -> Some:
        values = {i: v for i in some.ids if (v := key.value(i)) is not None}
        ranked = sorted(values, key=lambda i: (sign * values[i], i))
        self.may |= {len(ranked), len(some.ids), end - start, end}
        cut = [values[i] for i in ranked[max(0, start - 1) : end + 1]]
        if len(set(cut)) != len(cut) or len(ranked) < end:
            raise Doubtful("a tie, or too few")
        chosen = ranked[start:end]
        self._show(chosen, key)
        return Some(tuple(chosen), ranked=end - start > 1)

    def _show(self, ids: Iterable[str], key: Key) -> None:
        for i in ids:
            self.own[i] = self.own.get(i, frozenset()) | key.shown(i)

    def _happened(self, events: Iterable[Event]) -> Some:
        """Events as a set; their years and figures may be said."""
        kept = list(events)
        self.years |= {e.year for e in kept if e.year is not None}
        self.may |= {n for e in kept for n in e.figures}
        return Some(tuple(e.id for e in kept))

    def _by_day(self, some: Some, sign: int) -> Some:
        days = {i: d for i in some.ids if (d := self._events[i].day) is not None}
        if not days:
            raise Doubtful("no day is recorded")
        best = sorted(days.values())[0 if sign > 0 else -1]
        return Some(tuple(i for i, d in days.items() if d == best))


def known(value: float | None) -> frozenset[float]:
    return frozenset() if value is None else frozenset({value})


def change_figures(a: float, b: float) -> set[float]:
    return {a, b, abs(b - a), *({abs(b - a) / a * 100, b / a} if a else ())}


def both_areas(km2: float) -> frozenset[float]:
    return frozenset({km2, km2 / SQUARE_MILES})


def both_distances(km: float) -> frozenset[float]:
    return frozenset({km, km / MILES})
