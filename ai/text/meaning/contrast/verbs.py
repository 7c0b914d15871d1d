"""Verbs of a text: which words are verbs there, and the particles that turn them (`switch the lamp on`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ai.text.meaning.deeds.clause import ARTICLES, BE
from ai.text.support import WORD, fold
from retrieval.english.fates import PHRASES
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, may_be_many, root_of

_BREAK = re.compile(r"[.,;:!?()]\s|\n")
_DETERMINERS = ARTICLES | word_list("my your this that these those each every any no")
_OBJECTS = _DETERMINERS | word_list("it them him us me everything")
_BEFORE_VERB = word_list(
    "to can could may might must shall should will would not never cannot please i you we they who then"
)
_UNCHANGED = word_list("put set shut")
"""Verbs whose past is no other form."""
_TO = word_list("to from")
_ENDS = word_list("and or but when while if who which that where because")
_NO_NOUN = UNWEIGHED_WORDS - _DETERMINERS | {"every", "each"}
"""Words that may follow a particle and are of no noun that it goes with."""
_PARTICLES: Mapping[str, frozenset[str]] = {
    verb: frozenset(phrase.partition("+")[2] for phrase in PHRASES if phrase.startswith(f"{verb}+"))
    for verb in {phrase.partition("+")[0] for phrase in PHRASES}
}
_REACH = 9
"""Words behind a verb among which its particle is."""


def is_verb(words: Sequence[str], at: int) -> bool:
    """True for a folded word that is a noun too, where it is a verb: in the past, behind `to`, or before its object."""
    if is_past(words[at]):
        return True
    before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
    if not at and len(words) > 2 and not words[0].endswith("s") and after not in UNWEIGHED_WORDS:
        return words[2] not in BE  # `Wrap glasses in paper`, and no `Heat pumps are old`
    return before in _BEFORE_VERB or (before not in _DETERMINERS and after in _OBJECTS)


def phrases_in(text: str) -> Iterator[str]:
    """The verbs with a particle that have a contrary, as `root+particle`."""
    for clause in _BREAK.split(text):
        said = WORD.findall(clause)
        words = [fold(word) for word in said]
        for at, word in enumerate(words):
            root = root_of(word)
            if root in _PARTICLES and _may_be_turned(said, words, at):
                yield from (f"{root}+{each}" for each in _behind(words, at, _PARTICLES[root]))


def _may_be_turned(said: Sequence[str], words: Sequence[str], at: int) -> bool:
    """True unless the word is a noun: `the light switch on the wall`."""
    if not at or is_past(words[at]) or words[at] in _UNCHANGED or words[at].endswith(("ing", "s")):
        return not at or words[at - 1] not in _DETERMINERS
    before = words[at - 1]
    if before in _DETERMINERS:
        return False
    return before in UNWEIGHED_WORDS or before == "please" or may_be_many(before) or said[at - 1][0].isupper()


def _behind(words: Sequence[str], at: int, particles: frozenset[str]) -> Iterator[str]:
    """The particle right behind the verb or its object, or `to` whom: an object ends with what no noun follows."""
    parted = True
    for n in range(at + 1, min(len(words), at + 1 + _REACH)):
        word = words[n]
        if word in _ENDS:
            return
        ends = n == at + 1 or words[n + 1 :] == [] or words[n + 1] in _NO_NOUN
        second = (word in ARTICLES or word.isdigit()) and words[n - 1] not in {*UNWEIGHED_WORDS, words[at]}
        if word in particles and (word in _TO or (parted and ends)):
            yield word
        elif parted and second and "to" in particles:  # `lent the guild 900 pounds`
            yield "to"
        parted = parted and (word not in UNWEIGHED_WORDS or word in _OBJECTS or word == "of")
