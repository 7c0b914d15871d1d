"""Values to rows and back. Column lists stand here once, in the order of the tuples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

from retrieval.index import GazetteerEntry
from retrieval.model import (
    Attribute,
    EntityRef,
    Lifecycle,
    Locator,
    Measurement,
    Record,
    RecordKind,
    Relationship,
    SourceFacts,
    TimeRange,
)
from retrieval.registry.sql.engine import Row, parsing, text
from retrieval.scope import VisibilityClass
from retrieval.web_address import web_address

RECORD = (
    "record_id, document_id, ordinal, kind, class_id, text, start_char, end_char, start_byte, end_byte, page,"
    " row_number, column_name, feature, heading, statement, time_start, time_end, entities, place_id, place_name,"
    " place_type, measure, value, unit, measured_start, measured_end, geometry"
)
CLASS = "class_id, tenant, collection, label, handling, groups, owner_group, allow_list"
GAZETTEER = "document_id, position, class_id, entity_id, name, type, names"
RELATIONSHIP = (
    "document_id, position, class_id, record_id, subject_id, subject_name, subject_type, predicate, object_id,"
    " object_name, object_type, time_start, time_end"
)
FACTS = (
    "document_id, source_id, class_id, lifecycle, title, license, attribution, uri, valid_until_ms, text_sha256, text,"
    " valid_from_ms"
)


def columns_of(alias: str, columns: str) -> str:
    """A list of columns behind the alias of their table: `g.name, g.type`."""
    return ", ".join(f"{alias}.{column}" for column in columns.split(", "))


def _times(time: TimeRange | None) -> tuple[str | None, str | None]:
    return (None, None) if time is None else (time.start.isoformat(), time.end.isoformat())


@lru_cache(maxsize=4096)  # few spans and entities recur in many records, and the values are frozen
def _time(start: str | None, end: str | None) -> TimeRange | None:
    return None if start is None or end is None else TimeRange(date.fromisoformat(start), date.fromisoformat(end))


@lru_cache(maxsize=4096)
def _entities(packed: str) -> tuple[EntityRef, ...]:
    return tuple(EntityRef(*map(text, entity)) for entity in json.loads(packed))


_KINDS = {kind.value: kind for kind in RecordKind}


def record_row(record: Record) -> Row:
    """The row of `RECORD`."""
    at = record.locator
    entities = json.dumps([[e.entity_id, e.name, e.type] for e in record.entities]) if record.entities else None
    return (
        *(record.record_id, record.document_id, record.ordinal, record.kind.value, record.class_id, record.text),
        *(at.start_char, at.end_char, at.start_byte, at.end_byte, at.page, at.row, at.column, at.feature),
        *(record.heading, record.statement, *_times(record.time), entities),
        *_figure_row(record.measurement or record.attribute),
        record.geometry,
    )


def _figure_row(figure: Measurement | Attribute | None) -> Row:
    """A figure; the days of an attribute are null."""
    if figure is None:
        return (None,) * 8
    place, time = figure.place, figure.time if isinstance(figure, Measurement) else None
    return (place.entity_id, place.name, place.type, figure.measure, figure.value, figure.unit, *_times(time))


def record_value(row: Row, source_id: str) -> Record:
    """The record of a row of `RECORD`; the source is the document's. Raises `StoreDamaged`."""
    with parsing(row[0]):
        figure = _figure(row[19:27]) if row[22] else None
        return Record(
            record_id=row[0],
            kind=_KINDS[row[3]],
            document_id=row[1],
            source_id=source_id,
            class_id=row[4],
            ordinal=row[2],
            text=row[5],
            locator=_locator(row),
            heading=row[14],
            statement=row[15],
            time=_time(row[16], row[17]),
            entities=_entities(row[18]) if row[18] else (),
            measurement=figure if isinstance(figure, Measurement) else None,
            geometry=row[27],
            attribute=figure if isinstance(figure, Attribute) else None,
        )


def _locator(row: Row) -> Locator:
    at = Locator(*row[6:14])
    if at.end_char - at.start_char != len(row[5]) or at.end_byte - at.start_byte != len(row[5].encode()):
        raise ValueError("the text is not as long as its place")
    return at


