"""Bounds of operations that come from outside: what an asker may send is held to what a reader would compose."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

_TEXT, _ITEMS = 200, 100
_NUMBERS = {"limit": (1, 100), "first": (1, 10_000), "minimum": (-(10**15), 10**15)}
_YEARS = frozenset({"year", "from_year", "to_year"})
_BOUNDS = frozenset({"low", "high", "box"})
_DAYS = frozenset({"from_day", "to_day"})
_FARTHEST_KM = 20_100.0


def check_operation(operation: object) -> None:
    """Raises `ValueError` where a number, a text or a list of an operation is out of bounds."""
    for name, value in _leaves("", operation):
        if not _sound(name, value):
            raise ValueError(f"{name} is out of bounds")


def _leaves(name: str, value: object) -> Iterator[tuple[str, object]]:
    if is_dataclass(value):
        for f in fields(value):
            yield from _leaves(f.name, getattr(value, f.name))
    elif isinstance(value, tuple):
        if len(value) > _ITEMS:
            raise ValueError(f"{name} is too long")
        for item in value:
            yield from _leaves(name, item)
    else:
        yield name, value


def _sound(name: str, value: object) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        least, most = (1, 9999) if name in _YEARS else _NUMBERS.get(name, (0, 10**9))
        return least <= value <= most
    if isinstance(value, float):
        return math.isfinite(value) and 0 <= value <= _FARTHEST_KM
    if not isinstance(value, str) or not 0 < len(value) <= _TEXT:
        return False
    return _number(value) if name in _BOUNDS else _day(value) if name in _DAYS else True


def _number(text: str) -> bool:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return False
    return value.is_finite() and abs(value) <= Decimal(10) ** 15 and len(text) <= 40


def _day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
