"""Years and days of sentences against the times that are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from ai.intent.times import centuries_in, read_times
from ai.models.reading.headed import Head
from retrieval.english.lists import MONTHS
from retrieval.model import TimeRange

_YEAR = re.compile(r"(?<![\d,.])(1[5-9]\d\d|20\d\d)(?!\d|[,.]\d)")
"""A year, and no part of a larger number."""
_MAY_BE_LONG = re.compile(r"centur|00['’]?s\b", re.IGNORECASE)
_LONG = 10
_OF_MEETING = re.compile(r"\b(?:minutes|meeting|session|sitting|hearing|assembly|inspection)\b", re.IGNORECASE)
_A_MONTH = re.compile(r"\b(?:" + "|".join(month.title() for month in MONTHS) + r")\b")


def years_in(text: str) -> frozenset[int]:
    """The years that a text names, and all those of a century or a part of one."""
    named = frozenset(int(year) for year in _YEAR.findall(text))
    return named.union(*(_all_of(time) for _, time in _long_times(text)))


def years_before(text: str, end: int) -> frozenset[int]:
    """The year, or those of the century, that a text names last before a place."""
    named = [(found.start(), frozenset({int(found[1])})) for found in _YEAR.finditer(text, 0, end)]
    named += [(at, _all_of(time)) for at, time in _long_times(text[:end])]
    return max(named, key=itemgetter(0))[1] if named else frozenset()


def are_long(times: Sequence[TimeRange]) -> bool:
    """True if each of them is longer than a decade."""
    return all(time.end.year - time.start.year >= _LONG for time in times)


def _long_times(text: str) -> Iterator[tuple[int, TimeRange]]:
    if _MAY_BE_LONG.search(text):
        yield from ((span.start_char, span.time) for span in centuries_in(text) if are_long([span.time]))


def _all_of(time: TimeRange) -> frozenset[int]:
    """Its years but the last, of which people do not agree in which century it is."""
    return frozenset(range(time.start.year, time.end.year))


def is_within(years: Iterable[int], times: Sequence[TimeRange]) -> bool:
    """True if one of the years lies in a time asked for."""
    return any(time_range.start.year <= year <= time_range.end.year for year in years for time_range in times)


def follows_day(before: Sequence[str], times: Sequence[TimeRange]) -> bool:
    """True unless the nearest date of a day before a sentence, which gives none itself, is not of the time asked for,
    where that is less than a year."""
    if all(map(_is_years, times)):
        return True
    for said in reversed(before):
        days = [span.time for span in read_times(said) if not _is_years(span.time)] if _YEAR.search(said) else []
        if days:
            return any(days[-1].overlaps(asked) for asked in times)
    return True


def is_of_titled_day(text: str, title: str, times: Sequence[TimeRange]) -> bool:
    """True unless the text names no month and its title says that it is of a meeting, or its section of a day, that is
    not the one asked for."""
    if not (_OF_MEETING.search(title) or Head.of(title)) or all(map(_is_years, times)) or _A_MONTH.search(text):
        return True
    held = [span.time for span in read_times(title) if not _is_years(span.time)] if _YEAR.search(title) else []
    return not held or any(day.overlaps(asked) for day in held for asked in times)


def _is_years(time_range: TimeRange) -> bool:
    return time_range == TimeRange.year(time_range.start.year, time_range.end.year)


def meets(text: str, times: Sequence[TimeRange]) -> bool:
    """True if a date that the text gives shares a day with a time asked for; years are told apart before."""
    if all(map(_is_years, times)):
        return True
    told = [span.time for span in read_times(text)]
    return not told or any(date.overlaps(asked) for date in told for asked in times)
