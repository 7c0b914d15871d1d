"""The algebra in words: sets of places, figures and bounds, as a statement and an interpretation say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from retrieval.algebra.measures import Measure
from retrieval.algebra.plan import (
    AnyOf,
    Area,
    Bordering,
    Condition,
    Density,
    Figure,
    Foremost,
    Gap,
    Growth,
    Inside,
    OneOf,
    Places,
    Shown,
    Simple,
    Than,
    Value,
    Where,
)
from retrieval.algebra.units import SQUARE_KILOMETRES
from retrieval.algebra.wording import (
    CALENDAR_YEAR,
    HAS,
    IS,
    OF,
    arranged,
    difference_in,
    either,
    in_unit,
    kilometres,
    listed,
    lying_in,
    number,
    plural,
    with_article,
)


@dataclass(frozen=True, slots=True)
class Names:
    """How statements call places, by their ids, and the units of measures, by these; none where there are several.
    `stated` in the statement of a result, where a figure without a year has no time; in a reading its year is open."""

    places: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    stated: bool = False

    def get(self, place_id: str, other: str) -> str:
        """The name of a place, else the other."""
        return self.places.get(place_id, other)

    def unit(self, measure: str) -> str:
        """The unit of a measure, empty where none is told."""
        return self.units.get(measure, "")


SQUARES: Mapping[str, Fraction] = {unit: Fraction(SQUARE_KILOMETRES[unit]) for unit in ("km²", "mi²")}
"""Square kilometres of a unit of area."""
_SPELLED = {"km²": "km²", "mi²": "square miles"}


def places_words(places: Places, names: Names, *, noun: str | None = None) -> str:
    """`counties in Kansas bordering Riley County`."""
    return (noun or plural(places.kind)) + conditions_words(places, names)


def conditions_words(places: Places, names: Names, *, n: int = 2, known: bool = False) -> str:
    """The phrase after the noun for `n` places; empty without conditions. `known`: of others there may be no figure."""
    said = [condition_words(condition, names) for condition in places.conditions]
    if names.stated and (known or any(map(_is_listed, places.conditions))):
        return arranged([*said, *(("with a figure",) if known else ())], n, places.kind)
    if places.centred:
        said.append("itself included")
    lead = f" {said.pop(0)}" if said and isinstance(places.conditions[0], Inside) else ""
    return lead + (f" {' and '.join(said)}" if said else "")


def _is_listed(condition: Condition) -> bool:
    """True for a group of a column of words or names, and for a bound of figures without a time."""
    match condition:
        case Inside(place_id, _):
            return place_id.startswith((IS, HAS, OF))
        case AnyOf(conditions, _):
            return any(map(_is_listed, conditions))
        case Where(Value(_, None)) | Than(Value(_, None)):
            return True
        case _:
            return False


def condition_words(  # noqa: PLR0911 - one phrase for each condition
    condition: Condition, names: Names
) -> str:
    """`not bordering Shawnee County`."""
    match condition:
        case Inside(place_id, holds):
            return lying_in(place_id, _name(place_id, names), holds=holds)
        case Bordering(place_id, holds):
            return f"{'bordering' if holds else 'not bordering'} {_name(place_id, names)}"
        case OneOf(place_ids, holds):
            named = listed([_name(p, names) for p in place_ids])
            return f"among {named}" if holds else f"other than {named}"
        case AnyOf(conditions, True) if all(isinstance(c, Inside) and c.place_id.startswith(IS) for c in conditions):
            named = either([_name(c.place_id, names) for c in conditions if isinstance(c, Inside)])
            return f"that are {named}"
        case AnyOf((Inside(first), *_) as conditions, True) if _of_one_column(conditions):
            return lying_in(first, either([_name(c.place_id, names) for c in conditions if isinstance(c, Inside)]))
        case AnyOf(conditions, holds):
            said = " or ".join(condition_words(one, names) for one in conditions)
            return said if holds else f"neither {said.replace(' or ', ' nor ')}"
        case Than(figure, place_id, more, holds):
            way = "more" if more else "less"
            denied = "" if holds else "not "
            if (measure := measure_of(figure, names)) is not None:
                return f"{denied}with {measure.beyond(_name(place_id, names), more=more)}"
            return f"{denied}with {way} {figure_words(figure, names)} than {_name(place_id, names)}"
        case Shown(_, holds):
            return f"{'' if holds else 'not '}in the part of the map that is shown"
        case Where():
            return _bounded(condition, names)
        case Foremost():
            return _foremost(condition, names)


def _of_one_column(conditions: Sequence[Simple]) -> bool:
    """True for groups of one column of names."""
    ids = [each.place_id if isinstance(each, Inside) else "" for each in conditions]
    return all(each.startswith(OF) for each in ids) and len({each.rpartition(":")[0] for each in ids}) == 1


def measure_of(figure: Figure, names: Names) -> Measure | None:
    """The measure of a figure without a time, as a statement says it; None for any other figure."""
    if not isinstance(figure, Value) or figure.year is not None or not names.stated:
        return None
    return Measure(_measure(figure.measure), names.unit(figure.measure))


def _foremost(condition: Foremost, names: Names) -> str:
    """`that are the 5 largest by population in 1930`."""
    number_of = f"{condition.limit} " if condition.limit > 1 else ""
    place = f"number {condition.first} from " if condition.first > 1 else ""
    verb = "are" if condition.limit > 1 else "is"
    return f"that {verb} {place}the {number_of}{condition.order} by {figure_words(condition.figure, names)}"


def _bounded(where: Where, names: Names) -> str:
    figure = where.figure
    denied = "" if where.holds else "not "
    if isinstance(figure, Gap):
        said = _range(where, lambda text: kilometres(int(Fraction(text))), gap=True)
        return f"{denied}{said} {_name(figure.place_id, names)}"
    bounds = (where.low, where.high)
    if isinstance(figure, Growth) and bounds in (("0", None), (None, "0")) and (where.low_open or where.high_open):
        verb = "grew" if where.high is None else "fell"
        span = f"from {figure.from_year} to {figure.to_year}"
        return (
            f"of which it is {denied}said that the {_measure(figure.measure)} {verb} {span}"
            if denied
            else (f"whose {_measure(figure.measure)} {verb} {span}")
        )
    if isinstance(figure, Value) and names.unit(figure.measure) == CALENDAR_YEAR:
        return f"{denied}with {figure_words(figure, names, article=True).removesuffix(' of')} {_years(where)}"
    said = _range(where, lambda text: told(figure, Fraction(text), names))
    if (measure := measure_of(figure, names)) is not None:
        return f"{denied}with {measure.had(said, str(where.low if where.high is None else where.high))}"
    return f"{denied}with {figure_words(figure, names, article=True)} {said}"


def _years(where: Where) -> str:
    """`before 1850`, `from 1850 to 1870`: bounds of a figure that is itself a year."""
    low, high = where.low, where.high
    if low is not None and high is not None:
        return f"in {low}" if low == high else f"from {low} to {high}"
    if low is not None:
        return f"after {low}" if where.low_open else f"in or after {low}"
    return f"before {high}" if where.high_open else f"in or before {high}"


def _range(where: Where, say: object, *, gap: bool = False) -> str:
    assert callable(say)  # noqa: S101 - ours
    low, high = (None if text is None else str(say(text)) for text in (where.low, where.high))
    if low is not None and high is not None:
        if where.low == where.high:
            return f"exactly {low}{' from' if gap else ''}"
        return f"between {low} and {high}{' from' if gap else ''}"
    if low is not None:
        return f"{'more than' if where.low_open else 'at least'} {low}{' from' if gap else ''}"
    if gap:
        return f"{'less than' if where.high_open else 'within'} {high} {'from' if where.high_open else 'of'}"
    return f"{'less than' if where.high_open else 'at most'} {high}"


def figure_words(figure: Figure, names: Names, *, article: bool = False) -> str:
    """`population in 1930`, `a change of population from 1900 to 1930 of`."""
    untimed = measure_of(figure, names)
    match figure:
        case Value(measure, year):
            words, tail = _measure(measure) if untimed is None else untimed.noun, _in(year)
        case Growth(measure, from_year, to_year, relative):
            words = f"{'relative ' if relative else ''}change of {_measure(measure)}"
            tail = f" from {from_year} to {to_year}"
        case Area():
            words, tail = "area", ""
        case Density(measure, year, _):
            words, tail = f"{_measure(measure)} density", _in(year)
        case _:
            place_id = figure.place_id
            words, tail = f"distance from {_name(place_id, names)}", ""
    if article:
        return (
            f"{with_article(words)}{tail} of"
            if untimed is not None
            else f"{'an' if words[0] in 'aeiou' else 'a'} {words}{tail} of"
        )
    return words + tail


def told(figure: Figure, value: Fraction, names: Names) -> str:
    """The value with its unit."""
    match figure:
        case Growth(_, _, _, True):
            return f"{_round(value, '0.1'):+,f} %"
        case Growth(measure, _, _, _):
            return difference_in(number(_plain(value), sign=True), names.unit(measure))
        case Area(unit):
            return f"{_round(value / SQUARES[unit], '0.01'):,f} {_SPELLED[unit]}"
        case Density(_, _, unit):
            return f"{_round(value, '0.01'):,f} per {_SPELLED[unit].removesuffix('s')}"
        case Gap():
            return kilometres(int(value))
        case Value(measure, _):
            return in_unit(number(_plain(value)), names.unit(measure))


def text_of(figure: Figure, value: Fraction) -> str:
    """The value as decimal text, as a result holds it: exact, or to the places in which it is told."""
    match figure:
        case Growth(_, _, _, True):
            return str(_round(value, "0.1"))
        case Area(unit):
            return str(_round(value / SQUARES[unit], "0.01"))
        case Density():
            return str(_round(value, "0.01"))
        case _:
            return str(_plain(value))


def _round(value: Fraction, places: str) -> Decimal:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return exact.quantize(Decimal(places), ROUND_HALF_UP)


def _plain(value: Fraction) -> Decimal:
    """A recorded figure, or a sum of such: its decimals end."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return exact.quantize(Decimal(1)) if exact == exact.to_integral_value() else exact


def _measure(measure: str) -> str:
    return measure.replace("_", " ")


def _in(year: int | None) -> str:
    return "" if year is None else f" in {year}"


def _name(place_id: str, names: Names) -> str:
    return names.get(place_id, "that place")
