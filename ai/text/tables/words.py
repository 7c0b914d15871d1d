"""Words of questions, headers and cells, as rows of tables are compared with questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from retrieval.english.alike import and_alike
from retrieval.english.stems import root_of

Cells = Mapping[str, str]
"""The values of a row, by the header of their column."""
_WORD = re.compile(r"[^\W_]+(?:['’](?!s\b)[^\W_]+)?")
_AMOUNT = re.compile(r"\W*\d")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text in lower case, its root and its place."""

    text: str
    root: str
    start: int
    end: int


@lru_cache(maxsize=2048)
def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text, in order."""
    found = ((match[0].casefold(), match.span()) for match in _WORD.finditer(text))
    return tuple(Word(word, root_of(word), *place) for word, place in found)


def roots(text: str) -> Iterator[str]:
    """The roots of the words of a text, in order."""
    return (word.root for word in words_of(text))


def said_by(header: str) -> frozenset[str]:
    """The roots by which a question may ask for a column: those of its header, and those that say nearly the same
    (`maker` for what it `made`)."""
    found = frozenset(roots(header))
    doers = [word for word in header.casefold().split() if word.endswith("er")]
    found = found.union(root_of(word.removesuffix(end)) for word in doers for end in ("r", "er"))
    return and_alike(found)


def is_name(value: str) -> bool:
    """True for a value that has letters and does not begin with a number: no time, no amount, no date."""
    return any(map(str.isalpha, value)) and _AMOUNT.match(value) is None
