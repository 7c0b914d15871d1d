"""The bearer of a role or a name: `Who was the county recorder?`, `What was the goat called?` A sentence
that has the role or the thing, and no name near it, does not answer; nor does one whose only names are of days and
places."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.meaning.deeds.clause import BE
from ai.text.question_type import first_word
from ai.text.support import WORD, fold
from retrieval.english.lists import DATES, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_OWN = r"(?:the|an?|his|her|its|their|our|your|my)\s"
_THE = r"(?:the|his|her|its|their|our|your|my)\s"
_ON = r"(?:of|to|at|in|on|for|from|by|before|after|during|who|whom|that|which|where|when)"
_WHO_IS = re.compile(
    rf"^\W*(?i:who)(?:['’]s|\s(?:is|was|are|were))\s{_THE}(?P<role>(?:[a-z][\w'’-]*\s){{0,3}}?[a-z][\w'’-]*+)(?=\s{_ON}\b|\W*\Z)"
)
_NAME_OF = re.compile(
    rf"^\W*(?i:what)(?:['’]s|\s(?:is|was|are|were))\s(?:the\s)?names?\sof\s(?:{_OWN})?(?P<what>(?:[\w'’-]+\s){{0,3}}?[a-z][\w-]*+)"
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
_FULL_NAME = re.compile(r"(?<![\w-])(?P<first>[A-Z][\w-]{1,30})\s(?:[A-Z][\w.-]{0,30}\s)?(?P<last>[A-Z][\w-]{1,30})")
_TITLES = word_list("mr mrs ms miss dr sir dame lord lady professor captain councillor judge the and for")
_TERM = re.compile(
    r"\b(?:called(?!\s(?:up|off|on|in|out|for|to|at|back)\b)|named|termed|dubbed|nicknamed|titled|entitled|christened|such|namely|including|known|referred)\b|[\"“‘]",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“][A-Z][\w'’.-]{0,20}(?:\s[\w'’.-]{1,20}){0,3},?[\"”]")
_PRONOUNS = word_list("he she they it")
"""The sentence before tells who or what that is."""
_LEADS_NAMED = re.compile(r"\W*[A-Z][\w'’.-]*(?:\s[A-Z][\w'’.-]*){0,3},\s(?:an?|the|who|whose|our|his|her|its|their)\s")
"""`Robert Guiscard, an adventurer who became count, ...`"""
_NEAR, _NEXT, _TERMED = 6, 3, 5
"""Words from a role to who has it (`Our treasurer since the spring is Ida Lunt`), from a thing to its name, and to
`called`."""
_DOING = re.compile(r"^\W*who\s(?:is|was|are|were)\s(?P<deed>[a-z]{2,}ing)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bearer:
    """The person or thing that is to be named. `noun` and `near`: the root of the role or thing, and within how many
    words of it the name is; `last`: the name to which a first name is asked; `doing`: the root of what somebody is
    doing; `said`: the roots of the question's words."""

    noun: str
    near: int
    last: str
    doing: str
    said: frozenset[str]

    @classmethod
    def of(cls, question: str) -> Bearer:
        """Reads the question."""
        first, doing = _FIRST_NAME.search(question), _DOING.match(question)
        return cls(
            *_noun(question),
            first["last"] if first else "",
            root_of(fold(doing["deed"])) if doing else "",
            frozenset(root_of(_bare(word)) for word in WORD.findall(question)),
        )

    def agrees(self, text: str) -> bool:
        """True unless the sentence has no name where one is asked for."""
        return (
            (not self.noun or first_word(text) in _PRONOUNS or self._names_it(text))
            and (not self.last or self._names_whole(text))
            and (not self.doing or self._tells_doer(text))
        )

    def _names_it(self, text: str) -> bool:
        """True unless the noun is there, and neither a name nor `called` is near it."""
        words = list(WORD.finditer(text))
        at = [n for n, word in enumerate(words) if root_of(fold(word[0])) == self.noun]
        if not at:
            return self.near == _NEAR or _TERM.search(text) is not None
        if _LEADS_NAMED.match(text) or _QUOTED.search(text):
            return True
        terms = [len(WORD.findall(text[: found.start()])) for found in _TERM.finditer(text)]
        if any(0 <= m - n <= _TERMED or n - m == 1 for n in at for m in terms):
            return True
        named = [n for n, word in enumerate(words) if self._is_name(word[0])]
        return any(abs(n - m) <= self.near for n in at for m in named)

    def _names_whole(self, text: str) -> bool:
        """True if a first name stands before the last."""
        names = _FULL_NAME.finditer(text)
        return any(each["last"] == self.last and fold(each["first"]) not in _TITLES for each in names)

    def _tells_doer(self, text: str) -> bool:
        """True unless it is done in the sentence, and nobody does it: `the hall is still being rewired`."""
        words = [fold(word) for word in WORD.findall(text)]
        return "by" in words or not any(
            root_of(word) == self.doing and not word.endswith("ing") and not BE.isdisjoint(words[max(0, n - _NEXT) : n])
            for n, word in enumerate(words)
        )

    def _is_new(self, word: str) -> bool:
        return word[0].isupper() and not (fold(word) in UNWEIGHED_WORDS or root_of(_bare(word)) in self.said)

    def _is_name(self, word: str) -> bool:
        return self._is_new(word) and fold(word) not in DATES


def _noun(question: str) -> tuple[str, int]:
    role = _WHO_IS.match(question)
    if role is not None and not is_past(role["role"].split()[-1]):
        return root_of(fold(role["role"].split()[-1])), _NEAR
    found = next(filter(None, (pattern.match(question) for pattern in _NAMES)), None)
    return (root_of(fold(found["what"].split()[-1])), _NEXT) if found else ("", 0)


def _bare(word: str) -> str:
    """The word without its genitive."""
    return fold(word).removesuffix("'s").removesuffix("’s")
