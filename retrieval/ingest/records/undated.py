"""Tables without years whose rows are things of one kind, each with a name of its own: what their columns of figures
say of them, without a time.

What is not certain is not said. A table is one of such things only if every row has a name and no two have the same,
and nothing about it bears a year that its figures may be of (in a table of films, each with its own `Year`, that is
when they came about); a column is one of figures only if every cell that holds anything is one, all in one unit.
The rest stays text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from retrieval.algebra.domain import CONTAINMENT
from retrieval.algebra.measures import Measure
from retrieval.algebra.wording import CALENDAR_YEAR, HAS, IS, OF, plural, singular
from retrieval.english.collectives import CLASSES, are_people, one_of
from retrieval.english.lists import NOT_NAMES, STOP_WORDS, word_list
from retrieval.english.stems import is_many, is_past
from retrieval.ingest.records.codes import are_codes, is_named_as_code
from retrieval.ingest.records.kinds import FORM_WORDS, kind_of_word, named_place, words_of_header
from retrieval.ingest.records.recognise import (
    FigureColumn,
    Recognised,
    figure_of,
    holds_nothing,
    is_place_column,
    split_unit,
    tells_each_once,
    words_of,
)
from retrieval.ingest.records.rows import NAME_COLUMN
from retrieval.ingest.records.templates import MOST_DIGITS, number, slug
from retrieval.ingest.records.totals import kinds_named, totals_among
from retrieval.ingest.values import EntitySpec, RelationSpec
from retrieval.model import LISTED, Attribute, EntityRef, Record, RecordKind

GROUPS = word_list("""
    barn branch building category class club continent crew department division dormitory faculty field floor garage
    genre group hall kennel league office paddock room section sector shed shelf squad stable stall team warehouse wing
    yard
    """)
"""Words beside those for kinds of places for what things are in."""
ROW = "row"
"""The kind of a thing of which neither the header nor the file says what it is."""
PERSON = "person"
_MOST_ROWS, _LEAST_ROWS = 5_000, 2
_LONGEST_NAME = 80
_NAMES = re.compile(r"(?:item|label|model|title)(?:[ _]name)?", re.IGNORECASE)
_TIME_COLUMN = re.compile(
    r"(?:date|day|hour|month|period|quarter|season|time|timestamp|week|year|date ?time)", re.IGNORECASE
)
"""Columns that say when a row was so: one thing may have several such rows."""
_YEAR_ITSELF = re.compile(r"year", re.IGNORECASE)
"""The column that may say in which year each thing came about."""
_A_YEAR = re.compile(r"(?<!\d)(?:1[5-9]\d\d|20\d\d)(?!\d)", re.ASCII)
_YEAR_CELL = re.compile(r"1\d{3}|20\d{2}|2100", re.ASCII)
_STARTS = word_list("since start")
_NO_MEASURES = word_list("edition position ref rev revision version")
_ASSERTED = frozenset({"yes", "true", "y"})
_ASSERTIONS = ({"yes", "no"}, {"true", "false"}, {"y", "n"})
_QUALITY = re.compile(r"[a-z]{3,20}(?:[ -][a-z]{2,20}){0,2}", re.ASCII)
_NAMED = re.compile(r"[^\W\d_][^\W\d_.'’-]{2,20}(?:[ -][^\W\d_][^\W\d_.'’-]{0,20}){0,3}")
_MOST_QUALITIES = 12
_LEAST_OTHERS = 3
"""A figure that is the sum of so many others is one of a total that nothing names."""


def with_attributes(
    found: Recognised, columns: Sequence[str], rows: Sequence[Sequence[str]], *, stem: str, around: str
) -> Recognised:
    """The table with the figures of its things, where it has no years; as it was where that is not certain. `stem` is
    the file's name, `around` all else that is said of the table and in it, above and below its rows."""
    whole = [[cell.strip() for cell in row] for row in rows if len(row) == len(columns)]
    timed = [column for column in columns if _TIME_COLUMN.fullmatch(column)]
    if (
        found.spec.observation
        or (timed and not _YEAR_ITSELF.fullmatch(" ".join(timed)))
        or _A_YEAR.search(f"{stem} {around}")
        or len(whole) < len(rows)
    ):
        return found
    headers = [" ".join(split_unit(column)[0].casefold().replace("_", " ").split()) for column in columns]
    of_file = kind_of_stem(stem, headers)
    if any(_kind_of(column) == of_file and not _holds_names(columns, whole, column) for column in columns):
        of_file = None  # `salaries`, of a column of salaries
    name = columns[found.name] if found.name is not None else _name_of(columns, whole, of_file)
    if name is None or not _LEAST_ROWS <= len(whole) <= _MOST_ROWS:
        return found
    at = columns.index(name)
    told = _kind_of(name)
    told = told and (one_of(told, headers) or told)
    kind = (of_file if told is None or _NAMES.fullmatch(name) else told) or told
    kind = kind or (PERSON if are_people(headers) else ROW)
    totals = found.totals or totals_among({row[at] for row in whole}, kinds_named(name, kind))
    things = [row for row in whole if row[at] not in totals]
    owned = not timed or (not is_place_column(kind) and tells_each_once(things, at, columns.index(timed[0])))
    if not owned or not _each_named_once(things, at):
        return found
    apart = {name, *(found.spec.point or ())}
    figures = tuple(_figures(columns, things, apart, comma=found.comma))
    if not figures:
        return found
    if found.spec.entities:  # places, which their positions say
        return replace(found, attributes=figures)
    groups = [(column, said) for column in columns if (said := _group_of(column, things, columns, {kind, name}))]
    entities = [replace(named_place(name, kind), id=_id(kind, name))]
    entities += [EntitySpec(column, said, _id(said, column), f"{{{column}}}") for column, said in groups]
    named = {kind, name} | {column for column, _ in groups} | {figure.column for figure in figures}
    for column in columns:
        if column not in named and (qualities := _qualities(column, things, columns, at, kind)):
            groups.append((column, ""))
            entities += qualities
    relations = tuple(RelationSpec("place", CONTAINMENT, column) for column, _ in groups)
    spec = replace(found.spec, entities=tuple(entities), relations=relations)
    return replace(found, spec=spec, name=at, totals=totals, attributes=figures)


