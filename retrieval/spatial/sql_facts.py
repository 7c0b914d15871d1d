"""Facts from SQL, the same statements for a file and a server: every one names the tenant and the admitted classes
itself.

The store selects, by bounds over its spatial index; distances and predicates are computed from the stored WKB by
`retrieval.spatial.geometry`, so that a computed answer is the same whichever store holds the facts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar

from retrieval.coarse import coarse_wkb
from retrieval.model import EntityRef, Query
from retrieval.scope import Scope
from retrieval.spatial import geometry
from retrieval.spatial.fact_row import COLUMNS, DEPTH, edges, read_fact
from retrieval.spatial.facts import Box, Fact


class SqlFacts(ABC):
    """The facts that a scope admits. A `SearchedFacts` over one connection. Parameters are written `:name`.

    What operations compute with leaves out the geometries that the scope shows on a grid only: distances, borders and
    places within are told of exact ones. A search around a place meets a coarse one where it is shown.

    A store says what its tables are called (`fact`, `inside`), where facts with bounds are found (`bounded`) and when
    those meet the box of `:west`, `:south`, `:east` and `:north` (`meets`).
    """

    fact: ClassVar[str]
    inside: ClassVar[str]
    bounded: ClassVar[str]
    meets: ClassVar[str]

    def __init__(self, scope: Scope) -> None:
        self._scope = {"tenant": scope.tenant, "classes": self._list(sorted(scope.class_ids))}
        self._admitted = f"tenant = :tenant AND {self._among('class_id', 'classes')}"
        self._grids = {class_id: (metres, decimals) for class_id, metres, decimals in scope.coarse}
        self._exact = ""
        if self._grids:
            self._scope["coarse"] = self._list(sorted(self._grids))
            self._exact = f" AND (geometry IS NULL OR NOT {self._among('class_id', 'coarse')})"

    @abstractmethod
    def _rows(self, sql: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]: ...

    @staticmethod
    @abstractmethod
    def _among(column: str, name: str) -> str:
        """The condition that the column is in the list of that name."""

    @staticmethod
    @abstractmethod
    def _list(values: Sequence[str]) -> object:
        """The list as a parameter."""

    def observations(
        self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None, year: int | None = None
    ) -> list[Fact]:
        """See `FactSource`."""
        where, values = self._places(place_ids, place_type)
        if year is not None:
            where += " AND start_day <= :last AND end_day >= :first"
            values |= {"first": date(year, 1, 1).toordinal(), "last": date(year, 12, 31).toordinal()}
        return self._facts(f"measure = :measure{where}{self._exact}", measure=measure, **values)

    def years(self, measure: str, *, place_ids: Collection[str] = (), place_type: str | None = None) -> tuple[int, ...]:
        """See `FactSource`."""
        where, values = self._places(place_ids, place_type)
        found = self._select(
            "DISTINCT start_day",
            f"{self.fact} WHERE measure = :measure{where}{self._exact}",
            measure=measure,
            **values,
        )
        return tuple(sorted({date.fromordinal(day).year for (day,) in found if day is not None}))

    def measures(self, place_type: str) -> tuple[str, ...]:
        """See `FactSource`."""
        where = f"{self.fact} WHERE measure IS NOT NULL AND place_type = :type{self._exact}"
        return tuple(row[0] for row in self._select("DISTINCT measure", where, " ORDER BY 1", type=place_type))

    def shapes(
        self, *, place_ids: Collection[str] = (), place_type: str | None = None, box: Box | None = None
    ) -> list[Fact]:
        """See `FactSource`."""
        where, values = self._places(place_ids, place_type)
        where += self._exact
        if box is None:
            return self._facts(f"geometry IS NOT NULL{where}", **values)
        return self._meeting(box, where, **values)

    def members(self, place_id: str) -> Mapping[str, str]:
        """See `FactSource`."""
        found: dict[str, str] = {}
        level = [place_id]
        for _ in range(DEPTH):
            where = f"{self.inside} WHERE {self._among('object', 'level')}"
            tail = " GROUP BY subject ORDER BY subject"
            stated = self._select("subject, min(record_id)", where, tail, level=self._list(level))
            fresh = {s: r for s, r in stated if s not in found and s != place_id}
            found |= fresh
            level = sorted(fresh)
            if not level:
                break
        return found

    def place(self, place_id: str) -> EntityRef | None:
        """See `FactSource`."""
        sources = (
            (self.fact, "place_id", "place"),
            (self.inside, "subject", "subject"),
            (self.inside, "object", "object"),
        )
        named = (
            f"SELECT {prefix}_name, {prefix}_type FROM {table} WHERE {column} = :place AND {self._admitted}"  # noqa: S608
            for table, column, prefix in sources
        )
        rows = self._rows(" UNION ".join(named) + " ORDER BY 1, 2 LIMIT 1", {"place": place_id})
        return EntityRef(place_id, *rows[0]) if rows else None

    def around(self, query: Query, *, limit: int) -> list[Fact]:
        """See `SearchedFacts`."""
        where, values = _times(query)
        if query.layers:
            where += f" AND {self._among('source_id', 'layers')}"
            values["layers"] = self._list(query.layers)
        places = [e.entity_id for e in query.intent.entities]
        if places:
            among = self._among("place_id", "places")
            return self._facts(f"{among}{where}", " LIMIT :limit", places=self._list(places), limit=limit, **values)
        if query.bbox is None:
            return []
        exact = self._meeting(query.bbox, f"{where}{self._exact}", " LIMIT :limit", limit=limit, **values)
        return _in_order([*exact, *self._coarse_in(query.bbox, where, **values)])[:limit]

    def drawn_in(self, box: Box) -> list[Fact]:
        """See `SearchedFacts`."""
        return _in_order([*self.shapes(box=box), *self._coarse_in(box, "")])

    def _coarse_in(self, box: Box, where: str, **values: Any) -> list[Fact]:
        """The coarse facts that are shown inside the box. Where they really lie has no bearing, so all of them are
        looked at."""
        if not self._grids:
            return []
        found = self._facts(f"geometry IS NOT NULL AND {self._among('class_id', 'coarse')}{where}", **values)
        return [fact for fact in found if fact.geometry is not None and _meets(geometry.bounds(fact.geometry), box)]

    def _meeting(self, box: Box, where: str, tail: str = "", /, **values: Any) -> list[Fact]:
        """Facts whose bounds meet the box."""
        found: dict[str, Fact] = {}
        for sides in edges(box):
            facts = self._facts(f"{self.meets}{where}", tail, source=self.bounded, **sides, **values)
            found |= {fact.record_id: fact for fact in facts}
        return [found[record_id] for record_id in sorted(found)]

    def _facts(self, where: str, tail: str = "", /, *, source: str = "", **values: Any) -> list[Fact]:
        columns = f"{COLUMNS}, class_id"
        rows = self._select(columns, f"{source or self.fact} WHERE {where}", f" ORDER BY record_id{tail}", **values)
        return [self._as_seen(read_fact(row), class_id) for *row, class_id in rows]

    def _as_seen(self, fact: Fact, class_id: str) -> Fact:
        """The fact, its geometry on the grid that the scope shows it on."""
        grid = self._grids.get(class_id)
        if grid is None or fact.geometry is None:
            return fact
        return replace(fact, geometry=coarse_wkb(fact.geometry, *grid))

    def _select(self, columns: str, source: str, tail: str = "", /, **values: Any) -> list[tuple[Any, ...]]:
        return self._rows(f"SELECT {columns} FROM {source} AND {self._admitted}{tail}", values)  # noqa: S608

    def _places(self, place_ids: Collection[str], place_type: str | None) -> tuple[str, dict[str, Any]]:
        where, values = "", dict[str, Any]()
        if place_ids:
            where += f" AND {self._among('place_id', 'place_ids')}"
            values["place_ids"] = self._list(sorted(place_ids))
        if place_type is not None:
            where += " AND place_type = :place_type"
            values["place_type"] = place_type
        return where, values


def _in_order(facts: Sequence[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: fact.record_id)


def _meets(bounds: Box, box: Box) -> bool:
    west, south, east, north = bounds
    return any(
        west <= side["east"] and east >= side["west"] and south <= side["north"] and north >= side["south"]
        for side in edges(box)
    )


def _times(query: Query) -> tuple[str, dict[str, Any]]:
    """Dated facts must share a day with one of the times; undated ones hold at any time."""
    times = query.intent.times
    parts = [f"(start_day <= :to{i} AND end_day >= :from{i})" for i in range(len(times))]
    values: dict[str, Any] = {f"from{i}": t.start.toordinal() for i, t in enumerate(times)}
    values |= {f"to{i}": t.end.toordinal() for i, t in enumerate(times)}
    return (f" AND (start_day IS NULL OR {' OR '.join(parts)})" if parts else ""), values
