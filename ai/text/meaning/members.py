"""Questions that want the members of a kind in a place (`Which boats are in Vardal?`), and sentences that name some.

A sentence that holds the kind and the place need not name one: `The club keeps six boats in Vardal and two in Lomen.`
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.support import WORD, fold, weighed_roots
from retrieval.english.lists import MONTHS, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_WHICH = re.compile(
    r"^\W*(?:which|what)\s+(?P<kind>(?:[a-z][\w'’-]*\s+){1,3}?)(?:is|are|was|were|lie|lies|stand|stands)\s+"
    r"(?:there\s+)?(?:(?:kept|located|situated|found|moored|shown|held|stored)\s+)?"
    r"(?P<where>in|on|at|inside|within|near|behind|under|above|below|outside|beside)\s+(?P<place>[^?.;:,]+)[?.\s]*$",
    re.IGNORECASE,
)
_IN = frozenset({"in", "on", "at", "inside", "within"})
_BESIDE = word_list(
    "behind near beside outside opposite beyond from off past around towards toward above below under before between "
    "to by across round"
)
_HELD = re.compile(
    r"\b(?:there\s+(?:is|are|was|were)|has|have|had|holds?|keeps?)\s+an?\s+(?P<what>[^.;:,]+)", re.IGNORECASE
)
_LIST = re.compile(
    r"(?<![\w'’-])(?P<one>[\w'’-]++)(?:,|,?\s+(?:and|or|as well as))\s+(?:(?:the|an?|some|of)\s+)*(?P<other>[\w'’-]+)"
)
_NUMBERS = word_list(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred several many few "
    "some all most both none other others more"
)
_NAMED = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*")
_DOES = frozenset({"are", "were", "is", "was"})


@dataclass(frozen=True, slots=True)
class Members:
    """The members that such a question asks for. `kind` and `place`: the roots of their words, `where`: the
    preposition, `said`: the roots of all words of the question."""

    kind: frozenset[str]
    where: str
    place: frozenset[str]
    said: frozenset[str]

    @classmethod
    def of(cls, question: str) -> Members | None:
        """None for a question that asks for no members of a kind in a place."""
        found = _WHICH.match(question)
        if found is None:
            return None
        place = weighed_roots(found["place"])
        kind = frozenset[str]() if _NUMBERS & {*found["kind"].casefold().split()} else weighed_roots(found["kind"])
        return cls(kind, found["where"].casefold(), place, weighed_roots(question)) if place and kind else None

    def named_in(self, text: str) -> bool:
        """True if the sentence names some of them, and does not put them beside the place for in it."""
        return self._placed(text) and (self._by_name(text) or self._in_a_list(text) or self._held(text))

    def _placed(self, text: str) -> bool:
        """True unless every mention of the place stands behind another kind of preposition than the question's."""
        words = [fold(word) for word in WORD.findall(text)]
        of_place = [root_of(word) in self.place for word in words]
        begins = [at for at, is_of in enumerate(of_place) if is_of and not (at and of_place[at - 1])]
        before = [_before(words, at) for at in begins]
        if not before:
            return True
        if self.where in _IN:
            return not all(word in _BESIDE for word in before)
        return self.where in before

    def _by_name(self, text: str) -> bool:
        """True if it has a name that the question lacks and that is neither where something else is nor the first
        word."""
        for found in _NAMED.finditer(text):
            word, lead = fold(found[0]), text[: found.start()].split()
            new = root_of(word) not in self.said and word not in MONTHS and word not in UNWEIGHED_WORDS
            if new and lead and fold(lead[-1].strip('"“‘(')) not in _IN | _BESIDE | {"of", "the"}:
                return True
        return False

    def _in_a_list(self, text: str) -> bool:
        return any(self._is_new(found["one"]) and self._is_new(found["other"]) for found in _LIST.finditer(text))

    def _held(self, text: str) -> bool:
        """True for `There is a mail boat in Oxel`: a kind of the kind."""
        for found in _HELD.finditer(text):
            words = [*map(fold, WORD.findall(found["what"]))]
            at = next((n for n, word in enumerate(words) if root_of(word) in self.kind), 0)
            if any(self._is_new(word) for word in words[:at]):
                return True
        return False

    def _is_new(self, word: str) -> bool:
        low = fold(word)
        counted = low in _NUMBERS or low[:1].isdigit() or low in UNWEIGHED_WORDS or low in _DOES
        return not counted and root_of(low) not in self.said


def _before(words: list[str], at: int) -> str:
    """The word before a place, without its article."""
    rest = [word for word in words[max(0, at - 3) : at] if word not in ("the", "a", "an")]
    return rest[-1] if rest else ""
