"""From phrases to the set of places that they describe."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from ai.intent.lexicon import Lexicon, Role
from ai.intent.phrases import Bound, Moved, Phrases, Related
from ai.intent.times import TimeSpan
from ai.intent.words import COMPARATIVES, SQUARE_MILE
from ai.text.tables.conversion import factor
from retrieval.algebra.plan import (
    AnyOf,
    Area,
    Bordering,
    Condition,
    Density,
    Figure,
    Gap,
    Growth,
    Inside,
    OneOf,
    Places,
    Shown,
    Square,
    Than,
    Value,
    Where,
)
from retrieval.algebra.wording import CALENDAR_YEAR
from retrieval.model import EntityRef, TimeRange

CONDITIONS = frozenset({"inside", "borders", "neighbours", "gaps", "bounds", "excepted", "moved"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's phrases, with what the map shows. `opening` is its first word."""

    phrases: Phrases
    lexicon: Lexicon
    opening: str = ""
    others: Mapping[EntityRef, tuple[EntityRef, ...]] = field(default_factory=dict)
    """Everything that the name of a place may be, by the reading that was taken."""
    shown: EntityRef | None = None
    region: tuple[float, float, float, float] | bool = False
    """The box that the map shows, where nothing is named; true where it shows a shape that is no box."""

    def of_type(self, ref: EntityRef, types: Collection[str]) -> EntityRef:
        """The first reading of a name that is of one of these types; `ref` itself where none is."""
        fitting = (one for one in (ref, *self.others.get(ref, ())) if one.type in types)
        return next(fitting, ref)

    def namesakes(self, ref: EntityRef) -> tuple[EntityRef, ...]:
        """The other places of its kind that the name may be as well."""
        return tuple(one for one in self.others.get(ref, ()) if one.type == ref.type and one != ref)

    def other_kinds(self, ref: EntityRef) -> tuple[EntityRef, ...]:
        """The places of other kinds that the name may be as well, where no relation says which kind lies in which: then
        a bare name is of neither rather than the other."""
        around = self.lexicon.domain.around
        return tuple(
            one
            for one in self.others.get(ref, ())
            if one.type not in {ref.type, *around(ref.type), *self.lexicon.domain.things}
            and ref.type not in around(one.type)
        )

    @property
    def filled(self) -> frozenset[str]:
        """The kinds of phrase that there are."""
        return self.phrases.filled

    def only(self, *allowed: str) -> bool:
        """True if there is no other kind of phrase than these."""
        return self.filled <= {*allowed, "times"}

    @property
    def years(self) -> tuple[int, ...] | None:
        """The single whole years, ascending; None where another time is meant."""
        return years_of(self.phrases.times)

    @property
    def span(self) -> tuple[int, int] | None:
        """Two years to compare: the ends of one range, or two single years."""
        return span_of(self.phrases.times)

    @property
    def signs(self) -> set[int]:
        """The directions of the changes."""
        return {moved.direction for moved in self.phrases.changes}

    @property
    def square(self) -> Square:
        """The unit of area that an answer is wanted in."""
        said = [scale for role, scale in self.phrases.units if role is Role.SQUARE]
        return "mi²" if "mi²" in self.phrases.per or SQUARE_MILE in said else "km²"

    def measure(self, kind: str | None = None) -> str | None:
        """The one measure that is named and recorded (of the kind)."""
        if not self.phrases.measures:
            return None
        common = set(self.phrases.measures[0]).intersection(*self.phrases.measures[1:])
        held = {m for m in common if kind is None or kind in self.lexicon.domain.kinds_with(m)}
        return held.pop() if len(held) == 1 else None

    def figure(self, kind: str, *, sized: bool = False) -> Figure | None:
        """The figure that is asked for; `sized`: without a measure the size of the kind."""
        p = self.phrases
        if (p.areas or (p.units and not p.measures)) and not p.densities:
            return Area(self.square) if not (p.measures or p.changes or p.relative or p.times) else None
        measure = self.measure(kind) if p.measures else self.lexicon.size_of(kind) if sized or p.densities else None
        if measure is None:
            return None
        if p.changes or p.relative:
            span = self.span
            return None if span is None or p.densities else Growth(measure, *span, relative=bool(p.relative))
        years = self.years
        if years is None or len(years) > 1:
            return None
        year = years[0] if years else None
        return Density(measure, year, self.square) if p.densities else Value(measure, year)

    def of_the_map(self, places: Places) -> bool:
        """True if a time is named and no figure of the places has it: they are asked for as they lay then."""
        dated = any(isinstance(c, Where) and isinstance(c.figure, Value | Density | Growth) for c in places.conditions)
        return not dated and any(span.start_char < span.end_char for span in self.phrases.times)

    def home(self, kind: str) -> EntityRef | None:
        """Where a question about places of a kind is at home when it names no wider place."""
        top = self.lexicon.domain.widest(kind)
        if self.shown is not None and self.shown.type in self.lexicon.domain.around(kind):
            return self.shown
        return self.lexicon.gazetteer.home(top) if top else None


