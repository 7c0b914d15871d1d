"""Sections that a question asks to be told of as a whole, by number or by name: `Summarise section 3 of the lease`,
`Tell me about the known problems`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ai.text.lines import Heading, lines_of
from ai.text.sentences import Span
from ai.text.tables.words import roots
from retrieval.english.lists import word_list
from retrieval.english.stems import root_of

_DIVISION = r"(?:sections?|clauses?|articles?|chapters?|parts?|paragraphs?|§)"
_NUMBERED = re.compile(rf"\b{_DIVISION}\s(?:number\s)?(?P<number>\d{{1,3}}(?:\.\d{{1,3}}){{0,4}})\b", re.IGNORECASE)
_POLITE = r"\W*(?:(?:please|(?:can|could|would)\syou(?:\splease)?)\s)?"
_TELL = re.compile(
    rf"{_POLITE}(?:explain|summari[sz]e|describe|outline|sum\sup|give\s(?:me\s|us\s)?an?\s(?:summary|outline|overview)\sof"
    r"|tell\s(?:me|us)(?:\smore)?\s(?:about|of)|what\sis\s(?:said|told|written)\s(?:about|in|under))\s(?P<topic>.{1,200})",
    re.IGNORECASE | re.DOTALL,
)
_ABOUT = re.compile(
    r"\W*what(?:['’]s|\s(?:is|are|does|do))\s(?P<topic>.{1,200}?)"
    r"\s(?:about|say|state|cover|contain|deal\swith|describe|concern)[\s?.!]{0,8}",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = frozenset(
    map(
        root_of,
        word_list("a an the this that of in on at for to from by with what is are section clause article chapter part"),
    )
)
_LEADING = re.compile(rf"(?:{_DIVISION}\s)?(?P<number>\d{{1,3}}(?:\.\d{{1,3}}){{0,4}})?[.):]?\s{{0,4}}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SectionQuestion:
    """The section that is asked for: its number, or else the roots of its name; and the roots of all that is said of
    it."""

    number: str
    words: frozenset[str]

    @classmethod
    @lru_cache(maxsize=128)
    def of(cls, question: str) -> SectionQuestion | None:
        """The section that the question asks for; None where it asks for something else."""
        told, number = _TELL.fullmatch(question), _NUMBERED.search(question)
        found = told or (_ABOUT.fullmatch(question) if number else None)
        if found is None:
            return None
        topic = _NUMBERED.sub(" ", found["topic"])
        words = frozenset(roots(topic)) - _ASKS
        return cls(number["number"] if number else "", words) if number or words else None

    def part_of(self, text: str, title: str) -> Span | None:
        """The part of a passage that is the section; None where it holds none of it."""
        path = title.rpartition(" — ")[2].split(" > ")
        around = frozenset(roots(title))
        if len(path) > 1 and self._is(path[-1], around):
            return Span(0, len(text))
        headings = [each for each in lines_of(text) if isinstance(each, Heading)]
        for place, heading in enumerate(headings):
            if self._is(f"{heading.number} {heading.name}", around):
                ends = (each.start for each in headings[place + 1 :])
                return Span(heading.end, next(ends, len(text)))
        return None

    def _is(self, heading: str, around: frozenset[str]) -> bool:
        found = _LEADING.match(heading)
        number, name = (found["number"] or "", heading[found.end() :]) if found else ("", heading)
        if self.number:
            return number == self.number and self.words <= around | frozenset(roots(name))
        named = frozenset(roots(name)) - _ASKS
        return bool(named) and named <= self.words <= named | around
