"""Headings that ask: `Why does the machine have an ECO button?`, `The coffee is too weak. What can I do?`

A question that says the same, word for word of what matters and in the same order, is answered by what stands under
the heading. Articles and owners, `can` and `may`, and words of like meaning are no other words; another person, tense,
preposition or interrogative is another question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from retrieval.english.alike import and_alike
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_NOT = re.compile(r"n['’]t\Z", re.IGNORECASE)
_SHORT = re.compile(r"['’](?:s|re|m)\Z", re.IGNORECASE)
_SAYS_NOTHING = word_list(
    "a an the this that these those my our your its please actually really exactly also be been being"
)
_TENSES = {
    **dict.fromkeys(("is", "are", "am", "do", "does", "has", "have"), "now"),
    **dict.fromkeys(("was", "were", "did", "had"), "then"),
    **dict.fromkeys(("will", "shall"), "later"),
}
_SAME = {
    **dict.fromkeys(("can", "could", "may", "might", "cannot"), "can"),
    **dict.fromkeys(("i", "we", "you", "one"), "you"),
    **dict.fromkeys(("me", "us"), "me"),
    "ought": "should",
    "whom": "who",
}
"""Function words that say the same."""
_STEMMED_FROM = 4
"""Letters of a word from which it is compared by its root."""
_PARTED = re.compile(
    r"(?P<state>[^.!?\n]{3,160})[.!:]?\s(?P<asks>(?:what|how|why|where|who|when|which|is|are|can|do|does|should|must)\b"
    r"[^?\n]{2,80}\?)",
    re.IGNORECASE,
)
"""A state and what is asked of it: `The coffee is too weak. What can I do?`"""
_IN_STATE = re.compile(
    r"\W*(?P<asks>(?:what|how)\b[^?,\n]{2,60}?)\s(?:if|when)\s(?P<state>[^?,\n]{3,160})\?*\s*|"
    r"\W*(?:if|when)\s(?P<state_first>[^?,\n]{3,160}),\s(?P<asks_last>(?:what|how)\b[^?\n]{2,60})\?*\s*",
    re.IGNORECASE,
)
_TO_DO = re.compile(
    r"what\s(?:can|could|do|does|should|must|shall|may|am|are|is)\s(?:i|we|you|one|to)\s.{0,12}\bdo(?:ne)?\W*|what\sto\sdo\W*|what\sdoes\s(?:it|this|that)\smean\W*",
    re.IGNORECASE,
)
"""Questions that the section under a heading which states something answers: its meaning, and what to do."""


@dataclass(frozen=True, slots=True)
class _Said:
    """The words that matter, in order, without `not`, wherever that stands; how often it does, and the tenses of its
    auxiliaries."""

    words: tuple[str, ...]
    denials: int
    tenses: frozenset[str]


def asks_the_same(question: str, heading: str) -> bool:
    """True if the heading asks what the question asks, or states what the question says is the case."""
    if heading.rstrip().endswith("?") and _same(_said(question), _said(heading)):
        return True
    asked = _IN_STATE.fullmatch(question)
    if asked is None:
        return False
    state, asks = asked["state"] or asked["state_first"], asked["asks"] or asked["asks_last"]
    parted = _PARTED.fullmatch(heading.strip())
    if parted is None:
        told = not heading.rstrip().endswith("?") and len(_said(heading).words) > 1
        return told and _TO_DO.fullmatch(asks) is not None and _same(_said(state), _said(heading))
    alike = _same(_said(asks), _said(parted["asks"])) or all(map(_TO_DO.fullmatch, (asks, parted["asks"])))
    return alike and _same(_said(state), _said(parted["state"]))


def _same(one: _Said, other: _Said) -> bool:
    if not one.words or len(one.words) != len(other.words) or one.denials != other.denials:
        return False
    if one.tenses and other.tenses and one.tenses != other.tenses:
        return False
    return all(map(_is_like, one.words, other.words))


def _is_like(one: str, other: str) -> bool:
    return one == other or (min(len(one), len(other)) >= _STEMMED_FROM and other in and_alike([one]))


@lru_cache(maxsize=512)
def _said(text: str) -> _Said:
    words: list[str] = []
    denials = 0
    tenses: set[str] = set()
    for found in _WORD.findall(text.casefold()):
        denied = _NOT.search(found) is not None
        word = _SHORT.sub("", _NOT.sub("", found))
        word = {"ca": "can", "wo": "will"}.get(word, word) if denied else word
        denials += denied or word in ("not", "cannot")
        if word in _TENSES:
            tenses.add(_TENSES[word])
        elif word != "not" and word not in _SAYS_NOTHING:
            word = _SAME.get(word, word)
            words.append(root_of(word) if len(word) >= _STEMMED_FROM else word)
    return _Said(tuple(words), denials, frozenset(tenses))
