"""Tables that no manifest describes: what their headers and cells say by themselves.

A year is a header (`1900`, `Population 1900`, `1990 [YR1990]`) or a column of its own; a unit stands in brackets behind
its measure; latitude and longitude are a place. What is not sure is not said: a row is a passage whatever else it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from retrieval.english.lists import word_list
from retrieval.ingest.records.codes import are_codes, is_named_as_code
from retrieval.ingest.records.kinds import kind_column, kind_of_header, may_tell_kinds, named_places
from retrieval.ingest.records.rows import NAME_COLUMN
from retrieval.ingest.records.templates import MOST_DIGITS, slug
from retrieval.ingest.records.totals import kinds_named, sums_among, totals_among
from retrieval.ingest.values import EntitySpec, ObservationSpec, TableSpec
from retrieval.model import TimeRange

STATEMENT = "{place} had a {measure} of {amount} in {year}."
_PLACE = re.compile(
    r"(?:country|nation|state|province|region|district|municipality|parish|village|town|city|county|borough|area|territory"
    r"|department|station|site|location|place|entity|geography|reservoir|river|lake)(?:[ _](?:name|title))?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?:\.0)?(?!\d)", re.ASCII)
_YEAR_COLUMN = re.compile(r"(?:calendar |fiscal |census |reference )?years?|yr", re.IGNORECASE)
_MEASURE_COLUMN = re.compile(
    r"(?:indicator|series|measure|variable|statistic|item|element)(?:[ _]name)?", re.IGNORECASE
)
_VALUE_COLUMN = re.compile(r"(?:obs[ _])?values?|amount|figure", re.IGNORECASE)
_UNIT_COLUMN = re.compile(r"units?(?: of measure(?:ment)?)?", re.IGNORECASE)
_LATITUDE = re.compile(r"(?:decimal[ _])?lat(?:itude)?(?:[ _]?(?:dd|deg|wgs84))?", re.IGNORECASE)
_LONGITUDE = re.compile(r"(?:decimal[ _])?(?:lon|lng|long|longitude)(?:[ _]?(?:dd|deg|wgs84))?", re.IGNORECASE)
_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,40})[)\]]\s*$")
_AFTER_COMMA = re.compile(r",\s*([^,\s][^,]{0,19})$")
_SUFFIX = re.compile(r"[ _](km2|km|m2|ha|kg|mm|cm|pct|percent|usd|eur|gbp|sqmi|sq mi|miles|feet|ft)$", re.IGNORECASE)
_SUFFIX_UNITS = {"pct": "%", "percent": "%", "usd": "USD", "eur": "EUR", "gbp": "GBP", "sqmi": "sq mi"}
_EMPTY_WORDS = frozenset(
    ("", "y", "yr", "fy", "year", "census", "est", "estimate", "estimates", "value", "values", "in", "x")
)
_PLAIN = re.compile(r"-?(?:\d+|\d{1,3}(?:[, ]\d{3})+)(?:\.\d+)?", re.ASCII)
_COMMA = re.compile(r"-?(?:\d+|\d{1,3}(?:[. ]\d{3})+)(?:,\d+)?", re.ASCII)
_SURE_COMMA = re.compile(r"-?(?:\d{1,3}(?:\.\d{3})+,\d+|\d+,(?:\d{1,2}|\d{4,}))", re.ASCII)
_SPACES = str.maketrans(
    {"\u00a0": " ", "\u2009": " ", "\u202f": " ", "'": " ", "\u2019": " ", "\u2212": "-", "\u2013": "-"}
)
_SIGNS = {"%": "%", "$": "$", "£": "£", "€": "€"}
_NO_FIGURE = word_list(
    "na nan nk null tba tbc tbd missing unknown nodata nofigure notapplicable notavailable notknown notrecorded"
) | {""}
"""Words in the place of a figure that is not known, without spaces and signs."""
_SAMPLE = 500
_MOSTLY = 0.9


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A column of figures: its place in the row, what it measures and in which unit (both None where a column of the
    row says so), and its time (None where a column of the row says so)."""

    column: str
    index: int
    measure: str | None
    unit: str | None
    time: TimeRange | None
    year: str = ""


