"""Times in a question: days, months, years, decades, centuries and parts of these, ranges, and `before`, `after`,
`since`.

The 19th century is 1801 to 1900, and so are `the 1800s`, from 1800; `the 2000s` are a decade, as most people mean it.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType

from retrieval.english.lists import MONTH_NUMBERS
from retrieval.model import TimeRange

_MONTH = r"(?P<month>" + "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True)) + r")\.?"
_YEAR = r"(?P<year>1[0-9]{3}|20[0-9]{2})"
_DAY = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
_END = r"(?![\w%]|[.,]\d|['\u2019]s)"
_START = r"(?<![\w.,$#/-])(?<![\w][.,])"
_COUNTED = (
    r"(?!\s*(?:km|kilomet|mi\b|miles?\b|m\b|acres?\b|feet\b|people\b|inhabitants?\b|residents?\b|persons?\b|souls\b"
    r"|dollars?\b|years?\b|stat\b|cities\b|towns?\b|counties\b|settlers\b|men\b|soldiers\b))"
)
_AMOUNT_BEFORE = re.compile(r"(?:at least|at most|more than|less than|fewer than|exceeding|exceeded|exceeds)\s+$", re.I)
_VOLUME_BEFORE = re.compile(r"\d\s+[A-Z][a-z]*\.\s+$")
"""`10 Stat. 1013` is a volume and a page."""
_NUMBERED_BEFORE = re.compile(
    r"\b(?:box|bus|case|code|flight|form|invoice|item|lot|model|nos?|number|order|page|plot|ref|reference|room|route"
    r"|ticket|unit)\.?\s{1,3}$",
    re.I,
)
"""`item no. 1005` is the number of a thing."""
_NO_YEAR_BEHIND = (_VOLUME_BEFORE, _AMOUNT_BEFORE, _NUMBERED_BEFORE)
_WHICH_PART = (
    r"(?:\b(?:(?P<part>early|mid(?:dle)?|late)(?:[\s-]|\sof\sthe\s|\spart\sof\sthe\s)"
    r"|(?P<half>first|second)\shalf\sof\sthe\s))?+"
)
_PARTS = MappingProxyType(
    {"early": (0.0, 0.4), "mid": (0.3, 0.7), "middle": (0.3, 0.7), "late": (0.6, 1.0), "first": (0.0, 0.5)}
    | {"second": (0.5, 1.0)}
)
"""From where to where a part of a decade or century reaches, as most people would let it count."""
_SPELT = (
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth"),
    *("nineteenth", "twentieth", "twenty-first"),
)
_NTH = r"(?P<{}>(?:1[1-9]|20)th|21st|" + "|".join(_SPELT) + ")"
_STRETCHES = (
    (
        "century",
        re.compile(
            r"(?<![\w.,$#/-])"
            + _WHICH_PART
            + rf"(?:{_NTH.format('from')}\s(?:and|or|to)\s(?:the\s)?)?+{_NTH.format('nth')}[\s-]"
            + r"(?-i:[cC]entur(?:y|ies)(?!\s[A-Z])|CENTUR(?:Y|IES))(?!\w|[\s-]?(?:BCE?\b|B\.C))",
            re.I,
        ),
    ),
    (
        "decade",
        re.compile(
            r"(?<![\w.,$#/-])" + _WHICH_PART + r"(?P<year>1[0-9]{2}0|20[0-9]0)['\u2019]?s(?!\w)",
            re.I,
        ),
    ),
)
_POINTS = (
    ("iso", re.compile(_START + _YEAR + r"-(?P<number>[01][0-9])-(?P<day>[0-3][0-9])(?![\w-])")),
    ("day", re.compile(r"(?<!\w)" + _MONTH + r"\s++" + _DAY + r"(?:\s*+,)?\s++" + _YEAR + _END, re.I)),
    ("day", re.compile(r"(?<!\w)" + _DAY + r"\s++(?:of\s++)?" + _MONTH + r"(?:\s*+,)?\s++" + _YEAR + _END, re.I)),
    ("month", re.compile(r"(?<!\w)" + _MONTH + r"(?:\s*+,)?\s++(?:of\s++)?" + _YEAR + _END, re.I)),
    ("year", re.compile(r"(?<![\w.,$#/])(?:(?<=\d{4}-)|(?<!\w-))" + _YEAR + _END + _COUNTED, re.I)),
)
_LAST_CENTURY = 2000
"""From here on `the 2000s` are ten years."""
_SHORT_END = re.compile(r"\s*[-\u2013]\s*(?P<tail>[0-9]{2})(?![\w-])")
_TO = re.compile(r"\s*(?:to|until|till|through|and|-|\u2013|\u2014)\s*(?:the\s+)?(?:year\s+)?", re.I)
_OPEN = re.compile(
    r"(?P<word>between|from|before|prior to|until|after|since)\s+(?:the\s+)?(?:years?\s+)?$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time and the characters that say it. `years` are its first and last year when it is a span to compare, from
    end to end."""

    start_char: int
    end_char: int
    time: TimeRange
    years: tuple[int, int] | None = None


