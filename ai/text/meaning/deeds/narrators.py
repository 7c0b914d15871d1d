"""Whose `I` and `my` are: `I married Judith Lowther`, told by Daniel Harker, does not say whom Peter Harker married,
nor is `my father` the father of `my cousin Amos`.

Only what the passage says plainly counts: the narrator gives a name (`I, Daniel Harker,`), or the one asked about is
somebody of the narrator's (`my brother Peter`). Else the first person may be whom the question means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ai.text.meaning.deeds.clause import clause_of
from ai.text.meaning.namesakes import TITLES
from ai.text.support import WORD, fold
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_NAME = r"[A-Z][\w'’-]*+(?:\s[A-Z][\w'’-]*+){0,3}"
_RELATIVES = word_list(
    "father mother brother sister son daughter uncle aunt nephew niece cousin grandfather grandmother husband wife "
    "grandson granddaughter friend neighbour neighbor teacher stepfather stepmother"
)
_ANY_RELATIVE = "|".join(sorted(_RELATIVES))
_RELATIVE = rf"(?P<who>{_ANY_RELATIVE})"
_NAMES_SELF = re.compile(rf"\bI,\s(?P<name>{_NAME}),|\b[Mm]y\sname\s(?:is|was)\s(?P<other>{_NAME})")
_MINE = re.compile(
    rf"\b[Mm]y\s(?:[a-z-]+\s)?{_RELATIVE},?\s(?P<name>{_NAME})"
    rf"|(?<![\w'’-])(?P<first>{_NAME}),\smy\s(?:[a-z-]+\s)?(?P<whose>{_ANY_RELATIVE})\b"
)
_MINE_DOES = re.compile(rf"\b[Mm]y\s(?:[a-z-]+\s)?{_RELATIVE}\s(?=[a-z])")
_OWNED = re.compile(
    rf"(?<![\w-])(?P<name>[A-Z][\w-]*+(?:\s[A-Z][\w-]*+){{0,3}})['’]s?\s(?:[a-z-]+\s){{0,2}}?{_RELATIVE}\b"
)
_MY = re.compile(rf"\b(?P<whose>my|his|her|their|[\w-]+['’]s)\s(?:[a-z-]+\s)?{_RELATIVE}\b", re.IGNORECASE)
_DOES = re.compile(r"\bI(?:,[^,.]{1,60},)?\s(?:(?:had|have|never|also|then|first|later|soon)\s){0,2}(?P<deed>[a-z]+)\b")


@dataclass(frozen=True, slots=True)
class Narrator:
    """The person of whose deed or relative a question asks, by the folded words of the name: the root of the deed, or
    the word for the relative."""

    name: tuple[str, ...] = ()
    deed: str = ""
    relative: str = ""

    @classmethod
    def of(cls, question: str) -> Narrator:
        """Reads the question."""
        owned = _OWNED.search(_behind_first(question))
        if owned is not None:
            return cls(_words(owned["name"]), relative=fold(owned["who"]))
        _, words, verb = clause_of(question)
        if not verb or not all(word[0].isupper() for word in words[:verb]):
            return cls()
        return cls(_words(" ".join(words[:verb])), deed=root_of(fold(words[verb])))

    def agrees(self, text: str, passage: Sequence[str]) -> bool:
        """True unless the sentence tells of the narrator what is asked of another one."""
        if not self.name or not self._tells_of_narrator(text):
            return True
        return not any(self._is_another(said) for said in (*passage, text))

    def _tells_of_narrator(self, text: str) -> bool:
        if self.relative:
            told = [fold(found["whose"]) for found in _MY.finditer(text) if fold(found["who"]) == self.relative]
            return bool(told) and all(whose == "my" for whose in told)
        doers = [root_of(fold(found["deed"])) for found in _DOES.finditer(text)]
        return self.deed in doers and self.name[0] not in set(_words(text))

    def _is_another(self, said: str) -> bool:
        """True if the sentence says that the narrator has another name, or that the one asked about is a relative of
        the narrator's."""
        own = (found["name"] or found["other"] for found in _NAMES_SELF.finditer(said))
        if any(_are_apart(self.name, _words(name)) for name in own):
            return True
        return any(self.is_named(name) for name in _relatives(said))

    def is_named(self, name: tuple[str, ...]) -> bool:
        """True for the name of the one asked about: the first names are the same, and the last where both have one."""
        return name[:1] == self.name[:1] and (1 in (len(name), len(self.name)) or name[-1] == self.name[-1])


def relative_named(said: str, name: Sequence[str]) -> str:
    """The word for the narrator's relative of that name, where the sentence says it: `my uncle Thomas`; else empty."""
    asked = Narrator(tuple(name))
    found = (each for each in _MINE.finditer(said) if asked.is_named(_words(each["name"] or each["first"])))
    return next((fold(each["who"] or each["whose"]) for each in found), "")


def relative_that_does(said: str) -> tuple[str, str]:
    """The word for the narrator's relative without a name that a sentence has for its subject, and what stands before;
    empty words without one."""
    found = _MINE_DOES.search(said)
    return (fold(found["who"]), said[: found.start()]) if found is not None else ("", "")


def _relatives(said: str) -> Iterator[tuple[str, ...]]:
    return (_words(found["name"] or found["first"]) for found in _MINE.finditer(said))


def _are_apart(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """True for names of two persons: of one word each, or with other first names."""
    if 1 in (len(one), len(other)):
        return frozenset(one).isdisjoint(other)
    return one[0] != other[0] and 1 not in (len(one[0]), len(other[0]))


def _words(said: str) -> tuple[str, ...]:
    return tuple(word for word in map(fold, WORD.findall(said)) if word not in TITLES)


def _behind_first(question: str) -> str:
    """The question without its first word, which begins with a capital letter and is no name."""
    return question.strip().partition(" ")[2]
