"""Rows of a SQLite file as they were declared: a column of SQLite takes a value of any type, so a damaged one may hold
any."""

from __future__ import annotations

from types import NoneType
from typing import Any

import apsw

_HELD_AS = {"VARCHAR": str, "TEXT": str, "INTEGER": int, "BIGINT": int, "BLOB": bytes}


class WrongType(ValueError):
    """A column holds a value of another type than it was declared with."""


def typed_rows(cursor: apsw.Cursor) -> list[tuple[Any, ...]]:
    """The rows of a statement. Raises `WrongType`; what an expression gives is not looked at."""
    try:
        declared = cursor.get_description()
    except apsw.ExecutionCompleteError:  # there is no row
        return []
    try:
        found: list[tuple[Any, ...]] = cursor.fetchall()
    except UnicodeDecodeError as exc:
        raise WrongType("a column holds a text that is not UTF-8") from exc
    for (name, kind), values in zip(declared, zip(*found, strict=True), strict=True):
        held_as = _HELD_AS.get(kind or "")
        if held_as is not None and not set(map(type, values)) <= {held_as, NoneType}:
            raise WrongType(f"a column {name} holds a value of another type")
    return found
