"""A deed and who has done it: one who was rescued by a postman did not rescue him, and one who will write to apologise
has not apologised."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.meaning.things.told import Told
from ai.text.support import WORD, fold
from retrieval.english.stems import root_of

_WHO_DID = re.compile(r"\A\W*who\s(?P<deed>[a-z]{3,})\s(?:the\s|an?\s)(?P<noun>[a-z-]{3,})\W*\Z", re.IGNORECASE)
_BY = re.compile(
    r"\b(?P<deed>[a-z]{3,})\sby\s(?:the\s|an?\s)?(?:(?!and\b|or\b|the\b|an?\b|us\b|me\b|him\b|her\b|them\b)[a-z-]{1,20}\s){0,2}\Z"
)
_LATER = re.compile(
    r"\b(?:will|shall|must|should|may|might|can|could|wants?|hopes?|intends?|plans?)\s(?:[\w'’-]+\s){1,6}to\s\Z"
)
_WHO_HAS_DONE = re.compile(r"\A\W*who\s(?P<deed>[a-z]{3,}ed)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Done:
    """A deed of which a question asks who has done it. `whom`: the roots of the deed and of the noun to which it was
    done; `past`: the root of a deed in the past."""

    whom: tuple[str, str] = ("", "")
    past: str = ""

    @classmethod
    def of(cls, question: str) -> Done:
        """Reads the question."""
        whom, past = _WHO_DID.match(question), _WHO_HAS_DONE.match(question)
        return cls(
            (root_of(fold(whom["deed"])), root_of(fold(whom["noun"]))) if whom else ("", ""),
            root_of(fold(past["deed"])) if past else "",
        )

    def agrees(self, told: Told) -> bool:
        """True unless it is done by whom it should be done to, or is still to be done."""
        return not (self.whom[0] and self._does(told.text)) and not (self.past and self._is_to_be_done(told.text))

    def _does(self, text: str) -> bool:
        """True if the one to whom it was done is said to have done it alone: `rescued by a passing postman`."""
        deed, noun = self.whom
        own = [each for each in WORD.finditer(text) if root_of(fold(each[0])) == noun]
        by = [_BY.search(text[max(0, each.start() - 60) : each.start()]) for each in own]
        return bool(own) and all(found is not None and root_of(fold(found["deed"])) == deed for found in by)

    def _is_to_be_done(self, text: str) -> bool:
        """True if it is said each time as what something else will be done for: `will write to apologise`."""
        said = [found for found in WORD.finditer(text) if root_of(fold(found[0])) == self.past]
        return bool(said) and all(_LATER.search(text[max(0, found.start() - 80) : found.start()]) for found in said)
