"""The sides of a sentence that sets one thing against another: `The fee for dogs rises to £180; that for cats stays.`

An amount, a time or a person on one side answers no question about what only the other side names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.question_type import WantedKind, offers, wanted_of
from ai.text.support import WORD, fold, weighed_roots
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list

_BETWEEN = re.compile(r";\s|,?\s(?:while|whereas)\s|,\s(?:but|although|though|and)\s", re.IGNORECASE)
ROW = re.compile(r"[^:;.]{1,40}:\s[^;]{1,80};\s[^:;]{1,40}:\s")
"""Headers and cells, as a row of a table is told."""
_GOES_ON = word_list("it he she they this these which who we you i its his her their so then also")
"""Words that begin a side about what the one before it names."""
_MEANS_IT = re.compile(r"\b(?:it|them|him|they|he|she|one)\b", re.IGNORECASE)
"""`The boathouse leaked; a mechanic painted it.`"""
_OPENS = word_list("the a an that those my your every each all most some many several no nobody everyone anyone")
_BEFORE = word_list("on in at by after before during within from for with under over")
_LATER = re.compile(
    r"[\w'’-]+\s(?:[\w'’-]+\s){1,6}?(?:the|an?|our|his|her|their|my|its|every|each)\s[\w'’-]+\s(?:[\w'’-]+\s){0,4}?"
    r"(?:is|are|was|were|has|have|had|can|will|must|may|[a-z]+ed)\b",
    re.IGNORECASE,
)
"""`on the twelfth our best cable parted`: a clause of its own behind a time or a place."""
_SAYS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|will|must|may|do|does|did|[a-z]+ed|[a-z]{2,}[^s\W]s)\b"
    r"|\b(?:the one|that) for\b",
    re.IGNORECASE,
)
"""Words that make a clause of its own, not one more of a list."""
_DEFINITE = (WantedKind.NUMBER, WantedKind.TIME, WantedKind.PERSON)


@dataclass(frozen=True, slots=True)
class Sides:
    """The kind of thing that a question wants, the roots of its words, and these with those alike."""

    question: str
    wanted: WantedKind
    asked: frozenset[str]
    alike: frozenset[str]

    @classmethod
    def of(cls, question: str) -> Sides:
        """Reads the question."""
        asked = weighed_roots(question)
        return cls(question, wanted_of(question), asked, and_alike(asked))

    def agrees(self, text: str) -> bool:
        """True unless what is wanted stands on one side, and a word of the question on another side alone."""
        sides = () if ROW.match(text) else _BETWEEN.split(text)
        if len(sides) < 2 or self.wanted not in _DEFINITE:
            return True
        apart = not any(map(_goes_on, sides[1:]))
        telling = [side for side in sides if offers(side, self.wanted, self.question, loosely=True)]
        if not telling or any(map(_MEANS_IT.search, telling)):
            return True
        told = frozenset[str]().union(*map(weighed_roots, telling))
        return not (apart or told.isdisjoint(self.alike)) or not any(
            self.asked & weighed_roots(side) - told for side in sides
        )


def _goes_on(side: str) -> bool:
    """True if the side begins with a pronoun, or with no subject of its own: `and opened its doors in 1903`."""
    first = (WORD.findall(side) or [""])[0]
    low = fold(first)
    if low in _GOES_ON or (low in _OPENS and not _SAYS.search(side)):
        return True
    if low in _BEFORE:
        return not _LATER.match(side)
    return not (low in _OPENS or first[:1].isupper() or (low.endswith("s") and low not in UNWEIGHED_WORDS))
