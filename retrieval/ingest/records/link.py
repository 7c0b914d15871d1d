"""Link: the names and times that a passage's own words carry. No model, and nothing but the passage is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import lru_cache

from retrieval.english.lists import MONTH_NUMBERS
from retrieval.index import SurfaceMention, surface_key
from retrieval.model import Record, RecordKind, TimeRange

_YEAR = re.compile(r"[12][0-9]{3}")  # without a look-behind: its first character is found at the speed of C
_BEFORE = re.compile(
    r"\b(?P<month>Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?|Aug(?:ust|\.)?"
    r"|Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)"
    r",?\s+(?:(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,?\s+)?\Z"
)
_ISO = re.compile(r"(\d{4})[-‑](\d\d)[-‑](\d\d)(?!\d)", re.ASCII)
_UNTIL = re.compile(r"\s?[-–—]\s?((?:1[5-9]|20)?[0-9]{2})(?!\d)")
_NO_YEAR_BEFORE = frozenset(",.$£/–—-_")
_NO_YEAR_AFTER = re.compile(r"[,.]\d|/\d|%")
_FIRST_YEAR, _LAST_YEAR = 1500, 2099
# A name: capitalised words and the small words that join them ("Fort of Osage"; "Sac and Fox Agency" is two names).
# A dot goes on in a name after an abbreviation or an initial only; elsewhere it ends the sentence.
_CAPITAL = (
    r"[A-Z](?:[\w’'-]*\w)?"
    r"(?:\.(?:(?<=\bFt\.)|(?<=\bSt\.)|(?<=\bMt\.)|(?<=\bGen\.)|(?<=\bCol\.)|(?<=\b[A-Z]\.)))?"
)
_NAME = re.compile(rf"{_CAPITAL}(?:[ \n](?:(?:of|the|de|des|du|la)[ \n])*{_CAPITAL})*")
_PIECE = re.compile(rf"{_CAPITAL}|of|the|de|des|du|la")
_OPENERS = frozenset(
    (
        *("the", "a", "an", "in", "on", "at", "of", "to", "for", "from", "by", "with", "and", "but", "or", "nor", "so"),
        *("yet", "as", "if", "when", "while", "where", "after", "before", "since", "until", "this", "that", "these"),
        *("those", "it", "he", "she", "we", "they", "i", "you", "my", "his", "her", "our", "their", "its", "there"),
        *("here", "then", "thus", "such", "no", "not", "all", "any", "each", "every", "both", "some", "many", "most"),
        *("more", "other", "another", "one", "two", "what", "which", "who", "how", "why"),
    )
)
_LONGEST = 5


def times_in(text: str) -> Iterator[tuple[str, TimeRange]]:
    """Times that the words name, as (ISO form, days), in order: `1850`, `1854-05`, `1854-05-30`, `1930/1936`,
    `1930s`."""
    read = 0
    for match in _YEAR.finditer(text):
        start, end = match.start(), match.end()
        inside = text[start - 1 : start].isdigit() or text[end : end + 1].isdigit()
        if start >= read and not inside and _FIRST_YEAR <= int(match[0]) <= _LAST_YEAR:
            found, read = _time(text, match, read)
            if found:
                yield found


def _time(text: str, match: re.Match[str], read: int) -> tuple[tuple[str, TimeRange] | None, int]:
    """The time at a year, and up to where it was read."""
    start, end, year = match.start(), match.end(), int(match[0])
    iso = _ISO.match(text, start)
    if iso:
        return _day(year, int(iso[2]), int(iso[3])), iso.end()
    before = _BEFORE.search(text, max(read, start - 24), start)
    if before:
        month = MONTH_NUMBERS[before["month"].rstrip(".").lower()]
        return _day(year, month, int(before["day"])) if before["day"] else _month(year, month), end
    left = text[start - 1 : start]
    if left in _NO_YEAR_BEFORE or left.isalpha() or _NO_YEAR_AFTER.match(text, end):
        return None, end
    if text.startswith("s", end):
        return (f"{year}s", TimeRange.year(year, year + (99 if year % 100 == 0 else 9))), end
    until = _UNTIL.match(text, end)
    last = int(until[1]) if until and len(until[1]) == 4 else year // 100 * 100 + int(until[1]) if until else year
    if until and last > year:
        return (f"{year}/{last}", TimeRange.year(year, last)), until.end()
    return (str(year), TimeRange.year(year)), end


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
    """Keys of the capitalised names, and of every run of up to five of their words, so that `Shawnee County` is found
    in `Old Shawnee County Court`."""
    keys: set[str] = set()
    for name in _NAME.findall(text):
        keys.update(_keys_of(name))
    return keys


@lru_cache(maxsize=32_768)  # names recur
def _keys_of(name: str) -> tuple[str, ...]:
    words = _PIECE.findall(name)
    while words and words[0].lower() in _OPENERS:
        words.pop(0)
    folded = [surface_key(word) for word in words]  # word by word it is the same
    keys: list[str] = []
    for start, first in enumerate(words):
        if not first[0].islower():
            ends = range(start + 1, min(len(words), start + _LONGEST) + 1)
            keys += [" ".join(folded[start:end]) for end in ends if not words[end - 1][0].islower()]
    return tuple(key for key in keys if key)


def mentions_of(records: Iterable[Record]) -> list[SurfaceMention]:
    """The mentions of every record that is prose (a row of a file or a feature declares its entities instead)."""
    found: list[SurfaceMention] = []
    for record in records:
        if record.kind is not RecordKind.PASSAGE or record.locator.row is not None:
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