def attributes_of(
    whole: Record, cells: Sequence[str], place: EntityRef | None, found: Recognised, *, at_column: bool = True
) -> Iterator[Record]:
    """The figures of a row without a time, each a record beside that of the row; `at_column`: it stands in a column of
    a table that is a file."""
    for figure in found.attributes if place is not None else ():
        told = figure_of(cells[figure.index], comma=found.comma)
        if place is None or told is None or figure.measure is None:
            continue
        value, unit = told[0], figure.unit or told[1]
        yield replace(
            whole,
            record_id=f"{whole.record_id}.{figure.index}",
            kind=RecordKind.OBSERVATION,
            locator=replace(whole.locator, column=figure.column if at_column else None),
            statement=Measure(figure.measure, unit).stated(place.name, number(value)),
            time=None,
            entities=(place,),
            attribute=Attribute(place, figure.measure, value, unit),
        )


def _id(kind: str, column: str) -> str:
    return f"{LISTED}{kind}:{{{column}|slug}}"


def _group_of(column: str, rows: Sequence[Sequence[str]], columns: Sequence[str], apart: Collection[str]) -> str | None:
    """The kind of group that the things are in by a column (`Department`, `Country`); None for any other column."""
    kind = _kind_of(column)
    if kind is None or column in apart or kind in apart or not (kind in GROUPS or kind_of_word(kind) == kind):
        return None
    cells = [cell for row in rows if (cell := row[columns.index(column)]) and not holds_nothing(cell)]
    return kind if cells and all(_is_name(cell) for cell in cells) else None


def _qualities(
    column: str, rows: Sequence[Sequence[str]], columns: Sequence[str], name: int, kind: str
) -> list[EntitySpec]:
    """The groups of a column that says how each thing is: `yes` or `no` under what may be so, or one of a few words or
    names that several things share. Only where each says it, and the word says nothing else in the table."""
    cells = [row[columns.index(column)] for row in rows]
    values = dict.fromkeys(cells)
    header = " ".join(words_of_header(split_unit(column)[0]))
    if not header or not all(cells) or len(values) < 2 or any(map(holds_nothing, values)):
        return []
    told = {value.casefold() for value in values}
    if told in _ASSERTIONS:
        said = {value: header if value.casefold() in _ASSERTED else f"not {header}" for value in values}
        lead = IS if " " not in header else HAS
        if lead == HAS:
            said = {value: header if value.casefold() in _ASSERTED else f"no {header}" for value in values}
    else:
        others = {cell.casefold() for row in rows for n, cell in enumerate(row) if n != columns.index(column)}
        others |= {word for each in columns for word in words_of_header(each)} | {row[name].casefold() for row in rows}
        shared = len(values) <= min(_MOST_QUALITIES, len(cells) - 1)
        if (
            not shared
            or told & others
            or told & STOP_WORDS
            or told & NOT_NAMES
            or not all(map(_NAMED.fullmatch, values))
        ):
            return []
        small = all(map(_QUALITY.fullmatch, values))
        said, lead = {value: value for value in values}, IS if small and not CLASSES & set(header.split()) else OF
    of_kind = f"{slug(header)}:{kind}" if lead == OF else slug(header)
    return [
        EntitySpec(
            role=column,
            type=f"{header} of {kind}" if lead == OF else f"{header} quality",
            id=f"{lead}{of_kind}:{slug(each)}",
            name=each,
            names=(singular(each) if is_many(each) else plural(each),) if lead == OF else (),
            when={column: value},
        )
        for value, each in said.items()
    ]


