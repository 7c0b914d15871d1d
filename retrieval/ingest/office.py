"""Text of Word documents and tables of Excel workbooks, both zipped XML (ECMA-376)."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time
from itertools import islice
from typing import Any

from retrieval.errors import LoadError
from retrieval.ingest.html import read_html
from retrieval.ingest.values import Block
from retrieval.wording import counted

_LARGEST_TEXT = 24 * 2**20
"""Bytes of XML in a document: about 4,000 pages. The parser holds many times that."""
_LARGEST_BOOK = 128 * 2**20
_MOST_COLUMNS = 4096
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"

Row = tuple[str, ...]


def read_document(name: str, data: bytes) -> tuple[str, tuple[Block, ...]]:
    """The text of a Word document as it would read with all changes accepted, with its headings, and its blocks.
    Pictures, headers, footers and comments are left out. Raises `LoadError`."""
    import mammoth  # noqa: PLC0415  loaded for such files only

    _require_zip(name, data, "Word document", _LARGEST_TEXT)
    try:
        page = mammoth.convert_to_html(io.BytesIO(data), style_map=_STYLES, convert_image=_without_images).value
    except Exception as exc:  # the parser raises whatever it meets in a file that is not what it says
        raise LoadError(f"{name}: not a readable Word document ({type(exc).__name__})") from exc
    return read_html(name, f"<html><body>{page}</body></html>")


def _without_images(_: object) -> Sequence[object]:
    return ()


def read_workbook(name: str, data: bytes) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The table of a workbook as CSV: the first sheet that holds one, the values that formulas last had, dates in
    ISO 8601. Beside it, what was left out, and a note on the titles above it. Raises `LoadError`."""
    import openpyxl  # noqa: PLC0415  loaded for such files only

    _require_zip(name, data, "workbook", _LARGEST_BOOK)
    try:
        with closing(openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)) as book:
            sheets = [(sheet.title, tuple(_rows(name, sheet))) for sheet in book.worksheets]
    except LoadError:
        raise
    except Exception as exc:  # as above
        raise LoadError(f"{name}: not a readable workbook ({type(exc).__name__})") from exc
    filled = [(title, rows) for title, rows in sheets if rows]
    if not filled:
        raise LoadError(f"{name}: the file holds no text")
    (title, rows), *others = filled
    above, table = _table(rows)
    notes = (f"sheet {title!r}: {counted(above, 'row')} above the header",) if above else ()
    left_out = [f"sheet {other!r}: {counted(len(more), 'row')}; the first sheet is read" for other, more in others]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    return text.getvalue(), tuple(left_out), notes


def _rows(name: str, sheet: Any) -> Iterator[Row]:
    """The rows that hold something."""
    sheet.reset_dimensions()  # what a file says of its size is not to be relied on
    for cells in sheet.iter_rows(values_only=True):
        row = tuple(_shown(cell) for cell in islice(cells, _MOST_COLUMNS + 1))
        if len(row) > _MOST_COLUMNS:
            raise LoadError(f"{name}: a sheet with more than {_MOST_COLUMNS} columns")
        if any(row):
            yield row


def _shown(cell: object) -> str:
    """A cell as text: whole numbers without a decimal point, a midnight as its date."""
    match cell:
        case None:
            return ""
        case bool():
            return "TRUE" if cell else "FALSE"
        case float() if cell.is_integer() and abs(cell) < 1e15:
            return str(int(cell))
        case datetime() if cell.time() == time():
            return cell.date().isoformat()
        case datetime() | date() | time():
            return cell.isoformat()
        case _:
            return " ".join(str(cell).split())


def _table(rows: Sequence[Row]) -> tuple[int, list[Row]]:
    """How many rows lie above the header, and the rows from it on, without columns that are empty throughout. Titles
    and notes above a table fill one cell; the header is the first row that fills two."""
    header = next((place for place, row in enumerate(rows) if sum(map(bool, row)) > 1), 0)
    below = rows[header:]
    used = [column for column in range(max(map(len, below))) if any(row[column : column + 1] > ("",) for row in below)]
    return header, [tuple("".join(row[column : column + 1]) for column in used) for row in below]


def _require_zip(name: str, data: bytes, kind: str, largest: int) -> None:
    """Raises `LoadError` for what is not a zip file, and where its XML is more than can be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(each.file_size for each in packed.infolist() if each.filename.endswith((".xml", ".rels")))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as exc:
        raise LoadError(f"{name}: not a readable {kind} (truncated, damaged or encrypted)") from exc
    if size > largest:
        raise LoadError(f"{name}: it unpacks to more than {largest // 2**20} MiB of XML")
