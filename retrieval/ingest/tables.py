"""Tables: a row per passage, a figure per observation, each located by row and column and equal to the row's exact
slice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from retrieval.errors import LoadError
from retrieval.ingest.load import SLIP
from retrieval.ingest.rows import NAME_COLUMN, Fields, Speaker, named_place, year_of
from retrieval.ingest.templates import MOST_DIGITS, compile_template, slug
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
from retrieval.model import Locator, Measurement, Record, RecordKind, TimeRange

_FIGURE = re.compile(r"-?(?:\d+|\d{1,3}(?:[, ]\d{3})+)(?:\.\d+)?", re.ASCII)
_MAX_CELLS = 4096


@dataclass(frozen=True, slots=True)
class TableRow:
    """One data row: its cells and its characters, without the line's end."""

    number: int
    cells: list[str]
    start_char: int
    end_char: int


def split_rows(name: str, text: str, delimiter: str) -> Iterator[TableRow]:
    """Header (number -1) and data rows (from 0) by RFC 4180, with offsets. A blank line is no row. `LoadError` names
    the row."""
    plain = re.compile(f'([^{delimiter}"\r\n]*)')
    position, number = 0, -1
    while position < len(text):
        if text[position] in "\r\n":
            position += 1
            continue
        start, cells = position, []
        while True:
            cell, position = _cell(name, text, position, number, plain)
            cells.append(cell)
            if position >= len(text) or text[position] in "\r\n":
                break
            if text[position] != delimiter or len(cells) > _MAX_CELLS:
                raise LoadError(f"{name}: {_row(number)}: a quote inside an unquoted cell, or too many cells")
            position += 1
        yield TableRow(number, cells, start, position)
        number += 1


def _cell(name: str, text: str, position: int, number: int, plain: re.Pattern[str]) -> tuple[str, int]:
    if not text.startswith('"', position):
        match = plain.match(text, position)
        assert match is not None  # noqa: S101  the pattern matches the empty string
        return match[1], match.end()
    parts: list[str] = []
    position += 1
    while True:
        end = text.find('"', position)
        if end < 0:
            raise LoadError(f"{name}: {_row(number)}: a quoted cell is never closed")
        parts.append(text[position:end])
        position = end + 1
        if not text.startswith('"', position):
            return '"'.join(parts), position
        position += 1


def _row(number: int) -> str:
    return "the header" if number < 0 else f"row {number}"


def read_table(source: SourceSpec, loaded: LoadedFile, owner: Owner, lookups: Mapping[str, Mapping[str, str]]) -> Parts:
    """Everything that a table states. A row that is ragged or cannot be read is left out and told. Raises `LoadError`
    where those are more than the others."""
    name = source.path.name
    rows = split_rows(name, loaded.text, DELIMITERS[loaded.media_type])
    header = next(rows, None)
    if header is None or not any(cell.strip() for cell in header.cells):
        raise LoadError(f"{name}: the table has no header")
    columns = tuple(cell.strip() for cell in header.cells)
    if len(set(columns)) < len(columns) or "" in columns:
        raise LoadError(f"{name}: the header names a column twice or not at all")
    speaker = Speaker(source.table or inferred_spec(columns, source.title), owner, lookups)
    maker = _RowMaker(name, loaded.text, owner, columns, speaker)
    return maker.parts(rows)


@dataclass(frozen=True, slots=True)
class _Figures:
    """A column whose cells are figures."""

    column: str
    index: int
    time: TimeRange


