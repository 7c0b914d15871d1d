"""The sort of a thing: leave at a move is not unpaid leave, of which the passage tells behind, nor are residents of one
street those of another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ai.text.meaning.deeds.clause import clause_of
from ai.text.meaning.things.told import NO_NOUN, OPEN, PREPOSITIONS, Told, is_noun_in
from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_VAGUE = word_list(
    "main famous actual exact special different certain specific particular total whole entire only own other another "
    "current present typical usual common important great good best possible estimated average overall general such "
    "same similar known several many few more most less least very new old first last next"
)
_OF = re.compile(
    r"(?<![\w'’-])(?P<head>[a-z][a-z-]{2,})\sof\s(?:(?:the|an?|his|her|its|their|our|my|your|this|that|these|those)\s)?"
    r"(?=(?P<what>[\w'’-]+(?:\s[\w'’-]+){0,2}))"
)
_DESCRIBES = re.compile(r"-|(?:ed|ing|er|est|ant|ent|al|ive|ful|ous|ish|ic|less|able|ible|ary|ory)\Z")
_ENDS = re.compile(
    r"\W*\Z|[,.;:()]|\s(?:of|in|on|at|to|for|from|by|with|is|are|was|were|has|have|had|may|must|can|will|who|that|which|and|or)\b"
)
_DEFINITE = word_list("the this that these those its his her our my your")
_ASKS_SORT = re.compile(r"\b(?:what|which)\s(?:colou?r|kind|sort|type|size|shape|make|brand)s?\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


@dataclass(frozen=True, slots=True)
class Sort:
    """The nouns of a question, each with the word before it, by root; what something is of; the roots of all its words;
    and the pairs of two nouns that end a phrase."""

    pairs: tuple[tuple[str, str], ...] = ()
    of_what: tuple[tuple[str, frozenset[str]], ...] = ()
    said: frozenset[str] = frozenset()
    ending: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, question: str) -> Sort:
        """Reads the question; who asks whether or why may be told otherwise."""
        if not OPEN.match(question):
            return cls()
        helper, words, verb = clause_of(question)
        # the verb that ends a question with a helper is no noun: `when does the bath open`
        deed = root_of(fold(words[verb])) if helper and 0 < verb == len(words) - 1 else ""
        return cls(
            tuple(pair for pair in _pairs(question) if pair[1] != deed),
            tuple(_of_what(question)),
            all_roots(question),
            ()
            if _ASKS_SORT.search(question)
            else tuple(pair for pair in _pairs(question, ends=True) if pair[1] != deed),
        )

    def agrees(self, told: Told) -> bool:
        """True unless the passage tells of that sort elsewhere alone."""
        return not (any(self._is_another(*pair, told) for pair in self.pairs) or self._is_of_another(told))

    def _is_another(self, which: str, noun: str, told: Told) -> bool:
        """True if the sentence has the noun without the word, and the passage has both together behind it alone."""
        titled = which in told.title and noun in told.title
        if which in told.roots or titled or noun not in told.roots.union(told.title, *map(all_roots, told.before)):
            return False
        if self._singles_out(which, noun, told):
            return True
        said_before = any(which in all_roots(said) for said in told.before)
        return (
            not said_before
            and not _is_known(noun, told.text)
            and any((which, noun) in set(_pairs(said)) for said in told.after)
        )

    def _singles_out(self, which: str, noun: str, told: Told) -> bool:
        """True if the sentence says of the noun each time that it is of another sort, by a word of its own, and the
        passage has the question's: `season permits` for `day permits`, where it says `a day`."""
        others = [one for one, other in _pairs(told.text, ends=True) if other == noun]
        said = [word for word in WORD.findall(told.text) if root_of(fold(word)) == noun]
        if (
            not others
            or len(others) < len(said)
            or not self.said.isdisjoint(others)
            or (which, noun) not in self.ending
        ):
            return False
        return any(is_noun_in(said, which) for said in told.elsewhere)

    def _is_of_another(self, told: Told) -> bool:
        """True if the passage has what the question says something is of, but that thing as another's each time."""
        near = told.roots | told.title
        for head, what in self.of_what:
            if head not in told.roots or not what.isdisjoint(near):
                continue
            bound = [other for said in told.elsewhere for one, other in _of_what(said) if one == head]
            known = any(not what.isdisjoint(all_roots(said)) for said in told.elsewhere)
            if bound and known and all(what.isdisjoint(other) for other in bound):
                return True
        return False


def _is_known(noun: str, text: str) -> bool:
    """True if the text has the noun as one that was told of before: `the bridge`."""
    words = [fold(word) for word in WORD.findall(text)]
    at = [place for place, word in enumerate(words) if root_of(word) == noun]
    return any(not _DEFINITE.isdisjoint(words[max(0, place - 2) : place]) for place in at)


def _pairs(text: str, *, ends: bool = False) -> Iterator[tuple[str, str]]:
    """Two words in small letters that stand together, by root. `ends`: two nouns that end a phrase."""
    found: Sequence[re.Match[str]] = [*_WORD.finditer(text)]
    for one, other in pairwise(found):
        which, noun = fold(one[0]), fold(other[0])
        if text[one.end() : other.start()] != " " or not other[0].islower() or which in UNWEIGHED_WORDS | _VAGUE:
            continue
        if not (which + noun).isalpha():  # `the IPv6 rollout` is told from others by its number
            continue
        if noun in NO_NOUN or which in PREPOSITIONS or which.endswith("ly") or is_past(noun):
            continue
        if ends and not (_ENDS.match(text, other.end()) and one[0].islower()):
            continue
        if ends and _DESCRIBES.search(which):
            continue
        yield root_of(which), root_of(noun)


def _of_what(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """A thing and whose or what it is of, by root: `residents` of `Mill Close`."""
    for found in _OF.finditer(text):
        words = [fold(word) for word in WORD.findall(found["what"])]
        end = next((at for at, word in enumerate(words) if word in UNWEIGHED_WORDS), len(words))
        head = fold(found["head"])
        if words[:end] and head not in NO_NOUN:
            yield root_of(head), and_alike(map(root_of, words[:end]))
