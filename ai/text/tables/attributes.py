"""Rows that only mention what an attribute is asked of: the age of Ida Moss is not told by the row of her dog."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import dropwhile

from ai.text.tables.words import Cells, Word, is_name, roots, said_by, words_of
from retrieval.english.lists import word_list

_BE = word_list("is are was were does do did has have")
_ARTICLES = word_list("the a an")
_BESIDE = word_list("about after and at before between by during for from in into near on or through to under with")
_TIMES = word_list("date day hour month time week year")
Name = tuple[str, ...]
"""The roots of the words of a name."""


def of_another(
    question: str, row: Cells, table: Sequence[Cells], named: Collection[Name], paired: Collection[str]
) -> bool:
    """True if the question asks what something that it names is like, and the row, which is one of something else, has
    that in a column behind. `named` are the values that the question says, `paired` the columns of two sides."""
    keys = _keys_of(table)
    subjects = {tuple(roots(row.get(key, ""))) for key in keys}
    for header, value in dropwhile(lambda cell: cell[0] not in keys, row.items()):
        name = tuple(roots(value))
        if name in named and name not in subjects and header not in paired:
            others = [other for other in row if other not in {header, *keys}]
            if _is_asked_of(words_of(question), name, others):
                return True
    return False


def _keys_of(table: Sequence[Cells]) -> frozenset[str]:
    """The columns by which the things of a table may be named: one that is called so, else the first of names, and the
    first of these that tells the rows apart; none where there are no names."""
    named = [header for header in table[0] if all(_may_name(header, row.get(header, "")) for row in table)]
    called = [header for header in named if header.casefold().split()[-1] == "name"]
    apart = [header for header in named if len({row[header] for row in table}) == len(table)]
    return frozenset((*(called or named)[:1], *apart[:1]))


def _may_name(header: str, value: str) -> bool:
    return is_name(value) and not any(map(str.isdigit, value)) and _TIMES.isdisjoint(roots(header))


def _is_asked_of(said: Sequence[Word], name: Name, headers: Sequence[str]) -> bool:
    """True for `how old is Ida Moss`, `the age of Ida Moss`, `Ida Moss's age` and `what breed is Ida Moss`."""
    asked = [said_by(header) for header in headers]
    for first, end in _places(said, name):
        before = [word for word in said[:first] if word.text not in _ARTICLES]
        if end < len(said) and not (before and before[-1].text in _BESIDE):
            behind = said[end + (said[end].text == "s") :]
            if behind and any(behind[0].root in each for each in asked):
                return True
        if end == len(said) and len(before) > 1 and before[-1].text in _BE | {"of"}:
            how = len(before) > 2 and before[-3].text == "how" and before[-1].text in _BE
            if how or any(before[-2].root in each for each in asked):
                return True
    return False


def _places(said: Sequence[Word], name: Name) -> Iterator[tuple[int, int]]:
    """The stretches of words that say the name."""
    for first in range(len(said) - len(name) + 1):
        if tuple(word.root for word in said[first : first + len(name)]) == name:
            yield first, first + len(name)
