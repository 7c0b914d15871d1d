"""Days, ranks, small numbers and labels of things: what is said of hive 3 is not said of hive 4."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ai.text.support import fold
from retrieval.english.lists import DATES, UNWEIGHED_WORDS
from retrieval.english.stems import root_of

_WEEKDAY = re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_RANKED = re.compile(
    r"\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)[\s-]([a-z]{3,})\b", re.IGNORECASE
)
_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = {word: str(number) for number, word in enumerate(_SMALL, 1)}
_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12"}
_COUNTED = re.compile(
    r"\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\s+(?:(?:more|other|new|further)\s+)?([a-z]{3,})",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"\b(?P<noun>[A-Za-z]{3,})\s(?:(?:no\.?|number)\s)?"
    r"(?P<labels>(?:\d{1,4}[a-z]?|[A-HJ-Z]|[IVX]{2,4})\b"
    r"(?:(?:,\s|\s?[–-]\s?|\s(?:and|or|to)\s)(?:\d{1,4}[a-z]?|[A-HJ-Z])\b(?![.,]\d))*)(?!\s?[%°$£€]|[.,:]\d)"
)
_LABEL = re.compile(r"\d+[a-z]?|[A-Z]+")
_RANGE = re.compile(r"(?<!\d)(\d{1,4})(?:\s?[–-]\s?|\sto\s)(\d{1,4})(?!\d)")
_LONGEST_RANGE = 200


def labelled(text: str) -> Iterator[tuple[str, str]]:
    """Each label of a noun: of `hives 1 and 3` and of `pages 2 to 9` all that they mean."""
    for found in _LABELLED.finditer(text):
        noun = fold(found["noun"])
        if noun not in UNWEIGHED_WORDS and noun not in DATES:
            yield from ((label, f"{root_of(noun)} labelled") for label in _labels(found["labels"]))


def _labels(said: str) -> Iterator[str]:
    yield from (label.casefold() for label in _LABEL.findall(said))
    for first, last in _RANGE.findall(said):
        yield from map(str, range(int(first) + 1, min(int(last), int(first) + _LONGEST_RANGE)))


def days_in(text: str) -> frozenset[str]:
    """The beginnings of the days of the week that it names."""
    return frozenset(found.casefold() for found in _WEEKDAY.findall(text))


@lru_cache(maxsize=4096)
def ranks_in(text: str) -> frozenset[tuple[str, str]]:
    """The nouns with their rank, small number or label: `War II` is war 2."""
    ranked = ((rank.casefold(), root_of(fold(noun))) for rank, noun in _RANKED.findall(text))
    counted = ((number.casefold(), f"{root_of(fold(noun))} counted") for number, noun in _COUNTED.findall(text))
    labels = [(_ROMAN.get(label, label), noun) for label, noun in labelled(text)]
    return frozenset([*ranked, *((_NUMBER.get(number, number), noun) for number, noun in counted), *labels])
