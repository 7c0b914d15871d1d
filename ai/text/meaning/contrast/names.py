"""Names of several words, and the places that they are behind `at`, `in` and the like."""

from __future__ import annotations

import re

from ai.text.meaning.deeds.clause import deed_of
from ai.text.support import WORD, carries, fold
from retrieval.english.lists import DATES, UNWEIGHED_WORDS
from retrieval.english.stems import root_of

Names = tuple[tuple[str, ...], ...]
"""The folded words of each name."""
_NAME = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*+(?:\s++[A-Z][\w'’-]*+)+")
_NAME_AND_NEXT = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*+(?:\s++[A-Z][\w'’-]*+)++(?:\s++[a-z][\w'’-]*+)?+")
_AT_NAME = re.compile(r"\b(at|in|near|from|to)\s+(?:the\s+)?([A-Z][\w'’-]*+(?:\s++[A-Z][\w'’-]*+)*)")
_BEHIND = re.compile(r"\s([a-z][\w'’-]*)")
_LEAST_STEM = 4
_LEAST_SHARED = 4
"""Letters that a name and the word for who is of it share: `Asia` and `Asian`."""


def names_in(text: str) -> Names:
    """Those of the text, in order."""
    return tuple(tuple(map(fold, WORD.findall(name))) for name in _NAME.findall(text))


def names_another(text: str, names: Names) -> bool:
    """True if the text does not say one of the names, but one that begins like it and ends otherwise (`New York` for
    `New Mexico`). `Academic Rankings` begins and ends like `Academic Ranking`, `Central Asian` like `Central Asia` and
    `European Union law` like `European Law`."""
    whole = _by_roots(tuple(tuple(map(fold, WORD.findall(name))) for name in _NAME_AND_NEXT.findall(text)))
    names, said = (_by_roots(_without_article(each)) for each in (names, names_in(text)))
    for name in names:
        if any(set(name) <= set(other) for other in said):
            continue
        if any(all(any(_is_of(word, each) for each in other) for word in name) for other in whole):
            continue
        if any(name[0] == other[0] and name[-1] not in other and other[-1] not in name for other in said):
            return True
    return False


def places_in(text: str) -> frozenset[tuple[str, str]]:
    """Months, days and models (`R2`) are no places."""
    found = (
        (beside, fold(name.split()[-1].removesuffix("'s").removesuffix("’s")))
        for beside, name in _AT_NAME.findall(text)
    )
    return frozenset((beside, name) for beside, name in found if name.isalpha() and name not in DATES)


def alone_in(question: str) -> frozenset[str]:
    """The words of names with no noun behind them."""
    deed = deed_of(question)
    behind = ((fold(found[0]), _BEHIND.match(question, found.end())) for found in WORD.finditer(question))
    return frozenset(
        name
        for name, after in behind
        if after is None or fold(after[1]) in UNWEIGHED_WORDS or root_of(fold(after[1])) == deed
    )


def is_near(name: str, around: frozenset[str]) -> bool:
    """True if the words hold a form of the name: `Persia` and `Persian`."""
    if carries(around, name):
        return True
    stem = name[: max(_LEAST_STEM, len(name) - 3)]
    return len(name) > _LEAST_STEM and any(word.startswith(stem) for word in around)


def _is_of(name: str, word: str) -> bool:
    """True if a word is the name, or whoever and whatever is of it: `Germany` and `German`."""
    return name == word or (
        min(len(name), len(word)) >= _LEAST_SHARED
        and abs(len(name) - len(word)) <= 2
        and (word.startswith(name) or name.startswith(word))
    )


def _without_article(names: Names) -> Names:
    """The names of several words: `The New York office` speaks of New York."""
    bare = (name[1:] if name[0] == "the" else name for name in names)
    return tuple(name for name in bare if len(name) > 1)


def _by_roots(names: Names) -> Names:
    return tuple(tuple(map(root_of, name)) for name in names)
