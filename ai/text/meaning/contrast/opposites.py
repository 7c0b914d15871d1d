"""Words of a question that have a contrary, and whether a text says that instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ai.text.meaning.contrast.relations import is_turned, objects_behind
from ai.text.question_type import asks_why, denies
from ai.text.support import WORD, fold
from retrieval.english.alike import and_alike
from retrieval.english.fates import UNDONE
from retrieval.english.opposites import NARROWER, OPPOSITES
from retrieval.english.stems import root_of

_NEGATING = ("un", "in", "im", "ir", "il", "dis", "non")
_LEAST_BARE = 4
_NON = re.compile(r"\bnon-([a-z]{4,})", re.IGNORECASE)
_HOW_WORD = re.compile(r"\bhow\s+[a-z]+", re.IGNORECASE)
AT_LEAST = re.compile(r"\b(?:at\s+(?:least|most|first|last|best|worst)|more\s+or\s+less|no\s+longer)\b", re.IGNORECASE)
_JOINED = re.compile(r"\b(part|full|half|whole)-(time|day)\b", re.IGNORECASE)
_ASKS_HOURS = re.compile(r"^\W*(?:when|what\stimes?|at\swhat)\b", re.IGNORECASE)
_ASKS_SPAN = re.compile(
    r"^\W*(?:until|till|from|since|how\s(?:late|early|long))\b|\b(?:is|are)\b.{1,80}?\b(?:open|closed|shut)\W*\Z",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\b(?:till|until|through|between)\b|\d\s?(?:[ap]m\s?)?[–-]|\bto\s(?:\d|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|half|noon|midnight|dusk|sunset|(?-i:[A-Z]))",
    re.IGNORECASE,
)
_HOURS = frozenset(map(root_of, ("open", "close", "shut")))
"""Until when it is open is when it closes: asked for a span, or told as one."""
_OR_MORE = re.compile(
    r"\bor\s(?:more|less|fewer|longer|later|earlier|older|younger|over|under|above|below|higher|lower|larger|bigger|smaller"
    r"|better|worse)\b",
    re.IGNORECASE,
)
_NOT_SO = re.compile(r"(?:\b(?:not|never|no|nor|cannot|neither)|n['’]t)\b(?P<said>(?:\s+[\w'’-]+){1,4})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opposites:
    """The roots of what each word says, with those of its contrary. What is denied of a contrary is none, and where
    a reader found that the sentence answers `before` is the contrary of `after` for the same thing alone."""

    opposed: tuple[tuple[frozenset[str], frozenset[str]], ...]
    question: str

    @classmethod
    def of(cls, question: str) -> Opposites:
        """Reads the question."""
        return cls(tuple(_opposed(question)), question)

    def contradicted(self, text: str, own: frozenset[str], *, read: bool = False) -> bool:
        """True if the text says the contrary of a word that it lacks; `own` are its roots with those of its title.
        `read`: a reader found that it answers."""
        own -= {root_of(fold(word)) for word in _NON.findall(text)}
        text = _JOINED.sub(r"\1\2", _OR_MORE.sub(" ", text))
        told = small_roots(text) | _small_words(text)
        own |= told
        return any(
            own.isdisjoint(asked)
            and not told.isdisjoint(contrary)
            and self._denies(text, asked, contrary & told, read=read)
            for asked, contrary in self.opposed
        )

    def _denies(self, text: str, asked: frozenset[str], contrary: frozenset[str], *, read: bool) -> bool:
        """True unless the contrary is said of something else, or denied itself: `is not known` is no contrary of
        `unknown`."""
        hours = not asked.isdisjoint(_HOURS) and not contrary.isdisjoint(_HOURS)
        if hours and _ASKS_HOURS.match(self.question) and _SPAN.search(text):
            return False
        if is_turned(asked):
            return not read or objects_behind(asked, self.question).meet(objects_behind(contrary, text))
        negated = {fold(word) for found in _NOT_SO.finditer(text) for word in WORD.findall(found["said"])}
        said = {f"{prefix}{form}" for prefix in _NEGATING for word in contrary for form in (word, root_of(word))}
        by_prefix = not said.isdisjoint(asked)
        return not (by_prefix and contrary <= negated)


def _opposed(question: str) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Not of `how high`, which asks for the height of what is low too, and not where the question says both,
    nor of `or more`, nor where it asks why something is not so: that is told by the contrary."""
    if asks_why(question) and denies(question):
        return
    question = _JOINED.sub(r"\1\2", _OR_MORE.sub(" ", question))
    roots, table = small_roots(_HOW_WORD.sub(" ", question)), NARROWER if denies(question) else OPPOSITES
    for root in sorted(roots & table.keys()):
        if root in _HOURS and _ASKS_SPAN.search(question):
            continue
        alike = and_alike({root})
        contrary = table[root] - roots - alike
        if contrary:
            yield alike, contrary
    for word in sorted(_small_words(question)):
        bare = {word.removeprefix(prefix) for prefix in _NEGATING if word.startswith(prefix)}
        negated = {f"{prefix}{word}" for prefix in _NEGATING}
        contrary = frozenset(each for each in negated | bare if min(len(word), len(each)) >= _LEAST_BARE)
        if not UNDONE.isdisjoint(map(root_of, {word, *bare})):
            continue  # `Turn the key in the lock` tells how to unlock: the fates know the verb
        yield frozenset({root_of(word)}), contrary - _small_words(question)


@lru_cache(maxsize=4096)
def small_roots(text: str) -> frozenset[str]:
    """The roots of the words that are no names."""
    return frozenset(map(root_of, _small_words(text)))


@lru_cache(maxsize=4096)
def _small_words(text: str) -> frozenset[str]:
    """The words that are no names: those in small letters, and the first. `non-smoking` is one."""
    words = WORD.findall(_NON.sub(r"non\1", AT_LEAST.sub(" ", text)))
    return frozenset(fold(word) for n, word in enumerate(words) if n == 0 or word[0].islower())
