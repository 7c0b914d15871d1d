"""The words for events: treaties, storms and the like, and who took part in them."""

from __future__ import annotations

from typing import Any

from tests.golden.questions.gold import Doubtful, Figure, Gold
from tests.golden.questions.lookups import COMPARE, Key, Lookups, Some
from tests.golden.questions.world import plain


class EventWords(Lookups):
    """Sets of events, and what is asked of them."""

    def w_events(
        self,
        kind: str,
        year: int | None = None,
        start: int | None = None,
        end: int | None = None,
        who: str | None = None,
        at: str | None = None,
        day: str | None = None,
    ) -> Some:
        """Events of a kind by year or years (both inclusive), taker part, place (a part of its name), or day."""
        self.years |= {y for y in (year, start, end) if y is not None}
        kept = [e for e in self.world.events if e.kind == kind]
        if year is not None:
            kept = [e for e in kept if e.year == year]
        if start is not None or end is not None:
            kept = [e for e in kept if e.year is not None and (start or 0) <= e.year <= (end or 9999)]
        if who is not None:
            actor = self._place(who)
            kept = [e for e in kept if actor.id in e.who]
        if at is not None:
            kept = [e for e in kept if e.where is not None and plain(at) in plain(e.where)]
        if day is not None:
            kept = [e for e in kept if e.day is not None and e.day.isoformat() == day]
        timed = any(t is not None for t in (year, start, end, day))
        if timed and any(not e.plain for e in kept) and self._choose("days", ("plain", "any")) == "plain":
            kept = [e for e in kept if e.plain]
        return self._happened(kept)

    def w_treaties(self, **by: Any) -> Some:
        return self.w_events("treaty", **by)

    def w_month(self, year: int, month: int) -> Some:
        """Events of a month."""
        self.years.add(year)
        return self._happened(e for e in self.world.events if e.day and (e.day.year, e.day.month) == (year, month))

    def w_named_event(self, name: str) -> Some:
        """The rows of an event by its name."""
        return self._happened([e for e in self.world.events if e.name == name])

    def w_shared(self, some: Some, other: Some) -> Some:
        """Events of a set whose name and day another set has as well."""
        theirs = {(self._events[i].name, self._events[i].day) for i in other.ids}
        return Some(tuple(i for i in some.ids if (self._events[i].name, self._events[i].day) in theirs))

    def w_unshared(self, some: Some, other: Some) -> Some:
        """Events of a set without those of a name that is in another set: rows of one event may differ in their day."""
        theirs = {self._events[i].name for i in other.ids}
        return Some(tuple(i for i in some.ids if self._events[i].name not in theirs))

    def w_who(self, some: Some) -> Some:
        """Those who took part in some events."""
        return Some(tuple(dict.fromkeys(w for i in some.ids for w in self._events[i].who)))

    def w_where(self, some: Some) -> Some:
        """The places of some events."""
        found = [self._events[i].where for i in some.ids]
        spots = {p.name: p.id for p in self.world.places.values() if p.kind == "spot"}
        return Some(tuple(dict.fromkeys(spots[w] for w in found if w is not None)))

    def w_first(self, some: Some) -> Some:
        return self._by_day(some, 1)

    def w_last(self, some: Some) -> Some:
        return self._by_day(some, -1)

    def w_day(self, some: Some) -> Gold:
        """The days of some events."""
        days = [d for i in some.ids if (d := self._events[i].day) is not None]
        if not days:
            raise Doubtful("no day is recorded")
        return Gold(days=tuple(sorted(set(days))))

    def w_year_with_most(self, some: Some) -> Gold:
        """The year with the most events, counted by row, or by name."""
        by = self._choose("counting", ("rows", "names"))
        told = [(e.year, e.name) for i in some.ids if (e := self._events[i]).year is not None]
        years = [year for year, _ in (told if by == "rows" else set(told)) if year is not None]
        counts = {y: years.count(y) for y in set(years)}
        best = max(counts.values())
        if list(counts.values()).count(best) > 1:
            raise Doubtful("a tie of years")
        self.may |= set(counts.values())
        return Gold(figures=(Figure((float(max(counts, key=lambda y: counts[y])),)),))

    def w_busiest(self, some: Some, n: int = 1, least: bool = False) -> Some:
        """Those who took part in most events, counted by row."""
        counts: dict[str, int] = {}
        for i in some.ids:
            for who in self._events[i].who:
                counts[who] = counts.get(who, 0) + 1
        return self._ranked(
            Some(tuple(counts)), Key(lambda i: counts[i], lambda i: frozenset({counts[i]})), 1 if least else -1, 0, n
        )

    def w_with_events(self, some: Some, how: str, number: int) -> Some:
        """Those who took part in more (fewer) than a number of some events."""
        counts: dict[str, int] = {}
        for i in some.ids:
            for who in self._events[i].who:
                counts[who] = counts.get(who, 0) + 1
        self.may |= {number, *counts.values()}
        return Some(tuple(w for w, c in counts.items() if COMPARE[how](c, number)))
