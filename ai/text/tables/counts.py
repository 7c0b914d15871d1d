"""Rows for who asks how many: a count answers, and neither a price, a time nor a list of rows does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ai.text.tables.units import is_unit
from ai.text.tables.words import Cells, Word, roots, said_by, words_of
from retrieval.english.alike import and_alike
from retrieval.english.lists import STOP_WORDS, word_list
from retrieval.english.stems import is_past, may_be_many, root_of

_HOW_MANY = re.compile(r"\b(?:how many|(?:the|what|which) (?:total )?number of)\s", re.IGNORECASE)
_BE = word_list("is are was were be been being get got")
_LIGHT = word_list("need needed require required called named used listed included given based located situated made")
"""Participles that say no more than that there are some."""
_NO_COUNT = frozenset(
    map(
        root_of,
        word_list(
            "price cost fare fee charge rate rent deposit salary wage revenue income turnover date year time code id "
            "phone telephone tel postcode zip departs departure leaves arrives arrival opens closes start end"
        ),
    )
)
_IS_NO_COUNT = re.compile(
    r"[$€£¥₹]|\d[:.h]\d\d\b(?!\d)|\d{4}-\d|\d\s?(?:am|pm|eur|usd|gbp|chf)\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]{0,6}\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_BEFORE_COUNTED = 4


def counts_nothing(question: str, row: Cells) -> bool:
    """True if the question asks how many, and the row has no number of them: none in a column of what is counted, or
    of the deed that is asked for."""
    asks = _HOW_MANY.search(question)
    if asks is None:
        return False
    said = words_of(question[asks.end() :])
    counted, behind = _counted(said)
    if not counted or is_unit(counted[-1].text):
        return False
    heads = and_alike({counted[-1].root})
    own = {h: v for h, v in row.items() if not _names(v, question)}
    if any(_is_number(v) and _headed(h) in heads for h, v in own.items()):
        return False
    first = next(iter(row))
    if counted[-1].root in roots(first) and not _names(row[first], question):
        return True  # a list of rows is no count
    deed = _deed(behind)
    if deed is not None:
        meant = and_alike({deed.root})
        return not any(_is_count(h, v) and not meant.isdisjoint(said_by(h)) for h, v in own.items()) and not any(
            _counts_in_words(v, meant) for v in own.values()
        )
    named = frozenset(root for value in row.values() if _names(value, question) for root in roots(value))
    wanted = frozenset(word.root for word in said if word.text not in STOP_WORDS) - named
    return not any(_is_count(h, v) and not wanted.isdisjoint(said_by(h)) for h, v in own.items()) and not any(
        _counts_in_words(v, heads) for v in own.values()
    )


def _counted(said: Sequence[Word]) -> tuple[Sequence[Word], Sequence[Word]]:
    """The words of what is counted, up to its plural, and those behind it."""
    for at, word in enumerate(said[:_BEFORE_COUNTED], 1):
        if word.text in STOP_WORDS:
            break
        if may_be_many(word.text):
            return said[:at], said[at:]
    return said[:1], said[1:]


def _deed(behind: Sequence[Word]) -> Word | None:
    """The deed that was done to them: `were sold`, `have been sold`."""
    for before, word in pairwise(behind):
        if before.text in _BE and is_past(word.text):
            return None if word.text in _LIGHT or word.text in _BE else word
    return None


def _names(value: str, question: str) -> bool:
    words = frozenset(roots(value))
    return any(map(str.isalpha, value)) and bool(words) and words <= frozenset(roots(question))


def _headed(header: str) -> str:
    """The root of what a header says first and foremost: `runners` of `number of runners (2024)`."""
    plain = header.partition("(")[0].replace("_", " ")
    words = words_of(plain.casefold().rpartition(" of ")[2] or plain)
    return words[-1].root if words else ""


def _is_number(value: str) -> bool:
    return any(map(str.isdigit, value)) and _IS_NO_COUNT.search(value) is None


def _is_count(header: str, value: str) -> bool:
    if _YEAR.fullmatch(value.strip()) and any(is_past(word.text) for word in words_of(header)):
        return False  # `built: 1901`
    return _is_number(value) and _NO_COUNT.isdisjoint(roots(header.replace("_", " ")))


def _counts_in_words(value: str, meant: frozenset[str]) -> bool:
    """True for a cell that says how many: `12 sold`."""
    return _is_number(value) and not meant.isdisjoint(roots(value))
