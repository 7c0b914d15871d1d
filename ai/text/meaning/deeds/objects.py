"""To whom it was done, by name: `She succeeds Colin Tate` does not say who succeeds Hannah Wyle, nor `The railway
reached Kessendorf` when it reached Lusk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ai.text.meaning.deeds.clause import ENDS_VERB, HELPER, MUTUAL, clause_of
from ai.text.meaning.namesakes import TITLES
from ai.text.support import WORD, fold
from retrieval.english.lists import DATES, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_NAME = r"[A-Z][\w'’-]*+(?:\s[A-Z\d][\w'’-]*+){0,3}"
_DOES = re.compile(
    rf"\A\W*(?:[Ww]ho|[Ww]hat|(?:[Ww]hich|[Ww]hat)\s[\w'’-]+(?:\s[a-z][\w'’-]*)??)\s(?!{HELPER}\b)(?P<deed>[a-z]{{3,}})\s(?:the\s)?"
    rf"(?P<name>{_NAME})\W*\Z"
)
_OBJECT = re.compile(rf"\s(?:(?:the|an?|his|her|its|their)\s)?(?P<lead>(?:[a-z][\w'’-]*\s){{0,2}})(?P<name>{_NAME})")
_DOER = re.compile(
    rf"(?<![\w'’-])(?P<name>{_NAME})\s(?:(?:has|had|also|later|[a-z]+ly)\s){{0,2}}(?P<deed>[a-z]{{3,}})\b"
)
_MUTUAL = MUTUAL.union(map(root_of, word_list("join face border resemble")))
"""Deeds that each of two does to the other."""
_HELPERS = word_list("did does do")
_WHOM = word_list("him them it himself herself itself")
_WORD = re.compile(r"\w[\w'’-]*+")
"""A name with its number: `HV-3`."""
_LIKE = 4
"""Letters that `Britain` and `British` share."""


@dataclass(frozen=True, slots=True)
class Object:
    """Somebody or something named to whom a question asks who did it, or when: the folded words of the name, and the
    root of the deed."""

    name: tuple[str, ...] = ()
    deed: str = ""

    @classmethod
    def of(cls, question: str) -> Object:
        """Reads the question; nothing where the name is initials, which a text may spell out, or the deed is mutual."""
        found = _DOES.match(question)
        if found is not None:
            return cls._named(found["name"], found["deed"])
        helper, words, verb = clause_of(question)
        behind = " ".join(words[verb + 1 :]) if verb and fold(helper) in _HELPERS else ""
        name = re.fullmatch(rf"(?:the\s)?(?P<name>{_NAME})", behind)
        return cls._named(name["name"], words[verb]) if name is not None else cls()

    @classmethod
    def _named(cls, name: str, deed: str) -> Object:
        root = root_of(fold(deed))
        initials = name.isalpha() and name.isupper()
        return cls() if initials or root in _MUTUAL else cls(tuple(_words(name)), root)

    def _without_doer(self, text: str) -> str:
        """The text without the name where that one does it: `The HV-3 replaces the HV-2`."""
        for found in reversed([*_DOER.finditer(text)]):
            if root_of(fold(found["deed"])) == self.deed and tuple(_words(found["name"])) == self.name:
                text = text[: found.start()] + text[found.start("deed") :]
        return text

    def agrees(self, text: str) -> bool:
        """True unless the text never names it so, and says each time that the deed was done to another, by name."""
        if not self.name:
            return True
        text = self._without_doer(text)
        said = {word[:_LIKE] if word.isalpha() else word for word in _words(text)}
        if any((word[:_LIKE] if word.isalpha() else word) in said for word in self.name):
            return True
        deeds = [found for found in WORD.finditer(text) if found[0].islower() and root_of(fold(found[0])) == self.deed]
        if not deeds or any(fold(word) in _WHOM for word in WORD.findall(text, deeds[0].end())):
            return True
        return not all(_has_name(text, found.end()) for found in deeds)


def _has_name(text: str, end: int) -> bool:
    """True if a name follows there, as that to which it is done."""
    found = _OBJECT.match(text, end)
    if found is None or any(word in ENDS_VERB or word in UNWEIGHED_WORDS for word in found["lead"].split()):
        return False
    return DATES.isdisjoint(_words(found["name"]))


def _words(said: str) -> Iterator[str]:
    for word in _WORD.findall(said):
        folded = fold(word)
        if folded not in TITLES and folded not in UNWEIGHED_WORDS:
            yield folded
