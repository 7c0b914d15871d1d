"""Rows about another than the question names: what the Osprey costs is not what the Kestrel costs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from ai.text.question_type import denies
from ai.text.tables.words import Cells, roots, words_of
from retrieval.english.lists import STOP_WORDS

_COMPARES = re.compile(r"\bthan\b|\bas\s\w+\sas\b", re.IGNORECASE)
_WHETHER = re.compile(
    r"\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|may|must)\b", re.IGNORECASE
)
_LISTED = re.compile(r"[,;/&(+]|\band\b|\bor\b", re.IGNORECASE)
_Name = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subjects:
    """The values of a table that a question says as a whole, and all values of each of its columns."""

    question: str
    named: frozenset[_Name]
    columns: Mapping[str, frozenset[_Name]]

    @classmethod
    def of(cls, question: str, table: Sequence[Cells]) -> Subjects:
        """The names in a question of a table; none where it compares or makes an exception."""
        columns: dict[str, set[_Name]] = {}
        for row in table:
            for header, value in row.items():
                columns.setdefault(header, set()).add(tuple(roots(value)))
        passes = denies(question) or _COMPARES.search(question) is not None
        named = frozenset[_Name]() if passes else _named(question, table)
        return cls(question, named, {header: frozenset(values) for header, values in columns.items()})

    def are_others(self, row: Cells) -> bool:
        """True if the question names what another row has in a column, by a whole cell that is nowhere in this row,
        and not what this row has there. Whether a named row has a value may be told by a row with another value."""
        own = {tuple(roots(value)) for value in row.values()}
        return any(
            tuple(roots(value)) not in self.named and any(self._is_contrary(name, value, own) for name in names)
            for header, value in row.items()
            if (names := (self.named & self.columns[header]) - own)
        )

    def _is_contrary(self, name: _Name, value: str, own: Set[_Name]) -> bool:
        last = tuple(word.root for word in words_of(self.question))[-len(name) :]
        if not self.named.isdisjoint(own) and last == name and _WHETHER.match(self.question):
            return False
        return not (_LISTED.search(value) and frozenset(name) <= frozenset(roots(value)))


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
