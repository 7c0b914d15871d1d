"""Which one of a kind is asked about, by the word before its noun: `the gold medal`, `an adult ticket`.

A question need not say everything that stands before a noun, and a sentence need not repeat it. But where the question
says a word of its own there and the sentence, which says that word nowhere, has the noun with another one alone (`a
silver medal`), it speaks of another. Where a reader found that it answers, that may be the same in other words (`rescue
efforts` for `relief efforts`), unless the two words are known to be of one kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_ASKED = re.compile(
    r"\b(?P<before>(?:do|does|did|can|could|will|would|shall|should|may|might|must)\s)?"
    r"(?P<article>the|an?|this|that|these|those|its|his|her|their|our|my|your|each|every|any)\s"
    r"(?P<which>[^\W\d_][\w'’-]*)\s(?P<noun>[a-z][a-z]+)\b(?:\s(?P<after>[a-z]+)\b)?"
    r"|\b(?:of|for|with|by|from|in|at|on|near|under|do|does|did|are|were)\s"
    r"(?P<some>[^\W\d_][\w'’-]*)\s(?P<many>[a-z]+s)\b",
    re.IGNORECASE,
)
_ARTICLES = word_list("the a an this that these those its his her their our my your each every any")
_RUN = re.compile(r"[^\W\d_][\w'’-]*")
_VAGUE = word_list(
    "main famous actual exact special different certain specific particular total whole entire only own other another "
    "current present typical usual common important great good best possible estimated average overall general such "
    "same similar known several many few more most less least very kind type several one ones new"
)
"""Words that single nothing out."""
_KINDS = tuple(
    frozenset(map(root_of, word_list(words)))
    for words in (
        "gold silver bronze platinum",
        "junior senior adult child student",
        "spring summer autumn winter",
        "gas electric diesel petrol steam solar",
        "breakfast lunch dinner supper",
        "morning afternoon evening night",
        "state federal municipal county local national regional international",
        "written oral practical",
        "printed digital",
        "hardback paperback",
        "oak pine beech ash elm birch cedar maple walnut",
        "wool cotton linen silk",
        "wheat barley rye oat maize rice",
        "goat cow sheep pig horse dog cat",
        "basic standard premium deluxe",
        "outgoing incoming",
        "inbound outbound",
        "entry exit",
        "solo group",
        "vegetarian vegan",
        "hourly nightly",
        "tin zinc lead",
        "guitar piano violin cello flute organ",
        "football rugby cricket tennis hockey chess",
        "history mathematics science geography music",
    )
)
_NO_KIND = word_list("reason reasons effect effects number numbers amount amounts century centuries time times")
"""Nouns of which a sentence may tell one that the question describes."""


@dataclass(frozen=True, slots=True)
class Qualifier:
    """A noun, as its root, with the word before it. `like`: the roots of that word, by its parts, with those of like
    meaning; `named`: it is a name."""

    noun: str
    like: tuple[frozenset[str], ...]
    named: bool


@dataclass(frozen=True, slots=True)
class Qualified:
    """The nouns of a question that a word singles out, and the roots of all its words."""

    asked: tuple[Qualifier, ...] = ()
    said: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str) -> Qualified:
        """Reads the question."""
        return cls(tuple(_asked(question)), all_roots(question))

    def agrees(self, text: str, own: frozenset[str], *, read: bool = False) -> bool:
        """True unless the sentence, of the roots `own` with those of its title, has such a noun with another word
        before it, wherever it has it; where it was `read`, with one of the same kind."""
        missing = [each for each in self.asked if any(own.isdisjoint(part) for part in each.like)]
        if not missing:
            return True
        pairs, nouns = list(_pairs(text)), [root_of(fold(word)) for word in WORD.findall(text)]
        return not any(self._is_another(each, pairs, nouns, read=read) for each in missing)

    def _is_another(
        self, asked: Qualifier, pairs: Sequence[tuple[str, str, str]], nouns: Sequence[str], *, read: bool
    ) -> bool:
        told = [
            which
            for before, which, noun in pairs
            if noun == asked.noun and self._singles_out(before, which, asked) and (not read or _of_a_kind(asked, which))
        ]
        return bool(told) and len(told) == nouns.count(asked.noun)

    def _singles_out(self, before: str, which: str, asked: Qualifier) -> bool:
        """True if the word says of the noun which one it is, and the question has not said it. What may be a deed has
        an article before it."""
        low = fold(which)
        if low in UNWEIGHED_WORDS or low in _VAGUE or low.endswith("ly"):
            return False
        if (is_past(low) or low.endswith("ing")) and fold(before) not in _ARTICLES:
            return False
        return (which[0].isupper() or not asked.named) and self.said.isdisjoint(all_roots(which))


def _asked(question: str) -> Iterator[Qualifier]:
    for found in _ASKED.finditer(question):
        which, noun = found["which"] or found["some"], fold(found["noun"] or found["many"])
        after = fold(found["after"] or "")
        acts = found["before"] is not None and (not after or after in UNWEIGHED_WORDS)  # `did the guild pay for`
        low = fold(which)
        if acts or noun in UNWEIGHED_WORDS or noun in _NO_KIND or low in UNWEIGHED_WORDS or low in _VAGUE:
            continue
        loose = found["article"] is None and (is_past(low) or low.endswith("ing"))
        if loose or is_past(noun) or noun.endswith(("ly", "ing")) or low.endswith(("ly", "est")) or which.isupper():
            continue
        yield Qualifier(
            root_of(noun), tuple(and_alike({root}) for root in sorted(all_roots(which))), which[0].isupper()
        )


def _of_a_kind(asked: Qualifier, which: str) -> bool:
    """True if the question's word and another one are two of one kind."""
    own, other = frozenset().union(*asked.like), all_roots(which)
    return any(not own.isdisjoint(kind) and not other.isdisjoint(kind) for kind in _KINDS)


def _pairs(text: str) -> Iterator[tuple[str, str, str]]:
    """Each word in small letters, as its root, with the two before it; of these the first may be empty."""
    before, which, end = "", "", -1
    for found in _RUN.finditer(text):
        if text[end : found.start()] != " ":
            before, which = "", ""
        elif found[0].islower():
            yield before, which, root_of(fold(found[0]))
        before, which, end = which, found[0], found.end()
