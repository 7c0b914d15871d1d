"""Named operations over facts, pure: the same parameters and inputs give the same value, wherever and whenever they
run.

A `Computation` keeps the operation, its parameters, its input records and a digest of what they state, so that a replay
recomputes it from the records alone (`recompute`). Figures are decimal text, distances whole metres; ties are all
named, in order of entity id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from typing import cast

from retrieval.algebra.aggregates import AGGREGATES, AggregateName
from retrieval.algebra.describe import Names
from retrieval.algebra.measures import Measure
from retrieval.algebra.units import METRES
from retrieval.algebra.wording import (
    arranged,
    counted,
    decimals_of,
    difference_in,
    in_unit,
    kilometres,
    listed,
    lying_in,
    number,
    percent,
    plural,
    quantity,
    rounded,
)
from retrieval.model import Computation, Record
from retrieval.spatial import geometry
from retrieval.spatial.computing.evaluate import Table, plan_in
from retrieval.spatial.computing.forms import NAMES, form_of
from retrieval.spatial.computing.untimed import Named, Untimed
from retrieval.spatial.facts import Fact, digest_of_facts
from retrieval.stated import OPERATION, compute_stated

Outcome = tuple[dict[str, object], str]
_NAMED = 20


def compute(operation: str, parameters: Mapping[str, object], facts: Sequence[Fact]) -> Computation:
    """Runs an operation. Raises `ValueError` when there is no such operation, or the facts are not what it needs."""
    run = _OPERATIONS.get(operation)
    if run is None:
        raise ValueError(f"no such operation: {operation}")
    inputs = sorted(facts, key=lambda f: f.record_id)
    result, statement = run(parameters, inputs)
    return Computation(
        operation=operation,
        parameters=dict(parameters),
        inputs=tuple(f.record_id for f in _named_first(inputs, result)),
        input_digest=digest_of_facts(inputs),
        result=result,
        statement=_as_drawn(statement, parameters),
    )


def _as_drawn(statement: str, parameters: Mapping[str, object]) -> str:
    as_of = parameters.get("as_of")
    return statement if as_of is None else f"{statement.removesuffix('.')} (as drawn for {as_of})."


def _named_first(inputs: Sequence[Fact], result: Mapping[str, object]) -> list[Fact]:
    """The inputs that the result names, in its order, then the others: what is cited links to the first of them."""
    named = list(dict.fromkeys(_texts(result)))
    order = {entity: at for at, entity in enumerate(named)}
    return sorted(inputs, key=lambda f: (order.get(f.place.entity_id, len(named)), f.record_id))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def recompute(operation: str, parameters: Mapping[str, object], records: Sequence[Record]) -> Computation:
    """The same operation from the records alone, for replay and tests. Raises `ValueError` like `compute`, also for
    a record that holds neither figure nor shape."""
    if operation == OPERATION:
        return compute_stated(parameters, records)
    facts = [Fact.of(record) for record in records]
    if any(fact is None for fact in facts):
        raise ValueError("an input record holds neither a figure nor a shape")
    return compute(operation, parameters, [fact for fact in facts if fact is not None])


def _change(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    before, after = _dated(facts, _int(parameters, "from_year")), _dated(facts, _int(parameters, "to_year"))
    old, new = _value(before), _value(after)
    difference = new - old
    relative = f"{percent(difference, old):+} %" if old and parameters.get("percent", True) else None
    verb = "grew" if difference > 0 else "fell" if difference < 0 else "stayed the same"
    measure, place = _text(parameters, "measure"), after.place.name
    subject = place if measure == "population" else f"The {measure.replace('_', ' ')} of {place}"
    first, last = _said(parameters, old), _said(parameters, new)
    span = f"from {first} in {parameters['from_year']} to {last} in {parameters['to_year']}"
    size = difference_in(number(difference, sign=True), _unit(parameters)) + (f" ({relative})" if relative else "")
    result: dict[str, object] = {
        "place": after.place.entity_id,
        "from": str(old),
        "to": str(new),
        "difference": str(difference),
        "percent": None if relative is None else str(percent(difference, old)),
    }
    return result, f"{subject} {verb}, {span}, a change of {size}." if not difference else (
        f"{subject} {verb} {span}, a change of {size}."
    )


def _superlative(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    largest = _text(parameters, "order") == "largest"
    ranked = sorted(facts, key=lambda f: (-_value(f) if largest else _value(f), f.place.entity_id))
    limit = min(_int(parameters, "limit"), len(ranked))
    last = _value(ranked[limit - 1])
    chosen = [f for i, f in enumerate(ranked) if i < limit or _value(f) == last]
    result: dict[str, object] = {"places": [_ranked(f) for f in chosen], "considered": len(ranked)}
    measure, year = _text(parameters, "measure").replace("_", " "), parameters["year"]
    if year is None:
        order = _text(parameters, "order")
        return result, _untimed(parameters).superlative(order, _with_values(chosen), len(ranked))
    among = f"of {counted(len(ranked), _text(parameters, 'place_type'))}{_inside(parameters)} with a figure for {year}"
    if len(chosen) == 1:
        counted_in = quantity(_text(parameters, "measure"), chosen[0].unit)
        bare = f"{number(_value(chosen[0]))} {counted_in}".rstrip()
        figure = _said(parameters, _value(chosen[0])) if _unit(parameters) else bare
        return result, f"{chosen[0].place.name} had the {parameters['order']} {measure} in {year}, {figure}, {among}."
    names = listed([f"{f.place.name} ({_said(parameters, _value(f))})" for f in chosen])
    kind = plural(_text(parameters, "place_type"))
    return result, f"The {kind} with the {parameters['order']} {measure} in {year} were {names}, {among}."


def _aggregate(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    values = [_value(f) for f in facts]
    aggregate = AGGREGATES[cast("AggregateName", _text(parameters, "function"))]
    exact = aggregate.compute(values)
    value = rounded(exact, _decimals(parameters, exact, values)) if aggregate.rounded else exact
    measure = _text(parameters, "measure").replace("_", " ")
    places = f"{counted(len(values), _text(parameters, 'place_type'))}{_inside(parameters)}"
    result: dict[str, object] = {"value": f"{value:f}", "considered": len(values)}
    if parameters["year"] is None:
        return result, _untimed(parameters).aggregate(aggregate.word, value, len(values))
    told = _said(parameters, value)
    return result, f"The {aggregate.word} {measure} of {places} with a figure for {parameters['year']} was {told}."


ROUNDING = {"rounding": "significant"}
"""The parameter by which means and medians keep the digits that count; those recorded without it are told in tenths."""


def finely_rounded(operation: str, parameters: Mapping[str, object], facts: Sequence[Fact]) -> Mapping[str, object]:
    """The parameters with which the operation says its result to enough digits: what tenths say as well needs none."""
    fine = {**parameters, **ROUNDING}
    same = compute(operation, fine, facts).result == compute(operation, parameters, facts).result
    return parameters if same else fine


def _decimals(parameters: Mapping[str, object], value: Decimal, inputs: Sequence[Decimal]) -> int:
    return decimals_of(value, inputs) if ROUNDING.items() <= parameters.items() else 1


def _compare(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    ranked = sorted(facts, key=lambda f: (-_value(f), f.place.entity_id))
    first, second = ranked[0], ranked[1]
    difference = _value(first) - _value(second)
    result: dict[str, object] = {"places": [_ranked(f) for f in ranked], "difference": str(difference)}
    measure, year = _text(parameters, "measure").replace("_", " "), parameters["year"]
    if year is None:
        return result, _untimed(parameters).comparison(_with_values(ranked))
    if len(ranked) > 2:
        names = listed([f"{f.place.name} ({_said(parameters, _value(f))})" for f in ranked])
        return result, f"By {measure} in {year}, from largest to smallest: {names}."
    if not difference:
        same = _said(parameters, _value(first))
        return result, f"{first.place.name} and {second.place.name} had the same {measure} in {year}, {same}."
    size = difference_in(number(difference), _unit(parameters))
    return result, (
        f"{first.place.name} ({_said(parameters, _value(first))}) had a larger {measure} than {second.place.name} "
        f"({_said(parameters, _value(second))}) in {year}, a difference of {size}."
    )


def units_of(facts: Sequence[Fact]) -> Mapping[str, dict[str, str]]:
    """The parameter by which statements tell the units of the measures: of each that all facts have in one unit, but
    people, who are told as inhabitants. Empty without one."""
    found: dict[str, set[str]] = {}
    for fact in facts:
        if fact.measure is not None:
            found.setdefault(fact.measure, set()).add((fact.unit or "").replace("_", " "))
    units = {measure: next(iter(said)) for measure, said in sorted(found.items()) if len(said) == 1}
    units = {m: unit for m, unit in units.items() if unit and not (m == "population" and unit.casefold() in _PEOPLE)}
    return {"units": units} if units else {}


_PEOPLE = frozenset(("inhabitants", "people", "persons", "residents", "total"))


def _units(parameters: Mapping[str, object]) -> Mapping[str, str]:
    """The units of the measures, as `units_of` gave them; none in computations that were recorded without."""
    units = parameters.get("units", {})
    if not isinstance(units, Mapping):
        raise ValueError("`units` are those of measures")
    return units


def _said(parameters: Mapping[str, object], value: Decimal) -> str:
    """A figure of the measure with its unit."""
    return in_unit(number(value), _unit(parameters))


def _untimed(parameters: Mapping[str, object]) -> Untimed:
    """The words for a measure whose figures have no time."""
    kind = parameters.get("place_type", "")
    measure = Measure(_text(parameters, "measure").replace("_", " "), _unit(parameters))
    return Untimed(measure, str(kind), _inside(parameters))


def _with_values(facts: Sequence[Fact]) -> list[Named]:
    return [(fact.place.name, _value(fact)) for fact in facts]


def _unit(parameters: Mapping[str, object]) -> str:
    return _units(parameters).get(_text(parameters, "measure"), "")


def _neighbours(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    centre, others = _around(parameters, facts)
    found = [f for f in others if geometry.share_border(_wkb(centre), _wkb(f))]
    found.sort(key=lambda f: (f.place.name, f.place.entity_id))
    result: dict[str, object] = {"places": [_named(f) for f in found]}
    if not found:
        return result, f"{centre.place.name} shares a border with no other {centre.place.type} on the map."
    names = listed([f.place.name for f in found])
    return result, f"{centre.place.name} shares a border with {counted(len(found), centre.place.type)}: {names}."


def _nearest(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    centre, ranked = _by_distance(parameters, facts)
    limit = min(_int(parameters, "limit"), len(ranked))
    chosen = [pair for i, pair in enumerate(ranked) if i < limit or pair[0] == ranked[limit - 1][0]]
    result: dict[str, object] = {"places": [{**_named(f), "distance_m": metres} for metres, f in chosen]}
    kind = _text(parameters, "place_type")
    if len(chosen) == 1:
        metres, fact = chosen[0]
        where = f"{kilometres(metres)} away" if metres else "which it touches"
        return result, f"The nearest {kind} to {centre.place.name} on the map is {fact.place.name}, {where}."
    return result, f"The nearest {plural(kind)} to {centre.place.name} on the map are {_with_distances(chosen)}."


def _within_distance(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    centre, ranked = _by_distance(parameters, facts)
    reach = _int(parameters, "distance_m")
    chosen = [(metres, f) for metres, f in ranked if metres <= reach]
    result: dict[str, object] = {"places": [{**_named(f), "distance_m": metres} for metres, f in chosen]}
    where = f"within {kilometres(reach)} of {centre.place.name}"
    if not chosen:
        return result, f"No other {_text(parameters, 'place_type')} on the map lies {where}."
    verb = "lies" if len(chosen) == 1 else "lie"
    number_of = counted(len(chosen), _text(parameters, "place_type"))
    return result, f"{number_of} {verb} {where}: {_with_distances(chosen)}."


def _contained_in(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    if parameters.get("basis") == "relation":  # no outline: the inputs are the members that relations name
        inside, found = _inside(parameters), list(facts)
    else:
        area, others = _around(parameters, facts)
        inside, found = f" in {area.place.name}", [f for f in others if geometry.contains(_wkb(area), _wkb(f))]
    found.sort(key=lambda f: (f.place.name, f.place.entity_id))
    result: dict[str, object] = {"places": [_named(f) for f in found]}
    if not found:
        return result, f"No {_text(parameters, 'place_type')} on the map lies{inside}."
    verb = "lies" if len(found) == 1 else "lie"
    names = listed([f.place.name for f in found])
    return result, f"{counted(len(found), _text(parameters, 'place_type'))} {verb}{inside}: {names}."


def _container_of(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    inner, others = _around(parameters, facts)
    found = sorted(
        (f for f in others if geometry.contains(_wkb(f), _wkb(inner))), key=lambda f: (f.place.name, f.place.entity_id)
    )
    result: dict[str, object] = {"places": [_named(f) for f in found]}
    if not found:
        return result, f"{inner.place.name} lies in no {_text(parameters, 'place_type')} on the map."
    return result, f"{inner.place.name} lies in {listed([f.place.name for f in found])}."


def _count(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    minimum, kind, year = parameters.get("minimum"), _text(parameters, "place_type"), parameters.get("year")
    reached = [f for f in facts if minimum is None or _value(f) >= _int(parameters, "minimum")]
    n, considered = len({f.place.entity_id for f in reached}), len({f.place.entity_id for f in facts})
    result: dict[str, object] = {"count": n, "considered": considered}
    if minimum is None:
        inside = _inside(parameters)
        dated = "" if year is None else f" with a figure for {year}" if facts[0].measure else f" dated {year}"
        if year is None and all(f.place.listed for f in facts):
            inside, dated = "", arranged([*filter(None, (inside.strip(),)), "with a figure"], n, kind)
        verb = "is" if n == 1 else "are"
        return result, f"There {verb} {counted(n, kind)}{inside}{dated} on record."
    reached.sort(key=lambda f: (-_value(f), f.place.entity_id))
    result["places"] = [_ranked(f) for f in reached]
    if year is None:
        least = Decimal(_int(parameters, "minimum"))
        return result, _untimed(parameters).reaching(least, _with_values(reached), considered)
    unit = _unit(parameters) or quantity(_text(parameters, "measure"), facts[0].unit)
    among = f"of {counted(considered, kind)}{_inside(parameters)} with a figure for {year}"
    names = (
        ": " + listed([f"{f.place.name} ({_said(parameters, _value(f))})" for f in reached]) if 0 < n <= _NAMED else ""
    )
    return result, f"{counted(n, kind)} had at least {_int(parameters, 'minimum'):,} {unit} in {year}, {among}{names}."


def _distance(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    one, other = _shape_of(facts, _text(parameters, "from_id")), _shape_of(facts, _text(parameters, "to_id"))
    metres = geometry.centre_distance_m(_wkb(one), _wkb(other))
    miles = (Decimal(metres) / Decimal(METRES["mi"])).quantize(Decimal("0.1"), ROUND_HALF_UP)
    centres = "" if _is_point(one) and _is_point(other) else ", measured between their centres"
    statement = f"{one.place.name} and {other.place.name} are {kilometres(metres)} ({miles:,f} miles) apart{centres}."
    return {"distance_m": metres}, statement


def _lookup(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    """The figures of a span of years, each with its year."""
    ordered = sorted(facts, key=lambda f: (f.place.name, f.start.toordinal() if f.start else 0, f.record_id))
    rows: list[dict[str, object]] = [{**_ranked(f), "year": f.start.year if f.start else None} for f in ordered]
    if all(f.start is None for f in ordered):
        return {"figures": rows}, _untimed(parameters).figures(_with_values(ordered))
    several = len({f.place.entity_id for f in facts}) > 1
    said = [
        _said(parameters, _value(f))
        + (f" in {f.start.year}" if f.start else "")
        + (f" ({f.place.name})" if several else "")
        for f in ordered
    ]
    of = "" if several else f" of {ordered[0].place.name}"
    measure = _text(parameters, "measure").replace("_", " ")
    return {"figures": rows}, f"The {measure}{of} was {listed(said, most=100)}."


def _plan(parameters: Mapping[str, object], facts: Sequence[Fact]) -> Outcome:
    """A plan of the algebra (`retrieval.spatial.computing.forms`)."""
    plan = plan_in(parameters)
    names, inside = parameters.get("names"), parameters.get("inside")
    if not isinstance(names, Mapping) or not isinstance(inside, Mapping):
        raise ValueError("a plan needs `names` and `inside`")
    form = form_of(plan)
    done = form.evaluate(plan, Table.of(facts, inside))
    if done.value is not None and done.value.denominator > 1:
        exact = Decimal(done.value.numerator) / Decimal(done.value.denominator)
        told = [_value(fact) for fact in facts if fact.value is not None and done.names(fact.place)]
        done = replace(done, decimals=_decimals(parameters, exact, told))
    return form.result(plan, done), form.statement(plan, done, Names(names, _units(parameters), stated=True))


_OPERATIONS: Mapping[str, Callable[[Mapping[str, object], Sequence[Fact]], Outcome]] = {
    "change": _change,
    "lookup": _lookup,
    "superlative": _superlative,
    "aggregate": _aggregate,
    "compare": _compare,
    "neighbours": _neighbours,
    "nearest": _nearest,
    "within_distance": _within_distance,
    "contained_in": _contained_in,
    "container_of": _container_of,
    "count": _count,
    "distance": _distance,
    **dict.fromkeys(NAMES, _plan),
}


def _text(parameters: Mapping[str, object], name: str) -> str:
    value = parameters.get(name)
    if not isinstance(value, str):
        raise ValueError(f"the operation needs `{name}` as text")
    return value


def _int(parameters: Mapping[str, object], name: str) -> int:
    value = parameters.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"the operation needs `{name}` as a whole number")
    return value


def _value(fact: Fact) -> Decimal:
    if fact.value is None:
        raise ValueError(f"{fact.record_id} holds no figure")
    return Decimal(fact.value)


def _wkb(fact: Fact) -> bytes:
    if fact.geometry is None:
        raise ValueError(f"{fact.record_id} holds no shape")
    return fact.geometry


def _dated(facts: Sequence[Fact], year: int) -> Fact:
    for fact in facts:
        if fact.covers_year(year):
            return fact
    raise ValueError(f"no input is dated {year}")


def _shape_of(facts: Sequence[Fact], place_id: str) -> Fact:
    for fact in facts:
        if fact.place.entity_id == place_id:
            return fact
    raise ValueError(f"no input is about {place_id}")


def _around(parameters: Mapping[str, object], facts: Sequence[Fact]) -> tuple[Fact, list[Fact]]:
    """The place that the operation is about, and the other inputs."""
    place_id = _text(parameters, "place_id")
    centre = _shape_of(facts, place_id)
    _wkb(centre)  # without a shape it has neither neighbours nor distances
    return centre, [f for f in facts if f.place.entity_id != place_id]


def _by_distance(parameters: Mapping[str, object], facts: Sequence[Fact]) -> tuple[Fact, list[tuple[int, Fact]]]:
    centre, others = _around(parameters, facts)
    ranked = [(geometry.gap_m(_wkb(centre), _wkb(f)), f) for f in others]
    ranked.sort(key=lambda pair: (pair[0], pair[1].place.name, pair[1].place.entity_id))
    if not ranked and "limit" in parameters:
        raise ValueError("no other place to measure to")
    return centre, ranked


def _with_distances(chosen: Sequence[tuple[int, Fact]]) -> str:
    return listed([f"{f.place.name} ({kilometres(metres)})" for metres, f in chosen])


def _named(fact: Fact) -> dict[str, object]:
    return {"entity_id": fact.place.entity_id, "name": fact.place.name}


def _ranked(fact: Fact) -> dict[str, object]:
    return {**_named(fact), "value": fact.value}


def _inside(parameters: Mapping[str, object]) -> str:
    name = parameters.get("within_name")
    return f" {lying_in(str(parameters.get('within')), name)}" if isinstance(name, str) else ""


def _is_point(fact: Fact) -> bool:
    return fact.geometry is not None and len(fact.geometry) == 21
