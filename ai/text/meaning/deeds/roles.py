"""The subject of a sentence, who did what to whom, and whether it was done: what words in another order say
differently.

`The miller's wife was born in 1840` holds every word of "When was the miller born?" and does not answer it; nor does
`The bridge will open in 2030` tell when it opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from ai.text.meaning.deeds.clause import ARTICLES, ENDS_VERB, clause_of, deed_of, phrase_of
from ai.text.meaning.deeds.parties import Party
from ai.text.support import WORD, all_roots, fold
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_BESIDE = word_list(
    "wife husband widow widower sister brother mother father son daughter child uncle aunt nephew niece cousin "
    "grandson granddaughter grandfather grandmother stepson stepdaughter friend servant assistant apprentice "
    "secretary deputy successor predecessor heir owner keeper driver captain master builder designer architect "
    "author editor founder director manager teacher pupil student tutor nurse doctor lawyer agent clerk cook "
    "gardener guard dog cat horse rival enemy model painting picture portrait photo photograph film movie book "
    "novel story song poem play statue replica copy map plan plans drawing sketch miniature bust ship neighbour "
    "neighbor visitor guest"
)
"""Words for people and things that belong to somebody or something, or are like it, and are not it: `the wife of the
miller`, `the model of the bridge`."""
_OF = re.compile(
    r"(?<![\w'’-])(?P<head>[A-Za-z][\w'’-]++)\sof\s(?:the\s|an?\s|his\s|her\s|its\s|their\s|our\s|this\s|that\s)?(?:[a-z][\w'’-]*\s){0,2}\Z"
)
_OWNED = re.compile(r"(?:['’]s|(?<=s)['’])\s+(?P<what>(?:[a-z][\w'’-]*\s+){0,2}[a-z][\w'’-]*)", re.IGNORECASE)
_WAYS = {
    "from": "to",
    "to": "from",
    "under": "over",
    "over": "under",
    "up": "down",
    "down": "up",
    "towards": "from",
    "left": "right",
    "right": "left",
}
_WAY = re.compile(
    r"\b(?P<way>from|to|under|over|up|down|towards|left|right)\s(?:the\s|an?\s|its\s|their\s|our\s)?(?P<what>[\w'’-]+(?:\s[\w'’-]+)?)",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"(?:\b(?:is|are|due|about|supposed|meant|expected|scheduled|hop(?:e|es|ed|ing)|plan(?:s|ned|ning)?|want(?:s|ed|ing)?"
    r"|tr(?:y|ies|ied|ying)|fail(?:s|ed)?|refus(?:e|es|ed|ing)|propos(?:e|es|ed|ing)|threaten(?:s|ed)?|promis(?:e|es|ed)"
    r"|offer(?:s|ed)?|wish(?:es|ed)?|intend(?:s|ed)?|declin(?:e|es|ed)|forg[eo]t|going|likely|unlikely|unable|attempt(?:s|ed)?)"
    r"\sto\s(?:be\s|have\s(?:been\s)?|(?:have|see|get)\s(?:[\w'’-]+\s){1,6})?"
    r"|\b(?:almost|nearly|hardly|scarcely|never)\s(?:been\s|be\s)?|\b(?:will|shall|may|might|should)\s(?:be\s|have\s(?:been\s)?)?)"
    r"(?:[a-z]+ly\s)?\Z",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?:will|shall|going|due|plan(?:s|ned)?|expect(?:s|ed)?|schedul(?:e|ed)|(?:is|are)\sto|from)\b", re.IGNORECASE
)
_ASKS_FUTURE = re.compile(r"\b(?:will|shall|(?:is|are)\s(?:going|due|[\w'’-]+\s(?:going|due))\sto)\b", re.IGNORECASE)
_ASKS_DONE = re.compile(r"\b(?:did|was|were|has|have|had|been)\b|\A\W*who\s[a-z]+ed\b", re.IGNORECASE)
_ASKS_NOW = re.compile(r"\b(?:do|does|is|are|can|may|must)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:he|she|it|they|him|them|his|her|its|their|I|we|our|my)\b", re.IGNORECASE)
_ITS = re.compile(r"(?:His|Her|Its|Their)\s(?P<what>(?:[a-z]+\s){0,2}[a-z]+)\b")
_ONCE = re.compile(r"\bused\sto\s(?:be\s)?\Z", re.IGNORECASE)
_PARTICLES = {"on": "off", "off": "on", "up": "down", "down": "up", "in": "out", "out": "in"}
_NO_PLACES = word_list("off out up down")
"""Particles behind a verb that seldom begin where it is done, as `in` and `on` do."""
_DENIES = re.compile(r"\b(?:not|never|cannot)\b|n['’]t\b", re.IGNORECASE)
_NEAR = 40
"""How many characters before its verb a sentence says that it is of the future."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles that a question takes for granted. `subject`: the words of what the deed is asked of, as roots, and
    whether they are a name of several words; `deed`: the root of its verb, and `particle` what turns it (`on` of
    `turned on`); `done_to`: the roots of what it is done to; `said`: the roots of all its words; `ways`: where from and
    where to; `tense`: whether it asks for what has been done, is done, or will be; `party`: who did it, or to whom;
    `other`: to whom or what the subject did it."""

    subject: tuple[str, ...]
    full_name: bool
    deed: str
    particle: str
    done_to: frozenset[str]
    said: frozenset[str]
    ways: frozenset[tuple[str, str]]
    tense: str
    party: Party | None
    other: Party | None

    @classmethod
    def of(cls, question: str) -> Roles:
        """Reads the question."""
        said = all_roots(question)
        _, words, verb = clause_of(question)
        after = [fold(word) for word in words[verb + 1 :]] if verb else []
        particle = after[0] if after and after[0] in _PARTICLES and (len(after) == 1 or after[1] in ENDS_VERB) else ""
        done_to = (
            frozenset(root_of(word) for word in phrase_of(after))
            if after[:1] and after[0] in ARTICLES
            else frozenset[str]()
        )
        return cls(
            _subject(words[:verb]),
            _is_full_name(words[:verb]),
            deed_of(question),
            particle,
            done_to,
            said,
            _ways(question),
            "" if _DENIES.search(question) else _tense(question),
            Party.of(question),
            Party.of_object(question),
        )

    def agrees(self, text: str, own: frozenset[str]) -> bool:
        """True unless the sentence, of the roots `own` with those of its title, is about what belongs to the subject or
        about somebody else, goes the other way, speaks of what was not done, or exchanges who did it."""
        if self.subject and (self._of_what_is_its(text) or self._of_someone_else(text, own)):
            return False
        told = _ways(text) if self.ways else frozenset[tuple[str, str]]()
        if any((way, what) not in told and (_WAYS[way], what) in told for way, what in self.ways):
            return False
        if self.particle and self._turns(text):
            return False
        if self.done_to and self._is_done_to_another(text):
            return False
        return self._happens(text) and all(each is None or each.agrees(text) for each in (self.party, self.other))

    def _turns(self, text: str) -> bool:
        """True if the deed is said with other particles alone: `turn off` for `turn on`, `take off` for `take up`."""
        words = [fold(word) for word in WORD.findall(text)]
        after = {behind for word, behind in pairwise(words) if root_of(word) == self.deed}
        if self.particle in after:
            return False
        return _PARTICLES[self.particle] in after or (bool(after) and after <= _NO_PLACES)

    def _is_done_to_another(self, text: str) -> bool:
        """True if the deed is done to something else alone, and what is asked about is said beside another: `bought the
        chapel and sold the house` for `sold the chapel`."""
        words = [fold(word) for word in WORD.findall(text)]
        roots = [root_of(word) for word in words]
        nouns = {root for word, root in zip(words, roots, strict=True) if not is_past(word)}
        if self.deed not in roots or not self.done_to <= nouns:
            return False
        after = [words[at + 1 : at + 6] for at, root in enumerate(roots) if root == self.deed]
        told = [
            frozenset(root_of(word) for word in phrase_of(said)) for said in after if said[:1] and said[0] in ARTICLES
        ]
        return len(told) == len(after) and all(told) and all(self.done_to.isdisjoint(each) for each in told)

    def _of_someone_else(self, text: str, own: frozenset[str]) -> bool:
        """True if the subject is a full name that the sentence does not say, no pronoun may mean it, and another name
        is said."""
        if not self.full_name or not own.isdisjoint(self.subject) or _PRONOUN.search(text):
            return False
        return any(word[0].isupper() and root_of(fold(word)) not in self.said for word in WORD.findall(text)[1:])

    def _of_what_is_its(self, text: str) -> bool:
        """True if the subject is named only as whose something is: `the miller's wife`, `the model of the bridge`; or
        as that of a pronoun: `Her husband`."""
        found = [each for each in WORD.finditer(text) if self._is_subject(text, each)]
        if not found:
            its = _ITS.match(text)
            return its is not None and any(self._is_other(word) for word in its["what"].split())
        return all(self._belongs(text, each) for each in found)

    def _is_subject(self, text: str, word: re.Match[str]) -> bool:
        *before, last = self.subject
        if root_of(fold(_bare(word[0]))) != last:
            return False
        previous = WORD.findall(text[max(0, word.start() - 30) : word.start()])
        # another of the same name is not meant: `Ilse Kramer` for `Hugo Kramer`
        return not (before and word[0][0].isupper() and previous and previous[-1][0].isupper()) or (
            root_of(fold(previous[-1])) in before
        )

    def _belongs(self, text: str, found: re.Match[str]) -> bool:
        bare = _bare(found[0])
        owned = _OWNED.match(text, found.start() + len(bare))
        if owned is not None:
            return any(self._is_other(word) for word in owned["what"].split())
        of = _OF.search(text[: self._start(text, found)])
        return of is not None and self._is_other(of["head"])

    def _start(self, text: str, found: re.Match[str]) -> int:
        """Where the name begins whose last word was found."""
        start = found.start()
        for each in reversed([*WORD.finditer(text[:start])][-3:]):
            if root_of(fold(each[0])) not in self.subject:
                break
            start = each.start()
        return start

    def _is_other(self, word: str) -> bool:
        return fold(word) in _BESIDE and root_of(fold(word)) not in self.said

    def _happens(self, text: str) -> bool:
        said = [found for found in WORD.finditer(text) if root_of(fold(found[0])) == self.deed]
        if not said or not self.tense:
            return True
        before = [text[max(0, found.start() - 80) : found.start()] for found in said]
        if self.tense == "will":
            past = all(is_past(fold(found[0])) and not _is_present(text, found) for found in said)
            return not past or any(_FUTURE.search(each[-_NEAR:]) for each in before)
        if self.tense == "does":
            return not all(_ONCE.search(each) for each in before)
        return not all(_UNREAL.search(each) for each in before)


def _is_present(text: str, found: re.Match[str]) -> bool:
    return re.search(r"\b(?:is|are|be|being)\s(?:[a-z]+\s)?\Z", text[: found.start()], re.IGNORECASE) is not None


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")


def _is_full_name(words: list[str]) -> bool:
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _subject(words: list[str]) -> tuple[str, ...]:
    """The words before the deed; none where another word is of it, or it is a pronoun."""
    said = [word for word in words if fold(word) not in UNWEIGHED_WORDS]
    if not said or "of" in words or said[-1].endswith(("'s", "’s", "'", "ly")):
        return ()
    return tuple(root_of(fold(word)) for word in said)


def _ways(text: str) -> frozenset[tuple[str, str]]:
    found = ((fold(each["way"]), [fold(w) for w in WORD.findall(each["what"])]) for each in _WAY.finditer(text))
    return frozenset((way, root_of(words[0])) for way, words in found if words and words[0] not in UNWEIGHED_WORDS)


def _tense(question: str) -> str:
    if _ASKS_FUTURE.search(question):
        return "will"
    if _ASKS_DONE.search(question):
        return "did"
    return "does" if _ASKS_NOW.search(question) else ""
