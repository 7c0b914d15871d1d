"""The thing that it is done to: one who judges the cakes need not judge the vegetables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ai.text.meaning.deeds.clause import BE
from ai.text.meaning.things.subjects import subjects_in
from ai.text.meaning.things.told import NAME, NO_NOUN, OPEN, PREPOSITIONS, Told
from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_WHO_DOES = re.compile(
    r"\A\W*(?:who|what|which\s[\w'’-]{1,30})\s(?:(?:will|can|may|must|should)\s)?(?P<deed>[a-z]{3,})\s(?:the\s|an?\s)"
    r"(?P<what>[a-z-]+(?:\s[a-z-]+){0,3})\W*\Z",
    re.IGNORECASE,
)
_DID_TO_NAME = re.compile(
    r"\b(?:did|does|do)\s(?:the\s)?[\w'’-]+(?:\s[A-Z][\w'’-]*){0,2}\s(?P<deed>[a-z]{3,})\s(?P<name>[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*){0,2})\W*\Z"
)
_DID_NAME = re.compile(r"\b(?P<deed>[a-z]{3,})\s(?:the\s)?(?P<name>[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*){0,2})")
_NAMED = re.compile(rf"(?<![\w'’-])(?P<before>[\w'’-]+)\s(?P<name>{NAME})")
_AT = word_list("at in near off on outside")
_APART = 2
_ARTICLES = word_list("the a an")
_BE = word_list("is are was were be been do does did has have had")


_HEADING = 3
"""Words of a heading that stands in the line: `Search. The index has been rewritten.`"""


@dataclass(frozen=True, slots=True)
class Object:
    """The noun to which a question asks who did something, the root of the deed, and those of all its words. `name`: of
    a place or thing of which it asks when or how somebody did something to it."""

    noun: str = ""
    deed: str = ""
    said: frozenset[str] = frozenset()
    name: str = ""

    @classmethod
    def of(cls, question: str) -> Object:
        """Reads the question."""
        named = _DID_TO_NAME.search(question)
        if named is not None and OPEN.match(question):
            return cls("", root_of(fold(named["deed"])), all_roots(question), named["name"])
        found = _WHO_DOES.match(question)
        words = found["what"].split() if found is not None else []
        end = next((at for at, word in enumerate(words) if fold(word) in PREPOSITIONS), len(words))
        if found is None or not words[:end] or fold(words[end - 1]) in NO_NOUN or fold(found["deed"]) in _BE:
            return cls()
        return cls(fold(words[end - 1]), root_of(fold(found["deed"])), all_roots(question))

    def agrees(self, told: Told) -> bool:
        """True unless the passage has the noun elsewhere alone, and it is done to other things wherever it is said."""
        if self.name:
            return not self._is_done_to_another(told)
        like = and_alike({root_of(self.noun)})
        headed = told.before[-1:] if len(WORD.findall("".join(told.before[-1:]))) <= _HEADING else ()
        if not self.noun or not like.isdisjoint(told.roots.union(*map(all_roots, headed))):
            return True
        done = list(_done_to(told.text, self.deed))
        if not done or not all(noun and self.said.isdisjoint(and_alike({root_of(noun)})) for noun in done):
            return True
        # what is told of two things apart is not told of a third one
        return len(set(done)) < _APART and not told.passes_over(self.noun, back=0, sure=True)

    def _is_done_to_another(self, told: Told) -> bool:
        """True if the passage says it of another name alone, and the sentence has this one as where something else was
        done: `struck the pier at Crannoch` for `left Crannoch`."""
        said = [fold(found["before"]) for found in _NAMED.finditer(told.text) if found["name"] == self.name]
        if not said or not all(word in _AT for word in said):
            return False
        like = and_alike({self.deed})
        if not like.isdisjoint(told.roots):
            return False
        done = [
            found
            for each in told.elsewhere
            for found in _DID_NAME.finditer(each)
            if root_of(fold(found["deed"])) in like
        ]
        return bool(done) and all(found["name"] != self.name for found in done)


def _done_to(text: str, deed: str) -> Iterator[str]:
    """The noun behind each place where the deed is said, with an article or `for` or `of`, or before it, where it is
    done to that; empty without one."""
    words = [fold(word) for word in WORD.findall(text)]
    for at, word in enumerate(words):
        if root_of(word) != deed:
            continue
        if at and words[at - 1] in BE:
            yield (subjects_in(text, deed) or [""])[-1]
            continue
        behind = words[at + 1 : at + 7]
        behind = behind[1:] if behind[:1] and behind[0] in {"for", "of"} else behind
        if not behind or behind[0] not in _ARTICLES:
            yield ""
            continue
        end = next((n for n, each in enumerate(behind) if n and each in UNWEIGHED_WORDS), len(behind))
        yield behind[end - 1] if end > 1 else ""
