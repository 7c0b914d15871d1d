"""A sentence where it stands, and which nouns its passage uses elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import DATES, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_many, root_of

NAME = r"[A-Z][\w'’-]*(?:\.?\s[A-Z][\w'’-]*){0,3}"
OPEN = re.compile(
    r"\A\W*(?:(?:in|at|on|to|from|by|for|with)\s)?(?:who|whom|whose|what|which|where|when|how)\b", re.IGNORECASE
)
"""Questions that are told neither by yes or no, nor by a reason."""
_BACK = 2
"""Sentences before it that a definite noun or a pronoun may mean."""
_NEAR = 6
"""Sentences before it that are held against it."""
_LED_BY = 2
"""Words before a noun among which its article is."""
_TOPIC = 3
"""One sentence in so many that say it makes it the subject of the whole passage."""
_DETERMINERS = word_list(
    "the a an this that these those its his her their our my your each every some any no both two three four five six "
    "seven eight nine ten another"
)


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence, those before and behind it in its passage, and the roots of its title."""

    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    title: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str, before: Sequence[str], after: Sequence[str], title: frozenset[str]) -> Told:
        """The sentence with those near before it and all behind it, and the folded words of its title."""
        return cls(text, tuple(before[-_NEAR:]), tuple(after), frozenset(map(root_of, title)))

    @property
    def roots(self) -> frozenset[str]:
        """The roots of its words."""
        return all_roots(self.text)

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The other sentences of the passage."""
        return (*self.before, *self.after)

    def comes_behind(self, noun: str, *, sure: bool = False) -> bool:
        """True if the passage has a noun behind the sentence alone, which no pronoun in it can mean. `sure`: the
        question shows that it is a noun."""
        like = and_alike({root_of(fold(noun))})
        if not like.isdisjoint(self.roots.union(self.title, *map(all_roots, self.before))):
            return False
        return any(not like.isdisjoint(all_roots(said)) if sure else is_noun_in(said, noun) for said in self.after)

    def passes_over(self, noun: str, *, back: int = _BACK, sure: bool = False) -> bool:
        """True if the passage has a noun that neither the sentence, nor its title, nor those right before it have in
        any form, and that is not what the whole passage is about. `sure`: the question shows that it is a noun."""
        like = and_alike({root_of(fold(noun))})
        near = self.before[max(0, len(self.before) - back) :]
        if not like.isdisjoint(self.roots.union(self.title, *map(all_roots, near))):
            return False
        holding = [said for said in self.elsewhere if not like.isdisjoint(all_roots(said))]
        if len(holding) > 1 and _TOPIC * len(holding) > len(self.elsewhere) + 1:
            return False
        return bool(holding) if sure else any(is_noun_in(said, noun) for said in holding)


def is_noun_in(text: str, noun: str) -> bool:
    """True if the text has the word, in the same or another number, as the noun that ends a phrase: `the housing with`,
    `cats on`; or the same plural."""
    root = root_of(fold(noun))
    words = [(found[0], found.end()) for found in WORD.finditer(text)]
    for at, (word, end) in enumerate(words):
        if root_of(fold(word)) != root or not (word.islower() or at == 0):
            continue
        if fold(word) == fold(noun) and is_many(fold(noun)):
            return True
        behind = fold(words[at + 1][0]) if at + 1 < len(words) else ""
        ends = not behind or text[end : end + 1] != " " or behind in UNWEIGHED_WORDS or behind in _VERBS
        before = {fold(each) for each, _ in words[max(0, at - _LED_BY) : at]}
        if ends and (is_many(fold(word)) or not before.isdisjoint(_DETERMINERS)):
            return True
    return False


_VERBS = word_list("is are was were has have had can could will would may might must shall should does did do")


def head_of(words: Sequence[str]) -> str:
    """The last word before a preposition: `keeper` of `keeper of the mill`."""
    end = next((at for at, word in enumerate(words) if at and fold(word) in PREPOSITIONS), len(words))
    return words[end - 1] if words else ""


PREPOSITIONS = word_list(
    "of in on at to from for by with about against after before during into onto off over under through near behind "
    "beside between within without inside outside among above below across along around toward towards upon until"
)
GENERAL = word_list(
    "people person persons one ones other others thing things number numbers amount total rest majority half part "
    "parts kind kinds sort type types time times way ways place places reason reasons result results purpose work "
    "works name names percent percentage year years month months week weeks day days hour hours minute minutes "
    "member members group groups pair pairs set sets piece pieces item items man men woman women something anything "
    "nothing somebody anybody nobody everybody everyone everything"
)
"""Nouns that stand for others, and units."""
NO_NOUN = UNWEIGHED_WORDS | DATES | GENERAL
