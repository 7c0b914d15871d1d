"""Each form of plan: what it reads, what comes of it and how that is said. Those of the algebra go one way for all; a
form that goes another has its own entry here, and nothing else knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol, get_args

from retrieval.algebra.describe import Names, text_of, told
from retrieval.algebra.plan import Peak, Plan, Stated, Value
from retrieval.algebra.wording import listed
from retrieval.spatial.computing.evaluate import Evaluated, Table, evaluate
from retrieval.spatial.computing.select import Inputs, inputs_of, yearly
from retrieval.spatial.computing.tell import result_of, statement_of
from retrieval.spatial.facts import FactSource


class Form(Protocol):
    """One form of plan. Pure but for `inputs`: the same plan and facts give the same result and statement."""

    def inputs(self, plan: Any, facts: FactSource, placed: FactSource) -> Inputs:
        """The facts that it needs, its open years filled in; `placed` holds the shapes of the time asked for."""
        ...

    def evaluate(self, plan: Any, table: Table) -> Evaluated:
        """The result over the facts. Raises `ValueError` when they are not what it needs."""
        ...

    def result(self, plan: Any, done: Evaluated) -> dict[str, object]:
        """The result as JSON values, as an entry records it."""
        ...

    def statement(self, plan: Any, done: Evaluated, names: Names) -> str:
        """One sentence. Raises `ValueError` where there is nothing to say."""
        ...


@dataclass(frozen=True, slots=True)
class Algebraic:
    """The forms over places with conditions, and over named places."""

    def inputs(self, plan: Plan, facts: FactSource, placed: FactSource) -> Inputs:
        """As `retrieval.spatial.computing.select` reads them."""
        return inputs_of(plan, facts, placed)

    def evaluate(self, plan: Plan, table: Table) -> Evaluated:
        """As `retrieval.spatial.computing.evaluate` computes it."""
        return evaluate(plan, table)

    def result(self, plan: Plan, done: Evaluated) -> dict[str, object]:
        """As `retrieval.spatial.computing.tell` writes it."""
        return result_of(plan, done)

    def statement(self, plan: Plan, done: Evaluated, names: Names) -> str:
        """As `retrieval.spatial.computing.tell` says it."""
        return statement_of(plan, done, names)


@dataclass(frozen=True, slots=True)
class PeakForm:
    """The years of the highest or lowest figure of a place, of those on record that cover one year."""

    def inputs(self, plan: Peak, facts: FactSource, placed: FactSource) -> Inputs:
        """One figure for each year on record."""
        del placed
        return yearly(plan, plan.measure, plan.place_id, facts)

    def evaluate(self, plan: Peak, table: Table) -> Evaluated:
        """The years; nothing where fewer than two are on record."""
        facts = table.values.get((plan.place_id, plan.measure), ())
        by_year = {f.start.year: Fraction(Decimal(f.value)) for f in facts if f.start and f.value is not None}
        if len(by_year) < 2:
            return Evaluated()
        best = (max if plan.order == "largest" else min)(by_year.values())
        years = tuple(sorted(year for year, value in by_year.items() if value == best))
        return Evaluated(((table.places[plan.place_id], best),), best, len(by_year), None, years)

    def result(self, plan: Peak, done: Evaluated) -> dict[str, object]:
        """The place with the figure, how many years were considered, and the years."""
        figure = Value(plan.measure)
        places = [
            {"entity_id": place.entity_id, "name": place.name}
            | ({} if value is None else {"value": text_of(figure, value)})
            for place, value in done.places
        ]
        value = {} if done.value is None else {"value": text_of(figure, done.value)}
        return {"places": places, "considered": done.considered, **value, "years": list(done.years)}

    def statement(self, plan: Peak, done: Evaluated, names: Names) -> str:
        """`The population of Topeka was highest in 1950 (78,791), of 6 years on record.`"""
        if not done.years or done.value is None:
            raise ValueError("the inputs answer nothing")
        place, most = done.places[0][0].name, "highest" if plan.order == "largest" else "lowest"
        what, when = plan.measure.replace("_", " "), listed([str(year) for year in done.years])
        value = told(Value(plan.measure), done.value, names)
        return f"The {what} of {place} was {most} in {when} ({value}), of {done.considered} years on record."


_ALGEBRAIC = Algebraic()
OWN: Mapping[type[Any], Form] = MappingProxyType({Peak: PeakForm()})
"""The forms that go a way of their own."""
NAMES = tuple(kind.__name__.lower() for kind in get_args(Plan) if kind is not Stated)
"""The names under which computed facts record the forms that are evaluated over facts."""


def form_of(plan: Plan) -> Form:
    """The form of a plan."""
    return OWN.get(type(plan), _ALGEBRAIC)
