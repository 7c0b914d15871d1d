"""Rows that a question names by a number: `plot 3`, `room 12A`, `bus no. 14`.

The number is that of the column whose header stands before it, and no other: a rent of 40 makes no `plot 40`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ai.text.tables.words import Cells, words_of
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_LABEL = re.compile(r"(?:(?:no|nr)\.?\s?|#\s?)?0{0,8}(?P<label>\d{1,9}[a-z]?)", re.IGNORECASE)
_NUMBER_WORDS = word_list("no nr number numbers")
_JOINS = word_list("and or")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DECIMALS = re.compile(r"[.,]\d")


def named_by_number(question: str, cells: Cells) -> frozenset[str]:
    """The headers of the columns by whose number the question names this row."""
    return frozenset(header for header, labels in _asked(question, tuple(cells)) if label_of(cells[header]) in labels)


def numbers_asked(question: str, table: Sequence[Cells]) -> Mapping[str, frozenset[str]]:
    """The numbers by which the question names rows of a table, by the header of their column. What may be a year names
    a row only where one has it."""
    headers = tuple(dict.fromkeys(header for row in table for header in row))
    held = {header: {label_of(row.get(header, "")) for row in table} for header in headers}
    return {
        header: labels
        for header, labels in _asked(question, headers)
        if held[header] & labels or not all(map(_YEAR.fullmatch, labels))
    }


def has_other_number(row: Cells, asked: Mapping[str, frozenset[str]]) -> bool:
    """True if the row has another number in a column by which rows are named."""
    return any((label := label_of(row.get(header, ""))) and label not in labels for header, labels in asked.items())


def label_of(value: str) -> str:
    """The number that a cell is, without zeros before it; empty for anything else, as an amount with its unit."""
    found = _LABEL.fullmatch(value.strip())
    return found["label"].casefold() if found else ""


@lru_cache(maxsize=512)
def _asked(question: str, headers: tuple[str, ...]) -> tuple[tuple[str, frozenset[str]], ...]:
    said = words_of(question)
    found: dict[str, set[str]] = {}
    for place, word in enumerate(said):
        labels = frozenset(_numbers_behind(question, place))
        for header in _headed_by(word.root, headers) if labels else ():
            found.setdefault(header, set()).update(labels)
    return tuple((header, frozenset(labels)) for header, labels in found.items())


def _numbers_behind(question: str, place: int) -> Iterator[str]:
    """The numbers right behind a word: `3`, `no. 3`, `3, 4 and 7`."""
    said = words_of(question)
    at = place + 1 + (place + 1 < len(said) and said[place + 1].text in _NUMBER_WORDS)
    while at < len(said):
        word = said[at]
        label = label_of(word.text)
        if not label or _DECIMALS.match(question, word.end):
            return
        yield label
        at += 1 + (at + 1 < len(said) and said[at + 1].text in _JOINS)


def _headed_by(root: str, headers: Sequence[str]) -> list[str]:
    """The columns that the word names: those of this header alone, else those whose header ends with it."""
    named = {header: [r for r in map(root_of, _words(header)) if r] for header in headers}
    exact = [header for header, roots in named.items() if roots == [root]]
    return exact or [header for header, roots in named.items() if roots[-1:] == [root]]


def _words(header: str) -> Iterator[str]:
    return (word.text for word in words_of(header) if word.text not in _NUMBER_WORDS)
