"""Text of Word documents and tables of Excel workbooks, both zipped XML (ECMA-376)."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from typing import Any
from xml.etree import ElementTree

from retrieval.algebra.wording import counted
from retrieval.errors import LoadError
from retrieval.ingest.formats.html import read_html
from retrieval.ingest.parsing.packed import unpacked
from retrieval.ingest.parsing.table_rows import filled_cells, header_at
from retrieval.ingest.parsing.table_text import shown
from retrieval.ingest.values import About, Extracted

_LARGEST_TEXT = 24 * 2**20
"""Bytes of XML in a document: about 4,000 pages. The parser holds many times that."""
_LARGEST_BOOK = 128 * 2**20
_CORE = "docProps/core.xml"
MOST_COLUMNS = 4096
_SAMPLE = 30
"""Rows among which the header is."""
_QUOTED = re.compile(r'"[^"]*"|\\.')
"""Characters of a number format that are shown as they are and change no number."""
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"

Row = tuple[str, ...]


def read_document(name: str, data: bytes) -> Extracted:
    """The text of a Word document as it would read with all changes accepted, with its headings.
    Pictures, headers, footers and comments are left out. Raises `LoadError`."""
    import mammoth  # noqa: PLC0415  loaded for such files only

    packed = unpacked(name, data, "Word document", largest=_LARGEST_TEXT)
    try:
        page = mammoth.convert_to_html(io.BytesIO(data), style_map=_STYLES, convert_image=_without_images).value
    except MemoryError:
        raise
    except Exception as exc:  # the parser raises whatever it meets in a file that is not what it says
        raise LoadError(f"{name}: not a readable Word document ({type(exc).__name__})") from exc
    about = _about(packed.read(_CORE)) if _CORE in packed.names else About()
    return replace(read_html(name, f"<html><body>{page}</body></html>"), about=about)


def _about(core: bytes) -> About:
    """The statements of the core properties (ECMA-376, part 2); nothing where they cannot be read."""
    if b"<!" in core:
        return About()
    try:
        tree = ElementTree.fromstring(core)  # noqa: S314  without declarations
    except ElementTree.ParseError:
        return About()
    said = {each.tag.rpartition("}")[2]: each.text for each in tree}
    return About(said.get("title") or None, said.get("creator") or None, (said.get("created") or "")[:10] or None)


def _without_images(_: object) -> Sequence[object]:
    return ()


def read_workbook(name: str, data: bytes) -> Extracted:
    """The table of a workbook as CSV: the first sheet that holds one, the values that formulas last had, dates in
    ISO 8601; titles above it are told as a note. Raises `LoadError`."""
    import openpyxl  # noqa: PLC0415  loaded for such files only

    unpacked(name, data, "workbook", largest=_LARGEST_BOOK)
    try:
        with closing(openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)) as book:
            sheets = [(sheet.title, tuple(_rows(name, sheet))) for sheet in book.worksheets]
            about = _of_book(book.properties)
    except (LoadError, MemoryError):
        raise
    except Exception as exc:  # as above
        raise LoadError(f"{name}: not a readable workbook ({type(exc).__name__})") from exc
    return replace(sheets_as_csv(name, sheets), about=about)


def _of_book(said: Any) -> About:
    made = said.created
    author = None if said.creator == "openpyxl" else said.creator  # which says so of itself where nobody said anything
    return About(said.title or None, author or None, made.date().isoformat() if made and said.title else None)


def sheets_as_csv(name: str, sheets: Sequence[tuple[str, Sequence[Row]]]) -> Extracted:
    """The first of these sheets (title, rows that hold something) that holds a table. Raises `LoadError`."""
    filled = [(title, rows) for title, rows in sheets if rows]
    if not filled:
        raise LoadError(f"{name}: the file holds no text")
    (title, rows), *others = filled
    above, table = _table(rows)
    notes = (f"sheet {title!r}: {counted(above, 'row')} above the header",) if above else ()
    left_out = [f"sheet {other!r}: {counted(len(more), 'row')}; the first sheet is read" for other, more in others]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    return Extracted(text.getvalue(), slips=tuple(left_out), notes=notes)


def _rows(name: str, sheet: Any) -> Iterator[Row]:
    """The rows that hold something."""
    sheet.reset_dimensions()  # what a file says of its size is not to be relied on
    for cells in sheet.iter_rows():
        row = tuple(_shown(cell) for cell in islice(cells, MOST_COLUMNS + 1))
        if len(row) > MOST_COLUMNS:
            raise LoadError(f"{name}: a sheet with more than {MOST_COLUMNS} columns")
        if any(row):
            yield row


def _shown(cell: Any) -> str:
    """The cell as text; a share that the workbook shows in per cent as it is shown: `20%`, and no `0.2`."""
    value = cell.value
    counts = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if counts and "%" in _QUOTED.sub("", cell.number_format or ""):
        return f"{Decimal(repr(value)).scaleb(2).normalize():f}%"
    return shown(value)


def _table(rows: Sequence[Row]) -> tuple[int, list[Row]]:
    """How many rows lie above the header, and the rows from it on, without columns that are empty throughout. Titles
    and notes above a table fill one cell; the header is the first row that fills two."""
    header = header_at([filled_cells(row) for row in rows[:_SAMPLE]]) or 0
    below = rows[header:]
    used = [column for column in range(max(map(len, below))) if any(row[column : column + 1] > ("",) for row in below)]
    return header, [tuple("".join(row[column : column + 1]) for column in used) for row in below]