def years_of(spans: Sequence[TimeSpan]) -> tuple[int, ...] | None:
    """The single whole years, ascending; None where another time is meant."""
    times = [span.time for span in spans]
    if any(time != TimeRange.year(time.start.year) for time in times):
        return None
    return tuple(sorted({time.start.year for time in times}))


def span_of(times: Sequence[TimeSpan]) -> tuple[int, int] | None:
    """Two years to compare: the ends of one range, or two single years."""
    spans = [span.years for span in times if span.years is not None]
    if len(spans) == len(times) == 1 and spans[0][0] < spans[0][1]:
        return spans[0]
    years = years_of(times)
    return (years[0], years[1]) if years is not None and len(years) == 2 else None


def places_of(asked: Asked, kind: str, *, bounded: bool = True) -> Places | None:
    """The set of places of a kind under every condition of the question; None where one cannot be read. `bounded`:
    a question that names no wider place is about the home."""
    found: list[Condition] = []
    for conditions in (
        _shown(asked),
        _inside(asked, kind),
        _bordering(asked, kind),
        _near(asked),
        _held(asked, kind),
        _moved(asked, kind),
        _beside(asked, kind),
        _others(asked, kind),
    ):
        for condition in conditions:
            if condition is None:
                return None
            found.append(condition)
    home = asked.home(kind)
    if bounded and home is not None and not any(_anchors(c, asked, home) for c in found):
        found.insert(0, Inside(home.entity_id))
    return Places(kind, tuple(dict.fromkeys(found)))


def _anchors(condition: Condition, asked: Asked, home: EntityRef) -> bool:
    """True if a condition says where the places lie, so that home does not."""
    match condition:
        case Shown(_, holds):
            return holds
        case Inside(place_id, holds):
            place = asked.lexicon.gazetteer.entity(place_id)
            return holds or (place is not None and place.type == home.type)
        case Bordering(_, holds) | OneOf(_, holds) | AnyOf(_, holds):
            return holds
        case Where(Gap(), _, high, _, _, holds):
            return holds and high is not None
        case _:
            return False


def _shown(asked: Asked) -> Iterator[Condition | None]:
    """`here`, where the map shows a region and no place."""
    if asked.phrases.here and asked.region:
        if isinstance(asked.region, bool) or True not in asked.phrases.here:
            yield None
        else:
            west, south, east, north = (_text(Decimal(repr(edge))) for edge in asked.region)
            yield Shown((west, south, east, north))


def _inside(asked: Asked, kind: str) -> Iterator[Condition | None]:
    for related in asked.phrases.inside:
        holds = related.holds is not (related.said == "outside")
        refs, joined = related.listed.refs, related.listed.joined
        wrong = any(ref.type == kind or kind in asked.lexicon.domain.around(ref.type) for ref in refs)
        if wrong or (
            len(refs) > 1 and ((not holds and joined not in ("or", "nor")) or len({ref.type for ref in refs}) > 1)
        ):
            yield None
        elif not holds and any(map(asked.lexicon.is_group, refs)):
            yield _in_another(asked, refs)
        elif len(refs) > 1 and holds and joined != "both":
            yield AnyOf(tuple(Inside(ref.entity_id) for ref in refs))
        else:
            yield from (Inside(ref.entity_id, holds) for ref in refs)


