"""Rows of the spatial tables in PostGIS as facts: every statement names the tenant and the admitted classes itself.

The server selects, by bounds over a GiST index; distances and predicates are computed from the stored WKB by
`retrieval.spatial.geometry`, so that a computed answer is the same whichever store holds the facts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from retrieval.model import EntityRef, Query
from retrieval.postgres_threads import Connection
from retrieval.scope import Scope
from retrieval.spatial.fact_row import COLUMNS, DEPTH, edges, read_fact
from retrieval.spatial.facts import Box, Fact
from retrieval.statement import Statement

_ADMITTED = "tenant = %(tenant)s AND class_id = ANY(%(classes)s)"
_MEETS = "bounds && ST_MakeEnvelope(%(west)s, %(south)s, %(east)s, %(north)s, 4326)"


class PostgisFacts:
    """The facts that a scope admits. A `SearchedFacts` over one connection; `sent` is what was asked of it."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._admitted = {"tenant": scope.tenant, "classes": sorted(scope.class_ids)}
        self.sent: list[Statement] = []

    def _rows(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        self.sent.append(Statement(statement, self._admitted | values))
        return self._connection.execute(statement.encode(), self.sent[-1].parameters).fetchall()

    def observations(
        self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None, year: int | None = None
    ) -> list[Fact]:
        """See `FactSource`."""
        where, values = _places(place_ids, place_type)
        if year is not None:
            where += " AND start_day <= %(last)s AND end_day >= %(first)s"
            values |= {"first": date(year, 1, 1).toordinal(), "last": date(year, 12, 31).toordinal()}
        return self._facts(f"measure = %(measure)s{where}", measure=measure, **values)

    def years(self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None) -> tuple[int, ...]:
        """See `FactSource`."""
        where, values = _places(place_ids, place_type)
        sql = f"SELECT DISTINCT start_day FROM spatial_fact WHERE measure = %(measure)s AND {_ADMITTED}{where}"  # noqa: S608
        rows = self._rows(sql, measure=measure, **values)
        return tuple(sorted({date.fromordinal(day).year for (day,) in rows if day is not None}))

    def measures(self, place_type: str) -> tuple[str, ...]:
        """See `FactSource`."""
        where = f"measure IS NOT NULL AND place_type = %(type)s AND {_ADMITTED}"
        sql = f"SELECT DISTINCT measure FROM spatial_fact WHERE {where} ORDER BY 1"  # noqa: S608
        return tuple(row[0] for row in self._rows(sql, type=place_type))

    def shapes(
        self, *, place_ids: Collection[str] = (), place_type: str | None = None, box: Box | None = None
    ) -> list[Fact]:
        """See `FactSource`."""
        where, values = _places(place_ids, place_type)
        if box is None:
            return self._facts(f"geometry IS NOT NULL{where}", **values)
        found: dict[str, Fact] = {}
        for sides in edges(box):
            found |= {f.record_id: f for f in self._facts(f"{_MEETS}{where}", **sides, **values)}
        return [found[record_id] for record_id in sorted(found)]

    def members(self, place_id: str) -> Mapping[str, str]:
        """See `FactSource`."""
        found: dict[str, str] = {}
        level = [place_id]
        for _ in range(DEPTH):
            sql = (
                "SELECT subject, min(record_id) FROM spatial_inside"  # noqa: S608
                f" WHERE object = ANY(%(level)s) AND {_ADMITTED} GROUP BY subject ORDER BY subject"
            )
            fresh = {s: r for s, r in self._rows(sql, level=level) if s not in found and s != place_id}
            found |= fresh
            level = sorted(fresh)
            if not level:
                break
        return found

    def place(self, place_id: str) -> EntityRef | None:
        """See `FactSource`."""
        sql = (
            f"SELECT place_name, place_type FROM spatial_fact WHERE place_id = %(place)s AND {_ADMITTED}"  # noqa: S608
            f" UNION SELECT subject_name, subject_type FROM spatial_inside WHERE subject = %(place)s AND {_ADMITTED}"
            f" UNION SELECT object_name, object_type FROM spatial_inside WHERE object = %(place)s AND {_ADMITTED}"
            " ORDER BY 1, 2 LIMIT 1"
        )
        rows = self._rows(sql, place=place_id)
        return EntityRef(place_id, *rows[0]) if rows else None

    def around(self, query: Query, *, limit: int) -> list[Fact]:
        """See `SearchedFacts`."""
        where, values = _times(query)
        values["limit"] = limit
        if query.layers:
            where += " AND source_id = ANY(%(layers)s)"
            values["layers"] = list(query.layers)
        places = [e.entity_id for e in query.intent.entities]
        if places:
            return self._facts(f"place_id = ANY(%(places)s){where}", " LIMIT %(limit)s", places=places, **values)
        found: dict[str, Fact] = {}
        for sides in edges(query.bbox) if query.bbox else ():
            found |= {f.record_id: f for f in self._facts(f"{_MEETS}{where}", " LIMIT %(limit)s", **sides, **values)}
        return [found[record_id] for record_id in sorted(found)]

    def _facts(self, where: str, tail: str = "", /, **values: Any) -> list[Fact]:
        sql = f"SELECT {COLUMNS} FROM spatial_fact WHERE {_ADMITTED} AND {where} ORDER BY record_id{tail}"  # noqa: S608
        return [read_fact(row) for row in self._rows(sql, **values)]


def _places(place_ids: Collection[str], place_type: str | None) -> tuple[str, dict[str, Any]]:
    where, values = "", dict[str, Any]()
    if place_ids:
        where += " AND place_id = ANY(%(place_ids)s)"
        values["place_ids"] = sorted(place_ids)
    if place_type is not None:
        where += " AND place_type = %(place_type)s"
        values["place_type"] = place_type
    return where, values


def _times(query: Query) -> tuple[str, dict[str, Any]]:
    """Dated facts must share a day with one of the times; undated ones stand at any time."""
    times = query.intent.times
    parts = [f"(start_day <= %(to{i})s AND end_day >= %(from{i})s)" for i in range(len(times))]
    values: dict[str, Any] = {f"from{i}": t.start.toordinal() for i, t in enumerate(times)}
    values |= {f"to{i}": t.end.toordinal() for i, t in enumerate(times)}
    return (f" AND (start_day IS NULL OR {' OR '.join(parts)})" if parts else ""), values