def kind_of_stem(stem: str, headers: Collection[str] = ()) -> str | None:
    """The kind that the name of a file says by one noun in the plural or for many at once: `employees`, `staff`,
    `list_of_lighthouses`."""
    words = [word for word in words_of_header(stem) if word not in FORM_WORDS]
    if len(words) != 1:
        return None
    return singular(words[0]) if singular(words[0]) != words[0] else one_of(words[0], headers)


def _kind_of(header: str) -> str | None:
    """The kind that the header of a name says: `Lighthouse`, `Product name`; None for `Name` and `Full name`."""
    if re.fullmatch(r"(?:full[ _]?)?name", header, re.IGNORECASE):
        return None
    words = words_of_header(split_unit(header)[0])
    return "_".join((*words[:-1], singular(words[-1]))) if 0 < len(words) <= 3 else None


def _name_of(columns: Sequence[str], rows: Sequence[Sequence[str]], kind: str | None) -> str | None:
    """The column that names the things: the one that is called as the file is, else one that is called a name, else the
    first that is no code, if it holds names."""
    called = [column for column in columns if kind is not None and _kind_of(column) == kind]
    named = [column for column in columns if NAME_COLUMN.fullmatch(column) or _NAMES.fullmatch(column)]
    first = [column for column in columns if not is_named_as_code(column)][:1]
    for column in (*called, *named, *first):
        return column if _holds_names(columns, rows, column) else None
    return None


def _holds_names(columns: Sequence[str], rows: Sequence[Sequence[str]], column: str) -> bool:
    cells = [row[columns.index(column)] for row in rows]
    return all(_is_name(cell) for cell in cells if cell)


def _is_name(cell: str) -> bool:
    return len(cell) <= _LONGEST_NAME and any(c.isalpha() for c in cell) and not cell.endswith((".", "!", "?"))


def _each_named_once(rows: Sequence[Sequence[str]], at: int) -> bool:
    """True if each row that says anything has a name, and none another's."""
    ids = [slug(row[at]) for row in rows if any(row)]
    return len(ids) >= _LEAST_ROWS and all(ids) and len(set(ids)) == len(ids)


def _figures(
    columns: Sequence[str], rows: Sequence[Sequence[str]], apart: set[str], *, comma: bool
) -> Iterator[FigureColumn]:
    """The columns of figures, each of a measure of its own."""
    found: list[FigureColumn] = []
    for index, column in enumerate(columns):
        cells = [row[index] for row in rows if not holds_nothing(row[index])]
        made = None if column in apart or len(cells) < _LEAST_ROWS else _figure(column, index, cells, comma=comma)
        if made is not None:
            found.append(made)
    measures = [figure.measure for figure in found]
    yield from (figure for figure in found if measures.count(figure.measure) == 1)


def _figure(column: str, index: int, cells: Sequence[str], *, comma: bool) -> FigureColumn | None:
    words, unit = split_unit(column)
    measure = words_of(words)
    said = set(words_of_header(words))
    if not measure or any(c.isdigit() for c in measure):
        return None
    years = all(_YEAR_CELL.fullmatch(cell) for cell in cells)
    if is_when(said):
        named = measure if "year" in said else "start year" if said & _STARTS else f"year {measure}"
        return FigureColumn(column, index, named, CALENDAR_YEAR, None) if years and unit is None else None
    coded = is_named_as_code(column) or are_codes(column, cells, free=unit is None)
    if coded or said & _NO_MEASURES or (years and unit is None):
        return None
    told = [figure_of(cell, comma=comma) if len(cell) <= MOST_DIGITS else None for cell in cells]
    figures = [each for each in told if each is not None]
    if len(figures) < len(told) or len({each for _, each in figures}) > 1:
        return None
    if _has_a_sum([Decimal(value) for value, _ in figures]):
        return None
    return FigureColumn(column, index, measure, unit or figures[0][1], None)


def is_when(words: set[str]) -> bool:
    """True for the words of a header that say when something came about: `built`, `first lit`, `year of birth`."""
    return bool({"year", *_STARTS} & words) or any(
        is_past(word) and not word.endswith("eed") for word in words if len(word) > 2 and word != "hundred"
    )


def _has_a_sum(values: Sequence[Decimal]) -> bool:
    """True if one figure is that of all the others together."""
    whole = sum(values)
    others = [value for value in values if value]
    return len(others) > _LEAST_OTHERS and any(value == whole - value for value in others)
