"""Hours of days: the weekdays that a text names, ranges with all that lies in them, and what asks when something is
open."""

from __future__ import annotations

import re
from functools import lru_cache

from ai.text.tables.words import roots
from retrieval.english.lists import MONTHS, WEEKDAYS, word_list
from retrieval.english.stems import root_of

_MONTHS = (*MONTHS, *(month[:3] for month in MONTHS))
_FULL = r"(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
_SHORT = r"(?:M(?i:on)|T(?i:ues?|hu(?:rs?)?)|W(?i:eds?)|F(?i:ri)|S(?i:at|un))s?\b\.?"
DAY = rf"\b(?:{_FULL}\b|{_SHORT})"
_TO = r"[ \t]?(?:[-–—]|\b(?:to|till?|until|through)\b)[ \t]?"
_SPAN = re.compile(rf"(?P<first>{DAY})(?:{_TO}(?P<last>{DAY}))?")
_GROUPS = {"weekday": range(5), "weekend": range(5, 7), "daily": range(7), "every day": range(7)}
_GROUP = r"(?i:weekdays?|weekends?|daily|every[ \t]day)"
_GROUPED = re.compile(rf"\b(?P<name>{_GROUP})\b")
_BETWEEN = r"(?:[ \t]?[,&+/][ \t]?|[ \t](?:and|or)[ \t])"
_SPANS = rf"(?:{DAY}(?:{_TO}{DAY})?|\b{_GROUP}\b)"
_UNTIL = r"[ \t]?(?:[-–—]|\b(?:to|till?|until)\b)[ \t]?"
_CLOCK = rf"(?<![\d,.£$€])\d{{1,2}}(?:[:.]\d\d(?!\d)|[ \t]?(?i:[ap]\.?m\b|h\b)|{_UNTIL}\d{{1,2}}(?!\d))"
HOURS_OF_DAYS = re.compile(
    rf"[ \t]*+(?:[-*+•–][ \t]++)?(?P<label>{_SPANS}(?:{_BETWEEN}{_SPANS}){{0,6}}+)(?:[ \t]?:)?[ \t]++"
    rf"(?P<value>(?:{_CLOCK}|(?i:closed|open|from|noon|by)\b)[^\n]*+)"
)
"""A line that says when something is open: `Mon–Sat 9.30am–4.30pm`, `Wed: closed`."""
_SENTENCE = re.compile(r"\.[ \t]")
_IN_BRACKETS = re.compile(r"\([^()\n]{0,80}\)")
_DATE = re.compile(
    rf"\b\d{{1,2}}(?:(?:[ \t]?[-–][ \t]?|[ \t](?:and|to)[ \t])\d{{1,2}})?[ \t](?:{'|'.join(_MONTHS)})\b", re.IGNORECASE
)
_HAS_CLOCK = re.compile(_CLOCK)
_LETTERS = re.compile(r"[^\W\d_]+")
_OF_HOURS = word_list(
    "a p m am pm h hr hrs noon midday midnight closed close closes open opens opening from to till until and or by "
    "appointment only daily every day all last first entry admission orders except on o clock"
)
_STATES = re.compile(r"\b(?:closed|open|appointment)\b", re.IGNORECASE)
ASK_HOURS = frozenset(
    map(root_of, word_list("open opens opening close closes closed closing shut hour hours time times late early day"))
)
"""Roots of words that ask for hours, or that a label of hours has."""
COMES = frozenset(map(root_of, word_list("come comes arrive call visit run stop")))
"""Roots of what something does that comes at its hours: a van, a market."""
_NO_HOURS = re.compile(
    r"\b(?:why|how(?!\slate)|who|whom|whose|where|was|were|did|had|been|opened|ever|first)\b", re.IGNORECASE
)
_DAY_ROOTS = frozenset(map(root_of, (*WEEKDAYS, *_GROUPS, "and", "or")))


@lru_cache(maxsize=512)
def days_of(text: str) -> frozenset[int]:
    """The weekdays that a text names, Monday being 0; in a range also those between."""
    found = set[int]()
    for span in _SPAN.finditer(text):
        first = _number(span["first"])
        last = first if span["last"] is None else _number(span["last"])
        found |= {(first + step) % 7 for step in range((last - first) % 7 + 1)}
    for group in _GROUPED.finditer(text):
        found |= set(_GROUPS[" ".join(group["name"].casefold().split()).removesuffix("s")])
    return frozenset(found)


def without_days(text: str) -> frozenset[str]:
    """The roots of the words of a text that neither name days nor join them."""
    return frozenset(roots(_GROUPED.sub(" ", _SPAN.sub(" ", text)))) - _DAY_ROOTS


def first_part(value: str) -> str:
    """The first sentence of what an entry says, without dates."""
    return _DATE.sub(" ", _SENTENCE.split(value, maxsplit=1)[0])


def are_hours(label: str, value: str) -> bool:
    """True if an entry says nothing but when something is open or closed."""
    said = _IN_BRACKETS.sub(" ", value)
    words = map(str.casefold, _LETTERS.findall(_GROUPED.sub(" ", _SPAN.sub(" ", said))))
    stated = has_clock(value) or _STATES.search(f"{label}: {value}") is not None
    return stated and all(word in _OF_HOURS for word in words)


def has_clock(text: str) -> bool:
    """True if a text has a number that may be a time of day."""
    return _HAS_CLOCK.search(text) is not None


def may_ask_hours(question: str) -> bool:
    """True unless the question asks for something else than a time, or for what was."""
    return _NO_HOURS.search(question) is None


def _number(day: str) -> int:
    return next(at for at, name in enumerate(WEEKDAYS) if name.startswith(day.casefold()[:3]))
