"""One question to the structured channel, over whichever store holds the facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from retrieval.algebra.operations import (
    ContainedIn,
    ContainerOf,
    Distance,
    Lookup,
    Nearest,
    Neighbours,
    Operation,
    WithinDistance,
)
from retrieval.algebra.plan import Density, Growth, Rank, Select, Tally, Test, Total, Value
from retrieval.model import ChannelName, Hit, Limitation, Query, Run
from retrieval.scope import Scope
from retrieval.spatial import geometry
from retrieval.spatial.computing.aggregated import ClosedFacts, WithGroups, over_groups
from retrieval.spatial.computing.answer import Answer, answer, figures
from retrieval.spatial.computing.evaluate import figures_of
from retrieval.spatial.facts import Box, Fact, FactSource

_AROUND_LIMIT = 200
_DRAWN = (Neighbours, Nearest, WithinDistance, ContainedIn, ContainerOf, Distance)
UNDATED = Limitation(
    "UNDATED_MAP",
    "The outlines on the map bear no date, so how things lay at the time that was asked for is not known.",
    "postgis",
)


class SearchedFacts(FactSource, Protocol):
    """A `FactSource` that also knows what lies around a question."""

    def around(self, query: Query, *, limit: int) -> list[Fact]:
        """Facts of the places that a question names, else of the region it shows, narrowed to its times and layers;
        at most `limit`, in order of record id."""
        ...

    def drawn_in(self, box: Box) -> list[Fact]:
        """Facts with a geometry that is shown in the box, in order of record id."""
        ...

    def of(self, scope: Scope) -> FactSource:
        """The facts of another scope, read at the same moment."""
        ...


def search(rows: SearchedFacts, query: Query, store: str) -> Run:
    """The run of a question: computed hits first, then the records that they rest on."""
    answers = [_answered(operation, rows, query) for operation in query.intent.operations]
    if not answers:
        answers = [_evidence_around(rows, query)]
    hits: dict[str, Hit] = {}
    for given in answers:
        for computed in given.computed:
            hits.setdefault(computed.record_id, Hit(0, computed.record_id, 0.0, computed))
    for given in answers:
        for record_id in given.records:
            hits.setdefault(record_id, Hit(0, record_id, 0.0))
    best = list(hits.values())[: max(0, query.top_k)]
    ranked = tuple(replace(hit, rank=i, score=1.0 / i) for i, hit in enumerate(best, start=1))
    limitations = tuple(dict.fromkeys(limitation for given in answers for limitation in given.limitations))
    return Run(ChannelName.SPATIAL, store, ranked, limitations)


def _answered(operation: Operation, rows: SearchedFacts, query: Query) -> Answer:
    if isinstance(operation, Lookup) and not operation.place_ids:
        return _figures_in_region(operation, rows, query)
    if query.scope.aggregates and over_groups(operation):
        return _over_groups(operation, rows, query)
    given = answer(operation, rows, times=query.intent.times)
    timed = bool(query.intent.times) and not query.intent.map_time
    if timed and _undated(operation) and any("as_of" not in done.parameters for done in given.computed):
        return Answer(limitations=(UNDATED,))
    return given


def _undated(operation: Operation) -> bool:
    """True if only the map can say how things lay at a time: no figure that is asked for has a year."""
    if isinstance(operation, Select | Tally | Rank | Total | Test):
        return not any(isinstance(figure, Value | Growth | Density) for figure in figures_of(operation))
    return isinstance(operation, _DRAWN)


def _over_groups(operation: Operation, rows: SearchedFacts, query: Query) -> Answer:
    """A figure over all places of a kind, with the classes that are open in aggregates."""
    closed = sorted(query.scope.aggregates)
    facts = WithGroups(
        rows, [ClosedFacts(rows.of(Scope(query.scope.tenant, frozenset({id}))), least) for id, least in closed]
    )
    given = answer(operation, facts, times=query.intent.times)
    return given if facts.grouped.isdisjoint(given.records) else replace(given, records=())


def _figures_in_region(operation: Lookup, rows: SearchedFacts, query: Query) -> Answer:
    """The figures of the places that the map shows; that some of them have none is no limitation."""
    places = {fact.place.entity_id for fact in _in_region(rows, query) if fact.geometry is not None}
    found = figures(operation, rows, place_ids=places, times=query.intent.times)
    return Answer(records=tuple(fact.record_id for fact in found))


def _evidence_around(rows: SearchedFacts, query: Query) -> Answer:
    """Without an operation: what is observed or drawn at the places, in the region and at the time that question and
    map name."""
    unknown = query.intent.unknown_names
    if unknown and (query.intent.measures or not query.intent.entities):
        return Answer()  # what was asked about is not known here, and neither the map nor another place is a substitute
    return Answer(records=tuple(f.record_id for f in _in_region(rows, query)))


def _in_region(rows: SearchedFacts, query: Query) -> list[Fact]:
    found = rows.around(query, limit=_AROUND_LIMIT)
    if query.geometry is not None and not query.intent.entities:
        region = geometry.from_geojson(query.geometry)
        found = found or rows.drawn_in(geometry.bounds(region))
        found = [f for f in found if f.geometry is None or geometry.intersects(region, f.geometry)]
    return found