@dataclass(slots=True)
class _RowMaker:
    name: str
    text: str
    owner: Owner
    columns: tuple[str, ...]
    speaker: Speaker
    clamped: list[str] = field(default_factory=list)

    def parts(self, rows: Iterator[TableRow]) -> Parts:
        figures = self._figures()
        records: list[Record] = []
        left_out: list[str] = []
        at_char = at_byte = taken = 0
        for row in rows:
            at_byte += len(self.text[at_char : row.start_char].encode())
            end_byte = at_byte + len(self.text[row.start_char : row.end_char].encode())
            locator = Locator(row.start_char, row.end_char, at_byte, end_byte, row=row.number)
            at_char, at_byte = row.end_char, end_byte
            try:
                made = self._records(self._cells(row), locator, figures)
            except LoadError as exc:
                left_out.append(str(exc))
                continue
            taken += 1
            records += [replace(record, ordinal=len(records) + n) for n, record in enumerate(made)]
        if len(left_out) > taken:
            raise LoadError(left_out[0])
        told = tuple(each.removeprefix(f"{self.name}: ") for each in left_out)
        notes: tuple[str, ...] = ()
        if self.clamped:
            from retrieval.ingest.features import clamped_note  # noqa: PLC0415  as below

            notes = clamped_note(self.clamped)
        return Parts(tuple(records), tuple(self.speaker.seen.values()), tuple(self.speaker.edges), told, notes)

    def _cells(self, row: TableRow) -> list[str]:
        if len(row.cells) != len(self.columns):
            raise LoadError(
                f"{self.name}: row {row.number}: {len(row.cells)} cells where the header has {len(self.columns)}"
            )
        if SLIP in self.text[row.start_char : row.end_char]:
            raise LoadError(f"{self.name}: row {row.number}: it is not UTF-8")
        return [cell.strip() for cell in row.cells]

    def _figures(self) -> tuple[_Figures, ...]:
        observed = self.speaker.spec.observation
        if observed is None:
            return ()
        figures: list[_Figures] = []
        for column in observed.columns or tuple(column for column in self.columns if year_of(column) is not None):
            year = year_of(column)
            if column not in self.columns or year is None:
                raise LoadError(f"{self.name}: the column {column!r} is not in the table or is not a year")
            figures.append(_Figures(column, self.columns.index(column), TimeRange.year(year)))
        return tuple(figures)

    def _records(self, cells: list[str], at: Locator, figures: tuple[_Figures, ...]) -> list[Record]:
        """The row, its point, its figures. Raises `LoadError` before anything of the row is noted."""
        fields = self.speaker.complete(dict(zip(self.columns, cells, strict=True)))
        entities = self.speaker.entities(fields)
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
            entities=tuple(named.entity for named in entities.values()),
        )
        made = [whole]
        if self.speaker.spec.point:
            made.append(self._feature(whole, fields))
        observed = self.speaker.spec.observation
        if observed and observed.place in entities:
            place = entities[observed.place].entity
            base = replace(whole, kind=RecordKind.OBSERVATION, entities=(place,))
            said = {**fields, "place": place.name, "measure": observed.measure, "unit": observed.unit}
            for figure in figures:
                value = self._value(at, figure.column, cells[figure.index], observed)
                if value is not None:
                    measured = Measurement(place, observed.measure, value, observed.unit, figure.time)
                    statement = self._say(observed, {**said, "value": value, "year": figure.column})
                    made.append(self._observation(base, figure, measured, statement))
        for named in entities.values():
            self.speaker.note(named)
        self.speaker.relate(whole.record_id, fields, entities)
        return made

    def _value(self, at: Locator, column: str, cell: str, observed: ObservationSpec) -> str | None:
        """The decimal text of a cell, or None where it holds no figure."""
        if not cell or cell in observed.no_figure:
            return None
        if _FIGURE.fullmatch(cell):
            if len(cell) > MOST_DIGITS:
                raise LoadError(f"{self.name}: row {at.row}: a figure of {len(cell)} characters in column {column}")
            return cell.replace(",", "").replace(" ", "")
        if observed.strict:
            raise LoadError(f"{self.name}: row {at.row}: {cell[:40]!r} in column {column} is not a figure")
        return None

    def _say(self, observed: ObservationSpec, fields: Fields) -> str | None:
        return compile_template(observed.statement)(fields) or compile_template(DEFAULT_STATEMENT)(fields) or None

    def _observation(self, base: Record, figure: _Figures, measured: Measurement, statement: str | None) -> Record:
        return replace(
            base,
            record_id=f"{base.record_id}.{figure.index}",
            locator=replace(base.locator, column=figure.column),
            statement=statement,
            time=figure.time,
            measurement=measured,
        )

    def _feature(self, whole: Record, fields: Fields) -> Record:
        from retrieval.ingest.features import placed_point  # noqa: PLC0415  geometry is loaded where a table has places

        longitude, latitude = self.speaker.spec.point or ("", "")
        row = f"row {whole.locator.row}"
        placed = placed_point(f"{self.name}: {row}", fields.get(longitude, ""), fields.get(latitude, ""))
        if placed.clamped:
            self.clamped.append(row)
        return replace(
            whole,
            record_id=f"{whole.record_id}.f",
            kind=RecordKind.FEATURE,
            locator=replace(whole.locator, feature=str(whole.locator.row)),
            geometry=placed.wkb,
        )


def inferred_spec(columns: tuple[str, ...], title: str) -> TableSpec:
    """The table that headers describe without a manifest: with a column of names and columns that are years, cells that
    are figures are observations of a measure called as the table is; otherwise rows are passages only."""
    name = next((column for column in columns if NAME_COLUMN.fullmatch(column)), None)
    if name is None or not any(year_of(column) for column in columns):
        return TableSpec()
    measure = slug(title).replace("-", " ") or "value"
    return TableSpec(
        entities=(named_place(name),), observation=ObservationSpec("place", measure, unit="", strict=False)
    )