@dataclass(frozen=True, slots=True)
class Recognised:
    """A table as recognised by itself: its spec, its figures, and the columns that tell of each row's year, measure and
    unit. `comma` is true where a comma stands before the decimals. `name` is the column of places (None where there is
    none, and where a manifest describes the table), `totals` are those of its cells whose rows sum up others.
    `attributes` are the columns of figures without a time, in a table without years."""

    spec: TableSpec
    figures: tuple[FigureColumn, ...] = ()
    year: int | None = None
    measure: int | None = None
    unit: int | None = None
    comma: bool = False
    name: int | None = None
    totals: frozenset[str] = frozenset()
    attributes: tuple[FigureColumn, ...] = ()


def recognised(
    columns: Sequence[str], rows: Sequence[Sequence[str]], title: str, kind: str | None = None
) -> Recognised:
    """The table as its headers and first rows describe it; `title` names what is measured where nothing else does,
    `kind` is that of its places where no column says so."""
    sample = [row for row in rows[:_SAMPLE] if len(row) == len(columns)]
    cells = {column: [row[i].strip() for row in sample if row[i].strip()] for i, column in enumerate(columns)}
    comma = any(_SURE_COMMA.fullmatch(_tidy(cell)) for column in cells.values() for cell in column)
    point = _point(cells)
    by_header = _years_in_headers(columns, cells, comma=comma)
    name = _name_of(columns, cells, needed=bool(by_header))
    year = next((i for i, column in enumerate(columns) if _is_year_column(column, cells[column])), None)
    if year is not None and name is not None and tells_each_once(sample, columns.index(name), year):
        year = None
    if name is None or not (by_header or year is not None):
        entities = _places(name, columns, rows, kind) if name is not None and point else ()
        found = Recognised(TableSpec(point=point, entities=entities), comma=comma)
        return _without_totals(found, name, columns, rows, kind) if name is not None and entities else found
    measure = next((i for i, each in enumerate(columns) if _MEASURE_COLUMN.fullmatch(each) and each != name), None)
    unit = next((i for i, each in enumerate(columns) if _UNIT_COLUMN.fullmatch(each)), None)
    apart = {name, *(point or ())}
    figures = by_header or _measured(columns, cells, apart, comma=comma, has_measure=measure is not None)
    changing = _changing(columns, sample, name) if not by_header else set(columns)
    figures = tuple(each for each in figures if not _is_of_codes(each, cells[each.column], changing))
    called = slug(title).replace("-", " ") or "value"
    if measure is None:
        figures = tuple(_called(each, called) for each in figures)
    spec = TableSpec(
        point=point,
        entities=_places(name, columns, rows, kind),
        observation=ObservationSpec("place", called, unit="", statement=STATEMENT, strict=False),
    )
    found = Recognised(spec, figures, None if by_header else year, measure, unit, comma)
    return _without_totals(found, name, columns, rows, kind)


def _is_of_codes(figure: FigureColumn, cells: Sequence[str], changing: Collection[str]) -> bool:
    """True for a column whose numbers name something; `changing` are those of which one place has several."""
    header = _YEAR.sub("", figure.column).strip() if figure.year else figure.column
    return are_codes(header, cells, free=figure.unit is None and figure.column not in changing)


def _changing(columns: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> set[str]:
    """The columns of which one place has several cells: what names it would be the same at all times."""
    at = columns.index(name)
    seen: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            seen.setdefault((column, row[at].strip()), set()).add(cell.strip())
    return {column for (column, _), cells in seen.items() if len(cells - {""}) > 1}


def _without_totals(
    found: Recognised, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]], kind: str | None
) -> Recognised:
    """The table with its column of places, and which of the names there stand for others together."""
    at = columns.index(name)
    whole = [[cell.strip() for cell in row] for row in rows if len(row) == len(columns)]
    totals = totals_among({row[at] for row in whole}, kinds_named(name, kind))
    named = [row for row in whole if row[at] and row[at] not in totals]
    return replace(found, name=at, totals=totals | sums_among(_cells_of(named, at, columns, found)))


