"""The words for sets of places and for what they are ranked by."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from shapely.geometry import box

from tests.golden.questions.gold import MILES, SQUARE_MILES
from tests.golden.questions.lookups import (
    COMPARE,
    Key,
    Lookups,
    Some,
    both_areas,
    both_distances,
    change_figures,
    known,
)


class SetWords(Lookups):
    """Sets, keys and rankings."""

    def w_all(self, kind: str, inside: str | None = None) -> Some:
        """Every place of a kind, or those inside a place."""
        everything = Some(tuple(sorted(self.world.of_kind(kind))))
        return everything if inside is None else self.w_inside(everything, inside)

    def w_counties(self) -> Some:
        return self.w_all("county")

    def w_cities(self, inside: str | None = None) -> Some:
        return self.w_all("city", inside)

    def w_only(self, *names: str) -> Some:
        return Some(tuple(self._place(name).id for name in names))

    def w_inside(self, some: Some, name: str) -> Some:
        """Those whose record says that they lie there, or whose point does."""
        container = self._place(name)
        by = "record" if container.outline is None else self._choose("containment", ("record", "geometry"))
        inside = [i for i in some.ids if self._lies_in(self.world.places[i], container, by)]
        return Some(tuple(inside), some.ranked)

    def w_border(self, some: Some, name: str) -> Some:
        place = self._place(name)
        return Some(tuple(i for i in some.ids if i != place.id and self._borders(self.world.places[i], place)))

    def w_within(self, some: Some, km: float, name: str, itself: bool = False) -> Some:
        return self._by_distance(some, km, name, lambda d: d <= km, itself)

    def w_beyond(self, some: Some, km: float, name: str) -> Some:
        return self._by_distance(some, km, name, lambda d: d > km, False)

    def w_miles(self, miles: float) -> float:
        """A number of miles, in kilometres."""
        self.may.add(miles)
        return miles * MILES

    def w_having(self, some: Some, how: str, limit: float, key: Key) -> Some:
        self.may |= {limit, limit + 1, limit - 1}
        kept = [i for i in some.ids if (v := key.value(i)) is not None and COMPARE[how](v, limit)]
        self._show(kept, key)
        return Some(tuple(kept))

    def w_between(self, some: Some, low: float, high: float, key: Key) -> Some:
        return self.w_having(self.w_having(some, ">=", low, key), "<=", high, key)

    def w_more_than(self, some: Some, name: str, measure: str, year: int, times: float = 1) -> Some:
        """Those that have more than (a multiple of) another place."""
        place = self._place(name)
        limit = self._due(place.id, measure, year) * times
        return self.w_having(some, ">", limit, self.w_by(measure, year)).without(Some((place.id,)))

    def w_less_than(self, some: Some, name: str, measure: str, year: int, times: float = 1) -> Some:
        place = self._place(name)
        limit = self._due(place.id, measure, year) * times
        return self.w_having(some, "<", limit, self.w_by(measure, year)).without(Some((place.id,)))

    def w_border2(self, some: Some, name: str) -> Some:
        """Those that border one that borders a place."""
        near = self.w_border(some, name)
        return Some(tuple(dict.fromkeys(i for n in near.ids for i in self.w_border(some, n).ids)))

    def w_top(self, some: Some, n: int, key: Key) -> Some:
        return self._ranked(some, key, -1, 0, n)

    def w_bottom(self, some: Some, n: int, key: Key) -> Some:
        return self._ranked(some, key, 1, 0, n)

    def w_nth(self, some: Some, n: int, key: Key) -> Some:
        return self._ranked(some, key, -1, n - 1, n)

    def w_nth_least(self, some: Some, n: int, key: Key) -> Some:
        return self._ranked(some, key, 1, n - 1, n)

    def w_beginning(self, some: Some, letters: str) -> Some:
        """Those whose name begins so."""
        return Some(tuple(i for i in some.ids if self.world.places[i].name.startswith(letters)))

    def w_in_box(self, some: Some, west: float, south: float, east: float, north: float) -> Some:
        """Those that a map's box shows: points in it; outlines that lie in it, or touch it, or whose middle it holds."""
        area = box(west, south, east, north)
        tests: dict[str, Callable[[Any], bool]] = {
            "touched": area.intersects,
            "whole": area.contains,
            "middle": lambda shape: area.contains(shape.centroid),
        }
        test = tests[self._choose("box", tuple(tests))]
        return Some(tuple(i for i in some.ids if (s := self.world.places[i].shape) is not None and test(s)))

    def w_west(self, some: Some, name: str) -> Some:
        """Those whose middle lies west of the middle of a place's members."""
        middle = statistics.mean(self._middle(i)[0] for i in self.w_all("county", name).ids)
        return Some(tuple(i for i in some.ids if self._middle(i)[0] < middle))

    def w_by(self, measure: str, year: int) -> Key:
        self.years.add(year)
        return Key(lambda i: self._value(i, measure, year), lambda i: known(self._value(i, measure, year)))

    def w_by_change(self, measure: str, start: int, end: int) -> Key:
        self.years |= {start, end}

        def change(i: str) -> float | None:
            a, b = self._value(i, measure, start), self._value(i, measure, end)
            return None if a is None or b is None else b - a

        def shown(i: str) -> frozenset[float]:
            a, b = self._value(i, measure, start), self._value(i, measure, end)
            return frozenset() if a is None or b is None else frozenset(change_figures(a, b))

        return Key(change, shown)

    def w_by_growth(self, measure: str, start: int, end: int) -> Key:
        """By the change in per cent."""
        change = self.w_by_change(measure, start, end)

        def growth(i: str) -> float | None:
            delta, before = change.value(i), self._value(i, measure, start)
            return None if delta is None or not before else delta / before

        return Key(growth, change.shown)

    def w_by_density(self, measure: str, year: int) -> Key:
        self.years.add(year)

        def density(i: str) -> float | None:
            people, area = self._value(i, measure, year), self._area(i)
            return None if people is None or area is None else people / area

        def shown(i: str) -> frozenset[float]:
            people, area = self._value(i, measure, year), self._area(i)
            if people is None or area is None:
                return frozenset()
            return frozenset({people, area, area / SQUARE_MILES, people / area, people / area * SQUARE_MILES})

        return Key(density, shown)

    def w_by_area(self) -> Key:
        return Key(self._area, lambda i: frozenset() if (a := self._area(i)) is None else both_areas(a))

    def w_by_distance(self, name: str) -> Key:
        place = self._place(name)
        return Key(lambda i: self._apart(i, place.id), lambda i: both_distances(self._apart(i, place.id)))
