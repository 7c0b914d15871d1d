"""Words before a noun that say which one is meant: `the deputy mayor`, `the red gate`, `the second largest town`.

Most of what stands before a noun adds to it, and a question need not say it. Three kinds of words tell one from
another: those that make another of who holds an office (`former`, `deputy`), those of which a thing has only one
(colours, materials, peoples), and superlatives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import ALIKE
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_OTHERS = word_list(
    "former ex vice deputy assistant acting interim honorary associate trainee apprentice retired proposed "
    "planned model toy replica dummy fake mock"
)
"""A `deputy mayor` is another than the mayor, and a `model ship` another than the ship."""
_ONLY_PLANNED = word_list("proposed planned")
"""Words that a sentence need not repeat: a question for the planned bridge says already that it was planned."""
_ONCE = word_list("former ex retired")
"""Words for one who held the office once: `Who was the captain?` may ask of the former captain, unless it says when."""
_WAS = re.compile(r"\b(?:was|were|had\sbeen|did|used\sto)\b", re.IGNORECASE)
_WHEN = re.compile(r"\b\d{4}\b|\b(?:then|when|while|during|before|after)\b", re.IGNORECASE)
_GROUPS = tuple(
    word_list(words)
    for words in (
        "red green blue yellow white black brown orange purple pink grey gray golden silver violet",
        "wooden timber stone brick iron steel concrete glass plastic copper bronze brass marble clay paper leather",
        "left right",
        "day night",
        "paternal maternal",
        "urban rural",
        "domestic foreign international",
        "civil civilian military naval",
        "gross net",
        "primary secondary",
        "internal external",
        "fresh salt",
        "raw cooked",
        "single double return",
        "temporary permanent",
        "urgent routine",
        "rear front side main back",
        "odd even",
        "average greatest maximum minimum total",
        "hourly daily weekly fortnightly monthly quarterly yearly annual",
        "dry wet",
        "northern southern eastern western central northeastern northwestern southeastern southwestern",
        "catholic protestant orthodox jewish muslim hindu buddhist methodist lutheran presbyterian baptist",
    )
)
_RANKS = word_list("first second third fourth fifth sixth seventh eighth ninth tenth last")
_SUPERLATIVE = re.compile(
    r"\b(?P<rank>(?:second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)[\s-])?"
    r"(?P<word>[a-z]{2,}(?:[^aeiouy\W]|[iy])est|(?:most|least)\s(?!of\b|what\b)[a-z]+)\b",
    re.IGNORECASE,
)
_NO_SUPERLATIVE = word_list(
    "west forest interest request harvest arrest contest protest invest digest guest chest quest priest honest "
    "modest test rest nest pest suggest congest southwest northwest midwest manifest tempest conquest bequest "
    "inquest earnest behest interest attest detest molest ingest infest divest vest zest jest lest crest"
)
_ORDER = re.compile(r"\b(?:the|its|his|her|their|our|whose|a|an)\s(first|last|next)\s(?!time\b)[a-z]", re.IGNORECASE)
_ORDERS = {
    "first": re.compile(
        r"\b(?:first|1st|original(?:ly)?|initial(?:ly)?|earliest|inaugural|founding|oldest|beg[aiu]n\w*|start(?:s|ed|ing)?"
        r"|debut\w*|premi\w+|pioneer\w*|until|introduced|since|foremost|founded|establish\w*)\b",
        re.IGNORECASE,
    ),
    "last": re.compile(
        r"\b(?:last|final(?:ly)?|latest|end(?:s|ed|ing)?|no longer|until|most recent|clos\w+|ceased)\b", re.IGNORECASE
    ),
    "next": re.compile(
        r"\b(?:next|follow(?:s|ed|ing)|then|succe\w+|afterwards|will|new|upcoming|coming)\b", re.IGNORECASE
    ),
}
"""Words that say that something is first, last or next."""
_LAST_BUT_ONE = "last but one"
_ORDERS[_LAST_BUT_ONE] = re.compile(
    r"\b(?:(?:second|third|next)[\s-](?:to[\s-])?last|penultimate|last but (?:one|two))\b", re.IGNORECASE
)
_ORDER_SAID = re.compile(r"\b(first|last|next)\b", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<![\w'’-])(?P<which>[A-Z][a-z]+(?:ian|ish|ese|an|ic|ch|ss|i))\s(?P<noun>[a-z]{3,})")
_PAIR = re.compile(r"(?<![\w'’])(?=(?P<which>[A-Za-z][\w'’]*+)[\s-](?P<noun>[A-Za-z][\w'’]*+))")


@dataclass(frozen=True, slots=True)
class Modifiers:
    """The modifiers by which a question says which one it means. `others`: the nouns that it names of a holder's
    deputies and the like, each with that word; `groups`: the nouns with a word of a group; `ranks`: its superlatives,
    each with its rank or none; `said`: the roots of its words; `once`: it asks of the past, and not when."""

    others: frozenset[tuple[str, str]]
    groups: frozenset[tuple[str, str]]
    ranks: frozenset[tuple[str, str]]
    peoples: frozenset[tuple[str, str]]
    order: tuple[str, ...]
    said: frozenset[str]
    once: bool

    @classmethod
    def of(cls, question: str) -> Modifiers:
        """Reads the question."""
        pairs = frozenset(_pairs(question))
        return cls(
            frozenset((which, noun) for which, noun in pairs if which in _OTHERS),
            frozenset((which, noun) for which, noun in pairs if any(which in group for group in _GROUPS)),
            frozenset(superlatives_in(question, asks=True)),
            frozenset(_peoples(question)),
            _orders(question),
            all_roots(question),
            _WAS.search(question) is not None and _WHEN.search(question) is None,
        )

    def agrees(self, text: str, own: frozenset[str], *, read: bool = False) -> bool:
        """True unless the sentence, of the roots `own` with those of its title, means another one. `read`: a reader
        found that it answers, so that an order or a superlative that is not told in its words is told in others."""
        pairs = list(_pairs(text))
        if any(root_of(which) not in own for which, _ in self.others if which not in _ONLY_PLANNED):
            return False
        if self._of_a_deputy(text, pairs):
            return False
        for which, noun in self.groups:
            if root_of(which) not in own and any(_is_other_of(which, one) for one, of in pairs if of == noun):
                return False
        if self.peoples:
            told = frozenset(_peoples(text))
            for which, noun in self.peoples:
                if root_of(which) not in own and any(of == noun and one != which for one, of in told):
                    return False
        return self._is_ranked(text, own, read=read) and self._in_order(text, read=read)

    def _in_order(self, text: str, *, read: bool) -> bool:
        """True unless the question asks for the first, the next or the last, and the text says nothing of an order;
        where it was `read`, says only another one."""
        if all(_ORDERS[order].search(text) for order in self.order):
            return True
        return read and _LAST_BUT_ONE not in self.order and _ORDER_SAID.search(text) is None

    def _of_a_deputy(self, text: str, pairs: list[tuple[str, str]]) -> bool:
        """True if a noun of the question is said only behind a word for another holder of it."""
        others = _OTHERS - _ONCE if self.once else _OTHERS
        told = {of for one, of in pairs if one in others and of in self.said and root_of(one) not in self.said}
        if not told:
            return False
        said = [root_of(fold(word)) for word in WORD.findall(text)]
        return any(sum(one in others for one, of in pairs if of == noun) >= said.count(noun) for noun in told)

    def _is_ranked(self, text: str, own: frozenset[str], *, read: bool) -> bool:
        if not self.ranks:
            return True
        told = frozenset(superlatives_in(text))
        if not told:
            return read or all(word.split()[-1] in own for _, word in self.ranks)
        for rank, word in self.ranks:
            alike = {word} | ALIKE.get(word, frozenset())
            same = {one for one, of in told if of in alike}
            if rank not in same:
                return False
        return True


def _is_other_of(which: str, one: str) -> bool:
    return which != one and any(which in group and one in group for group in _GROUPS)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Each word with the word after it, this one as a root."""
    for found in _PAIR.finditer(text):
        noun = fold(found["noun"])
        if noun not in UNWEIGHED_WORDS:
            yield fold(found["which"]), root_of(noun)


def _peoples(text: str) -> Iterator[tuple[str, str]]:
    for found in _CAPITAL.finditer(text):
        which, noun = fold(found["which"]), fold(found["noun"])
        if noun not in UNWEIGHED_WORDS and which not in UNWEIGHED_WORDS:
            yield which, root_of(noun)


def _orders(question: str) -> tuple[str, ...]:
    if _ORDERS[_LAST_BUT_ONE].search(question):
        return (_LAST_BUT_ONE,)
    return tuple(dict.fromkeys(found[1].casefold() for found in _ORDER.finditer(question)))


def superlatives_in(text: str, *, asks: bool = False) -> Iterator[tuple[str, str]]:
    """Each superlative as a root, with its rank, which is empty for the first. `asks`: of a question, in which `most
    engines` are many of them, and `the most powerful` is one."""
    for found in _SUPERLATIVE.finditer(text):
        word = fold(found["word"])
        if asks and " " in word and not text[: found.start()].casefold().endswith(("the ", "its ")):
            continue
        if word not in _NO_SUPERLATIVE and not word.startswith(("most of", "at least")):
            yield (found["rank"] or "").strip(" -").casefold(), root_of(word) if " " not in word else word
