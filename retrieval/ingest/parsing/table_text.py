"""Cells as the text of a table."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time


def table_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV of a header and its rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(" ".join(column.split()) for column in columns)
    writer.writerows([shown(cell) for cell in row] for row in rows)
    return text.getvalue()


def shown(cell: object) -> str:
    """A cell as text: whole numbers without a decimal point, a midnight as its date, lists and groups as JSON."""
    match cell:
        case None:
            text = ""
        case bool():
            text = "TRUE" if cell else "FALSE"
        case float() if math.isnan(cell):
            text = ""
        case float() if cell.is_integer() and abs(cell) < 1e15:
            text = str(int(cell))
        case datetime() if cell.time() == time():
            text = cell.date().isoformat()
        case datetime() | date() | time():
            text = cell.isoformat()
        case list() if not any(isinstance(each, list | dict) for each in cell):
            text = "; ".join(map(shown, cell))
        case list() | dict():
            text = json.dumps(cell, ensure_ascii=False, default=str)
        case _:
            text = " ".join(str(cell).split())
    return text