def _in_another(asked: Asked, groups: Sequence[EntityRef]) -> Condition | None:
    """The things in another group of the same column than these; of one whose cell is empty nobody knows."""
    of_column = asked.lexicon.gazetteer.of_type(groups[0].type)
    others = tuple(Inside(one.entity_id) for one in of_column if one.listed and one not in groups)
    return None if not others or len(others) > _MOST_OTHERS else others[0] if len(others) == 1 else AnyOf(others)


_MOST_OTHERS = 20


def _bordering(asked: Asked, kind: str) -> Iterator[Condition | None]:
    for related in asked.phrases.borders:
        said = border_of(asked, related)
        refs = tuple(dict.fromkeys(said))
        joined = related.listed.joined
        if (len(refs) < len(said)) is not (related.said == "except"):
            yield None  # `except those that border it` leaves in the place itself, unless `and itself` is said
        ambiguous = len(refs) > 1 and not related.holds and joined in ("and", "both")
        if not refs or ambiguous or any(ref.type != kind for ref in refs):
            yield None
        elif len(refs) > 1 and related.holds and joined == "or":
            yield AnyOf(tuple(Bordering(ref.entity_id) for ref in refs))
        else:
            yield from (Bordering(ref.entity_id, related.holds) for ref in refs)


def border_of(asked: Asked, related: Related) -> tuple[EntityRef, ...]:
    """The places that a border is said of: those after the word, else the subject, else what the map shows."""
    named = [ref for listed in asked.phrases.named for ref in listed.refs]
    if related.listed.refs:
        return related.listed.refs
    if len(named) == 1:
        return (named[0],)
    return (asked.shown,) if asked.shown is not None and not named else ()


def _near(asked: Asked) -> Iterator[Condition | None]:
    for bound, ref in asked.phrases.gaps:
        assert bound.unit is not None  # noqa: S101 - gaps are read with a unit of length
        scale = Decimal(str(bound.unit[1]))
        low, high = (None if n is None else (n * scale).quantize(Decimal(1)) for n in (bound.low, bound.high))
        yield _where(Gap(ref.entity_id), replace(bound, low=low, high=high), Decimal(1))


def _held(asked: Asked, kind: str) -> Iterator[Condition | None]:
    p = asked.phrases
    for bound in p.bounds:
        figure = _figure_of(asked, bound, kind)
        if figure is None:
            yield None
            continue
        yield _where(figure[0], bound, figure[1])
    if p.changes and not p.bounds and not p.tops and not p.aggregates:
        yield from (_grown(asked, moved, asked.span, kind) for moved in p.changes)


def _moved(asked: Asked, kind: str) -> Iterator[Condition | None]:
    """Changes that are conditions beside another figure, each over its own years."""
    for moved in asked.phrases.moved:
        yield _grown(asked, moved, span_of(moved.times or ()), kind)


def _grown(asked: Asked, moved: Moved, span: tuple[int, int] | None, kind: str) -> Condition | None:
    measure = asked.measure(kind) if asked.phrases.measures else asked.lexicon.size_of(kind)
    if span is None or measure is None or moved.direction == 0 or asked.phrases.densities:
        return None
    growth = Growth(measure, *span, relative=bool(asked.phrases.relative))
    if moved.direction > 0:
        return Where(growth, low="0", low_open=True, holds=moved.holds)
    return Where(growth, high="0", high_open=True, holds=moved.holds)


def _beside(asked: Asked, kind: str) -> Iterator[Condition | None]:
    """`more people than Leavenworth County`, `larger than Sedgwick County`."""
    p = asked.phrases
    if not p.than:
        return
    refs = [ref for listed in p.named for ref in listed.refs]
    orders = {COMPARATIVES.get(word) for word in p.compared}
    figure = asked.figure(kind, sized=True)
    one = len(refs) == 1 and not asked.lexicon.is_group(refs[0])  # a group has no figure of its own
    if not one or len(p.than) != 1 or not isinstance(figure, Value | Area | Density):
        yield None
    elif orders in ({"largest"}, {"smallest"}):
        yield Than(figure, refs[0].entity_id, more=orders == {"largest"})
    else:
        yield None


