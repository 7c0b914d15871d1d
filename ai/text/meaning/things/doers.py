"""The doer by name: `Where does Mrs Udall teach?` is not told by `Mr Crouch now teaches at Alton`, nor what one fund
granted by a grant from another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ai.text.meaning.deeds.clause import BE, HELPER, MUTUAL, clause_of
from ai.text.meaning.namesakes import TITLES
from ai.text.meaning.things.told import NAME, PREPOSITIONS, Told
from ai.text.spelling import unaccented
from ai.text.support import WORD, fold, folded_words
from retrieval.english.alike import and_alike
from retrieval.english.lists import DATES, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_many, is_past, root_of

_DOER = re.compile(
    rf"(?<![\w'’-])(?P<name>{NAME})(?:,\s(?:who|which)|,)?\s(?:(?:has|had|have|is|was|now|then|later|also|once|still|soon|[a-z]+ly)\s){{0,3}}"
    r"(?P<deed>[a-z]{2,})\b"
)
_BEHIND = re.compile(r"\b(?:in|at|of|from|to|by|with|for|near|on|and|or|than|into|under|after|before|the)\s\Z")
_MUTUAL = MUTUAL.union(map(root_of, word_list("share join")))
_BE = word_list("be is are was were been has have had do does did")
_WHO_TO_NAME = re.compile(rf"\A\W*[Ww]ho\s(?!{HELPER}\b)(?P<deed>[a-z]{{3,}})\s(?P<name>{NAME})\W*\Z")
_DO = word_list("do does did will would can could shall should may might must")
_GIVEN = and_alike(map(root_of, word_list("give pay lend send grant")))
_RECEIVED_FROM = re.compile(
    r"\b(?:received|receives|receive|got|gets|accepted|given|granted|lent|paid)\b.{0,60}?\s(?:from|by)\s(?:the\s|an?\s|[A-Z])"
)
_NEAR = 12
"""Letters before a name among which its preposition is."""
_BESIDE = 40
"""Letters before `and` among which who does it too is."""
_HAS_OBJECT = re.compile(r"\s(?:the|an?|it|him|her|them|his|its|their|this|that)\s|\s[A-Z]")
_ASKS_WHAT = re.compile(
    r"\A\W*(?:(?:[Ff]or|[Tt]o|[Bb]y|[Ii]n|[Ww]ith)\s)?(?:what|which|whom?|how\s(?:many|much))\b", re.IGNORECASE
)
_NAMES = re.compile(rf"(?<![\w'’-]){NAME}")
_LISTS = re.compile(r"\b(?:including|such\sas|as\swell\sas|like|among)\b")
_LY = word_list("apply supply reply rely fly multiply comply imply rally tally")
"""Verbs that end as adverbs do."""
_AND = word_list("and or")
_LIKE = 4
"""Letters that a name and a form of it share."""


@dataclass(frozen=True, slots=True)
class Doer:
    """The doer of something, by the words of the name, and the root of the deed; in the passive, to whom it was done.
    `alone`: to nobody and nothing."""

    name: tuple[str, ...] = ()
    deed: str = ""
    passive: bool = False
    alone: bool = False

    @classmethod
    def of(cls, question: str) -> Doer:
        """Reads the question; nothing where it asks of no name, or where each does it to the other."""
        whom = _WHO_TO_NAME.match(question)
        if whom is not None:
            name = tuple(word for word in _words_of(whom["name"]) if word not in TITLES)
            return cls(name, root_of(whom["deed"]), True) if root_of(whom["deed"]) not in _MUTUAL else cls()
        helper, words, _ = clause_of(question)
        end = next((at for at, word in enumerate(words) if not word[0].isupper()), len(words))
        behind = [fold(word) for word in words[end:]]
        behind = [word for word in behind if word not in UNWEIGHED_WORDS and (not word.endswith("ly") or word in _LY)]
        if not end or not behind or words[0] == "I" or words[end - 1].endswith(("'s", "’s", "'")):
            return cls()
        joined = end < len(words) and fold(words[end]) in PREPOSITIONS | _AND  # `the Museum of Art`
        if joined or (end == 1 and f"the {words[0]}" in question):  # `the French`
            return cls()
        root = root_of(behind[0])
        if fold(helper) in _DO and is_many(behind[0]):  # `did Northern drivers strike`
            return cls()
        name = tuple(word for word in _words_of(" ".join(words[:end])) if word not in TITLES)
        if not name or root in _MUTUAL or behind[0] in _BE or not (fold(helper) in _DO or is_past(behind[0])):
            return cls()
        follows = words[words.index(next(word for word in words[end:] if fold(word) == behind[0])) + 1 :]
        alone = _ASKS_WHAT.match(question) is None and (not follows or fold(follows[0]) in PREPOSITIONS)
        return cls(name, root, fold(helper) in BE, alone)

    def agrees(self, told: Told) -> bool:
        """True unless a name does it each time, or gave it, that is none of the asked one's."""
        return not self.name or not (self._is_by_another(told) or self._is_given_by_another(told.text))

    def _is_by_another(self, told: Told) -> bool:
        text = told.text
        deeds = [each for each in WORD.finditer(text) if each[0].islower() and root_of(fold(each[0])) == self.deed]
        doers = {found.start("deed"): found for found in _DOER.finditer(text)}
        return bool(deeds) and all(
            (found := doers.get(each.start())) is not None and self._is_another(found, told) for each in deeds
        )

    def _is_another(self, doer: re.Match[str], told: Told) -> bool:
        """True if the name is the subject of the deed, as it is asked for, and of nobody that may be the one."""
        text, words = told.text, _words_of(doer["name"])
        before, between = text[: doer.start()], folded_words(text[doer.end("name") : doer.start("deed")])
        if doer["deed"].endswith(("ion", "ing")) or not (UNWEIGHED_WORDS | DATES).isdisjoint(words):
            return False
        if _BEHIND.search(before[-_NEAR:]) or _LISTS.search(before) or self.passive is BE.isdisjoint(between):
            return False
        if self.alone and _HAS_OBJECT.match(text, doer.end()):  # `The paper ranked the song`
            return False
        joined = before.rpartition(" and ")[0]
        return self._is_not(words) and self._is_not(_words_of(joined[-_BESIDE:])) and not self._is_also(words, told)

    def _is_not(self, words: Sequence[str]) -> bool:
        """True if no word begins like one of the name."""
        return {word[:_LIKE] for word in words}.isdisjoint(word[:_LIKE] for word in self.name)

    def _is_also(self, words: Sequence[str], told: Told) -> bool:
        """True if both are names of one: `Chopin`, where the title or the passage has `Frédéric Chopin`."""
        if not told.title.isdisjoint(map(root_of, words)) and not told.title.isdisjoint(map(root_of, self.name)):
            return True
        named = (_words_of(found[0]) for said in told.elsewhere for found in _NAMES.finditer(said))
        return any(not set(words).isdisjoint(name) and not self._is_not(name) for name in named)

    def _is_given_by_another(self, text: str) -> bool:
        """True if it came from somebody else: `received a grant from the council`."""
        if self.deed not in _GIVEN or self.passive or not self._is_not(_words_of(text)):
            return False
        return _RECEIVED_FROM.search(text) is not None


def _words_of(name: str) -> list[str]:
    return [unaccented(fold(word)) for word in WORD.findall(name)]
