"""Times that have no year, as a question and a sentence say them: months and days of the month, and what a rate is for.

A question for April is not answered by what is said of March, and what a day costs is not told by the price of an hour.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.support import WORD, fold
from retrieval.english.lists import MONTHS
from retrieval.english.stems import root_of

_MONTH = (
    r"(?:"
    + "|".join(month.title() for month in MONTHS if month != "may")
    + r"|May\b(?!\s(?:I|we|you|he|she|they)\b))\b"
)
_MONTHS = re.compile(rf"\b{_MONTH}")
_DAY = re.compile(
    rf"\b(?P<one>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month>{_MONTH})"
    rf"|\b(?P<named>{_MONTH})\s(?P<other>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.:]\d)"
)
_SPAN = re.compile(
    rf"\b(?P<first>{_MONTH})(?:\s\d{{1,2}}(?:st|nd|rd|th)?|\s\d{{4}})?\s?(?:to|until|till|through|and|[-–—])\s?"
    rf"(?:the\s)?(?:(?:end|middle|beginning|close|start)\sof\s)?(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?)?(?P<last>{_MONTH})"
)
_OPEN = re.compile(
    rf"\b(?i:since|from|after|until|till|before|by|between|outside|except)\s(?:(?:the\s)?(?:end|middle|beginning|start)\sof\s)?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?)?{_MONTH}"
)
_ALWAYS = re.compile(
    r"\b(?:monthly|(?:every|each|any) (?:month|year|season)|all (?:months|seasons)|(?:all|whole|the) year(?: round)?"
    r"|year-round|annual(?:ly)?)\b",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?<![\w-])(?:per|an?|each|every|for\sone|for\san?)\s(?P<unit>[a-z]+)\b|\b(?P<adverb>hourly|daily|nightly|weekly|fortnightly"
    r"|monthly|quarterly|yearly|annual|annually)\b",
    re.IGNORECASE,
)
_ADVERBS = {
    "hourly": "hour",
    "daily": "day",
    "nightly": "night",
    "weekly": "week",
    "fortnightly": "fortnight",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annual": "year",
    "annually": "year",
}
_UNITS = frozenset(_ADVERBS.values()) | {"minute", "second", "season", "decade", "term", "weekend", "visit", "trip"}
_ASKS_RATE = re.compile(
    r"\bhow\s(?:much|many|often|far|fast)\b|\b(?:costs?|prices?|fees?|rents?|fares?|charges?|rates?|pay|paid|wages?)\b",
    re.IGNORECASE,
)
_OCCASIONS = tuple(
    tuple(frozenset(part.split("-")) for part in parts.split())
    for parts in (
        "dawn-daybreak-sunrise noon-midday dusk-nightfall-sunset midnight",
        "spring-springtime summer-summertime autumn-fall winter-wintertime",
        "easter christmas-yule whitsun-pentecost michaelmas lent advent halloween candlemas lammas martinmas ramadan "
        "passover",
    )
)
"""Times of a day, seasons and feasts: one is not another."""
_AT = re.compile(
    r"\b(?:at|on|in|by|from|until|till|before|after|during|every|each|since|this|last|next)\s(?:the\s)?(?P<when>[a-z]{3,})\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Periods:
    """The times without a year in a question, and its rates. `months`: those named, `unheld`: those of them that no
    source names; `days`: days of a month, each with its month; `rates`: the units of time that something is asked per
    (`a day`); `occasions`: times of a day, seasons and feasts, each by its field and place there."""

    months: frozenset[str]
    unheld: frozenset[str]
    days: frozenset[tuple[int, str]]
    rates: frozenset[str]
    occasions: frozenset[tuple[int, int]]

    @classmethod
    def of(cls, question: str, vocabulary: frozenset[str]) -> Periods:
        """Reads the question, given the words of the sources."""
        rates = _rates(question) if _ASKS_RATE.search(question) else frozenset[str]()
        months = _months(question)
        return cls(months, months - vocabulary, _days(question), rates, _occasions(question))

    def agrees(self, text: str) -> bool:
        """True unless the sentence names other months, other days of the month, or a rate per another unit of time, and
        none of those that are asked for."""
        if (self.months and not self._in_months(text)) or (self.occasions and self._on_another(text)):
            return False
        told = _rates(text) if self.rates else frozenset[str]()
        return not told or not told.isdisjoint(self.rates)

    def _on_another(self, text: str) -> bool:
        """True if the sentence says another occasion of a field, and not the one asked for."""
        told = _occasions(text)
        words = frozenset(fold(word) for word in WORD.findall(text))
        return any(
            words.isdisjoint(_OCCASIONS[field][place]) and any(other == field for other, _ in told)
            for field, place in self.occasions
        )

    def _in_months(self, text: str) -> bool:
        told = _months(text)
        if not told:
            return not self.unheld
        if _ALWAYS.search(text):
            return True
        spans = list(_SPAN.finditer(text))
        inside = frozenset(month for found in spans for month in _between(fold(found["first"]), fold(found["last"])))
        if self.months.isdisjoint(told | inside):
            return not spans and _OPEN.search(text) is not None
        days = _days(text) if self.days else frozenset[tuple[int, str]]()
        return not days or bool(spans) or _OPEN.search(text) is not None or not days.isdisjoint(self.days)


def _occasions(text: str) -> frozenset[tuple[int, int]]:
    said = frozenset(fold(found["when"]) for found in _AT.finditer(text))
    return frozenset(
        (field, place)
        for field, parts in enumerate(_OCCASIONS)
        for place, part in enumerate(parts)
        if not said.isdisjoint(part)
    )


def _months(text: str) -> frozenset[str]:
    return frozenset(fold(found[0]) for found in _MONTHS.finditer(text))


def _days(text: str) -> frozenset[tuple[int, str]]:
    found = _DAY.finditer(text)
    return frozenset((int(day["one"] or day["other"]), fold(day["month"] or day["named"])) for day in found)


def _between(first: str, last: str) -> frozenset[str]:
    start, end = MONTHS.index(first), MONTHS.index(last)
    return frozenset(MONTHS[at % 12] for at in range(start, (end if end >= start else end + 12) + 1))


def _rates(text: str) -> frozenset[str]:
    found = (
        _ADVERBS[fold(each["adverb"])] if each["adverb"] else root_of(fold(each["unit"]))
        for each in _RATE.finditer(text)
    )
    return frozenset(unit for unit in found if unit in _UNITS)
