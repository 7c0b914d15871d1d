"""The subject that a question asks of: masters are no engineers, nor are the sopranos and the basses tenors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ai.text.meaning.deeds.clause import BE, clause_of
from ai.text.meaning.things.told import NO_NOUN, PREPOSITIONS, Told, head_of
from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_many, is_past, root_of

_HELPERS = word_list("is are was were has have had do does did can could will would may might must shall should cannot")
_DO = word_list("do does did")
_BEFORE_VERB = word_list("be been have not never also still")
_LEAD = re.compile(r"\A\W*(?:In|On|At|By|During|After|Before|Since|From|For|Until|With|Under)\s[^,;]{1,50},\s(?=[a-z])")
_DETERMINERS = word_list("the a an each every all some both most many no any its our their his her two three four five")
_BREAK = re.compile(r"[,;:()–—]")
_OTHERS = re.compile(r"\b(?:others?|else|rest)\b", re.IGNORECASE)
_MEANS = word_list("it them they one ones these those")
_JOINS = word_list("and or")
_NO_PART = UNWEIGHED_WORDS - PREPOSITIONS - _DETERMINERS - _JOINS
_WITHIN = 12
"""Words at the beginning among which the verb is."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The nouns of which a question asks something, the last one its head. `sure`: that is known to be a noun; `which`:
    the word before it; `deed`: the root of the verb; `said`: the roots of all words of the question."""

    nouns: tuple[str, ...] = ()
    sure: bool = False
    which: str = ""
    deed: str = ""
    said: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str) -> Subject:
        """Reads the question; nothing where it asks of a name."""
        helper, words, verb = clause_of(question)
        if 1 < verb == len(words) - 1 and fold(helper) in _DO and is_many(fold(words[0])):
            verb = verb if fold(words[1]) in UNWEIGHED_WORDS else 1  # `did females cross roads`
        end = next((at for at in range(verb) if fold(words[at]) in _BEFORE_VERB), verb)
        subject = words[:end]
        head = head_of(subject)
        if (
            not head
            or fold(subject[0]) in UNWEIGHED_WORDS
            or not all(word[0].islower() for word in subject)
            or fold(head) in NO_NOUN
        ):
            return cls()
        nouns = [fold(word) for word in subject[: subject.index(head) + 1]]
        # of `Is the housing dishwasher safe?` it is not known which is the noun
        asked = (
            tuple(nouns) if fold(helper) in BE and len(nouns) > 1 and not is_past(fold(words[verb])) else (nouns[-1],)
        )
        return cls(
            tuple(noun for noun in asked if noun not in NO_NOUN),
            len(words[:end]) == 1 and f"the {nouns[-1]}" in question.casefold(),
            nouns[-2] if len(nouns) > 1 else "",
            root_of(fold(words[verb])),
            all_roots(question),
        )

    def agrees(self, told: Told) -> bool:
        """True unless the passage tells of it elsewhere alone, and the sentence of another subject."""
        if _PRONOUN.match(told.text):
            return not any(told.comes_behind(noun, sure=self.sure) for noun in self.nouns[-1:])
        if self._is_none_of(told) or self._is_so_too(told):
            return False
        if not any(told.passes_over(noun, back=1) for noun in self.nouns):
            return True
        if _OTHERS.search(told.text) or not _MEANS.isdisjoint(map(fold, WORD.findall(told.text))):
            return True
        others = subjects_in(told.text, self.deed)
        return not others or not all(self._is_another(each) for each in others)

    def _is_another(self, noun: str) -> bool:
        return fold(noun) not in NO_NOUN and self.said.isdisjoint(and_alike({root_of(fold(noun))}))

    def _is_so_too(self, told: Told) -> bool:
        """True if the sentence begins with another noun of which the same is said as the question says of its own:
        `Dried starter keeps` for `dried bread`."""
        words = [fold(word) for word in WORD.findall(told.text)[:4] if fold(word) not in _DETERMINERS]
        if (
            not self.which
            or len(words) < 2
            or root_of(words[0]) != root_of(self.which)
            or not self._is_another(words[1])
        ):
            return False
        noun = root_of(self.nouns[-1])
        if noun in told.roots or root_of(words[1]) not in {
            root_of(fold(each)) for each in subjects_in(told.text, self.deed)
        }:
            return False
        return noun in told.title.union(*map(all_roots, told.elsewhere))

    def _is_none_of(self, told: Told) -> bool:
        """True if the sentence tells the groups apart that do it, and the passage knows none of the name."""
        if not self.nouns or not is_many(self.nouns[-1]):
            return False
        apart = _APART.match(told.text)
        if apart is None or root_of(fold(apart["deed"])) != self.deed:
            return False
        like = and_alike({root_of(self.nouns[-1])})
        known = told.title.union(told.roots, *map(all_roots, told.elsewhere))
        return like.isdisjoint(known) and all(is_many(fold(apart[each])) for each in ("one", "other"))


_PRONOUN = re.compile(r"\A\W*(?:It|They|Its|Their)\s")
_APART = re.compile(
    r"\A\W*(?:The\s)?(?P<one>[A-Za-z]+)\s(?P<deed>[a-z]+)\s[^;]{1,80}?(?:\sand|,?\s(?:but|while|whereas)|;)\s(?:the\s)?(?P<other>[a-z]+)"
    r"\s(?=(?:by|in|on|at|to|for|from|with)\s)"
)


def subjects_in(text: str, deed: str = "") -> list[str]:
    """The heads of the subjects with which a sentence begins: `jug` and `holder` of `The jug and the filter holder
    are`; none for a name or a pronoun."""
    lead = _LEAD.match(text)
    found = list(WORD.finditer(text, lead.end() if lead else 0))[:_WITHIN]
    words = [each[0] for each in found]
    verb = next((at for at in range(1, len(words)) if _is_verb(words, at, deed)), 0)
    subject = words[:verb]
    if not subject or _BREAK.search(text, found[0].start(), found[verb].start()):
        return []
    first, others = fold(subject[0]), subject[1:]
    if any(word[0].isupper() or fold(word) in _NO_PART for word in others):
        return []
    if first not in _DETERMINERS and (
        first in UNWEIGHED_WORDS or not (is_many(fold(subject[-1])) or len(subject) == 2)
    ):
        return []
    parts: list[list[str]] = [[]]
    for word in subject:
        if fold(word) in _JOINS:
            parts.append([])
        elif fold(word) not in _DETERMINERS:
            parts[-1].append(word)
    return [head for part in parts if (head := head_of(part))]


def _is_verb(words: Sequence[str], at: int, deed: str) -> bool:
    word = fold(words[at])
    verbal = word in _HELPERS or is_past(word) or root_of(word) == deed
    return verbal and fold(words[at - 1]) not in _DETERMINERS
