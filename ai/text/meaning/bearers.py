"""Who has a role, and what bears which name: `Who was the county recorder?`, `What was the goat called?` A sentence
that has the role or the thing, and no name near it, does not answer; nor does one whose only names are of days and
places."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.meaning.contrast import DATES
from ai.text.question_type import WantedKind, offers, wanted_of
from ai.text.support import WORD, fold
from retrieval.english.alike import ALIKE
from retrieval.english.lists import UNWEIGHED_WORDS
from retrieval.english.stems import root_of

_OWN = r"(?:the|an?|his|her|its|their|our|your|my)\s"
_THE = r"(?:the|his|her|its|their|our|your|my)\s"
_ON = r"(?:of|to|at|in|on|for|from|by|before|after|during|who|whom|that|which|where|when)"
_WHO_IS = re.compile(
    rf"^\W*(?i:who)(?:['’]s|\s(?:is|was|are|were))\s{_THE}(?P<role>(?:[a-z][\w'’-]*\s){{0,3}}?[a-z][\w'’-]*)(?=\s{_ON}\b|\W*\Z)"
)
_NAME_OF = re.compile(
    rf"^\W*(?i:what)(?:['’]s|\s(?:is|was|are|were))\s(?:the\s)?names?\sof\s(?:{_OWN})?(?P<what>(?:[\w'’-]+\s){{0,3}}?[a-z][\w-]*)"
    rf"(?=\s{_ON}\b|\W*\Z)"
)
_ITS_NAME = re.compile(
    rf"^\W*(?i:what)(?:['’]s|\s(?:is|was|are|were))\s(?:{_OWN})?(?:[\w'’-]+\s){{0,3}}?"
    r"(?P<what>[a-z][\w-]*)['’]s?\s(?:[a-z]{1,20}\s)?names?\W*\Z"
)
_CALLED = re.compile(
    rf"^\W*(?i:what)(?:['’]s|\s(?:is|was|are|were))\s(?:{_OWN})?(?:[\w'’-]+\s){{0,3}}?(?P<what>[a-z][\w-]*)\s(?:called|named)"
    rf"(?=\s{_ON}\b|\W*\Z)"
)
_NAMES = (_NAME_OF, _ITS_NAME, _CALLED)
_FIRST_NAME = re.compile(r"\b(?P<last>[A-Z][\w-]{1,30})['’]s?\s(?:(?:first|given|[Cc]hristian)\sname|forename)\b")
_UNTITLED = (
    r"(?<![\w-])(?!(?:Mr|Mrs|Ms|Miss|Dr|Sir|Dame|Lord|Lady|Professor|Captain|Councillor|Judge|The|And|For)\b)[A-Z][\w-]{1,30}"
    r"\s(?:[A-Z][\w.-]{0,30}\s)?"
)
_MADE = re.compile(r"^\W*who\s(?P<deed>made|makes|gave|gives|found|finds)\s(?!up\b|out\b|sure\b)", re.IGNORECASE)
"""Deeds that other questions need not find said."""
_TERM = re.compile(
    r"\b(?:called|named|termed|dubbed|nicknamed|titled|entitled|christened|such|namely|including|known|referred)\b|[\"“‘]",
    re.IGNORECASE,
)
_LEADS_NAMED = re.compile(r"\W*[A-Z][\w'’.-]*(?:\s[A-Z][\w'’.-]*){0,3},\s(?:an?|the|who|whose|our|his|her|its|their)\s")
"""`Robert Guiscard, an adventurer who became count, ...`"""
_NEAR, _NEXT, _TERMED = 6, 3, 5
"""Words from a role to who has it (`Our treasurer since the spring is Ida Lunt`), from a thing to its name, and to
`called`."""
_AT_A_PLACE = re.compile(
    r"\b(?:in|at|near|into|towards?|outside|around|across|through)\s(?:the\s)?[A-Z][\w'’.-]*(?:\s[A-Z][\w'’.-]*)*"
)
_BY_ONE = re.compile(r"\bby\s(?:the|an?|its|his|her|their|our|each|any|some|two|three|four|five|six)\s[a-z]")
_CAPITAL = re.compile(r"(?<=[\w,;:]\s)[A-Z][\w'’-]*")
_LEADS = re.compile(
    r"\W*[A-Z][\w'’-]*,?(?=\s(?:[A-Z]|(?:was|is|were|are|has|had|have|can|will|must|may|became|came|went|took|made|led|and|or|who|of"
    r"|the|an?)\b|\w{1,30}(?:ed|s)\b))"
)
"""A sentence whose first word is a name, by the word after it."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who or what is to be named. `noun` and `near`: the root of the role or thing, and within how many words of it the
    name is; `last`: the name to which a first name is asked; `deeds`: roots of which the sentence says one; `who`: the
    question if it asks for a person; `said`: the roots of its words."""

    noun: str
    near: int
    last: str
    deeds: frozenset[str]
    who: str
    said: frozenset[str]

    @classmethod
    def of(cls, question: str) -> Bearer:
        """Reads the question."""
        first = _FIRST_NAME.search(question)
        return cls(
            *_noun(question),
            first["last"] if first else "",
            _deeds(question),
            question if wanted_of(question) is WantedKind.PERSON else "",
            frozenset(root_of(fold(word)) for word in WORD.findall(question)),
        )

    def agrees(self, text: str) -> bool:
        """True unless the sentence has no name where one is asked for."""
        return (
            (not self.noun or self._names_it(text))
            and (not self.last or re.search(_UNTITLED + re.escape(self.last), text) is not None)
            and (not self.deeds or not self.deeds.isdisjoint(root_of(fold(word)) for word in WORD.findall(text)))
            and (not self.who or self._names_one(text))
        )

    def _names_it(self, text: str) -> bool:
        """True unless the noun is there, and neither a name nor `called` is near it."""
        words = list(WORD.finditer(text))
        at = [n for n, word in enumerate(words) if root_of(fold(word[0])) == self.noun]
        if not at or _LEADS_NAMED.match(text):
            return True
        terms = [len(WORD.findall(text[: found.start()])) for found in _TERM.finditer(text)]
        if any(0 <= m - n <= _TERMED or n - m == 1 for n in at for m in terms):
            return True
        named = [n for n, word in enumerate(words) if self._is_name(word[0])]
        return any(abs(n - m) <= self.near for n in at for m in named)

    def _names_one(self, text: str) -> bool:
        """True unless all names that the question lacks are days, and places behind their preposition, and nobody is
        described."""
        bare = _AT_A_PLACE.sub(" ", text)
        if any(self._is_name(found[0]) for found in WORD.finditer(bare) if found.start() or _LEADS.match(bare)):
            return True
        if not any(found[0][0].isupper() for found in WORD.finditer(text) if found.start()) or _BY_ONE.search(text):
            return True
        return offers(_CAPITAL.sub(" ", text), WantedKind.PERSON, self.who, loosely=True)

    def _is_name(self, word: str) -> bool:
        low = fold(word)
        return word[0].isupper() and not (low in DATES or low in UNWEIGHED_WORDS or root_of(low) in self.said)


def _noun(question: str) -> tuple[str, int]:
    role = _WHO_IS.match(question)
    if role is not None:
        return root_of(fold(role["role"].split()[-1])), _NEAR
    found = next(filter(None, (pattern.match(question) for pattern in _NAMES)), None)
    return (root_of(fold(found["what"].split()[-1])), _NEXT) if found else ("", 0)


def _deeds(question: str) -> frozenset[str]:
    found = _MADE.match(question)
    root = root_of(fold(found["deed"])) if found else ""
    return ALIKE.get(root, frozenset()) | {root} if root else frozenset()
