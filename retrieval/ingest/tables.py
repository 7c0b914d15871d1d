"""Tables: a row per passage, a figure per observation, each located by row and column and equal to the row's exact slice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from retrieval.errors import LoadError
from retrieval.ingest.rows import Fields, Named, Speaker, year_of
from retrieval.ingest.templates import compile_template, slug
from retrieval.ingest.values import EntitySpec, Loaded, ObservationSpec, Owner, Parts, TableSpec
from retrieval.model import Locator, Measurement, Record, RecordKind, TimeRange

_DELIMITERS = {"text/csv": ",", "text/tab-separated-values": "\t"}
_FIGURE = re.compile(r"-?(?:\d+|\d{1,3}(?:[, ]\d{3})+)(?:\.\d+)?")
_NAME_COLUMN = re.compile(
    r"(?:place|county|city|town|state|area|region)?[ _]?name|place|county|city|town", re.IGNORECASE
)
_MAX_CELLS = 4096


@dataclass(frozen=True, slots=True)
class TableRow:
    """One data row: its cells and its characters, without the line's end."""

    number: int
    cells: list[str]
    start_char: int
    end_char: int


def split_rows(name: str, text: str, delimiter: str) -> Iterator[TableRow]:
    """Header (number -1) and data rows (from 0) by RFC 4180, with offsets. A blank line is no row. `LoadError` names the row."""
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


def read_table(
    name: str, loaded: Loaded, owner: Owner, spec: TableSpec, lookups: Mapping[str, Mapping[str, str]]
) -> Parts:
    """Everything that a table states. Raises `LoadError` naming the row that is ragged or cannot be read."""
    rows = split_rows(name, loaded.text, _DELIMITERS[loaded.media_type])
    header = next(rows, None)
    if header is None or not any(cell.strip() for cell in header.cells):
        raise LoadError(f"{name}: the table has no header")
    columns = tuple(cell.strip() for cell in header.cells)
    if len(set(columns)) < len(columns) or "" in columns:
        raise LoadError(f"{name}: the header names a column twice or not at all")
    speaker = Speaker(spec, owner, lookups)
    maker = _RowMaker(name, loaded.text, owner, columns, speaker)
    return maker.parts(rows)


