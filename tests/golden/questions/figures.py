"""The words for figures: of one place, of two, of a set."""

from __future__ import annotations

import statistics
from dataclasses import replace

from tests.golden.questions.gold import MILES, SQUARE_MILES, Doubtful, Figure, Gold, kilometres, square_kilometres
from tests.golden.questions.lookups import COMPARE, Lookups, Some, both_areas, both_distances, change_figures


class FigureWords(Lookups):
    """Figures, changes, aggregates and comparisons."""

    def w_figure(self, measure: str, who: str | Some, year: int) -> Gold:
        place = self._one(who)
        due = self._sum_of(Figure((self._due(place.id, measure, year),)), [place.id])
        return replace(due, row=self.world.figures[place.id, measure])

    def w_population(self, who: str | Some, year: int) -> Gold:
        return self.w_figure("population", who, year)

    def w_change(self, measure: str, name: str, start: int, end: int) -> Gold:
        place = self._place(name)
        a, b = self._due(place.id, measure, start), self._due(place.id, measure, end)
        self.may |= change_figures(a, b)
        return Gold(figures=(Figure((abs(b - a),)),), rising=None if a == b else b > a)

    def w_growth(self, measure: str, name: str, start: int, end: int) -> Gold:
        """The change in per cent."""
        place = self._place(name)
        a, b = self._due(place.id, measure, start), self._due(place.id, measure, end)
        self.may |= change_figures(a, b)
        return Gold(figures=(Figure((abs(b - a) / a * 100,)),), rising=b > a)

    def w_ratio(self, measure: str, one: str, other: str, year: int) -> Gold:
        a, b = (self._due(self._place(n).id, measure, year) for n in (one, other))
        self.may |= {a / b, b / a, a / b * 100, abs(a - b)}
        return Gold(figures=(Figure((a / b,), 0.005),))

    def w_share(self, measure: str, part: str | Some, whole: str, year: int) -> Gold:
        """A part of a whole, in per cent or as a fraction."""
        ids = part.ids if isinstance(part, Some) else (self._place(part).id,)
        a = sum(self._due(i, measure, year) for i in ids)
        b = self._due(self._place(whole).id, measure, year)
        self.may |= {a, a / b, a / b * 100}
        return Gold(figures=(Figure((a / b * 100, a / b), 0.005),))

    def w_less(self, measure: str, one: str, other: str, year: int) -> Gold:
        """How much more one place has than another."""
        a, b = (self._due(self._place(n).id, measure, year) for n in (one, other))
        self.may |= {a / b, b / a, abs(a - b)}
        return Gold(figures=(Figure((abs(a - b),)),))

    def w_density(self, measure: str, name: str, year: int, miles: bool = False) -> Gold:
        place = self._place(name)
        people, area = self._due(place.id, measure, year), self._area(place.id)
        assert area is not None
        self.may |= {area, area / SQUARE_MILES, people / area, people / area * SQUARE_MILES}
        forms = (people / area * SQUARE_MILES,) if miles else (people / area, people / area * SQUARE_MILES)
        return Gold(figures=(Figure(forms, 0.005),))

    def w_area(self, name: str, miles: bool = False) -> Gold:
        place = self._place(name)
        area = self._area(place.id)
        assert area is not None
        self.may |= both_areas(area)
        figure = Figure((area / SQUARE_MILES,), 0.005) if miles else square_kilometres(area)
        return Gold(figures=(figure,))

    def w_total_area(self, some: Some) -> Gold:
        areas = [a for i in some.ids if (a := self._area(i)) is not None]
        self.may |= {len(areas), *areas, sum(areas) / SQUARE_MILES}
        return self._sum_of(square_kilometres(sum(areas), 0.01), some.ids)

    def w_distance(self, one: str, other: str, miles: bool = False) -> Gold:
        a, b = self._place(one), self._place(other)
        km = self._apart(a.id, b.id)
        self.may |= both_distances(km)
        return Gold(figures=(Figure((km / MILES,), 0.005) if miles else kilometres(km),))

    def w_count(self, some: Some) -> Gold:
        """How many; the members may be named. Events are counted by row, or by name."""
        ids = some.ids
        number = len(ids)
        if ids and ids[0] in self._events:
            by = self._choose("counting", ("rows", "names"))
            number = len(ids) if by == "rows" else len({self._events[i].name for i in ids})
        kinds = frozenset(self.world.kinds[i] for i in ids)
        return Gold(figures=(Figure((float(number),)),), may_names=frozenset(ids), kinds=kinds, total=number)

    def w_total(self, some: Some, measure: str, year: int) -> Gold:
        values = self._values(some, measure, year)
        return self._sum_of(Figure((sum(values.values()),)), values)

    def w_mean(self, some: Some, measure: str, year: int) -> Gold:
        values = self._values(some, measure, year)
        self.may.add(sum(values.values()))
        return self._sum_of(Figure((statistics.mean(values.values()),)), values)

    def w_median(self, some: Some, measure: str, year: int) -> Gold:
        values = self._values(some, measure, year)
        return self._sum_of(Figure((statistics.median(values.values()),)), values)

    def w_spread(self, some: Some, measure: str, year: int) -> Gold:
        """The difference of the greatest and the least."""
        values = self._values(some, measure, year)
        return self._sum_of(Figure((max(values.values()) - min(values.values()),)), values)

    def w_series(self, measure: str, name: str, start: int, end: int) -> Gold:
        """Every figure of a place in a range of years."""
        place = self._place(name)
        held = self.world.figures.get((place.id, measure), {})
        found = {year: value for year, value in held.items() if start <= year <= end}
        if not found:
            raise Doubtful(f"no figures of {name} in {start}-{end}")
        self.years |= {start, end, *found}
        self.may |= {abs(found[max(found)] - found[min(found)])}
        self.own[place.id] = self.own.get(place.id, frozenset()) | frozenset(found.values())
        return Gold(figures=tuple(Figure((v,)) for v in found.values()), by_year=found)

    def w_best_year(self, measure: str, name: str, start: int, end: int, least: bool = False) -> Gold:
        """The year of the highest (or lowest) figure of a place."""
        series = self.w_series(measure, name, start, end).by_year
        year = (min if least else max)(series, key=lambda y: series[y])
        return Gold(figures=(Figure((float(year),)),))

    def w_compare(self, measure: str, year: int, *names: str) -> Gold:
        """The figures of all."""
        values = {self._place(n).id: self._due(self._place(n).id, measure, year) for n in names}
        ordered = sorted(values.values())
        self.may |= {b - a for a in ordered for b in ordered if b > a}
        self.may |= {b / a for a in ordered for b in ordered if a}
        self.may |= {(b - a) / a * 100 for a in ordered for b in ordered if b > a > 0}
        return Gold(figures=tuple(Figure((v,)) for v in values.values()), names=frozenset(values))

    def w_greater(self, measure: str, year: int, *names: str, least: bool = False) -> Gold:
        """The one of some places that has most (or least)."""
        compared = self.w_compare(measure, year, *names)
        values = {self._place(n).id: self._due(self._place(n).id, measure, year) for n in names}
        winner = (min if least else max)(values, key=lambda i: values[i])
        return replace(compared, figures=(), names=None, first=winner, most=not least)

    def w_nearer(self, to: str, *names: str, farther: bool = False) -> Gold:
        """The one of some places that is nearest to (or farthest from) a place."""
        km = {self._place(n).id: self._apart(self._place(n).id, self._place(to).id) for n in names}
        self.may |= {n for d in km.values() for n in both_distances(d)}
        winner = (max if farther else min)(km, key=lambda i: km[i])
        return Gold(first=winner, most=farther, may_names=frozenset(km))

    def w_holds(self, one: str, how: str, other: str, measure: str, year: int) -> Gold:
        """Yes or no: one place has more (less) of a measure than another."""
        a, b = (self._due(self._place(n).id, measure, year) for n in (one, other))
        self.may |= {abs(a - b), a / b}
        return Gold(truth=COMPARE[how](a, b), instead=(self.w_compare(measure, year, one, other),))

    def w_is_in(self, name: str, some: Some) -> Gold:
        """Yes or no: a place is one of a set; the whole set says it as well."""
        place = self._place(name)
        kinds = frozenset({place.kind})
        self.may.add(len(some.ids))
        member = place.id in some.ids
        others = frozenset(self.named) - {place.id}
        whole = Gold(names=frozenset(some.ids), kinds=kinds, may_names=others)
        alone = (Gold(names=frozenset({place.id}), kinds=kinds, may_names=others),) if member else ()
        return Gold(truth=member, instead=(whole, *alone), may_names=frozenset(some.ids), kinds=kinds)

    def w_year_when(self, measure: str, name: str, how: str, limit: float) -> Gold:
        """The first year in which a figure of a place passes a limit."""
        series = self.w_series(measure, name, 0, 9999).by_year
        self.may.add(limit)
        return Gold(figures=(Figure((float(min(y for y, v in series.items() if COMPARE[how](v, limit))),)),))

    def w_yearly_change(self, measure: str, name: str, start: int, end: int) -> Gold:
        """The mean change a year, as a number or in per cent of the first figure."""
        place = self._place(name)
        a, b = self._due(place.id, measure, start), self._due(place.id, measure, end)
        self.may |= change_figures(a, b)
        simple = (b - a) / (end - start)
        compound = ((b / a) ** (1 / (end - start)) - 1) * 100
        return Gold(figures=(Figure((abs(simple), abs(compound), abs(simple / a * 100)), 0.005),))

    def w_density_change(self, measure: str, name: str, start: int, end: int) -> Gold:
        place = self._place(name)
        a, b, area = self._due(place.id, measure, start), self._due(place.id, measure, end), self._area(place.id)
        assert area is not None
        self.may |= {area, area / SQUARE_MILES, *(v / area * f for v in (a, b, b - a) for f in (1, SQUARE_MILES))}
        return Gold(figures=(Figure((abs(b - a) / area * SQUARE_MILES, abs(b - a) / area), 0.005),))

    def w_area_ratio(self, one: str, other: str) -> Gold:
        a, b = (self._area(self._place(n).id) for n in (one, other))
        assert a is not None
        assert b is not None
        self.may |= both_areas(a) | both_areas(b)
        return Gold(figures=(Figure((a / b,), 0.01),))

    def w_rest(self, measure: str, whole: str, year: int, *parts: str) -> Gold:
        """A whole without some of its parts."""
        place = self._place(whole)
        value = self._due(place.id, measure, year) - sum(self._due(self._place(p).id, measure, year) for p in parts)
        inside = [
            i for i, p in self.world.places.items() if p.kind == self._place(parts[0]).kind and place.id in p.inside
        ]
        return self._sum_of(Figure((value,)), inside)

    def w_truth_of(self, name: str, how: str, limit: float, measure: str, year: int) -> Gold:
        """Yes or no: a figure of a place passes a limit; the figure says it as well."""
        place = self._place(name)
        value = self._due(place.id, measure, year)
        self.may.add(limit)
        return Gold(truth=COMPARE[how](value, limit), instead=(Gold(figures=(Figure((value,)),)),))

    def w_bigger(self, one: str, other: str) -> Gold:
        """The one of two places that has the larger area."""
        areas = {p.id: a for p in (self._place(one), self._place(other)) if (a := self._area(p.id)) is not None}
        self.may |= {n for a in areas.values() for n in both_areas(a)}
        return Gold(first=max(areas, key=lambda i: areas[i]), may_names=frozenset(areas))