def _cells_of(
    rows: Sequence[Sequence[str]], name: int, columns: Sequence[str], found: Recognised
) -> Iterator[tuple[str, Hashable, Decimal]]:
    """The figures of the rows by name, each with what tells it from others of its row and of other times."""
    figures = [figure.index for figure in found.figures]
    if not figures and found.spec.observation is None:  # a table of places without years
        cells = {column: [row[i] for row in rows if row[i]] for i, column in enumerate(columns)}
        apart = {columns[name], *(found.spec.point or ())}
        measured = _measured(columns, cells, apart, comma=found.comma, has_measure=False)
        figures = [figure.index for figure in measured]
    keys = [i for i in (found.year, found.measure, found.unit) if i is not None]
    for row in rows:
        key = tuple(row[i] for i in keys)
        for index in figures:
            told = figure_of(row[index], comma=found.comma)
            if told is not None and len(row[index]) <= MOST_DIGITS:
                yield row[name], (index, key), Decimal(told[0])


def _places(
    name: str, columns: Sequence[str], rows: Sequence[Sequence[str]], kind: str | None
) -> tuple[EntitySpec, ...]:
    """The places that the column names: of the kind that its header says, else of that in a column of kinds, else of
    the table's."""
    said = kind_of_header(name)
    if said is not None:
        return named_places(name, None, (), said)
    whole = [row for row in rows if len(row) == len(columns)]
    values = {each: [row[i].strip() for row in whole] for i, each in enumerate(columns) if may_tell_kinds(each)}
    kinds = kind_column(values, apart=name)
    return named_places(name, kinds, values[kinds] if kinds else (), kind)


def _called(figure: FigureColumn, title: str) -> FigureColumn:
    """The column of a table whose measure is the table itself, where its header names none."""
    if figure.measure is not None:
        return figure
    return FigureColumn(figure.column, figure.index, title, figure.unit, figure.time, figure.year)


def _mostly(cells: Sequence[str], fits: Sequence[bool]) -> bool:
    return bool(cells) and sum(fits) >= _MOSTLY * len(cells)


def holds_nothing(cell: str) -> bool:
    """True for a cell that is empty, or says that no figure is known: `n/a`, `TBC`, `..`."""
    return re.sub(r"[\W_]+", "", cell.casefold()) in _NO_FIGURE


def _are(cells: Sequence[str], fits: Callable[[str], bool]) -> bool:
    """True if at least two cells fit, and all that hold something, or most of all."""
    filled = [each for each in cells if not holds_nothing(each)]
    return (len(filled) > 1 and all(map(fits, filled))) or _mostly(cells, [fits(each) for each in cells])


def _name_of(columns: Sequence[str], cells: Mapping[str, Sequence[str]], *, needed: bool) -> str | None:
    """The column that names the places: by its header, else (where figures need one) the first if it holds words."""
    for pattern in (NAME_COLUMN, _PLACE):
        found = next((column for column in columns if pattern.fullmatch(column)), None)
        if found is not None:
            return found
    first = columns[0]
    words = cells[first]
    return first if needed and _mostly(words, [any(c.isalpha() for c in each) for each in words]) else None


def _is_year_column(column: str, cells: Sequence[str]) -> bool:
    return bool(_YEAR_COLUMN.fullmatch(column)) and _are(cells, lambda cell: year_cell(cell) is not None)


def tells_each_once(rows: Sequence[Sequence[str]], name: int, year: int) -> bool:
    """True for a table that names each thing once, with years that hardly two share: these are the things' own, as that
    in which each was built, and no series of figures."""
    years = Counter(row[year].strip() for row in rows)
    once = len({row[name].strip() for row in rows}) == len(rows)
    return once and 2 * max(years.values(), default=0) <= len(rows)


def is_place_column(header: str) -> bool:
    """True for a header under which the names of places stand."""
    return _PLACE.fullmatch(header) is not None


def year_cell(cell: str) -> int | None:
    """The year that a cell is, None for anything else."""
    found = _YEAR.fullmatch(cell.strip())
    return int(found[1]) if found else None


