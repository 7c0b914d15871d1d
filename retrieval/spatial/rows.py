"""Rows of the spatial database as facts: every statement names the tenant and the admitted classes itself."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

import apsw

from retrieval.model import EntityRef, Query
from retrieval.scope import Scope
from retrieval.spatial.fact_row import COLUMNS, DEPTH, edges, read_fact
from retrieval.spatial.facts import Box, Fact

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
_ADMITTED = "tenant = :tenant AND class_id IN (SELECT value FROM json_each(:classes))"


class FactRows:
    """The facts that a scope admits. A `FactSource` over one connection."""

    def __init__(self, connection: apsw.Connection, scope: Scope) -> None:
        self._connection = connection
        self._admitted = {"tenant": scope.tenant, "classes": json.dumps(sorted(scope.class_ids))}

    def _rows(self, sql: str, **values: Any) -> list[Any]:
        return list(self._connection.execute(sql, {**self._admitted, **values}))

    def observations(
        self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None, year: int | None = None
    ) -> list[Fact]:
        """See `FactSource`."""
        where, values = _places(place_ids, place_type)
        if year is not None:
            where += " AND start_day <= :last AND end_day >= :first"
            values |= {"first": date(year, 1, 1).toordinal(), "last": date(year, 12, 31).toordinal()}
        sql = f"SELECT {COLUMNS} FROM fact WHERE measure = :measure AND {_ADMITTED}{where} ORDER BY record_id"  # noqa: S608
        return [read_fact(row) for row in self._rows(sql, measure=measure, **values)]

    def years(self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None) -> tuple[int, ...]:
        """See `FactSource`."""
        where, values = _places(place_ids, place_type)
        sql = f"SELECT DISTINCT start_day FROM fact WHERE measure = :measure AND {_ADMITTED}{where}"  # noqa: S608
        rows = self._rows(sql, measure=measure, **values)
        return tuple(sorted({date.fromordinal(day).year for (day,) in rows if day is not None}))

    def measures(self, place_type: str) -> tuple[str, ...]:
        """See `FactSource`."""
        where = f"measure IS NOT NULL AND place_type = :type AND {_ADMITTED}"
        sql = f"SELECT DISTINCT measure FROM fact WHERE {where} ORDER BY 1"  # noqa: S608
        return tuple(row[0] for row in self._rows(sql, type=place_type))

    def shapes(
        self, *, place_ids: Collection[str] = (), place_type: str | None = None, box: Box | None = None
    ) -> list[Fact]:
        """See `FactSource`."""
        where, values = _places(place_ids, place_type)
        if box is None:
            sql = f"SELECT {COLUMNS} FROM fact WHERE geometry IS NOT NULL AND {_ADMITTED}{where} ORDER BY record_id"  # noqa: S608
            return [read_fact(row) for row in self._rows(sql, **values)]
        found: dict[str, Fact] = {}
        for sides in edges(box):
            sql = (
                f"SELECT {COLUMNS} FROM box CROSS JOIN fact USING (rid) WHERE box.west <= :east AND box.east >= :west"  # noqa: S608
                f" AND box.south <= :north AND box.north >= :south AND {_ADMITTED}{where}"
            )
            found |= {row[0]: read_fact(row) for row in self._rows(sql, **sides, **values)}
        return [found[record_id] for record_id in sorted(found)]

    def members(self, place_id: str) -> Mapping[str, str]:
        """See `FactSource`."""
        found: dict[str, str] = {}
        level = [place_id]
        for _ in range(DEPTH):
            sql = (
                "SELECT subject, min(record_id) FROM inside WHERE object IN (SELECT value FROM json_each(:level))"  # noqa: S608
                f" AND {_ADMITTED} GROUP BY subject ORDER BY subject"
            )
            fresh = {s: r for s, r in self._rows(sql, level=json.dumps(level)) if s not in found and s != place_id}
            found |= fresh
            level = sorted(fresh)
            if not level:
                break
        return found

    def place(self, place_id: str) -> EntityRef | None:
        """See `FactSource`."""
        sql = (
            f"SELECT place_name, place_type FROM fact WHERE place_id = :place AND {_ADMITTED}"  # noqa: S608
            f" UNION SELECT subject_name, subject_type FROM inside WHERE subject = :place AND {_ADMITTED}"
            f" UNION SELECT object_name, object_type FROM inside WHERE object = :place AND {_ADMITTED}"
            " ORDER BY 1, 2 LIMIT 1"
        )
        rows = self._rows(sql, place=place_id)
        return EntityRef(place_id, *rows[0]) if rows else None

    def around(self, query: Query, *, limit: int) -> list[Fact]:
        """Facts of the places that a question names, else of the region it shows, narrowed to its times and layers;
        at most `limit`."""
        where, values = _times(query)
        if query.layers:
            where += " AND source_id IN (SELECT value FROM json_each(:layers))"
            values["layers"] = json.dumps(query.layers)
        places = [e.entity_id for e in query.intent.entities]
        if places:
            where += " AND place_id IN (SELECT value FROM json_each(:places))"
            sql = f"SELECT {COLUMNS} FROM fact WHERE {_ADMITTED}{where} ORDER BY record_id LIMIT :limit"  # noqa: S608
            return [read_fact(row) for row in self._rows(sql, places=json.dumps(places), limit=limit, **values)]
        found: dict[str, Fact] = {}
        for sides in edges(query.bbox) if query.bbox else ():
            sql = (
                f"SELECT {COLUMNS} FROM box CROSS JOIN fact USING (rid) WHERE box.west <= :east AND box.east >= :west"  # noqa: S608
                f" AND box.south <= :north AND box.north >= :south AND {_ADMITTED}{where}"
                " ORDER BY record_id LIMIT :limit"
            )
            found |= {row[0]: read_fact(row) for row in self._rows(sql, limit=limit, **sides, **values)}
        return [found[record_id] for record_id in sorted(found)]


def _places(place_ids: Collection[str], place_type: str | None) -> tuple[str, dict[str, Any]]:
    where, values = "", dict[str, Any]()
    if place_ids:
        where += " AND place_id IN (SELECT value FROM json_each(:place_ids))"
        values["place_ids"] = json.dumps(sorted(place_ids))
    if place_type is not None:
        where += " AND place_type = :place_type"
        values["place_type"] = place_type
    return where, values


def _times(query: Query) -> tuple[str, dict[str, Any]]:
    """Dated facts must share a day with one of the times; undated ones stand at any time."""
    times = query.intent.times
    parts = [f"(start_day <= :to{i} AND end_day >= :from{i})" for i in range(len(times))]
    values = {f"from{i}": t.start.toordinal() for i, t in enumerate(times)}
    values |= {f"to{i}": t.end.toordinal() for i, t in enumerate(times)}
    return (f" AND (start_day IS NULL OR {' OR '.join(parts)})" if parts else ""), values
