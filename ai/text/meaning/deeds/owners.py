"""Whose somebody is: the wife of his brother is not his wife, nor are his brother's children his."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_RELATIVES = frozenset(
    map(
        root_of,
        word_list(
            "wife wives husband widow widower sister brother mother father parents son daughter child children uncle "
            "aunt nephew niece cousin grandson granddaughter grandchildren grandfather grandmother grandparents "
            "stepson stepdaughter stepfather stepmother friend servant assistant apprentice secretary deputy successor "
            "predecessor heir owner master teacher pupil student tutor nurse lawyer agent partner neighbour neighbor "
            "family employer landlord tenant colleague"
        ),
    )
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]*)?")
"""With what tells an owner: `brother's`, `boys'`."""
_OWNER = re.compile(r"['’]s?\Z")
_BARE = word_list("his her their my our your its")
_ARTICLES = word_list("the a an his her their my our your its this that")
_BETWEEN = 2
"""Words that may stand between whose somebody is and who: `his brother's second wife`."""


@dataclass(frozen=True, slots=True)
class Owners:
    """The relatives of a question, by root, with the roots of those whose they are, empty for whom a pronoun or a name
    says."""

    asked: tuple[tuple[str, str], ...] = ()
    said: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str) -> Owners:
        """Reads the question."""
        words = _WORD.findall(question.casefold())
        return cls(tuple(_relatives(words)), frozenset(root_of(_bare(word)) for word in words))

    def agree(self, text: str, own: frozenset[str]) -> bool:
        """True unless the sentence, of the roots `own` with those of its title, has such a relative as that of another
        one alone; or that of nobody else where the question asks for one's."""
        told = list(_relatives(_WORD.findall(text.casefold()))) if self.asked else []
        return not any(self._is_anothers(*each, told, own) for each in self.asked)

    def _is_anothers(self, who: str, whose: str, told: list[tuple[str, str]], own: frozenset[str]) -> bool:
        owners = [other for each, other in told if each == who]
        if whose and who not in own:
            return any(each == whose for each, _ in told)  # `her cousin` for `her cousin's daughter`
        if whose:
            return bool(owners) and whose not in own and not any(owners)
        return bool(owners) and all(owner and owner not in self.said for owner in owners)


def _relatives(low: list[str]) -> Iterator[tuple[str, str]]:
    """Each relative who is somebody's, with the root of the one, where that is a relative too."""
    for at, word in enumerate(low):
        who = root_of(_bare(word))
        if who not in _RELATIVES or (_OWNER.search(word) and at + 1 < len(low) and _owned(low, at) is not None):
            continue
        before = [each for each in low[max(0, at - _BETWEEN - 1) : at] if _OWNER.search(each)]
        if before:
            owner = root_of(_bare(before[-1]))
            yield who, owner if owner in _RELATIVES else ""
        elif low[at + 1 : at + 2] == ["of"]:
            behind = [each for each in low[at + 2 : at + 5] if each not in _ARTICLES]
            chained = [root_of(_bare(each)) for each in behind[:2] if root_of(_bare(each)) in _RELATIVES]
            yield who, chained[0] if chained else _owner_of_name(low[at + 2 : at + 6])
        elif not _BARE.isdisjoint(low[max(0, at - _BETWEEN) : at]):
            yield who, ""


def _owned(low: list[str], at: int) -> int | None:
    """Where the relative is whose owner stands there."""
    behind = range(at + 1, min(len(low), at + 2 + _BETWEEN))
    return next((n for n in behind if root_of(_bare(low[n])) in _RELATIVES), None)


def _owner_of_name(behind: list[str]) -> str:
    """The relative in `the children of Anders Holm's brother`."""
    for at, word in enumerate(behind[:-1]):
        if _OWNER.search(word) and root_of(_bare(behind[at + 1])) in _RELATIVES:
            return root_of(_bare(behind[at + 1]))
    return ""


def _bare(word: str) -> str:
    return _OWNER.sub("", word)
