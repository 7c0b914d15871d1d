"""OpenDocument (ISO/IEC 26300): the text of text documents and the table of spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from retrieval.errors import LoadError
from retrieval.ingest.formats.office import MOST_COLUMNS, Row, sheets_as_csv
from retrieval.ingest.parsing.packed import Packed, unpacked
from retrieval.ingest.parsing.runs import Run, rows_as_runs, text_of
from retrieval.ingest.parsing.table_text import shown
from retrieval.ingest.parsing.xml import local, parsed_xml
from retrieval.ingest.values import About, Extracted

_LARGEST_TEXT = 24 * 2**20
_LARGEST_BOOK = 128 * 2**20
_MOST_CELLS = 2_000_000
_SILENT = frozenset(("tracked-changes", "annotation", "annotation-end", "note-citation", "forms", "sequence-decls"))
"""The elements that are not read as part of the text: what was deleted, comments, marks of notes."""
_CONTENTS = frozenset(("table-of-content", "alphabetical-index", "illustration-index", "table-index"))
_DEEPEST = 250
_LONG = 30
"""Characters of a number that is reckoned with; a longer one is told as it stands."""
_FIGURE = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)


def read_text_document(name: str, data: bytes) -> Extracted:
    """The text as it would read with all changes accepted, with its headings; a row of a table is one run. Pictures,
    comments, headers and footers are left out. Raises `LoadError`, `ReaderMissing`."""
    packed = unpacked(name, data, "OpenDocument text", largest=_LARGEST_TEXT)
    root = parsed_xml(name, packed.read("content.xml"))
    body = next((each for each in root.iter("{*}text") if local(each.getparent()) == "body"), None)
    if body is None:
        raise LoadError(f"{name}: not a readable OpenDocument text (it has no body)")
    return replace(text_of(_runs(name, body)), about=_about(name, packed))


def _about(name: str, packed: Packed) -> About:
    if "meta.xml" not in packed.names:
        return About()
    root = parsed_xml(name, packed.read("meta.xml"))
    said = {local(each): (each.text or "").strip() for each in root.iter() if local(each)}
    author = said.get("initial-creator") or said.get("creator") or None
    return About(said.get("title") or None, author, (said.get("creation-date") or "")[:10] or None)


def _runs(name: str, body: Any) -> Iterator[Run]:
    """Paragraphs, headings and rows in order. An explicit stack: elements may nest deeper than Python recurses."""
    stack: list[tuple[Any, int]] = [(body, 0)]
    while stack:
        element, depth = stack.pop()
        kind = local(element)
        if depth > _DEEPEST:
            raise LoadError(f"{name}: it nests too deep to be read")
        if kind in _SILENT or kind in _CONTENTS:
            continue
        if kind == "h":
            level = element.get(next((key for key in element.keys() if key.endswith("}outline-level")), ""), "1")  # noqa: SIM118  lxml's elements iterate over children
            yield Run(_words(element), min(max(int(level), 1), 9) if level.isascii() and level.isdigit() else 1)
        elif kind == "p":
            yield Run(_words(element), 1 if _is_title(element) else 0)
        elif kind == "table" and not _lays_out(element):
            yield from _rows_of(element)
        elif kind == "table-row":
            yield Run(" ".join(_words(cell) for cell in element if local(cell) == "table-cell"))
        else:
            stack += [(child, depth + 1) for child in reversed(element)]


def _lays_out(table: Any) -> bool:
    """True if cells span others or are repeated, or hold headings, lists and tables: then it is no table of data."""
    within = (each for each in table.iter() if each is not table)
    spans = ("number-columns-spanned", "number-rows-spanned", "number-columns-repeated", "number-rows-repeated")
    return any(
        local(each) in ("table", "h", "list", "covered-table-cell")
        or (local(each) in ("table-row", "table-cell") and any((_stated(each, name) or "1") != "1" for name in spans))
        for each in within
    )


def _rows_of(table: Any) -> list[Run]:
    headed = next(table.iter("{*}table-header-rows"), None) is not None
    rows = table.iter("{*}table-row")
    return rows_as_runs([[_words(cell) for cell in row if local(cell) == "table-cell"] for row in rows], headed=headed)


def _is_title(paragraph: Any) -> bool:
    return any(value == "Title" for key, value in paragraph.items() if key.endswith("}style-name"))


def _words(element: Any) -> str:
    """The words of a paragraph or cell: spaces, tabs and breaks are elements, notes are told where they stand."""
    parts: list[str] = []
    stack: list[Any] = [element]
    while stack:
        each = stack.pop()
        if isinstance(each, str):
            parts.append(each)
            continue
        kind = local(each)
        if kind in ("s", "tab", "line-break"):
            parts.append(" ")
        if kind not in _SILENT:
            if kind in ("p", "note-body", "list-item"):
                parts.append(" ")
            for child in reversed(each):
                stack += [child.tail or "", child]
            stack.append(each.text or "")
    return "".join(parts)


def read_spreadsheet(name: str, data: bytes) -> Extracted:
    """The table of a spreadsheet as CSV, as that of a workbook. Raises `LoadError`, `ReaderMissing`."""
    packed = unpacked(name, data, "spreadsheet", largest=_LARGEST_BOOK)
    root = parsed_xml(name, packed.read("content.xml"))
    body = next((each for each in root.iter("{*}spreadsheet") if local(each.getparent()) == "body"), None)
    if body is None:
        raise LoadError(f"{name}: not a readable spreadsheet (it has no body)")
    sheets = [(_stated(each, "name") or "", tuple(_rows(name, each))) for each in body if local(each) == "table"]
    return replace(sheets_as_csv(name, sheets), about=_about(name, packed))


def _stated(element: Any, attribute: str) -> str | None:
    """An attribute by its name without the namespace."""
    return next((value for key, value in element.items() if key.rpartition("}")[2] == attribute), None)


def _rows(name: str, sheet: Any) -> Iterator[Row]:
    """The rows that hold something; what is repeated is written out, up to a limit. Rows may lie in groups."""
    left = _MOST_CELLS
    for element in sheet.iter("{*}table-row"):
        row = _cells(name, element)
        times = _times(element, "number-rows-repeated") if row else 0
        left -= len(row) * times
        if left < 0:
            raise LoadError(f"{name}: a sheet of more than {_MOST_CELLS:,} cells")
        for _ in range(times):
            yield row


def _cells(name: str, row: Any) -> Row:
    """The cells of a row without the empty ones at its end."""
    cells: list[str] = []
    empty = 0
    for cell in row:
        if local(cell) not in ("table-cell", "covered-table-cell"):
            continue
        told, times = _told(cell), _times(cell, "number-columns-repeated")
        if not told:
            empty += times
            continue
        if len(cells) + empty + times > MOST_COLUMNS:
            raise LoadError(f"{name}: a sheet with more than {MOST_COLUMNS} columns")
        cells += [""] * empty + [told] * times
        empty = 0
    return tuple(cells)


def _times(element: Any, attribute: str) -> int:
    stated = _stated(element, attribute) or "1"
    return int(stated) if stated.isascii() and stated.isdigit() and len(stated) < _LONG else _MOST_CELLS + 1


def _told(cell: Any) -> str:
    """The value of a cell as that of a workbook is told; formulas as their last values."""
    match _stated(cell, "value-type"):
        case "float" | "percentage" | "currency":
            value = _stated(cell, "value") or ""
            return shown(float(value)) if len(value) < _LONG and _FIGURE.fullmatch(value) else value
        case "date":
            return (_stated(cell, "date-value") or "").removesuffix("T00:00:00")
        case "boolean":
            return (_stated(cell, "boolean-value") or "").upper()
        case _:
            words = (_words(each) for each in cell if local(each) == "p")
            return " ".join(" ".join(words).split())