def read_times(text: str) -> tuple[TimeSpan, ...]:
    """The times in a text, in order, without overlap. What is no date (31 February) is read as its year."""
    points = _joined(text, sorted(_points(text), key=lambda p: p.start_char))
    return tuple(_opened(text, point) for point in points)


def centuries_in(text: str) -> tuple[TimeSpan, ...]:
    """The centuries, decades and parts of them in a text, in order."""
    return tuple(_stretch(kind, match) for kind, pattern in _STRETCHES for match in pattern.finditer(text))


def _points(text: str) -> Iterator[TimeSpan]:
    taken: list[tuple[int, int]] = []
    for kind, pattern in (*_STRETCHES, *_POINTS):
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            lead = text[max(0, match.start() - 20) : match.start()]
            if kind == "year" and any(each.search(lead) for each in _NO_YEAR_BEHIND):
                continue
            span = _stretch(kind, match) if "part" in pattern.groupindex else _point(kind, match)
            taken.append((span.start_char, span.end_char))
            yield span


def _stretch(kind: str, match: re.Match[str]) -> TimeSpan:
    """A century or a decade, or the part of it that is named."""
    if kind == "decade":
        first = int(match["year"])
        length, before = (100 if first % 100 == 0 and first < _LAST_CENTURY else 10), first
    else:
        nth = _which(match["nth"])
        before = 100 * (_which(match["from"] or match["nth"]) - 1)
        first, length = before + 1, 100 * nth - before
    start, end = _PARTS.get((match["part"] or match["half"] or "").casefold(), (0.0, 1.0))
    low, high = round(start * length), round(end * length)
    time = TimeRange.year(first + low, first + high - 1)
    return TimeSpan(match.start(), match.end(), time, (before + low, before + high))


def _which(said: str) -> int:
    """The number of a century: `19th`, `nineteenth`."""
    return int(said[:2]) if said[0].isdigit() else _SPELT.index(said.casefold()) + 11


def _point(kind: str, match: re.Match[str]) -> TimeSpan:
    year = int(match["year"])
    whole = TimeRange.year(year)
    if kind == "year":
        return TimeSpan(match.start(), match.end(), whole)
    month = int(match["number"]) if kind == "iso" else MONTH_NUMBERS[match["month"].casefold()]
    if kind == "month":
        last = date(year, month, monthrange(year, month)[1])
        return TimeSpan(match.start(), match.end(), TimeRange(date(year, month, 1), last))
    try:
        day = date(year, month, int(match["day"]))
    except ValueError:
        return TimeSpan(match.start(), match.end(), whole)
    return TimeSpan(match.start(), match.end(), TimeRange(day, day))


def _joined(text: str, points: Sequence[TimeSpan]) -> Iterator[TimeSpan]:
    """Two points with `to` or a dash between them, or `between` before and `and` between, are one range."""
    i = 0
    while i < len(points):
        point = points[i]
        following = points[i + 1] if i + 1 < len(points) else None
        short = _SHORT_END.match(text, point.end_char)
        if following is not None and _is_range(text, point, following):
            yield _range(point, following)
            i += 2
        elif short is not None and _century_end(point, short) is not None:
            yield _century_end(point, short) or point
            i += 1
        else:
            yield point
            i += 1


def _is_range(text: str, point: TimeSpan, following: TimeSpan) -> bool:
    between = text[point.end_char : following.start_char]
    joiner = _TO.fullmatch(between)
    if joiner is None:
        return False
    opened = _OPEN.search(text[max(0, point.start_char - 40) : point.start_char])
    return "and" not in between.casefold() or (opened is not None and opened["word"].casefold() in ("between", "from"))


def _range(point: TimeSpan, following: TimeSpan) -> TimeSpan:
    first, second = sorted((point.time, following.time), key=lambda t: (t.start, t.end))
    time = TimeRange(first.start, max(first.end, second.end))
    last_year = second.end.year
    return TimeSpan(point.start_char, following.end_char, time, (first.start.year, last_year))


def _century_end(point: TimeSpan, short: re.Match[str]) -> TimeSpan | None:
    """`1854-61`."""
    year = point.time.start.year
    end = year // 100 * 100 + int(short["tail"])
    if point.time != TimeRange.year(year) or end <= year:
        return None
    return TimeSpan(point.start_char, short.end(), TimeRange.year(year, end), (year, end))


def _opened(text: str, span: TimeSpan) -> TimeSpan:
    """`before 1854` and its like reach to the end of time."""
    opened = _OPEN.search(text[max(0, span.start_char - 40) : span.start_char])
    word = opened["word"].casefold() if opened else ""
    if word in ("before", "prior to", "until"):
        time = TimeRange(date.min, span.time.start - timedelta(days=1))
    elif word == "after":
        time = TimeRange(span.time.end + timedelta(days=1), date.max)
    elif word == "since" or (word == "from" and span.years is None):
        time = TimeRange(span.time.start, date.max)
    else:
        return span
    return TimeSpan(span.start_char, span.end_char, time)
