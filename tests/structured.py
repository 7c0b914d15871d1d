"""A small made-up region for the structured channels: four square counties around a corner, towns, figures,
treaties."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import shapely

from retrieval.algebra.operations import Operation
from retrieval.index import IndexBatch, SurfaceMention, surface_key
from retrieval.model import (
    EntityRef,
    Intent,
    Locator,
    Measurement,
    Mention,
    Query,
    Record,
    RecordKind,
    Relationship,
    TimeRange,
)
from retrieval.scope import Scope, VisibilityClass

TENANT = "default"
PUBLIC = VisibilityClass(TENANT, "kansas", "public")
SECRET = VisibilityClass(TENANT, "kansas", "restricted")
SCOPE = Scope.of(TENANT, [PUBLIC])
POP = "population"
STATE = EntityRef("state:1", "Fairland", "state")
NORTHWEST, NORTHEAST, SOUTHWEST, SOUTHEAST = (
    EntityRef(f"county:{i}", f"{name} County", "county")
    for i, name in enumerate(("Alder", "Birch", "Cedar", "Dogwood"))
)
COUNTIES = {  # degrees; the four meet in one corner at (-96, 39), and Birch overlaps nothing but a sliver of air
    NORTHWEST: (-97.0, 39.0, -96.0, 40.0),
    NORTHEAST: (-95.99995, 39.0, -95.0, 40.0),
    SOUTHWEST: (-97.0, 38.0, -96.0, 39.0),
    SOUTHEAST: (-96.0, 38.0, -95.0, 39.0),
}
ELM, FIR, GORSE = (EntityRef(f"city:{n.lower()}", n, "city") for n in ("Elm", "Fir", "Gorse"))
CITIES = {ELM: (-96.5, 39.5), FIR: (-95.5, 39.5), GORSE: (-95.5, 38.5)}
FIGURES = {
    NORTHWEST: {1900: "1000", 1930: "1500"},
    NORTHEAST: {1900: "2000", 1930: "1800"},
    SOUTHWEST: {1900: "2000", 1930: "1800"},
    SOUTHEAST: {1900: "500"},
    ELM: {1930: "400"},
    FIR: {1930: "600"},
}
_HERE = Locator(0, 1, 0, 1)


def record(record_id: str, kind: RecordKind, visible: VisibilityClass = PUBLIC, **facts: object) -> Record:
    """A record of the document before its `#`."""
    document_id = record_id.partition("#")[0]
    return Record(record_id, kind, document_id, f"source-{document_id}", visible.class_id, 0, "x", _HERE, **facts)  # type: ignore[arg-type]


def observation(
    record_id: str, place: EntityRef, year: int, value: str, visible: VisibilityClass = PUBLIC, measure: str = POP
) -> Record:
    time = TimeRange.year(year)
    seen = Measurement(place, measure, value, "people", time)
    return record(
        record_id, RecordKind.OBSERVATION, visible, statement="said", time=time, entities=(place,), measurement=seen
    )


def feature(record_id: str, place: EntityRef, shape: object, visible: VisibilityClass = PUBLIC) -> Record:
    encoded = shape if isinstance(shape, bytes) else shapely.to_wkb(shape)
    return record(record_id, RecordKind.FEATURE, visible, statement="drawn", entities=(place,), geometry=encoded)


def relation(
    one: EntityRef,
    predicate: str,
    other: EntityRef,
    record_id: str,
    year: int | None = None,
    visible: VisibilityClass = PUBLIC,
) -> Relationship:
    time = None if year is None else TimeRange.year(year)
    return Relationship(one, predicate, other, visible.class_id, record_id.partition("#")[0], record_id, time)


def region() -> IndexBatch:
    """Everything public: figures in `pop`, outlines in `map`, towns in `towns`."""
    records = [
        observation(f"pop#{place.entity_id}.{year}", place, year, value)
        for place, figures in FIGURES.items()
        for year, value in figures.items()
    ]
    records += [feature(f"map#{place.entity_id}", place, shapely.box(*box)) for place, box in COUNTIES.items()]
    records += [feature(f"towns#{place.entity_id}", place, shapely.Point(*at)) for place, at in CITIES.items()]
    inside = [relation(place, "located_in", STATE, f"map#{place.entity_id}") for place in COUNTIES]
    inside += [relation(place, "located_in", STATE, f"towns#{place.entity_id}") for place in CITIES]
    return IndexBatch(TENANT, records, (), inside)


def asking(*operations: Operation, scope: Scope = SCOPE, top_k: int = 20, times: Sequence[TimeRange] = ()) -> Query:
    return Query("a question", scope, top_k, Intent(operations=operations, times=tuple(times)))


def naming(text: str, entities: Iterable[EntityRef] = (), years: Iterable[int] = (), scope: Scope = SCOPE) -> Query:
    """A question that names entities (by a mention where the text holds the name) and years."""
    mentions = []
    for entity in entities:
        start = text.find(entity.name)
        start = max(start, 0)
        mentions.append(Mention(entity.name, start, start + len(entity.name), (entity,)))
    return Query(text, scope, 20, Intent(tuple(mentions), tuple(TimeRange.year(y) for y in years)))


def mention(record_id: str, said: str, visible: VisibilityClass = PUBLIC) -> SurfaceMention:
    """A name, or a year when it is four digits."""
    document_id = record_id.partition("#")[0]
    if said.isdigit():
        return SurfaceMention(record_id, said, visible.class_id, document_id, TimeRange.year(int(said)))
    return SurfaceMention(record_id, surface_key(said), visible.class_id, document_id)
