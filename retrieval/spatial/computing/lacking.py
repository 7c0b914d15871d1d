"""Places of a small set, named or around a place, without the figure that is asked for: a sum over two places is not
that of the one which has it."""

from __future__ import annotations

from retrieval.algebra.plan import Bordering, OneOf, Places, Select, Total, Value
from retrieval.model import Limitation
from retrieval.spatial.computing.evaluate import Table, evaluate
from retrieval.spatial.computing.missing import not_recorded
from retrieval.spatial.computing.select import Inputs, inputs_of
from retrieval.spatial.facts import FactSource


def without_figures(given: Inputs, facts: FactSource, placed: FactSource) -> tuple[list[Limitation], bool]:
    """One limitation for each place of a small set, named or around a place, of which a figure is asked for that is not
    on record; and whether nothing can be said without it."""
    match given.plan:
        case Total(_, places, Value(measure, _) as figure) | Select(places, Value(measure, _) as figure):
            ids = _named(places)
            around = any(isinstance(c, Bordering) and c.holds for c in places.conditions)
        case _:
            return [], False
    if not (ids or around):
        return [], False
    if not ids:
        every = inputs_of(Select(places), facts, placed)
        chosen = evaluate(every.plan, Table.of(list(every.facts.values()), every.inside)).places
        ids = tuple(place.entity_id for place, _ in chosen)
    table = Table.of(list(given.facts.values()), given.inside)
    lacking = [place_id for place_id in ids if table.figure(figure, place_id) is None]
    must = isinstance(given.plan, Total) and not around
    return [not_recorded(measure, place_id, facts) for place_id in lacking], must


def _named(places: Places) -> tuple[str, ...]:
    """The places, where nothing else is said of them than which they are."""
    match places.conditions:
        case (OneOf(place_ids, True),):
            return tuple(dict.fromkeys(place_ids))
        case _:
            return ()
