"""The place that a question asks for: `in a lecture` tells none, and the place of one deed is not that of another."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.meaning.kinds import place_of
from ai.text.question_type import WantedKind, offers, wanted_of
from ai.text.support import all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import DATES

_A = r"(?:an?|the|their|his|her|our|my|its)\s"
_NO_PLACE = re.compile(
    rf"\b(?:in|into|at|on|onto|near|inside|under|behind|beside)\s{_A}(?:(?!(?:and|or|of|to|for|is|was|are|were|with)\s)[a-z-]{{1,20}}\s){{0,2}}?"
    r"(?:lectures?|speech(?:es)?|letters?|books?|papers?|reports?|articles?|interviews?|statements?|ways?|years?|months?|weeks?|days?"
    r"|hours?|minutes?|moments?|times?|hurry|sense|words?|films?|plays?|poems?|songs?|votes?|ballots?|elections?|wars?|battles?|races?"
    r"|match(?:es)?|games?|storms?|gales?|lists?|tables?|cases?|series|groups?|teams?|pairs?|languages?|voices?|forms?|spring|summer"
    r"|autumn|winter|mornings?|afternoons?|evenings?|nights?|hope|advice|requests?|grounds|whole|events?|trials?|stud(?:y|ies)|surveys?"
    r"|experiments?|attempts?|efforts?|exchange|return|addition|trouble|process|course|condition|mood|age|rate|price|cost)\b",
    re.IGNORECASE,
)
_SOMEWHERE = re.compile(
    r"\b(?:in|into|at|on|onto|near|inside|outside|under|behind|beside|next\sto|opposite|between|beyond|past|along|across|around"
    r"|above|below|beneath|through|over|towards?|within|underneath)\s(?!\d{4}\b|(?:this|that|these|those|which|it|him|them|once|all"
    r"|least|most|last|first|time|order|case|fact|general|favou?r|protest|turn|then|now)\b)(?P<word>[a-z]\w*)"
    r"|\b(?:in|at|near|opposite|behind|beside|outside)\s\d{1,5}[a-z]?,?\s(?-i:(?!Noon|Midnight|O['’])(?P<street>[A-Z]\w*))"
    r"|\b(?:to|from|by|off)\s(?:an?|the|their|his|her|our|my|its|your|each|every|both|two|three)\s(?P<noun>[a-z]\w*)"
    r"|\b(?:upstairs|downstairs|outdoors|indoors|abroad|overseas|online|here|there|everywhere|nowhere)\b",
    re.IGNORECASE,
)
_ANOTHER_DEED = re.compile(
    r",?\s(?:and|but|before|until)\s(?:then\s|later\s|soon\s|also\s)?"
    r"(?=(?:[a-z]{1,20}ed|went|came|took|left|became|sold|bought|got|made|gave|ran)\b)"
)
"""`She married Lund and moved to Tarn`: two deeds, each with its own place."""

_BOTH_THERE = re.compile(
    r"\b([a-z]{1,20}ed|born|built|grown|made|sold|held|kept|taught)\sand\s(?:then\s|later\s|also\s)?"
    r"([a-z]{1,20}ed|grown|made|sold|held|kept|taught)(?=\s(?:in|at|on|near|inside|outside|by|under)\s)"
)
"""`was born and raised in Tarn`: two deeds with nothing between them, in one place."""


@dataclass(frozen=True, slots=True)
class Where:
    """A question for a place, empty if it asks for none, and the roots of its words with those alike."""

    question: str
    said: frozenset[str]

    @classmethod
    def of(cls, question: str) -> Where:
        """Reads the question."""
        if wanted_of(question) is not WantedKind.PLACE and not place_of(question):
            return cls("", frozenset())
        return cls(question, and_alike(all_roots(question)))

    def agrees(self, text: str) -> bool:
        """True unless the sentence tells no place, or only that of a deed of which the question has no word."""
        if not self.question:
            return True
        plain = _NO_PLACE.sub("", text)
        deeds = _ANOTHER_DEED.split(_BOTH_THERE.sub(r"\1, \2", plain))
        placed = [deed for deed in deeds if self._tells(deed)]
        return any(len(deeds) == 1 or self.said & all_roots(deed) for deed in placed)

    def _tells(self, text: str) -> bool:
        words = (found["word"] or found["noun"] or found["street"] or "" for found in _SOMEWHERE.finditer(text))
        return any(fold(word) not in DATES for word in words) or offers(
            text, WantedKind.PLACE, self.question, loosely=True
        )
