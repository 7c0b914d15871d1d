"""Link: the names and times that a passage's own words carry. No model, and nothing but the passage is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from retrieval.index import SurfaceMention, surface_key
from retrieval.model import Record, TimeRange

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *(("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun")),
            *(("july", "jul"), ("august", "aug"), ("september", "sept", "sep"), ("october", "oct")),
            *(("november", "nov"), ("december", "dec")),
        ),
        1,
    )
    for name in names
}
_MONTH = r"(?P<month>Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?|Aug(?:ust|\.)?"
_MONTH += r"|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)"
_YEAR = r"(?P<year>1[5-9]\d\d|20\d\d)"
_TIME = re.compile(
    rf"\b{_MONTH}\s+(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?{_YEAR}\b"
    r"|\b(?P<iso>(?:1[5-9]|20)\d\d[-‑]\d\d[-‑]\d\d)\b"
    r"|(?<![\d,.$£/-])\b(?P<alone>1[5-9]\d\d|20\d\d)(?:s\b|\s?[-–—]\s?(?P<until>(?:1[5-9]|20)?\d\d)\b)?(?![\d]|[,.]\d)"
)
# A name: capitalised words, with the small words that join them ("Sac and Fox Agency" is two names, "Fort of Osage" one).
_CAPITAL = r"(?:[A-Z][\w’'-]*\w|[A-Z](?=\b))"
_NAME = re.compile(rf"{_CAPITAL}\.?(?:[ \n](?:(?:of|the|de|des|du|la)[ \n])*{_CAPITAL}\.?)*")
_PIECE = re.compile(rf"{_CAPITAL}\.?|of|the|de|des|du|la")
_OPENERS = frozenset(
    "the a an in on at of to for from by with and but or nor so yet as if when while where after before since until"
    " this that these those it he she we they i you my his her our their its there here then thus such no not all any"
    " each every both some many most more other another one two what which who how why".split()
)
_LONGEST = 5


def times_in(text: str) -> Iterator[tuple[str, TimeRange]]:
    """Times that the words name, as (ISO form, days), in order: `1850`, `1854-05`, `1854-05-30`, `1930/1936`."""
    for match in _TIME.finditer(text):
        found = _time(match)
        if found:
            yield found


def _time(match: re.Match[str]) -> tuple[str, TimeRange] | None:
    if match["iso"]:
        return _day(*(int(part) for part in re.split("[-‑]", match["iso"])))
    if match["month"]:
        month = _MONTHS[match["month"].rstrip(".").lower()]
        return _day(int(match["year"]), month, int(match["day"])) if match["day"] else _month(int(match["year"]), month)
    first = int(match["alone"])
    if match["until"]:
        last = int(match["until"]) if len(match["until"]) == 4 else first // 100 * 100 + int(match["until"])
        return (f"{first}/{last}", TimeRange.year(first, last)) if last > first else (str(first), TimeRange.year(first))
    if match[0].endswith("s"):
        return f"{first}s", TimeRange.year(first, first + (9 if first % 100 else 99 if first % 1000 else 9))
    return str(first), TimeRange.year(first)


def _day(year: int, month: int, day: int) -> tuple[str, TimeRange] | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return found.isoformat(), TimeRange(found, found)


def _month(year: int, month: int) -> tuple[str, TimeRange]:
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return f"{year}-{month:02d}", TimeRange(date(year, month, 1), last)


def names_in(text: str) -> set[str]:
    """Keys of the capitalised names, and of every run of up to five of their words, so that `Shawnee County` is found in
    `Old Shawnee County Court`."""
    keys: set[str] = set()
    for match in _NAME.finditer(text):
        words = _PIECE.findall(match[0])
        while words and words[0].lower() in _OPENERS:
            words.pop(0)
        for start in range(len(words)):
            if words[start][0].islower():
                continue
            for end in range(start + 1, min(len(words), start + _LONGEST) + 1):
                if not words[end - 1][0].islower():
                    keys.add(surface_key(" ".join(words[start:end])))
    keys.discard("")
    return keys


def mentions_of(records: Iterable[Record]) -> list[SurfaceMention]:
    """The mentions of every record that is prose (a row or feature declares its entities instead)."""
    found: list[SurfaceMention] = []
    for record in records:
        if record.statement is not None:
            continue
        found += [
            SurfaceMention(record.record_id, key, record.class_id, record.document_id)
            for key in sorted(names_in(record.text))
        ]
        found += [
            SurfaceMention(record.record_id, key, record.class_id, record.document_id, time)
            for key, time in dict(times_in(record.text)).items()
        ]
    return found
