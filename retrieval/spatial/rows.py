"""The spatial database in a file: its tables, and their rows as facts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from retrieval.files.sqlite_rows import typed_rows
from retrieval.scope import Scope
from retrieval.spatial.fact_row import COLUMNS
from retrieval.spatial.sql_facts import SqlFacts

SCHEMA = """
CREATE TABLE IF NOT EXISTS document(document_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fact(
  rid INTEGER PRIMARY KEY, record_id TEXT NOT NULL, document_id TEXT NOT NULL, source_id TEXT NOT NULL,
  tenant TEXT NOT NULL, class_id TEXT NOT NULL, place_id TEXT NOT NULL, place_name TEXT NOT NULL, place_type TEXT NOT
  NULL, measure TEXT, value TEXT, unit TEXT, start_day INTEGER, end_day INTEGER, geometry BLOB);
CREATE INDEX IF NOT EXISTS fact_document ON fact(document_id);
CREATE INDEX IF NOT EXISTS fact_place ON fact(place_id, measure, start_day);
CREATE INDEX IF NOT EXISTS fact_measure ON fact(place_type, measure, class_id, start_day, end_day)
  WHERE measure IS NOT NULL;
CREATE INDEX IF NOT EXISTS fact_shape ON fact(place_type, class_id) WHERE geometry IS NOT NULL;
CREATE VIRTUAL TABLE IF NOT EXISTS box USING rtree(rid, west, east, south, north);
CREATE TABLE IF NOT EXISTS inside(
  subject TEXT NOT NULL, object TEXT NOT NULL, class_id TEXT NOT NULL, tenant TEXT NOT NULL, record_id TEXT NOT NULL,
  document_id TEXT NOT NULL, subject_name TEXT NOT NULL, subject_type TEXT NOT NULL, object_name TEXT NOT NULL,
  object_type TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS inside_object ON inside(object, subject);
CREATE INDEX IF NOT EXISTS inside_subject ON inside(subject);
CREATE INDEX IF NOT EXISTS inside_document ON inside(document_id)
"""

STATED = (
    f"SELECT document_id, tenant, class_id, {COLUMNS} FROM fact ORDER BY document_id, record_id",  # noqa: S608
    "SELECT fact.document_id, fact.record_id, west, east, south, north FROM box LEFT JOIN fact USING (rid)"
    " ORDER BY 1, 2",
    "SELECT document_id, subject, object, class_id, tenant, record_id, subject_name, subject_type, object_name,"
    " object_type FROM inside ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
)
"""The statements of the tables, by document (`Tables.stated`)."""


class FactRows(SqlFacts):
    """The facts of a file."""

    fact = "fact"
    inside = "inside"
    bounded = "box CROSS JOIN fact USING (rid)"
    meets = "box.west <= :east AND box.east >= :west AND box.south <= :north AND box.north >= :south"

    def __init__(self, connection: apsw.Connection, scope: Scope) -> None:
        super().__init__(scope)
        self._connection = connection

    def of(self, scope: Scope) -> FactRows:
        """See `SearchedFacts`."""
        return FactRows(self._connection, scope)

    def _rows(self, sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return typed_rows(self._connection.execute(sql, {**self._scope, **values}))

    @staticmethod
    def _among(column: str, name: str) -> str:
        return f"{column} IN (SELECT value FROM json_each(:{name}))"  # noqa: S608

    @staticmethod
    def _list(values: Sequence[str]) -> object:
        return json.dumps(values)
