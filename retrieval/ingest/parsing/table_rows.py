"""The rows of a table as text: RFC 4180 with exact offsets, and what of a table of unknown make is header and what is
not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from retrieval.algebra.wording import counted
from retrieval.errors import LoadError

_MAX_CELLS = 4096
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 30
_NAMED = re.compile(r"sep=(?P<delimiter>[^\r\n])\r?\n", re.IGNORECASE)


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
                raise LoadError(f"{name}: {row_named(number)}: a quote inside an unquoted cell, or too many cells")
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
            raise LoadError(f"{name}: {row_named(number)}: a quoted cell is never closed")
        parts.append(text[position:end])
        position = end + 1
        if not text.startswith('"', position):
            return '"'.join(parts), position
        position += 1


def row_named(number: int | None) -> str:
    """A row as people count: from 1, the header not among them. Locators and links count from 0."""
    return "the header" if number is None or number < 0 else f"row {number + 1}"


def delimiter_of(text: str, default: str) -> str:
    """The delimiter of the cells: the one by which the first rows have most alike, `default` where nothing speaks for
    another. Spreadsheets may name it in a first line `sep=;`."""
    named = _NAMED.match(text)
    if named:
        return named["delimiter"]
    scores = {each: _alike(text, each) for each in dict.fromkeys((default, *_DELIMITERS))}
    best = max(scores.values())
    return default if scores[default] == best else next(each for each, score in scores.items() if score == best)


def _alike(text: str, delimiter: str) -> tuple[float, int]:
    """The share of the first rows that have as many cells as most, and how many those are; nothing where it is one."""
    try:
        widths = Counter(len(row.cells) for row in islice(split_rows("", text, delimiter), _SAMPLE))
    except LoadError:
        return 0, 0
    ((width, rows),) = widths.most_common(1) or [(0, 0)]
    return (rows / widths.total(), width) if width > 1 else (0, 0)


@dataclass(frozen=True, slots=True)
class Headed:
    """A table in its parts: names of the columns, each another one; rows numbered from 0; remarks on what stands above
    and below."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...]


def headed(name: str, text: str, delimiter: str) -> Headed:
    """The parts of a table that nothing describes. The header is the first row that is as wide as most and fills two
    thirds as many cells as the fullest; what stands above it are titles, rows of one cell at the end are footnotes. A
    column without a name is told by its place. Raises `LoadError`."""
    begin = match.end() if (match := _NAMED.match(text)) else 0
    rows = [each for each in split_rows(name, text, delimiter) if each.start_char >= begin]
    first = rows[:_SAMPLE]
    wide = Counter(len(row.cells) for row in first if len(row.cells) > 1).most_common(1)
    width = wide[0][0] if wide else 1
    at = header_at([filled_cells(row.cells) if len(row.cells) >= width else 0 for row in first])
    if at is None:
        raise LoadError(f"{name}: the table has no header")
    columns = _named(rows[at].cells)
    below = rows[at + 1 :]
    end = len(below)
    while end and len(columns) > 1 and _is_footnote(below[end - 1]):
        end -= 1
    above = sum(any(map(str.strip, row.cells)) for row in rows[:at])
    counts = ((above, "above the header"), (len(below) - end, "below the table"))
    notes = tuple(f"{counted(count, 'row')} {where}" for count, where in counts if count)
    widths = Counter(len(row.cells) for row in below[:end])
    kept = (
        replace(row, number=n, cells=_trimmed(row.cells, len(columns)) if _is_usual(row, widths) else row.cells)
        for n, row in enumerate(below[:end])
    )
    return Headed(columns, tuple(kept), notes)


def header_at(filled: Sequence[int]) -> int | None:
    """The place of the header among rows of so many filled cells, None where nothing is filled."""
    most = max(filled, default=0)
    least = max(min(most, 2), -(-most * 2 // 3))
    return next((place for place, count in enumerate(filled) if count and count >= least), None)


def filled_cells(cells: Sequence[str]) -> int:
    """How many cells hold something. The corner above a column of names counts too: it is often left empty."""
    filled = sum(1 for cell in cells if cell.strip())
    return filled + 1 if filled and not cells[0].strip() and filled == len(cells) - 1 else filled


def _is_footnote(row: TableRow) -> bool:
    return filled_cells(row.cells) == 1 and " " in row.cells[0].strip()


def _is_usual(row: TableRow, widths: Counter[int]) -> bool:
    """False for a row that alone is wider than the others: a cell too many in its middle moves those behind it."""
    return 2 * widths[len(row.cells)] >= widths.total()


def _trimmed(cells: list[str], width: int) -> list[str]:
    """The cells without empty ones beyond the header's."""
    return cells[:width] if len(cells) > width and not any(map(str.strip, cells[width:])) else cells


def _named(cells: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns; one that is empty or there already gets its place or its number."""
    found: dict[str, None] = {}
    for place, cell in enumerate(cells, 1):
        words = " ".join(cell.split()) or f"column {place}"
        name, number = words, 1
        while name in found:
            number += 1
            name = f"{words} {number}"
        found[name] = None
    return tuple(found)
