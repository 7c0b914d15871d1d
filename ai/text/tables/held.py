"""Rows that are about something else than the question, whatever words of it they have."""

from __future__ import annotations

from collections.abc import Mapping

from ai.text.tables.attributes import of_another
from ai.text.tables.counts import counts_nothing
from ai.text.tables.denials import Denials
from ai.text.tables.directions import directed
from ai.text.tables.numbered import has_other_number, numbers_asked
from ai.text.tables.ranks import ranks_nothing
from ai.text.tables.subjects import Subjects
from ai.text.tables.units import other_unit
from ai.text.tables.words import Cells


def rows_beside(question: str, rows: Mapping[int, tuple[str, Cells]]) -> frozenset[int]:
    """The keys of those rows, given with the titles of their tables, which name what the question names on the other
    side, name another, only mention what it asks about, state it in another unit, are of another number or count
    nothing where it asks how many; or do not say that they are the first or the most, or what is denied."""
    tables: dict[tuple[str, str], list[int]] = {}
    for key, (title, cells) in rows.items():
        tables.setdefault((title, next(iter(cells))), []).append(key)
    found = set[int]()
    for keys in tables.values():
        table = [rows[key][1] for key in keys]
        subjects = Subjects.of(question, table)
        sides = directed(question, table)
        paired = {header for each in sides for columns in each.columns for header in columns}
        denials = Denials.of(question, table)
        numbers = numbers_asked(question, table)
        for key in keys:
            row = rows[key][1]
            if (
                not all(each.meets(row) for each in sides)
                or subjects.are_others(row)
                or of_another(question, row, table, subjects.named, paired)
                or denials.leave_out(row)
                or other_unit(question, row)
                or counts_nothing(question, row)
                or has_other_number(row, numbers)
                or ranks_nothing(question, row)
            ):
                found.add(key)
    return frozenset(found)