@dataclass(slots=True)
class _RowMaker:
    name: str
    text: str
    owner: Owner
    columns: tuple[str, ...]
    speaker: Speaker

    def parts(self, rows: Iterator[TableRow]) -> Parts:
        figures = self._figure_columns()
        records: list[Record] = []
        at_char = at_byte = 0
        for row in rows:
            if len(row.cells) != len(self.columns):
                raise LoadError(
                    f"{self.name}: row {row.number}: {len(row.cells)} cells where the header has {len(self.columns)}"
                )
            at_byte += len(self.text[at_char : row.start_char].encode())
            end_byte = at_byte + len(self.text[row.start_char : row.end_char].encode())
            locator = Locator(row.start_char, row.end_char, at_byte, end_byte, row=row.number)
            at_char, at_byte = row.end_char, end_byte
            self._row(row, locator, figures, records)
        return Parts(tuple(records), tuple(self.speaker.seen.values()), tuple(self.speaker.edges))

    def _figure_columns(self) -> tuple[tuple[str, int, TimeRange], ...]:
        observed = self.speaker.spec.observation
        if observed is None:
            return ()
        wanted = observed.columns or tuple(column for column in self.columns if year_of(column) is not None)
        figures: list[tuple[str, int, TimeRange]] = []
        for column in wanted:
            year = year_of(column)
            if column not in self.columns or year is None:
                raise LoadError(f"{self.name}: the column {column!r} is not in the table or is no year")
            figures.append((column, self.columns.index(column), TimeRange.year(year)))
        return tuple(figures)

    def _row(
        self,
        row: TableRow,
        locator: Locator,
        figures: tuple[tuple[str, int, TimeRange], ...],
        records: list[Record],
    ) -> None:
        cells = [cell.strip() for cell in row.cells]
        fields = self.speaker.complete(dict(zip(self.columns, cells, strict=True)))
        entities = self.speaker.entities(fields)
        for named in entities.values():
            self.speaker.note(named)
        whole = Record(
            record_id=f"{self.owner.document_id}#r{row.number}",
            kind=RecordKind.PASSAGE,
            document_id=self.owner.document_id,
            source_id=self.owner.source_id,
            class_id=self.owner.class_id,
            ordinal=len(records),
            text=self.text[locator.start_char : locator.end_char],
            locator=locator,
            statement=self.speaker.statement(fields, self.columns),
            time=self.speaker.time(fields),
            entities=tuple(named.entity for named in entities.values()),
        )
        records.append(whole)
        self.speaker.relate(whole.record_id, fields, entities)
        if self.speaker.spec.point:
            records.append(self._feature(whole, fields, len(records)))
        observed = self.speaker.spec.observation
        place = entities.get(observed.place) if observed else None
        if observed and place:
            records += self._observations(whole, cells, place, observed, figures, len(records))

    def _feature(self, whole: Record, fields: Fields, ordinal: int) -> Record:
        from retrieval.ingest.features import point_wkb  # noqa: PLC0415  geometry is loaded where a table has places

        longitude, latitude = self.speaker.spec.point or ("", "")
        point = point_wkb(f"{self.name}: row {whole.locator.row}", fields.get(longitude, ""), fields.get(latitude, ""))
        feature = str(whole.locator.row)
        return replace(
            whole,
            record_id=f"{whole.record_id}.f",
            kind=RecordKind.FEATURE,
            ordinal=ordinal,
            locator=replace(whole.locator, feature=feature),
            geometry=point,
        )

    def _observations(
        self,
        whole: Record,
        cells: list[str],
        place: Named,
        observed: ObservationSpec,
        figures: tuple[tuple[str, int, TimeRange], ...],
        ordinal: int,
    ) -> Iterator[Record]:
        say = compile_template(observed.statement)
        at = whole.locator
        for column, index, time in figures:
            cell = cells[index]
            if not cell or cell in observed.no_figure:
                continue
            if not _FIGURE.fullmatch(cell):
                raise LoadError(f"{self.name}: row {at.row}: {cell[:40]!r} in column {column} is no figure")
            value = cell.replace(",", "").replace(" ", "")
            said = {"place": place.entity.name, "measure": observed.measure, "value": value, "unit": observed.unit}
            yield Record(
                record_id=f"{whole.record_id}.{index}",
                kind=RecordKind.OBSERVATION,
                document_id=whole.document_id,
                source_id=whole.source_id,
                class_id=whole.class_id,
                ordinal=ordinal,
                text=whole.text,
                locator=Locator(at.start_char, at.end_char, at.start_byte, at.end_byte, row=at.row, column=column),
                statement=say({**said, "year": column}),
                time=time,
                entities=(place.entity,),
                measurement=Measurement(place.entity, observed.measure, value, observed.unit, time),
            )
            ordinal += 1


def inferred_spec(loaded: Loaded, title: str) -> TableSpec:
    """What an undeclared table says by its headers: with a column of names and columns that are years, cells that are figures
    are observations of a measure called as the table is; otherwise rows are passages only."""
    header = loaded.text.splitlines()[0].split(_DELIMITERS[loaded.media_type]) if loaded.text else []
    columns = [cell.strip().strip('"') for cell in header]
    name = next((column for column in columns if _NAME_COLUMN.fullmatch(column)), None)
    if name is None or not any(year_of(column) for column in columns):
        return TableSpec()
    place = EntitySpec(role="place", type="place", id=f"place:{{{name}|slug}}", name=f"{{{name}}}")
    observed = ObservationSpec(place="place", measure=slug(title).replace("-", " ") or "value", unit="")
    return TableSpec(entities=(place,), observation=observed)
