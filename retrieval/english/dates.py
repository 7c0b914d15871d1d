"""Dates as English prose writes them."""

from __future__ import annotations

from datetime import date

from retrieval.english.lists import MONTHS


def long_date(text: str) -> str:
    """`1852-07-01` -> `July 1, 1852`; anything else stays."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return text
    return f"{MONTHS[day.month - 1].capitalize()} {day.day}, {day.year}"
