"""The thing that an amount measures: a hose that is too long and rubs against a bracket tells nothing of the bracket's
length, nor the litres of a tank what the jug holds."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ai.text.amounts import amounts_of, wanted_amount
from ai.text.meaning.things.told import NO_NOUN, Told, head_of
from ai.text.support import all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.stems import root_of

_HOW = re.compile(
    r"\bhow\s(?:long|tall|high|deep|wide|thick|heavy|big|large|broad|far|old|fast)\s(?:is|was|are|were)\s"
    r"(?:the|an?|its|his|her|their|our)\s(?P<what>[a-z-]+(?:\s[a-z-]+){0,2})\W*\Z",
    re.IGNORECASE,
)
_FITS = re.compile(
    r"\bhow\s(?:much|many)\b.{0,40}?\b(?:in|into|of)\s(?:the|an?|its)\s(?P<what>[a-z-]+(?:\s[a-z-]+){0,2})\W*\Z"
    r"|\bhow\smuch\b.{0,30}?\b(?:does|do|did|can|will)\s(?:the|an?|its)\s(?P<holds>[a-z-]+(?:\s[a-z-]+){0,2}?)\s"
    r"(?:hold|take|contain|weigh|cost)\b",
    re.IGNORECASE,
)
_IS = re.compile(
    r"(?<![\w'’-])(?P<subject>[\w'’-]+)\s(?:is|was|are|were)\s(?:(?:about|only|nearly|some|almost|exactly|over)\s)?(?P<so>[\w.,]+\s[\w.,]+)"
)
_AGAINST = re.compile(
    r"\b(?:against|into|on|onto|to|from|at|behind|beside|near|under|over|above|below|with|through|in)\s(?:the|an?|its|their)\s"
    r"(?:[a-z-]+\s){0,1}\Z",
    re.IGNORECASE,
)
_NEAR = 60
"""Letters before a noun among which its preposition is."""
_IN_BRACKETS = re.compile(r"(?P<item>[^,;:()]{1,60})\s\((?P<amount>[^()]{1,40})\)")


@dataclass(frozen=True, slots=True)
class Measured:
    """The thing whose measure is asked for, by its noun. `size`: how long or heavy it is, not what goes into it."""

    noun: str = ""
    size: bool = False
    question: str = ""

    @classmethod
    def of(cls, question: str) -> Measured:
        """Reads the question."""
        size, fits = _HOW.search(question), _FITS.search(question)
        said = (size["what"] if size else fits["what"] or fits["holds"] if fits else "").split()
        noun = fold(head_of(said)) if said else ""
        return cls() if noun in NO_NOUN or not noun else cls(noun, size is not None, question)

    def agrees(self, told: Told) -> bool:
        """True unless the sentence has the thing, and the measure of another alone."""
        if not self.noun:
            return True
        return not (self._is_listed_apart(told.text) or (self.size and self._is_another(told.text)))

    def _is_another(self, text: str) -> bool:
        """True if another thing is said to be so, and the one asked about comes behind that as what it is at."""
        said = [found for found in _IS.finditer(text) if amounts_of(found["so"])]
        measures = [found for found in said if root_of(fold(found["subject"])) != root_of(self.noun)]
        own = self._mentions(text)
        return (
            bool(own)
            and 0 < len(measures) == len(said)
            and all(
                place > measures[0].end() and _AGAINST.search(text[max(0, place - _NEAR) : place]) is not None
                for place in own
            )
        )

    def _is_listed_apart(self, text: str) -> bool:
        """True if all amounts stand in brackets behind other things of a list in which it stands too."""
        like = and_alike({root_of(self.noun)})
        listed = [*_IN_BRACKETS.finditer(text)]
        amount = wanted_amount(self.question)
        if not listed or not self._mentions(text) or amount is None:
            return False
        outside = _IN_BRACKETS.sub(" ", text)
        if amounts_of(outside) or not any(amounts_of(found["amount"]) for found in listed):
            return False
        return all(like.isdisjoint(all_roots(found["item"])) for found in listed if amounts_of(found["amount"]))

    def _mentions(self, text: str) -> list[int]:
        root = root_of(self.noun)
        return [found.start() for found in re.finditer(r"[\w'’-]+", text) if root_of(fold(found[0])) == root]
