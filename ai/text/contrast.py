"""What tells a sentence that is meant from one beside it: the day, the rank, the place, the name, and words that have a
contrary. A question for the south gate is not answered by what is said of the north gate, however much else agrees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ai.text.sentences import word_list
from ai.text.support import WORD, carries, fold
from retrieval.english.alike import ALIKE
from retrieval.english.lists import MONTHS
from retrieval.english.opposites import OPPOSITES
from retrieval.english.stems import root_of

DATES = frozenset(MONTHS) | word_list("monday tuesday wednesday thursday friday saturday sunday")
_WEEKDAY = re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_DAILY = re.compile(r"\b(?:daily|(?:every|each|any) day|all (?:week|days))\b", re.IGNORECASE)
_RANKED = re.compile(
    r"\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)[\s-]([a-z]{3,})\b", re.IGNORECASE
)
_SMALL = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = {word: str(number) for number, word in enumerate(_SMALL, 1)}
_COUNTED = re.compile(
    r"\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})\s+(?:(?:more|other|new|further)\s+)?([a-z]{3,})",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*+(?:\s++[A-Z][\w'’-]*+)+")
_AT_NAME = re.compile(r"\b(at|in|near|from|to)\s+(?:the\s+)?([A-Z][\w'’-]*+(?:\s++[A-Z][\w'’-]*+)*)")
_HOW_WORD = re.compile(r"\bhow\s+[a-z]+", re.IGNORECASE)
_AT_LEAST = re.compile(r"\b(?:at\s+(?:least|most|first|last|best|worst)|more\s+or\s+less|no\s+longer)\b", re.IGNORECASE)
Opposed = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a question says of it. `days`: days of the week; `ranks`: nouns, each with its rank (`first class`) or its
    small number (`two keys`); `places`: the last words of names behind `at`, `in` and the like, each with that word;
    `names`: the words of each name of several; `opposed`: the roots of what a word says, each with those of its
    contrary."""

    days: frozenset[str]
    ranks: frozenset[tuple[str, str]]
    places: frozenset[tuple[str, str]]
    names: tuple[tuple[str, ...], ...]
    opposed: tuple[Opposed, ...]

    @classmethod
    def of(cls, question: str) -> Contrast:
        """What the question says."""
        return cls(_days(question), _ranks(question), _places(question), _names(question), tuple(_opposed(question)))

    def agrees(self, text: str, tokens: frozenset[str]) -> bool:
        """True unless the sentence, whose words are `tokens` with those of its title, is of another day, rank, number
        or name, or says the contrary of a word that it lacks."""
        if not (self.days <= _days(text) | _days(" ".join(tokens)) or _DAILY.search(text)):
            return False
        said = _ranks(text)
        if any((rank, noun) not in said and noun in {each for _, each in said} for rank, noun in self.ranks):
            return False
        if self.names and _names_another(text, self.names):
            return False
        return not self.opposed or not self._contradicted(text, frozenset(map(root_of, tokens)))

    def lies(self, text: str, tokens: frozenset[str], around: frozenset[str], known: frozenset[str]) -> bool:
        """True if the sentence is of the places that the question names: one of them is said around it, and where the
        sentence itself, of the words `tokens`, does not say it, it names no other there (`at Brekke` for `at Tangen`).
        `known` are words of names that were read as places or things: those are looked for elsewhere."""
        for beside, name in self.places:
            if name in known or carries(tokens, name):
                continue
            if not carries(around, name) or any(where == beside for where, _ in _places(text)):
                return False
        return True

    def names_day(self, text: str) -> bool:
        """True if the question is about a day of the week, and the sentence says it."""
        return bool(self.days) and self.days <= _days(text)

    def _contradicted(self, text: str, own: frozenset[str]) -> bool:
        told = _small_roots(text)
        return any(own.isdisjoint(asked) and not told.isdisjoint(contrary) for asked, contrary in self.opposed)


def _days(text: str) -> frozenset[str]:
    return frozenset(found.casefold() for found in _WEEKDAY.findall(text))


def _ranks(text: str) -> frozenset[tuple[str, str]]:
    ranked = ((rank.casefold(), root_of(fold(noun))) for rank, noun in _RANKED.findall(text))
    counted = ((number.casefold(), f"{root_of(fold(noun))} counted") for number, noun in _COUNTED.findall(text))
    return frozenset([*ranked, *((_NUMBER.get(number, number), noun) for number, noun in counted)])


def _places(text: str) -> frozenset[tuple[str, str]]:
    """Months, days and models (`R2`) are no places."""
    found = (
        (beside, fold(name.split()[-1].removesuffix("'s").removesuffix("’s")))
        for beside, name in _AT_NAME.findall(text)
    )
    return frozenset((beside, name) for beside, name in found if name.isalpha() and name not in DATES)


def _names(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(fold, WORD.findall(name))) for name in _NAME.findall(text))


def _names_another(text: str, names: tuple[tuple[str, ...], ...]) -> bool:
    """True if the text does not say one of the names, but one that begins like it and ends otherwise (`New York` for
    `New Mexico`)."""
    said = _names(text)
    for name in names:
        if any(set(name) <= set(other) for other in said):
            continue
        if any(name[0] == other[0] and name[-1] not in other and other[-1] not in name for other in said):
            return True
    return False


def _opposed(question: str) -> Iterator[Opposed]:
    """Not of `how high`, which asks for the height of what is low too, and not where the question says both."""
    roots = _small_roots(_HOW_WORD.sub(" ", question))
    for root in sorted(roots & OPPOSITES.keys()):
        alike = ALIKE.get(root, frozenset()) | {root}
        contrary = OPPOSITES[root] - roots - alike
        if contrary:
            yield alike, contrary


def _small_roots(text: str) -> frozenset[str]:
    """The roots of the words that are no names: those in small letters, and the first."""
    words = WORD.findall(_AT_LEAST.sub(" ", text))
    return frozenset(root_of(fold(word)) for n, word in enumerate(words) if n == 0 or word[0].islower())
