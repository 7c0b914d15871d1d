"""The statements of the rows of a table inside a document: `header: value` pairs, as the rows of a table that is a
file."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST_COLUMNS = 30
_LONGEST_HEADER, _LONGEST_CELL, _LONGEST_ROW = 60, 200, 1_000
"""Characters; what is longer is a page that was laid out as a table."""
_UNNAMED = "Item"
"""The header of a first column that has none, as that of the names in a table of prices often has."""
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")


def statements(rows: Sequence[Sequence[str]], *, headed: bool) -> tuple[str | None, ...]:
    """For each row what it says under the header, which is the first row; None for the header, for a row of one value,
    and for every row where the first is no header or the rows are not of one length. Where the document does not say
    that it has a header (`headed`), the first row is one if it holds no figure and a column below it nothing else; of
    two columns alone it may be the first of a list (`Name`, `Phone`)."""
    cells = [[_SPACE.sub(" ", cell).strip() for cell in row] for row in rows]
    if not cells or not _is_table(cells):
        return (None,) * len(cells)
    header, *body = cells
    if not (headed or _is_header(header, body)):
        return (None,) * len(cells)
    header = [name.rstrip(" :") or _UNNAMED for name in header]
    return (None, *(_said(header, row) for row in body))


def _is_table(cells: Sequence[Sequence[str]]) -> bool:
    header = [name.rstrip(" :").casefold() for name in cells[0]]
    return (
        2 <= len(header) <= _MOST_COLUMNS
        and len(cells) > 1
        and all(len(row) == len(header) for row in cells)
        and all(header[1:])
        and len(set(header)) == len(header)
        and all(len(name) <= _LONGEST_HEADER and "; " not in name and ": " not in name for name in header)
        and all(len(cell) <= _LONGEST_CELL for row in cells for cell in row)
        and all(sum(map(len, row)) <= _LONGEST_ROW for row in cells)
    )


def _is_header(header: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    if len(header) == 2 or any(_has_figure(name) for name in header):
        return False
    columns = ([cell for cell in column if cell] for column in list(zip(*body, strict=True))[1:])
    return any(column and all(map(_has_figure, column)) for column in columns)


def _has_figure(cell: str) -> bool:
    return any(c.isdigit() for c in cell)


def _said(header: Sequence[str], row: Sequence[str]) -> str | None:
    pairs = [f"{name}: {cell}" for name, cell in zip(header, row, strict=True) if cell]
    return "; ".join(pairs) + "." if len(pairs) > 1 else None


def pairs_of(statement: str) -> list[tuple[str, str]]:
    """The headers and cells of a row's statement; what no header stands before belongs to the cell before it."""
    found: list[tuple[str, str]] = []
    for part in statement.removesuffix(".").split("; "):
        header, sign, cell = part.partition(": ")
        if sign:
            found.append((header, cell))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}; {part}")
    return found