def _years_in_headers(
    columns: Sequence[str], cells: Mapping[str, Sequence[str]], *, comma: bool
) -> tuple[FigureColumn, ...]:
    found: list[FigureColumn] = []
    for index, column in enumerate(columns):
        years = set(_YEAR.findall(column))
        rest = _YEAR.sub(" ", column)
        rest, unit = split_unit(re.sub(r"[(\[](?:\s|YR)*[)\]]", " ", rest).strip())
        if len(years) != 1 or any(c.isdigit() for c in rest):
            continue
        words = words_of(rest)
        if words and not any(figure_of(cell, comma=comma) for cell in cells[column]):
            continue
        (year,) = years
        found.append(FigureColumn(column, index, words or None, unit, TimeRange.year(int(year)), year))
    return tuple(found)


def _measured(
    columns: Sequence[str], cells: Mapping[str, Sequence[str]], apart: set[str], *, comma: bool, has_measure: bool
) -> tuple[FigureColumn, ...]:
    """The columns of figures of a table that has its years in a column."""
    found: list[FigureColumn] = []
    for index, column in enumerate(columns):
        told = cells[column]
        if column in apart or is_named_as_code(column):
            continue
        if not _are(told, lambda cell: figure_of(cell, comma=comma) is not None or not any(map(str.isalnum, cell))):
            continue
        value = bool(_VALUE_COLUMN.fullmatch(column))
        if has_measure and not value:
            continue
        words, unit = split_unit(column)
        if not any(map(str.isalpha, words)):
            continue
        found.append(FigureColumn(column, index, None if value else words_of(words) or None, unit, None))
    return tuple(found)


def words_of(text: str) -> str:
    """The words of a header or cell as a measure: small letters but for names; empty where it says nothing."""
    words = " ".join(re.sub(r"[_\W]+", " ", text).split())
    return "" if words.lower() in _EMPTY_WORDS else words if any(c.isupper() for c in words[1:]) else words.lower()


def split_unit(header: str) -> tuple[str, str | None]:
    """The words of a header and the unit that it ends in: `Area (km2)`, `Yield [t/ha]`, `Share, %`, `area_km2`."""
    for pattern in (_BRACKETS, _AFTER_COMMA):
        found = pattern.search(header)
        if found and found.start():
            return header[: found.start()].rstrip(), found[1].strip()
    found = _SUFFIX.search(header)
    if found:
        return header[: found.start()], _SUFFIX_UNITS.get(found[1].lower(), found[1])
    return header, None


def _point(cells: Mapping[str, Sequence[str]]) -> tuple[str, str] | None:
    """The columns of longitude and latitude, if the table has both and they can be."""
    latitude = next((each for each in cells if _LATITUDE.fullmatch(split_unit(each)[0].strip())), None)
    longitude = next((each for each in cells if _LONGITUDE.fullmatch(split_unit(each)[0].strip())), None)
    if latitude is None or longitude is None:
        return None
    fit = all(_are(cells[column], partial(_within, most=most)) for column, most in ((latitude, 90), (longitude, 180)))
    return (longitude, latitude) if fit else None


def _within(cell: str, most: int) -> bool:
    try:
        return abs(float(cell)) <= most + 1e-6
    except ValueError:
        return False


def _tidy(cell: str) -> str:
    return cell.translate(_SPACES).strip()


def figure_of(cell: str, *, comma: bool = False, bare: bool = False) -> tuple[str, str] | None:
    """The decimal text of a cell and the unit that stands in it (`12.5 %`, `$1,200`), None where it is no figure.
    `comma`: it stands before the decimals; `bare`: nothing but a figure may be in the cell."""
    if bare:
        return (cell.replace(",", "").replace(" ", ""), "") if _PLAIN.fullmatch(cell) else None
    text, unit = _tidy(cell), ""
    minus = "-" if text[:1] == "-" and text[1:2] in _SIGNS else ""
    text = text[len(minus) :]
    for sign, word in _SIGNS.items():
        if text.startswith(sign) or text.endswith(sign):
            text, unit = minus + text.removeprefix(sign).removesuffix(sign).strip(), word
            break
    if comma and _COMMA.fullmatch(text):
        return text.replace(".", "").replace(" ", "").replace(",", "."), unit
    if not comma and _PLAIN.fullmatch(text):
        return text.replace(",", "").replace(" ", ""), unit
    return None
