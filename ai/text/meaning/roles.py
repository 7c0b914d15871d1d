"""The subject of a sentence, who did what to whom, and whether it was done: what words in another order say
differently.

`The miller's wife was born in 1840` holds every word of "When was the miller born?" and does not answer it; nor does
`The bridge will open in 2030` tell when it opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ai.text.support import WORD, fold
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_HELPER = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)"
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
_WHO = re.compile(rf"\A\W*(?:who|what)\s(?!{_HELPER}\b)(?P<deed>[a-z]{{3,}})\b", re.IGNORECASE)
_ONCE = re.compile(r"\bused\sto\s(?:be\s)?\Z", re.IGNORECASE)
_DOES = re.compile(
    rf"\A\W*who\s(?!{_HELPER}\b)(?P<deed>[a-z]{{3,}})\s(?:the\s|an?\s)?(?P<name>[\w'’-]+(?:\s[\w'’-]+){{0,3}})\W*\Z",
    re.IGNORECASE,
)
_DONE_BY = re.compile(
    r"\A\W*who\s(?:is|was|were|are)\s(?P<deed>[a-z]{3,})\sby\s(?:the\s|an?\s)?(?P<name>[\w'’-]+(?:\s[\w'’-]+){0,3})\W*\Z",
    re.IGNORECASE,
)
_DOES_WHOM = re.compile(
    r"\A\W*whom?\s(?:did|does|do|has|have|had)\s(?:the\s|an?\s)?(?P<name>[\w'’-]+(?:\s[\w'’-]+){0,3})\s(?P<deed>[a-z]{3,})\W*\Z",
    re.IGNORECASE,
)
_DOES_BY = re.compile(
    r"\A\W*(?:who\s(?:is|was|were|are)\s(?:the\s|an?\s)?(?P<name>[\w'’-]+(?:\s[\w'’-]+){0,3}?)\s(?P<deed>[a-z]{3,})\sby"
    r"|by\swhom\s(?:is|was|were|are)\s(?:the\s|an?\s)?(?P<named>[\w'’-]+(?:\s[\w'’-]+){0,3}?)\s(?P<done>[a-z]{3,}))\W*\Z",
    re.IGNORECASE,
)
_DOES_OR_IS = re.compile(
    rf"\b(?P<helper>{_HELPER})\s(?:the\s|an?\s|his\s|her\s|its\s|their\s|our\s)?(?P<rest>[\w'’-]+(?:\s[\w'’-]+){{1,12}})",
    re.IGNORECASE,
)
_PARTICLES = {"on": "off", "off": "on", "up": "down", "down": "up", "in": "out", "out": "in"}
_ENDS_VERB = word_list(
    "the a an his her its their our in on at to for from by with about against after before during into onto "
    "off out up down over under through until since away back when while if as than that which who and or but "
    "so all every each"
)
_WHAT_IS_DONE = re.compile(r"\A\W*(?:what|whom?|how\s(?:much|many))\b", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|never|cannot)\b|n['’]t\b", re.IGNORECASE)
_DO = word_list("do does did")
_PLACED = word_list("in at on near from behind above below beside")
_TO = word_list("to from for")
_BE = word_list("is are was were be been being")
_ARTICLES = word_list(
    "the a an his her its their our two three four five six seven eight nine ten many several some all"
)
_BY_WITHIN, _TO_WITHIN = 7, 8
_NEAR = 40
"""How many characters before its verb a sentence says that it is of the future."""
_ADVERBS = word_list("also then later first never not again soon once always often")


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody of whom a question asks who did it to them, or to whom they did it: the words of the name."""

    deed: str
    name: tuple[str, ...]
    does: bool

    @classmethod
    def of(cls, question: str) -> Party | None:
        """`does`: the name is of who does it (`Whom did Ann Berg teach?`); false in `Who taught Ben Holt?`."""
        for pattern, does in ((_DOES, False), (_DOES_BY, False), (_DONE_BY, True), (_DOES_WHOM, True)):
            found = pattern.match(question)
            if found is not None:
                said = found.groupdict()
                return cls._named(said.get("deed") or said["done"], said.get("name") or said["named"], does=does)
        helper, words, verb = _clause(question)
        passive = fold(helper) in _BE
        if not verb or (passive and not is_past(fold(words[verb]))):
            return None
        object_follows = words[verb + 1 :] and (words[verb + 1][0].isupper() or fold(words[verb + 1]) in _ARTICLES)
        transitive = object_follows or (words[verb + 1 :] and _WHAT_IS_DONE.match(question))
        if not (passive or transitive):  # `When did the gate open?` is answered by who opened the gate
            return None
        name = words[:1] if _behind_place(words) else words[:verb]
        return cls._named(words[verb], " ".join(name), does=not passive)

    @classmethod
    def of_object(cls, question: str) -> Party | None:
        """The council in `How much did the guild lend to the council?`: it is not who does it."""
        helper, words, verb = _clause(question)
        if not verb or fold(helper) not in _DO:
            return None
        after = words[verb + 1 :]
        if after and fold(after[0]) in _TO:
            after = after[1:]
        low = [fold(word) for word in after]
        if not low or not (low[0] in _ARTICLES or after[0][0].isupper()):
            return None
        return cls._named(words[verb], " ".join(_phrase(low if low[0] in _ARTICLES else ["the", *low])), does=False)

    @classmethod
    def _named(cls, deed: str, name: str, *, does: bool) -> Party | None:
        words = tuple(fold(word) for word in WORD.findall(name) if fold(word) not in UNWEIGHED_WORDS)
        return cls(root_of(fold(deed)), words, does) if words else None

    def agrees(self, text: str) -> bool:
        """True unless the sentence gives the name the other part alone."""
        words = [fold(word) for word in WORD.findall(text)]
        parts = {does for at in self._places(words) for does in self._part(words, at)}
        return self.does in parts or not parts

    def tells_whom(self, text: str) -> bool:
        """True if the sentence gives the one who does it that part, and says to whom without a name: `the miller`."""
        words = [fold(word) for word in WORD.findall(text)]
        if not any(does for at in self._places(words) for does in self._part(words, at)):
            return False
        rooted = [root_of(word) for word in words]
        return any(
            (words[at + 1 : at + 2] and words[at + 1] in _ARTICLES)
            or (at > 1 and words[at - 1] in _BE and words[0] in _ARTICLES)
            for at, root in enumerate(rooted)
            if root == self.deed
        )

    def _places(self, words: list[str]) -> Iterator[int]:
        size = len(self.name)
        return (at for at in range(len(words) - size + 1) if tuple(words[at : at + size]) == self.name)

    def _part(self, words: list[str], at: int) -> Iterator[bool]:
        """Yields True where the name at that place does the deed, False where the deed is done to it."""
        after = [word for word in words[at + len(self.name) :][:5] if word not in _ADVERBS and not word.endswith("ly")]
        before = [word for word in words[max(0, at - 4) : at] if word not in {"the", "a", "an"}]
        if after and root_of(after[0]) == self.deed and after[0] not in _BE:
            if after[1:2] == ["by"]:  # `Ben Holt, taught by Ann Berg`
                yield False
            elif after[1:] and (after[1] in _ARTICLES or after[1] not in _ENDS_VERB):  # not `The ship sank in 1904`
                yield True
        has = after[:1] and after[0] in {"has", "have", "had"}
        if has and len(after) > 1 and root_of(after[1]) == self.deed:
            yield True
        passive = [word for word in after[:3] if word in _BE]
        if passive and root_of(next((w for w in after if w not in {*_BE, "has", "have", "had"}), "")) == self.deed:
            yield False
        if before and root_of(before[-1]) == self.deed:
            yield False
        if before[-1:] == ["to"] and self.deed in map(root_of, words[max(0, at - _TO_WITHIN) : at]):
            yield False  # `sent every month to an archive`
        if before[-1:] == ["by"] and self.deed in map(root_of, words[max(0, at - _BY_WITHIN) : at]):
            yield True


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles that a question takes for granted. `subject`: the words of what the deed is asked of, as roots, and
    whether they are a name of several words; `deed`: the root of its verb, and `particle` what turns it (`on` of
    `turned on`); `done_to`: the roots of what it is done to; `said`: the roots of all its words; `ways`: where from and
    where to; `tense`: whether it asks for what has been done, is done, or will be; `party`: who did it, or to whom;
    `other`: to whom or what the subject did it; `denied`: by the rules that know a question which denies, and the dead
    from who died."""

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
    denied: bool = True

    @classmethod
    def of(cls, question: str, *, denied: bool = True) -> Roles:
        """Reads the question."""
        said = frozenset(root_of(fold(word)) for word in WORD.findall(question))
        _, words, verb = _clause(question)
        after = [fold(word) for word in words[verb + 1 :]] if verb else []
        particle = after[0] if after and after[0] in _PARTICLES and (len(after) == 1 or after[1] in _ENDS_VERB) else ""
        done_to = (
            frozenset(root_of(word) for word in _phrase(after))
            if after[:1] and after[0] in _ARTICLES
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
            "" if denied and _DENIES.search(question) else _tense(question),
            Party.of(question),
            Party.of_object(question),
            denied,
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
        """True if the deed is said with the contrary particle alone: `turned off` for `turned on`."""
        words = [fold(word) for word in WORD.findall(text)]
        after = {behind for word, behind in pairwise(words) if root_of(word) == self.deed}
        return _PARTICLES[self.particle] in after and self.particle not in after

    def _is_done_to_another(self, text: str) -> bool:
        """True if the deed is done to something else alone, and what is asked about is said beside another: `bought the
        chapel and sold the house` for `sold the chapel`."""
        words = [fold(word) for word in WORD.findall(text)]
        roots = [root_of(word) for word in words]
        nouns = {root for word, root in zip(words, roots, strict=True) if not (self.denied and is_past(word))}
        if self.deed not in roots or not self.done_to <= nouns:
            return False
        after = [words[at + 1 : at + 6] for at, root in enumerate(roots) if root == self.deed]
        told = [
            frozenset(root_of(word) for word in _phrase(said)) for said in after if said[:1] and said[0] in _ARTICLES
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


def _clause(question: str) -> tuple[str, list[str], int]:
    """The helping verb of a question, the words behind it and an article, and where among them its verb is."""
    found = _DOES_OR_IS.search(question)
    words = found["rest"].split() if found is not None else []
    return found["helper"] if found is not None else "", words, _verb(words)


def _verb(words: list[str]) -> int:
    """Where the verb is in what follows a helping verb and an article: before what ends it, else the last word; 0 where
    that is not known."""
    for at in range(_behind_place(words) + 1, len(words)):
        ends = words[at].casefold() in _ENDS_VERB or (at > 1 and words[at][0].isupper())
        if ends and words[at - 1].casefold() != "of" and words[at - 1][0].islower():
            return at - 1
    return len(words) - 1 if words and words[-1][0].islower() else 0


def _behind_place(words: list[str]) -> int:
    """How many words are a noun and where it is: `archive in Lisbon` of `archive in Lisbon send to the observatory`."""
    if len(words) < 4 or words[1] not in _PLACED or not words[0][0].islower():
        return 0
    at = 3 if words[2] in _ARTICLES else 2
    while at < len(words) - 1 and words[at][0].isupper() and words[at + 1][0].isupper():
        at += 1
    return at + 1 if at + 1 < len(words) else 0


def deed_of(question: str) -> str:
    """The root of the verb that is asked about, where it is known: of `Who taught Ben Holt?`, `When did it sink?`."""
    _, words, verb = _clause(question)
    if verb:
        return root_of(fold(words[verb]))
    found = _WHO.match(question)
    return root_of(fold(found["deed"])) if found is not None else ""


def _phrase(words: list[str]) -> list[str]:
    """The words of a phrase that begins with an article."""
    said = words[1:5]
    end = next((n for n, word in enumerate(said) if word in _ENDS_VERB or word in UNWEIGHED_WORDS), len(said))
    return said[:end]


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
