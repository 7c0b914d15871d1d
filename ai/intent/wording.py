"""The reading in words: the reading that a person sees beside an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass

from ai.intent.planning.common import named
from ai.intent.planning.plans import SAID
from retrieval.algebra.aggregates import AGGREGATES
from retrieval.algebra.describe import Names, conditions_words, figure_words, places_words
from retrieval.algebra.domain import Domain
from retrieval.algebra.operations import (
    Aggregate,
    Change,
    Compare,
    ContainedIn,
    ContainerOf,
    Count,
    Distance,
    Lookup,
    Nearest,
    Neighbours,
    Operation,
    Superlative,
    WithinDistance,
)
from retrieval.algebra.plan import (
    Figures,
    Growth,
    Had,
    Inside,
    Part,
    Places,
    Rank,
    Select,
    Stated,
    Tally,
    Test,
    Total,
    Value,
    Weigh,
)
from retrieval.algebra.wording import plural, with_article
from retrieval.gazetteer import Gazetteer

_WAYS = {"earliest": "The earliest", "latest": "The latest"}


def reading_of(operations: Sequence[Operation], gazetteer: Gazetteer, *, untimed: Domain | None = None) -> str:
    """The operations as phrases, joined by semicolons; empty without any. `untimed` knows the units of figures without
    a time, where they are of such ones."""
    called = {p: e.name for p in _ids(operations) if (e := gazetteer.entity(p)) is not None}
    units = {m: next(iter(u)) for m in untimed.measures if len(u := untimed.units(m)) == 1} if untimed else {}
    names = Names(called, units, stated=untimed is not None)
    return "; ".join(_said(operation, names) for operation in operations)


def _ids(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for f in fields(value):
            yield from _ids(getattr(value, f.name))
    elif isinstance(value, Iterable):
        for item in value:
            yield from _ids(item)


def _said(operation: Operation, names: Names) -> str:  # noqa: PLR0911, PLR0912 - one phrase for each operation
    match operation:
        case Select(places, figure):
            shown = "" if figure is None else f", with the {figure_words(figure, names)} of each"
            return _upper(places_words(places, names)) + shown
        case Tally(places):
            return f"Number of {places_words(places, names)}"
        case Rank(places, figure, order, first, limit):
            which = f"{'' if first == 1 else f'number {first} from '}the {order}"
            many = f" {limit}" if limit > 1 else ""
            return _upper(f"{which}{many} by {figure_words(figure, names)} of {places_words(places, names)}")
        case Total(function, places, figure):
            return f"{_upper(AGGREGATES[function].word)} {figure_words(figure, names)} of {places_words(places, names)}"
        case Figures(figure, ids):
            return f"{_upper(figure_words(figure, names))} of {named(ids, names)}"
        case Weigh(figure, ids, way):
            return f"{_upper(way)} of the {figure_words(figure, names)} of {named(ids, names)}"
        case Part(figure, place_id, part_ids, way):
            what, whole = figure_words(figure, names), named((place_id,), names)
            if way == "share":
                return f"Share of {named(part_ids, names)} in the {what} of {whole}"
            return f"{_upper(what)} of {whole} without {named(part_ids, names)}"
        case Test(place, kind, conditions):
            held = conditions_words(Places(kind, conditions), names, n=1)
            return f"Whether {named((place,), names)} is {with_article(kind.replace('_', ' '))}{held}"
        case Stated():
            return _stated(operation, names)
        case Lookup(measure, ids, year, unit):
            where = f" in {unit}" if unit else ""
            where += f" of {named(ids, names)}" if ids else " of the places that the map shows"
            return _upper(figure_words(Value(measure, year), names)) + where
        case Change(measure, ids, from_year, to_year, unit):
            where = f" in {unit}" if unit else ""
            where += f" of {named(ids, names)}"
            return _upper(figure_words(Growth(measure, from_year, to_year), names)) + where
        case Compare(measure, ids, year):
            return f"{_upper(figure_words(Value(measure, year), names))} of {named(ids, names)}, compared"
        case Superlative(measure, kind, year, order, within, limit):
            return _said(Rank(_in(kind, within), Value(measure, year), order, 1, limit), names)
        case Aggregate(function, measure, kind, year, within):
            return _said(Total(function, _in(kind, within), Value(measure, year)), names)
        case Neighbours(place_id):
            return f"Places of its kind that border {named((place_id,), names)}"
        case Nearest(place_id, kind, limit):
            return f"The nearest {plural(kind) if limit > 1 else kind} to {named((place_id,), names)}"
        case WithinDistance(place_id, kind, distance_km):
            return f"{_upper(plural(kind))} within {distance_km:g} km of {named((place_id,), names)}"
        case ContainedIn(place_id, kind):
            return _said(Select(_in(kind, place_id)), names)
        case ContainerOf(place_id, kind):
            return f"The {kind} in which {named((place_id,), names)} lies"
        case Count(kind, within, year, measure, minimum):
            held = "" if minimum is None or measure is None else f" with at least {minimum:,} by {measure}"
            return f"Number of {places_words(_in(kind, within), names)}{held}{'' if year is None else f' in {year}'}"
        case Distance(one, other):
            return f"Distance between {named((one, other), names)}"
        case _:
            return SAID[type(operation)](operation, names)


def _stated(plan: Stated, names: Names) -> str:
    noun = plural(plan.type)
    about = f" concerning {named(plan.entities, names)}" if plan.entities else ""
    about += f" with {plural(plan.via)}" if plan.via is not None and plan.way not in ("most", "fewest") else ""
    about += f", without {named(plan.without, names)}" if plan.without else ""
    if plan.at_least is not None or plan.at_most is not None:
        low, high = plan.at_least, plan.at_most
        bound = (
            f"more than {low - 1}"
            if low is not None and high is None
            else f"at most {high}"
            if low is None
            else f"{low} to {high}"
        )
        about += f", {bound} each"
    about += "".join(_had(had, names) for had in plan.having)
    about += _dated(plan.from_day, plan.to_day)
    match plan.way:
        case "count":
            return f"Number of {noun}{about}"
        case "earliest" | "latest":
            return f"{_WAYS[plan.way]} of {noun}{about}"
        case "busiest":
            return f"The year with the most {noun}{about}"
        case "most" | "fewest":
            return f"{_upper(noun)} with the {plan.way} {plural(plan.via or '')}{about}"
        case _:
            return f"{_upper(noun)}{about}"


def _had(had: Had, names: Names) -> str:
    """`, with a row concerning Arapaho`, `, with no row dated 1865-01-01 to 1865-12-31`."""
    about = f" concerning {named(had.entities, names)}" if had.entities else ""
    return f", with {'a' if had.holds else 'no'} row{about}{_dated(had.from_day, had.to_day)}"


def _dated(first: str | None, last: str | None) -> str:
    """` dated 1865-01-01 to 1865-12-31`, ` dated up to 1972-12-31`; empty without a day."""
    if first is None or last is None:
        return f" dated from {first} on" if first else f" dated up to {last}" if last else ""
    return f" dated {first} to {last}"


def _in(kind: str, within: str | None) -> Places:
    return Places(kind, () if within is None else (Inside(within),))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
