"""Rows about another than the question names: what the Osprey costs is not what the Kestrel costs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ai.text.question_type import denies
from ai.text.tables.words import Cells, roots, words_of
from retrieval.english.lists import STOP_WORDS

_COMPARES = re.compile(r"\bthan\b|\bas\s\w+\sas\b", re.IGNORECASE)
_WHETHER = re.compile(
    r"\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|may|must)\b", re.IGNORECASE
)
_LISTED = re.compile(r"[,;/&(+]|\band\b|\bor\b", re.IGNORECASE)
_Name = tuple[str, ...]


def of_another(question: str, row: Cells, table: Sequence[Cells]) -> bool:
    """True if the question names what another row has in a column, by a whole cell that is nowhere in this row, and
    not what this row has there. Whether a named row has a value may be told by a row that has another value."""
    if denies(question) or _COMPARES.search(question):
        return False
    named = _named(question, table)
    own = {tuple(roots(value)) for value in row.values()}
    told = not named.isdisjoint(own)
    last = tuple(word.root for word in words_of(question))
    for header, value in row.items():
        mine = tuple(roots(value))
        if mine in named:
            continue
        for name in named - own:
            if not any(tuple(roots(each.get(header, ""))) == name for each in table):
                continue
            asked_whether = told and _WHETHER.match(question) and last[-len(name) :] == name
            if not asked_whether and not (_LISTED.search(value) and frozenset(name) <= frozenset(mine)):
                return True
    return False


def _named(question: str, table: Sequence[Cells]) -> frozenset[_Name]:
    """The values of cells that the question says as a whole, the longest at each place, but for numbers and what only
    asks or names a column."""
    said = words_of(question)
    asked = tuple(word.root for word in said)
    passed = frozenset(root for row in table for header in row for root in roots(header))
    values = {
        tuple(word.root for word in words)
        for row in table
        for value in row.values()
        if any(map(str.isalpha, value))
        and (words := words_of(value))
        and not all(word.text in STOP_WORDS or word.root in passed for word in words)
    }
    sizes = sorted({len(value) for value in values}, reverse=True)
    found, at = set[_Name](), 0
    while at < len(asked):
        name = next((asked[at : at + size] for size in sizes if asked[at : at + size] in values), ())
        if name:
            found.add(name)
        at += max(1, len(name))
    return frozenset(found)
