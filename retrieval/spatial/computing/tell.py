"""The result of a plan, as JSON values and as a sentence."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from retrieval.algebra.aggregates import AGGREGATES, AggregateName
from retrieval.algebra.describe import Names, condition_words, conditions_words, figure_words, measure_of, text_of, told
from retrieval.algebra.plan import (
    AnyOf,
    Area,
    Density,
    Figure,
    Figures,
    Foremost,
    Gap,
    Growth,
    Inside,
    OneOf,
    Part,
    Places,
    Plan,
    Rank,
    Select,
    Tally,
    Test,
    Than,
    Total,
    Value,
    Weigh,
    Where,
)
from retrieval.algebra.wording import (
    CALENDAR_YEAR,
    counted,
    difference_in,
    in_unit,
    listed,
    rounded,
    with_article,
)
from retrieval.model import EntityRef
from retrieval.spatial.computing.evaluate import Evaluated

_NAMED = 20
_ORDINALS = ("", "", "second ", "third ", "fourth ", "fifth ", "sixth ", "seventh ", "eighth ", "ninth ", "tenth ")


def result_of(plan: Plan, done: Evaluated) -> dict[str, object]:
    """The result as JSON values: places in order with their figures, the one value, and how many were considered."""
    result: dict[str, object] = {"places": [_place(plan, *pair) for pair in done.places], "considered": done.considered}
    if isinstance(plan, Test):
        result["holds"] = done.holds
    elif isinstance(plan, Select | Tally):
        result["count"] = len(done.places)
    elif done.value is not None:
        result["value"] = _value(plan, done.value, done.decimals)
    return result


def _place(plan: Plan, place: EntityRef, value: Fraction | None) -> dict[str, object]:
    named: dict[str, object] = {"entity_id": place.entity_id, "name": place.name}
    figure = _figure(plan)
    return named if value is None or figure is None else {**named, "value": text_of(figure, value)}


def _figure(plan: Plan) -> Figure | None:
    match plan:
        case Select(_, figure) | Rank(_, figure) | Total(_, _, figure) | Figures(figure, _) | Weigh(figure, _, _):
            return figure
        case Part(figure, _, _, _):
            return figure
        case _:
            return None


def _value(plan: Plan, value: Fraction, decimals: int) -> str:
    match plan:
        case Weigh(_, _, "ratio"):
            return _ratio(value)
        case Part(_, _, _, "share"):
            return f"{_rounded(value, decimals):f}"
        case Total(function, _, figure) if AGGREGATES[function].rounded and isinstance(figure, Value):
            return f"{_rounded(value, decimals):f}"
        case _:
            of = _figure(plan)
            return str(value) if of is None else text_of(of, value)


def _rounded(value: Fraction, decimals: int) -> Decimal:
    return rounded(Decimal(value.numerator) / Decimal(value.denominator), decimals)


def _ratio(value: Fraction) -> str:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return str(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))


def statement_of(  # noqa: PLR0911, PLR0912 - one branch for each operation
    plan: Plan, done: Evaluated, names: Names
) -> str:
    """One sentence. Raises `ValueError` where there is nothing to say."""
    match plan:
        case Select(places, figure):
            return _selected(places, figure, done, names)
        case Tally(places):
            return _tallied(places, done, names)
        case Rank():
            return _ranked(plan, done, names)
        case Total(function, places, figure) if done.value is not None:
            chosen = any(isinstance(c, Foremost) or (isinstance(c, OneOf) and c.holds) for c in places.conditions)
            noun = _noun(places, len(done.places), names, known=not chosen and _is_untimed(figure))
            value = _told_total(function, figure, done, names)
            listing = ""
            least = 0 if any(isinstance(c, Foremost) for c in places.conditions) else 1
            if least < len(done.places) <= _NAMED and not any(
                isinstance(c, OneOf) and c.holds for c in places.conditions
            ):
                listing = ": " + listed([_with(figure, p, v, names) for p, v in done.places])
            word = AGGREGATES[function].word
            return f"The {word} {figure_words(figure, names)} of {noun} {_was(figure, names)} {value}{listing}."
        case Figures(figure, _) if done.places:
            said = listed([_with(figure, p, v, names) for p, v in done.places])
            first = done.places[0]
            if len(done.places) == 1 and first[1] is not None:
                value = told(figure, first[1], names)
                return f"The {figure_words(figure, names)} of {first[0].name} {_was(figure, names)} {value}."
            return f"By {figure_words(figure, names)}: {said}."
        case Weigh(figure, _, way) if done.value is not None:
            one, other = (_with(figure, p, v, names) for p, v in done.places)
            that = "that" if (measure := measure_of(figure, names)) is None else measure.that
            if way == "ratio":
                times = f"{_was(figure, names)} {_ratio(done.value)} times"
                return f"The {figure_words(figure, names)} of {one} {times} {that} of {other}."
            size = told(figure, abs(done.value), names)
            if isinstance(figure, Value):
                size = difference_in(text_of(figure, abs(done.value)), names.unit(figure.measure))
            return f"The {figure_words(figure, names)} of {one} and {that} of {other} differ by {size}."
        case Part(figure, _, _, way) if done.value is not None:
            whole, *parts = (_with(figure, p, v, names) for p, v in done.places)
            if way == "share":
                said = (
                    f"{listed(parts)} {'has' if len(parts) == 1 else 'have'} {_rounded(done.value, done.decimals):,f} %"
                )
                return f"Of the {figure_words(figure, names)} of {whole}, {said}."
            left = told(figure, done.value, names)
            return f"The {figure_words(figure, names)} of {whole} without {listed(parts)} was {left}."
        case Test(_, kind, conditions) if done.holds is not None:
            place = done.places[0][0].name
            said = ", ".join(condition_words(c, names) for c in conditions)
            noun = f"a {kind} {said}"
            if done.places[0][0].listed:
                noun = with_article(kind.replace("_", " ")) + conditions_words(Places(kind, conditions), names, n=1)
            return f"{'Yes' if done.holds else 'No'}: {place} is {'' if done.holds else 'not '}{noun}."
        case _:
            raise ValueError("the inputs answer nothing")


def _is_untimed(figure: Figure | None) -> bool:
    return isinstance(figure, Value) and figure.year is None


def _was(figure: Figure, names: Names) -> str:
    """The verb of a figure; one without a time holds now."""
    measure = measure_of(figure, names)
    return "was" if measure is None else measure.be


def _told_total(function: AggregateName, figure: Figure, done: Evaluated, names: Names) -> str:
    value = done.value or Fraction(0)
    if AGGREGATES[function].rounded and isinstance(figure, Value):
        return in_unit(f"{_rounded(value, done.decimals):,f}", names.unit(figure.measure))
    return told(figure, value, names)


def _with(figure: Figure, place: EntityRef, value: Fraction | None, names: Names) -> str:
    return place.name if value is None else f"{place.name} ({told(figure, value, names)})"


def _noun(places: Places, n: int, names: Names, *, known: bool = False) -> str:
    return counted(n, places.kind) + conditions_words(places, names, n=n, known=known)


def _selected(places: Places, figure: Figure | None, done: Evaluated, names: Names) -> str:
    kind = places.kind.replace("_", " ")
    if not done.places:
        return f"No {kind}{conditions_words(places, names, n=1)} is on record{_of_considered(places, done)}."
    said = listed(
        [place.name if figure is None else _with(figure, place, value, names) for place, value in done.places]
    )
    verb = "is" if len(done.places) == 1 else "are"
    listing = done.places[0][0].listed and all(isinstance(c, Inside | AnyOf) for c in places.conditions)
    known = listing or (_is_untimed(figure) and not any(isinstance(c, Where | Than) for c in places.conditions))
    noun = _noun(places, len(done.places), names, known=known)
    return f"{noun} {verb} on record{_of_considered(places, done)}: {said}."


def _of_considered(places: Places, done: Evaluated) -> str:
    """How many were looked at, where figures decide."""
    if not any(isinstance(c, Where) and not isinstance(c.figure, Gap) for c in places.conditions):
        return ""
    return f", of {counted(done.considered, places.kind)} with the figures"


def _tallied(places: Places, done: Evaluated, names: Names) -> str:
    n = len(done.places)
    verb = "is" if n == 1 else "are"
    listing = ": " + listed([p.name for p, _ in done.places]) if 0 < n <= _NAMED else ""
    return f"There {verb} {_noun(places, n, names)} on record{_of_considered(places, done)}{listing}."


def _ranked(plan: Rank, done: Evaluated, names: Names) -> str:
    if not done.places:
        raise ValueError("no place has that rank")
    word = _order_word(plan, names)
    what = figure_words(plan.figure, names)
    place = _ORDINALS[plan.first] if plan.first < len(_ORDINALS) else f"number {plan.first} from the "
    among = f"of {_noun(plan.places, done.considered, names, known=_is_untimed(plan.figure))}"
    said = listed([_with(plan.figure, p, v, names) for p, v in done.places])
    if len(done.places) == 1 and any(isinstance(c, OneOf) and c.holds for c in plan.places.conditions):
        return f"{said} is the {place}{word} by {what}, {among}."
    if len(done.places) == 1:
        return f"By {what}, the {place}{word} {among} is {said}."
    if plan.first == 1:
        return f"By {what}, the {len(done.places)} {word} {among} are {said}."
    return f"By {what}, from the {place}{word} on, {among}: {said}."


def _order_word(plan: Rank, names: Names) -> str:
    largest = plan.order == "largest"
    match plan.figure:
        case Value(measure) if names.unit(measure) == CALENDAR_YEAR:
            return "latest" if largest else "earliest"
        case Gap():
            return "farthest" if largest else "nearest"
        case Area():
            return "largest" if largest else "smallest"
        case Value() | Growth() | Density():
            return "highest" if largest else "lowest"
