"""The place or the purpose that a question ends with: the spaces at the lock cottage are not those at Long Meadow, nor
is money for the roof that for the organ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ai.text.meaning.things.told import NAME, NO_NOUN, OPEN, PREPOSITIONS, Told
from ai.text.support import WORD, all_roots, fold
from retrieval.english.lists import DATES, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_many, is_past, root_of

_PLACED = word_list("in at on near inside outside behind beside opposite under")
_BOUND = re.compile(
    r"(?<![\w'’-])(?P<by>in|at|on|near|inside|outside|behind|beside|opposite|under|for|of)\s"
    r"(?P<article>the\s|an?\s|his\s|her\s|its\s|their\s|our\s|my\s|your\s)?(?P<what>[\w'’-]+(?:\s[\w'’-]+){0,2})",
    re.IGNORECASE,
)
_NAMED_AT = re.compile(rf"(?<![\w'’-])(?P<head>[\w'’-]+)\s(?:in|at|near)\s(?:the\s)?(?P<name>{NAME})")
_AMOUNT_FOR = re.compile(
    r"[£$€]\s?\d[\d.,]*(?:\s(?:million|thousand))?\sfor\s(?:the\s|an?\s)?(?:[a-z-]{1,20}\s){0,2}(?P<what>[a-z][a-z-]+)(?=\W*\Z|[,.;]|\s(?:and|in|at|of|from|on|by)\b)"
)
_TIMES = frozenset(
    map(
        root_of,
        word_list(
            "war peace day night morning afternoon evening week weekend month year season spring summer autumn winter "
            "past future century decade meantime beginning end time hour minute moment date while age first last "
            "snow rain fog storm dark wind weather policy document text section report guide manual handbook notice "
            "rules case fact order addition general total average detail particular turn part charge favour return view"
        ),
    )
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun or name behind a preposition. `by`: the preposition, and `where` whether it is one of place; `named`: it
    is a name."""

    noun: str
    by: str
    where: bool
    named: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """The places and purposes at the end of a question, and the roots of its words."""

    phrases: tuple[Phrase, ...] = ()
    said: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str) -> Bound:
        """Reads the question; who asks whether or why may be told otherwise."""
        if not OPEN.match(question):
            return cls()
        return cls(tuple(phrase for phrase, ends in _phrases(question) if ends), all_roots(question))

    def agrees(self, told: Told) -> bool:
        """True unless the passage has the place or purpose elsewhere alone, and the sentence another one."""
        return not any(self._is_of_another(phrase, told) for phrase in self.phrases)

    def _is_of_another(self, asked: Phrase, told: Told) -> bool:
        if asked.by == "of":
            return asked.named and _lacks_name(asked.noun, told) and self._belongs_elsewhere(asked.noun, told)
        if not asked.where:
            others = [fold(found["what"]) for found in _AMOUNT_FOR.finditer(told.text)]
            another = bool(others) and all(root_of(other) not in self.said for other in others)
            return another and not asked.named and told.passes_over(asked.noun, back=0, sure=True)
        if not (_lacks_name(asked.noun, told) if asked.named else told.passes_over(asked.noun, sure=True)):
            return False
        others = [phrase.noun for phrase, _ in _phrases(told.text) if phrase.where]
        if any(root_of(fold(other)) not in self.said for other in others):
            return True
        return asked.named and self._belongs_elsewhere(asked.noun, told)

    def _belongs_elsewhere(self, name: str, told: Told) -> bool:
        """True if the passage has the place as that of something else each time: `the hospice in Larkfield`."""
        mentions = [
            fold(found["head"])
            for said in told.elsewhere
            for found in _NAMED_AT.finditer(said)
            if found["name"].split()[-1] == name
        ]
        total = sum(WORD.findall(said).count(name) for said in told.elsewhere)
        heads = all(
            head not in UNWEIGHED_WORDS and not is_past(head) and root_of(head) not in self.said for head in mentions
        )
        return bool(mentions) and len(mentions) == total and heads


def _lacks_name(name: str, told: Told) -> bool:
    """True if the name stands elsewhere in the passage, and neither in the sentence, its title nor before it."""
    root = root_of(fold(name))
    near = told.roots.union(told.title, *map(all_roots, told.before))
    return root not in near and any(root in all_roots(said) for said in told.after)


def _phrases(text: str) -> Iterator[tuple[Phrase, bool]]:
    """The places and purposes of a text, each with whether it ends it."""
    for found in _BOUND.finditer(text):
        words = WORD.findall(found["what"])
        end = next((n for n, word in enumerate(words) if fold(word) in PREPOSITIONS | UNWEIGHED_WORDS), len(words))
        words = words[:end]
        named = bool(words) and words[0][0].isupper()
        if named:
            words = words[: next((n for n, word in enumerate(words) if not word[0].isupper()), len(words))]
        if not words or (not named and found["article"] is None and not is_many(fold(words[-1]))):
            continue
        noun = words[-1]
        low = {fold(word) for word in words}
        if fold(noun) in NO_NOUN or not low.isdisjoint(DATES) or noun[0].isdigit() or root_of(fold(noun)) in _TIMES:
            continue
        rest = text[found.start("what") :].split(noun, 1)[-1]
        by = fold(found["by"])
        yield Phrase(noun, by, by in _PLACED, named), not rest.strip(" ?.!")