def _figure_of(  # noqa: PLR0911 - one refusal for each reason
    asked: Asked, bound: Bound, kind: str
) -> tuple[Figure, Decimal] | None:
    """The measure that a bound applies to, and the factor of its unit."""
    years = asked.years if bound.times is None else years_of(bound.times)
    year = years[0] if years else None
    role, value = bound.unit or (None, None)
    p, domain = asked.phrases, asked.lexicon.domain
    if role is Role.TYPE:
        return None
    if role is Role.SQUARE and not p.measures:
        return (Area(), Decimal(str(value))) if not (p.times or p.changes) else None
    relative = role is Role.RELATIVE
    if bound.times is None and (p.changes or p.relative or (relative and not p.measures)):
        return _grown_by(asked, bound, kind)
    if years is None or len(years) > 1:
        return None
    if role in _UNITS:
        found = _in_unit(asked, bound.said, kind)
        return None if found is None else (Value(found[0], year), found[1])
    per = ""
    if role is Role.DENSITY and isinstance(value, tuple):
        value, per = value
    said = set(value) if isinstance(value, tuple) else None
    named = asked.measure(kind)
    held = {m for m in (said or {named} - {None}) if m is not None and kind in domain.kinds_with(m)}
    yearly = said is not None and all(domain.units(m) == {CALENDAR_YEAR} for m in said)  # `opened before 1950` is apart
    held &= set(p.measures[0]) if p.measures and said and not yearly else held
    if len(held) != 1:
        return None
    measure_name = held.pop()
    if role is Role.DENSITY or p.densities:
        return Density(measure_name, year, "mi²" if "mi²" in (per, asked.square) else "km²"), Decimal(1)
    scale = _scale(asked, bound.said, measure_name, kind)
    return None if scale is None else (Value(measure_name, year), scale)


_UNITS = (Role.LENGTH, Role.SQUARE, Role.UNIT, Role.RELATIVE)


def _grown_by(asked: Asked, bound: Bound, kind: str) -> tuple[Figure, Decimal] | None:
    """The change that a bound is of, and the factor of its unit. `By 5 %` is a share of what was, but of what is
    measured in per cent itself it may be either."""
    figure = asked.figure(kind, sized=True)
    if not isinstance(figure, Growth) or any(not moved.holds for moved in asked.phrases.changes):
        return None
    sign = Decimal(-1 if asked.signs == {-1} else 1)
    relative = bound.unit is not None and bound.unit[0] is Role.RELATIVE
    if relative or figure.relative:  # `lost over 30%`
        shares = _scale(asked, "%", figure.measure, kind) is not None
        return None if shares or (bound.unit is not None and not relative) else (replace(figure, relative=True), sign)
    scale = _scale(asked, bound.said, figure.measure, kind)
    return None if scale is None else (figure, sign * scale)


def _scale(asked: Asked, said: str, measure: str, kind: str) -> Decimal | None:
    """By which a number in a unit becomes one in that of a measure; None where that is not certain, or where it is
    recorded in several."""
    units = {f.unit for f in asked.lexicon.domain.figures if f.kind == kind and f.measure == measure}
    found = {factor(said, unit) for unit in units}
    return found.pop() if len(found) == 1 else None


def _in_unit(asked: Asked, said: str, kind: str) -> tuple[str, Decimal] | None:
    """The one measure of the kind that is recorded in a unit of that sort, and the factor of the number; where none is
    named, one that is recorded in this very unit comes before others."""
    named = asked.measure(kind)
    if asked.phrases.measures and named is None:
        return None
    measures = {f.measure for f in asked.lexicon.domain.figures if f.kind == kind and named in (None, f.measure)}
    scales = {measure: _scale(asked, said, measure, kind) for measure in measures}
    found = [(measure, scale) for measure, scale in scales.items() if scale is not None]
    found = [each for each in found if each[1] == 1] or found
    return found[0] if len(found) == 1 else None


def _others(asked: Asked, kind: str) -> Iterator[Condition | None]:
    refs = asked.phrases.excepted
    if refs:
        yield OneOf(tuple(r.entity_id for r in refs), holds=False) if all(r.type == kind for r in refs) else None


def _where(figure: Figure, bound: Bound, scale: Decimal) -> Where:
    low, high = (None if n is None else _text(n * scale) for n in (bound.low, bound.high))
    if scale < 0:
        return Where(figure, high, low, bound.high_open, bound.low_open, bound.holds)
    return Where(figure, low, high, bound.low_open, bound.high_open, bound.holds)


def _text(value: Decimal) -> str:
    """Plain decimal text without trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
