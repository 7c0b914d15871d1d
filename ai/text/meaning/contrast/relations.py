"""Words that relate one thing to another (`before`, `above`, `without`): they say the contrary of each other of the
same thing alone. `Before the lighthouse was built` is told by `after the brig broke up`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ai.text.support import WORD, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_TURNED = frozenset(map(root_of, word_list("before after above below with without upstream downstream inside outside")))
_ENDS = re.compile(r"[,;:.?!()]")
_MOST_WORDS = 6
"""Words behind the relation among which its object is."""


@dataclass(frozen=True, slots=True)
class Objects:
    """The roots of what stands behind a relation, wherever it is said; `bare`: nothing stands there."""

    roots: frozenset[str]
    bare: bool

    def meet(self, other: Objects) -> bool:
        """True if both are of one thing, or of none."""
        return not and_alike(self.roots).isdisjoint(other.roots) or (self.bare and other.bare)


def is_turned(roots: Iterable[str]) -> bool:
    """True if one of the roots is that of such a word."""
    return not _TURNED.isdisjoint(roots)


def objects_behind(relations: frozenset[str], text: str) -> Objects:
    """The objects of those relations, given by root, in a text."""
    found, bare = set[str](), False
    for clause in _ENDS.split(text):
        words = [fold(word) for word in WORD.findall(clause)]
        for at, word in enumerate(words):
            if root_of(word) in relations:
                behind = words[at + 1 : at + 1 + _MOST_WORDS]
                bare = bare or not behind
                found.update(root_of(each) for each in behind if each not in UNWEIGHED_WORDS)
    return Objects(frozenset(found), bare)
