"""The rows that ingest puts into the spatial tables of PostGIS: a row per fact, its bounds, and which place lies in
which."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from retrieval.index import IndexBatch
from retrieval.servers.postgres_threads import Connection, copying, exists, secure
from retrieval.spatial import geometry
from retrieval.spatial.fact_row import CONTAINMENT, fact_row, inside_row
from retrieval.spatial.facts import Fact

_TEXT = 'text COLLATE "C"'
_TABLES = f"""
CREATE TABLE spatial_document (document_id {_TEXT} PRIMARY KEY);
CREATE TABLE spatial_fact (
  record_id {_TEXT} PRIMARY KEY, document_id {_TEXT} NOT NULL, source_id {_TEXT} NOT NULL, tenant {_TEXT} NOT NULL,
  class_id {_TEXT} NOT NULL, place_id {_TEXT} NOT NULL, place_name {_TEXT} NOT NULL, place_type {_TEXT} NOT NULL,
  measure {_TEXT}, value {_TEXT}, unit {_TEXT}, start_day integer, end_day integer, geometry bytea,
  bounds geometry(Polygon, 4326));
CREATE INDEX spatial_fact_document ON spatial_fact (document_id);
CREATE INDEX spatial_fact_place ON spatial_fact (place_id, measure, start_day);
CREATE INDEX spatial_fact_measure ON spatial_fact (place_type, measure, class_id, start_day, end_day)
  WHERE measure IS NOT NULL;
CREATE INDEX spatial_fact_shape ON spatial_fact (place_type, class_id) WHERE geometry IS NOT NULL;
CREATE INDEX spatial_fact_bounds ON spatial_fact USING gist (bounds);
CREATE TABLE spatial_inside (
  subject {_TEXT} NOT NULL, object {_TEXT} NOT NULL, class_id {_TEXT} NOT NULL, tenant {_TEXT} NOT NULL,
  record_id {_TEXT} NOT NULL, document_id {_TEXT} NOT NULL, subject_name {_TEXT} NOT NULL, subject_type {_TEXT} NOT
  NULL, object_name {_TEXT} NOT NULL, object_type {_TEXT} NOT NULL);
CREATE INDEX spatial_inside_object ON spatial_inside (object, subject);
CREATE INDEX spatial_inside_subject ON spatial_inside (subject);
CREATE INDEX spatial_inside_document ON spatial_inside (document_id)
"""
_OF_RECORDS = ("spatial_fact", "spatial_inside")
_NAMES = (*_OF_RECORDS, "spatial_document")


@dataclass(frozen=True, slots=True)
class DocumentRows:
    """The contribution of one document."""

    facts: list[tuple[object, ...]] = field(default_factory=list)
    inside: list[tuple[str, ...]] = field(default_factory=list)


def rows_of(batch: IndexBatch) -> dict[str, DocumentRows]:
    """The rows of every document of the batch. Raises `ValueError` for a geometry that is none."""
    found = {record.document_id: DocumentRows() for record in batch.records}
    for record in batch.records:
        fact = Fact.of(record)
        if fact is not None:
            bounds = None if fact.geometry is None else _bounds(fact.geometry)
            found[record.document_id].facts.append((*fact_row(batch.tenant, record, fact), bounds))
    for relation in batch.relationships:
        if relation.predicate == CONTAINMENT and relation.document_id in found:
            found[relation.document_id].inside.append(inside_row(batch.tenant, relation))
    return found


def _bounds(wkb: bytes) -> str:
    west, south, east, north = geometry.bounds(wkb)
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    return f"SRID=4326;POLYGON(({', '.join(f'{x!r} {y!r}' for x, y in corners)}))"


def replace(
    connection: Connection, removed: Collection[str], added: Mapping[str, DocumentRows], *, row_security: bool
) -> None:
    """Takes documents out and puts documents in; the tables are made when they do not exist, and have row-level
    security or not."""
    if not exists(connection, "spatial_document"):
        if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'postgis'").fetchone() is None:
            connection.execute("CREATE EXTENSION IF NOT EXISTS postgis SCHEMA public")
        connection.execute(_TABLES.encode())
    secure(connection, _OF_RECORDS, wanted=row_security)
    for table in _NAMES:
        connection.execute(f"DELETE FROM {table} WHERE document_id = ANY(%s)".encode(), (sorted(removed),))  # noqa: S608
    contents: tuple[Sequence[tuple[object, ...]], ...] = (
        [row for rows in added.values() for row in rows.facts],
        [row for rows in added.values() for row in rows.inside],
        [(document_id,) for document_id in added],
    )
    for table, rows in zip(_NAMES, contents, strict=True):
        with copying(connection, table) as copy:
            for row in rows:
                copy.write_row(row)


def drop(connection: Connection) -> None:
    """Takes the tables away."""
    if exists(connection, "spatial_document"):
        connection.execute(f"DROP TABLE {', '.join(_NAMES)}".encode())
