"""The question as these rules read it: its subject and what it asks of that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ai.text.meaning.deeds.clause import HELPER, clause_of, deed_of, phrase_of
from ai.text.question_type import WantedKind, wanted_of
from ai.text.support import WORD, fold, weighed_roots
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_YES_OR_NO = re.compile(rf"\A\W*+(?:{HELPER})(?:n['’]t)?\b", re.IGNORECASE)
_WHO_DID = re.compile(
    rf"\A\W*+who\s(?!{HELPER}\b)(?P<deed>[a-z]{{3,40}})\s(?:the|an?|his|her|its|their|our)\s(?P<rest>[^?.,;:]{{2,80}})",
    re.IGNORECASE,
)
_PAST = word_list("did was were has have had")
_LITTLE = frozenset(
    map(root_of, word_list("go come get use take make give hold keep happen way kind year day time many much"))
)
"""Roots that say hardly anything of what is asked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: the roots of its `subject` and of its `head` noun, where known, those of the `rest`, its `deed` and
    the `verb` that says it, and the `pairs` of neighbouring words that may name one of a kind (`vacuum jug`), by the
    folded first and the root of the second. `is_yes_or_no`: it asks whether; `is_past`: of what has happened."""

    question: str
    subject: frozenset[str]
    head: str
    deed: str
    verb: str
    rest: frozenset[str]
    pairs: tuple[tuple[str, str], ...]
    wanted: WantedKind
    is_yes_or_no: bool
    is_past: bool

    @property
    def says_deed(self) -> bool:
        """True if its verb is known and says something."""
        return bool(self.verb) and self.verb not in UNWEIGHED_WORDS and self.deed not in _LITTLE

    @property
    def roots(self) -> frozenset[str]:
        """The roots of all words that say something."""
        return self.subject | self.rest

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, question: str) -> Asked:
        """Reads the question."""
        helper, said, verb = _clause(question)
        subject = frozenset(root_of(word) for word in said if word not in UNWEIGHED_WORDS)
        every = weighed_roots(question)
        return cls(
            question,
            subject,
            root_of(said[-1]) if said and said[-1] not in UNWEIGHED_WORDS else "",
            deed_of(question),
            verb,
            every - subject - _LITTLE,
            tuple(_pairs(question)),
            wanted_of(question),
            _YES_OR_NO.match(question) is not None,
            helper in _PAST or not helper,
        )


def _clause(question: str) -> tuple[str, list[str], str]:
    """The helping verb, the words of the subject and the verb, folded. Of `Who returned the lathe?` that is the lathe,
    which was returned."""
    helper, words, verb = clause_of(question)
    done = None if helper else _WHO_DID.match(question)
    if done is not None:
        return "", [fold(word) for word in phrase_of(["", *done["rest"].split()])], fold(done["deed"])
    said = [fold(word) for word in words]
    return fold(helper), said[:verb], said[verb] if verb else ""


def _pairs(text: str) -> list[tuple[str, str]]:
    """The neighbouring words in small letters that both say something."""
    found: list[tuple[str, str]] = []
    before, end = "", -1
    for word in WORD.finditer(text):
        low = fold(word[0])
        telling = low not in UNWEIGHED_WORDS and low.isalpha()
        if telling and before and text[end : word.start()] in {" ", "-"} and word[0].islower():
            found.append((before, root_of(low)))
        before, end = (low if telling else ""), word.end()
    return found