def _figure(row: Sequence[Any]) -> Measurement | Attribute | None:
    """A measurement, an attribute where neither day is stored, or nothing where one of them is gone."""
    place_id, name, kind, measure, value, unit = map(text, row[:6])
    Decimal(value)
    place = EntityRef(place_id, name, kind)
    if row[6] is None and row[7] is None:
        return Attribute(place, measure=measure, value=value, unit=unit)
    time = _time(row[6], row[7])
    return None if time is None else Measurement(place, measure=measure, value=value, unit=unit, time=time)


def class_row(visibility: VisibilityClass) -> Row:
    """The row of `CLASS`."""
    lists = [json.dumps(list(value)) for value in (visibility.handling, visibility.groups, visibility.allow_list)]
    return (
        *(visibility.class_id, visibility.tenant, visibility.collection, visibility.label),
        *(lists[0], lists[1], visibility.owner_group, lists[2]),
    )


def class_value(row: Row, valid_from_ms: int | None, valid_until_ms: int | None) -> VisibilityClass:
    """The class of a row of `CLASS`, with the times of a document in it. Records of earlier versions are in classes
    without times, which their id tells."""
    with parsing(row[0]):
        plain = VisibilityClass(
            tenant=row[1],
            collection=row[2],
            label=row[3],
            handling=_texts(row[4]),
            groups=_texts(row[5]),
            owner_group=row[6],
            allow_list=_texts(row[7]),
        )
    timed = replace(plain, valid_from_ms=valid_from_ms, valid_until_ms=valid_until_ms)
    return timed if timed.class_id == row[0] else plain


def is_class(row: Row, valid_from_ms: int | None, valid_until_ms: int | None) -> bool:
    """True if a row of `CLASS` states the access facts that its id is the digest of."""
    return bool(class_value(row, valid_from_ms, valid_until_ms).class_id == row[0])


def _texts(packed: str) -> tuple[str, ...]:
    listed = json.loads(packed)
    if not isinstance(listed, list):
        raise TypeError("not a list")
    return tuple(map(text, listed))


def gazetteer_row(position: int, entry: GazetteerEntry) -> Row:
    """The row of `GAZETTEER`."""
    entity = entry.entity
    names = json.dumps(entry.names, ensure_ascii=False)
    return (entry.document_id, position, entry.class_id, entity.entity_id, entity.name, entity.type, names)


def gazetteer_value(row: Row) -> GazetteerEntry:
    """The entry of a row of `GAZETTEER`."""
    with parsing(f"a name in {row[0]}"):
        return GazetteerEntry(EntityRef(row[3], row[4], row[5]), _texts(row[6]), row[2], row[0])


def relationship_row(position: int, edge: Relationship) -> Row:
    """The row of `RELATIONSHIP`."""
    subject, other = edge.subject, edge.object
    return (
        *(edge.document_id, position, edge.class_id, edge.record_id),
        *(subject.entity_id, subject.name, subject.type, edge.predicate, other.entity_id, other.name, other.type),
        *_times(edge.time),
    )


def relationship_value(row: Row) -> Relationship:
    """The edge of a row of `RELATIONSHIP`."""
    with parsing(f"a relationship in {row[0]}"):
        return Relationship(
            subject=EntityRef(row[4], row[5], row[6]),
            predicate=row[7],
            object=EntityRef(row[8], row[9], row[10]),
            class_id=row[2],
            document_id=row[0],
            record_id=row[3],
            time=_time(row[11], row[12]),
        )


def facts_value(row: Row, visibility: VisibilityClass, text_sha256: str) -> SourceFacts:
    """The facts of a row of `FACTS`; `text_sha256` is of the text as it stands now, the row's own that of the indexed
    text."""
    with parsing(row[0]):
        return SourceFacts(
            source_id=row[1],
            document_id=row[0],
            title=row[4],
            license=row[5],
            attribution=row[6],
            uri=web_address(row[7]),
            collection=visibility.collection,
            document_sha256=text_sha256,
            indexed_sha256=row[9],
            lifecycle=Lifecycle(row[3]),
            valid_until_ms=row[8],
            visibility=visibility,
        )
