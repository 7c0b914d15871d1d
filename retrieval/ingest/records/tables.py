"""Tables: a row per passage, a figure per observation, each located by row and column and equal to the row's exact
slice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from retrieval.algebra.wording import counted, in_unit
from retrieval.errors import LoadError
from retrieval.ingest.formats.load import SLIP
from retrieval.ingest.parsing.statements import pairs_of
from retrieval.ingest.parsing.table_rows import TableRow, delimiter_of, headed, row_named, split_rows
from retrieval.ingest.records.bearers import Bearers, bearers
from retrieval.ingest.records.kinds import kind_of_file
from retrieval.ingest.records.recognise import (
    FigureColumn,
    Recognised,
    figure_of,
    holds_nothing,
    recognised,
    split_unit,
    words_of,
    year_cell,
)
from retrieval.ingest.records.rows import Fields, NamedEntity, Speaker, year_of
from retrieval.ingest.records.templates import MOST_DIGITS, compile_template, number
from retrieval.ingest.records.undated import attributes_of, with_attributes
from retrieval.ingest.values import (
    DEFAULT_STATEMENT,
    LoadedFile,
    ObservationSpec,
    Owner,
    Parts,
    SourceSpec,
    TableSpec,
)
from retrieval.media_types import DELIMITERS
from retrieval.model import LISTED, Locator, Measurement, Record, RecordKind, TimeRange, headings_above

_LONGEST_LABEL = 40
_TIME_COLUMN = re.compile(r"(?:date|day|hour|month|quarter|season|time|timestamp|week|year|date ?time)", re.IGNORECASE)
"""Columns that say when a row was so."""
_STATEMENT = "The {measure} of {place} {was} {amount} in {year}."


def read_table(source: SourceSpec, loaded: LoadedFile, owner: Owner, lookups: Mapping[str, Mapping[str, str]]) -> Parts:
    """Everything that a table states. A row that is ragged or cannot be read is left out and told. Raises `LoadError`
    where those are more than the others."""
    name = source.path.name
    delimiter = delimiter_of(loaded.text, DELIMITERS[loaded.media_type])
    if source.table is None:
        table = headed(name, loaded.text, delimiter)
        cells = [row.cells for row in table.rows]
        found = recognised(table.columns, cells, source.title, kind_of_file(source.path.stem))
        around = f"{source.title} {_outside(loaded.text, table.rows)}"
        found = with_attributes(found, table.columns, cells, stem=source.path.stem, around=around)
        speaker = Speaker(found.spec, owner, lookups, source.kinds)
        maker = _RowMaker(name, loaded.text, owner, table.columns, speaker, found)
        maker.tell_apart(table.rows)
        parts = maker.parts(table.rows)
        return replace(parts, notes=(*table.notes, *parts.notes))
    rows = split_rows(name, loaded.text, delimiter)
    header = next(rows, None)
    if header is None or not any(cell.strip() for cell in header.cells):
        raise LoadError(f"{name}: the table has no header")
    columns = tuple(cell.strip() for cell in header.cells)
    if len(set(columns)) < len(columns) or "" in columns:
        raise LoadError(f"{name}: the header names a column twice or not at all")
    stated = Recognised(source.table, _stated_figures(name, columns, source.table))
    return _RowMaker(name, loaded.text, owner, columns, Speaker(source.table, owner, lookups), stated).parts(rows)


def with_inner_figures(parts: Parts, title: str, owner: Owner) -> Parts:
    """The passages of a document with the figures of its tables, read as those of a table without years that is a file;
    what stands around one are its headings and the passages beside it."""
    records, entries, edges = list(parts.records), list(parts.entries), list(parts.relationships)
    tables = [list(group) for row, group in groupby(parts.records, _is_row) if row]
    seen = Counter((table[0].heading, tuple(_columns_of(table))) for table in tables)
    for table in tables:
        columns = _columns_of(table)
        if not columns or seen[table[0].heading, tuple(columns)] > 1:
            continue  # parts of one table, between which rows are that say less
        rows = [[dict(pairs_of(row.statement or "")).get(column, "") for column in columns] for row in table]
        at = table[0].ordinal
        beside = [each.text for each in (*parts.records[max(0, at - 2) : at], *parts.records[at + len(table) :][:1])]
        above = headings_above(table[0].heading)
        found = recognised(columns, rows, title)
        around = " ".join((title, *above, *columns, *beside))
        found = with_attributes(found, columns, rows, stem=above[-1] if above else title, around=around)
        if found.spec.point:
            continue
        speaker = Speaker(found.spec, owner, {})
        for row, cells in zip(table, rows, strict=True):
            fields = dict(zip(columns, cells, strict=True))
            named = {} if cells[found.name or 0] in found.totals else speaker.entities(fields)
            thing = named["place"].entity if "place" in named else None
            made = list(attributes_of(row, cells, thing, found, at_column=False))
            records += [replace(each, ordinal=len(records) + n) for n, each in enumerate(made)]
            for each in named.values() if made else ():
                speaker.note(each)
            speaker.relate(row.record_id, fields, named if made else {})
        entries += speaker.seen.values()
        edges += speaker.edges
    return replace(parts, records=tuple(records), entries=tuple(entries), relationships=tuple(edges))


def _is_row(record: Record) -> tuple[str, ...]:
    """The mark that the rows of one table in a document share; empty for what is no row."""
    return () if record.statement is None else ("row", record.heading or "")


def _columns_of(rows: Sequence[Record]) -> list[str]:
    """The columns of a table in a document, by the row that fills most; none where another has one that it lacks."""
    told = [[header for header, _ in pairs_of(row.statement or "")] for row in rows]
    columns = max(told, key=len)
    return columns if all(set(each) <= set(columns) for each in told) and len(set(columns)) == len(columns) else []


def _outside(text: str, rows: Sequence[TableRow]) -> str:
    """The text above and below the rows of a table, its header included."""
    return f"{text[: rows[0].start_char]} {text[rows[-1].end_char :]}" if rows else text


def _stated_figures(name: str, columns: Sequence[str], spec: TableSpec) -> tuple[FigureColumn, ...]:
    """The columns of figures that a manifest describes."""
    observed = spec.observation
    if observed is None:
        return ()
    figures: list[FigureColumn] = []
    for column in observed.columns or tuple(column for column in columns if year_of(column) is not None):
        year = year_of(column)
        if column not in columns or year is None:
            raise LoadError(f"{name}: the column {column!r} is not in the table or is not a year")
        place, time = columns.index(column), TimeRange.year(year)
        figures.append(FigureColumn(column, place, observed.measure, observed.unit, time, column))
    return tuple(figures)


@dataclass(slots=True)
class _RowMaker:
    name: str
    text: str
    owner: Owner
    columns: tuple[str, ...]
    speaker: Speaker
    found: Recognised
    clamped: list[str] = field(default_factory=list)
    totals: list[str] = field(default_factory=list)
    bearers: Bearers = field(default_factory=Bearers)
    unplaced: list[str] = field(default_factory=list)

    def parts(self, rows: Iterable[TableRow]) -> Parts:
        records: list[Record] = []
        left_out: list[str] = []
        at_char = at_byte = taken = 0
        for row in rows:
            at_byte += len(self.text[at_char : row.start_char].encode())
            end_byte = at_byte + len(self.text[row.start_char : row.end_char].encode())
            locator = Locator(row.start_char, row.end_char, at_byte, end_byte, row=row.number)
            at_char, at_byte = row.end_char, end_byte
            try:
                made = self._records(self._cells(row), locator)
            except LoadError as exc:
                left_out.append(str(exc))
                continue
            taken += 1
            records += [replace(record, ordinal=len(records) + n) for n, record in enumerate(made)]
        if len(left_out) > taken:
            raise LoadError(left_out[0])
        told = tuple(each.removeprefix(f"{self.name}: ") for each in left_out)
        entries = tuple(self.speaker.seen.values())
        return Parts(tuple(records), entries, tuple(self.speaker.edges), told, (*self._notes(), *self._clamped()))

    def _notes(self) -> Iterator[str]:
        """The remarks on rows that are of no place, and on names that are of several."""
        if self.totals:
            are = "which is no place" if len(self.totals) == 1 else "which are no places"
            are = "left out of the figures" if self._lists else are
            yield f"{counted(len(self.totals), 'row')} of totals or averages, {are} ({self.totals[0]})"
        names = {entry.entity.entity_id: entry.entity.name for entry in self.speaker.seen.values()}
        if self.bearers.shared:
            one = next((name for each, name in names.items() if each.rsplit("-", 2)[0] in self.bearers.shared), "")
            said = counted(len(self.bearers.shared), "name")
            yield f"{said} of several places, told apart by their positions ({one})"
        if self.unplaced:
            said = counted(len(self.unplaced), "row")
            yield f"{said} without a position under the name of several places, taken as text ({self.unplaced[0]})"
        if self.bearers.moved:
            one = next((name for each, name in names.items() if each in self.bearers.moved), "")
            said = counted(len(self.bearers.moved), "name")
            yield f"{said} at several positions at different times, none of which is taken ({one})"

    def _clamped(self) -> tuple[str, ...]:
        if not self.clamped:
            return ()
        from retrieval.ingest.records.features import clamped_note  # noqa: PLC0415  as below

        return clamped_note(self.clamped)

    def tell_apart(self, rows: Iterable[TableRow]) -> None:
        """Notes which names of places several bear, where the rows have positions."""
        if self.found.name is not None and self.speaker.spec.point:
            self.bearers = bearers(self._positions(rows))

    def _positions(self, rows: Iterable[TableRow]) -> Iterator[tuple[str, str, str, str]]:
        """The id, longitude, latitude and time of each row that names a place."""
        times = [i for i, column in enumerate(self.columns) if i == self.found.year or _TIME_COLUMN.fullmatch(column)]
        for row in rows:
            cells = [cell.strip() for cell in row.cells]
            if len(cells) == len(self.columns) and not self._is_total(cells):
                fields = dict(zip(self.columns, cells, strict=True))
                time = " ".join(cells[i] for i in times)
                for named in self.speaker.entities(fields).values():
                    yield (named.entity.entity_id, *self._degrees(fields), time)

    def _is_total(self, cells: Sequence[str]) -> bool:
        return self.found.name is not None and cells[self.found.name] in self.found.totals

    def _degrees(self, fields: Fields) -> tuple[str, str]:
        """The cells of longitude and latitude."""
        longitude, latitude = self.speaker.spec.point or ("", "")
        x, y = fields.get(longitude, ""), fields.get(latitude, "")
        return ("", "") if self.found.name is not None and holds_nothing(x) and holds_nothing(y) else (x, y)

    def _named(self, fields: Fields) -> dict[str, NamedEntity] | None:
        """The entities of a row, None where several places bear its name and it does not say which is meant."""
        found = self.speaker.entities(fields)
        if not self.bearers.shared:
            return found
        for role, named in found.items():
            told = self.bearers.which(named.entity.entity_id, *self._degrees(fields))
            if told is None:
                return None
            found[role] = replace(named, entity=replace(named.entity, entity_id=told))
        return found

    def _cells(self, row: TableRow) -> list[str]:
        if len(row.cells) != len(self.columns):
            raise LoadError(
                f"{self.name}: {row_named(row.number)}: {len(row.cells)} cells where the header has {len(self.columns)}"
            )
        if SLIP in self.text[row.start_char : row.end_char]:
            raise LoadError(f"{self.name}: {row_named(row.number)}: it is not UTF-8")
        return [cell.strip() for cell in row.cells]

    def _records(self, cells: list[str], at: Locator) -> list[Record]:
        """The row, its point, its figures. Raises `LoadError` before anything of the row is noted."""
        fields = self.speaker.complete(dict(zip(self.columns, cells, strict=True)))
        total = self._is_total(cells)
        named_here = {} if total else self._named(fields)
        entities = named_here or {}
        whole = Record(
            record_id=f"{self.owner.document_id}#r{at.row}",
            kind=RecordKind.PASSAGE,
            document_id=self.owner.document_id,
            source_id=self.owner.source_id,
            class_id=self.owner.class_id,
            ordinal=0,
            text=self.text[at.start_char : at.end_char],
            locator=at,
            statement=self.speaker.statement(fields, self.columns),
            time=self.speaker.time(fields),
            entities=tuple(named.entity for named in entities.values() if not named.entity.listed),
        )
        if total:
            self.totals.append(f"{row_named(at.row)}: {cells[self.found.name or 0][:_LONGEST_LABEL]}")
            return [whole]
        if named_here is None:
            self.unplaced.append(f"{row_named(at.row)}: {cells[self.found.name or 0][:_LONGEST_LABEL]}")
            return [whole]
        made = [whole]
        if self.speaker.spec.point:
            made.append(self._feature(whole, fields))
        observed = self.speaker.spec.observation
        if observed and observed.place in entities:
            place = entities[observed.place].entity
            base = replace(whole, kind=RecordKind.OBSERVATION, entities=(place,))
            for figure in self.found.figures:
                told = self._measured(at, figure, cells, observed)
                if told is not None:
                    measured = Measurement(place, told.measure, told.value, told.unit, told.time)
                    made.append(self._observation(base, figure, measured, self._say(observed, fields, measured, told)))
        thing = entities["place"].entity if "place" in entities else None
        made += attributes_of(whole, cells, thing, self.found)
        for named in entities.values():
            self.speaker.note(named)
        self.speaker.relate(whole.record_id, fields, entities)
        return made

    def _measured(self, at: Locator, figure: FigureColumn, cells: list[str], observed: ObservationSpec) -> _Told | None:
        """The measurement in a cell, or None where it holds no figure, or nothing says of what or when."""
        cell = cells[figure.index]
        if not cell or cell in observed.no_figure:
            return None
        found = figure_of(cell, comma=self.found.comma, bare=observed.strict)
        if found is None:
            if observed.strict:
                raise LoadError(
                    f"{self.name}: {row_named(at.row)}: {cell[:40]!r} in column {figure.column} is not a figure"
                )
            return None
        if len(cell) > MOST_DIGITS:
            raise LoadError(
                f"{self.name}: {row_named(at.row)}: a figure of {len(cell)} characters in column {figure.column}"
            )
        value, unit = found
        year = year_cell(cells[self.found.year]) if self.found.year is not None else None
        time = figure.time or (TimeRange.year(year) if year else None)
        measure, stated = figure.measure, figure.unit
        if measure is None and self.found.measure is not None:
            words, stated = split_unit(cells[self.found.measure])
            measure = words_of(words)
        if self.found.unit is not None:
            stated = cells[self.found.unit] or stated
        if not measure or time is None:
            return None
        return _Told(measure, value, stated or unit, time, figure.year or str(year))

    def _say(self, observed: ObservationSpec, fields: Fields, measured: Measurement, told: _Told) -> str | None:
        said = {**fields, "place": measured.place.name, "measure": told.measure, "unit": told.unit}
        said |= {"value": told.value, "year": told.year}
        if observed.strict or told.measure == observed.measure:
            template = observed.statement
        else:
            template = _STATEMENT
            said["was"] = "were" if told.measure.endswith("s") and not told.measure.endswith("ss") else "was"
        said["amount"] = _amount(told.value, told.unit)
        return compile_template(template)(said) or compile_template(DEFAULT_STATEMENT)(said) or None

    def _observation(self, base: Record, figure: FigureColumn, measured: Measurement, statement: str | None) -> Record:
        return replace(
            base,
            record_id=f"{base.record_id}.{figure.index}",
            locator=replace(base.locator, column=figure.column),
            statement=statement,
            time=measured.time if measured else figure.time,
            measurement=measured,
        )

    @property
    def _lists(self) -> bool:
        """True if its things are such as only a table without times lists."""
        return any(each.id.startswith(LISTED) for each in self.speaker.spec.entities)

    def _feature(self, whole: Record, fields: Fields) -> Record:
        from retrieval.ingest.records.features import placed_point  # noqa: PLC0415  geometry is loaded where a table has places

        row = row_named(whole.locator.row)
        moved = any(each.entity_id in self.bearers.moved for each in whole.entities)
        placed = placed_point(f"{self.name}: {row}", *(("", "") if moved else self._degrees(fields)))
        if placed.clamped:
            self.clamped.append(row)
        return replace(
            whole,
            record_id=f"{whole.record_id}.f",
            kind=RecordKind.FEATURE,
            locator=replace(whole.locator, feature=str(whole.locator.row)),
            geometry=placed.wkb,
        )


@dataclass(frozen=True, slots=True)
class _Told:
    """The measurement in a cell; `year` is its time in words."""

    measure: str
    value: str
    unit: str
    time: TimeRange
    year: str


def _amount(value: str, unit: str) -> str:
    """A figure with its unit, as it is written in a sentence."""
    return in_unit(number(value), unit)
