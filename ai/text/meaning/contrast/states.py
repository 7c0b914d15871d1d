"""Fates of people and things: a question for the killed is not answered by how many were injured, nor one for
when a plan was adopted by when it was proposed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ai.text.meaning.contrast.verbs import is_verb, phrases_in
from ai.text.question_type import denies
from ai.text.support import WORD, all_roots, fold
from retrieval.english.alike import and_alike
from retrieval.english.fates import FIELDS, TRADES, State, is_deed_alone, is_doer
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_LAID_DOWN = re.compile(r"\b(?:laid|lay)\sdown\b", re.IGNORECASE)
_FATE = re.compile(r"\b(?:happen\w*|bec[ao]me\sof|fate|follow(?:ed|s)|outcome|result\w*)\b", re.IGNORECASE)
"""`What happened to the arrested men?` is answered by what came next."""
_CLAUSE_FIRST = re.compile(
    r"\A\W*(?:after|before|when|while|if|once|since|until|though|although)\s[^,?]{3,120},\s", re.I
)
_CLAUSE_LAST = re.compile(
    r"(?<=\w)\s(?:after|before|when|while|if|once|since|until|though|although|because|who|whom|whose|that|which|where)\s.*",
    re.IGNORECASE | re.DOTALL,
)
_HELPERS = word_list("do does did can could will would shall should may might must")
_DONE = word_list("did was were has had")
_NOW = word_list("is are be can could may do does should must")
_ARTICLES = word_list("the an a his her its their our my your these those")


@dataclass(frozen=True, slots=True)
class Asked:
    """A field of which a question asks for some states: the roots that go with these, and those that tell another."""

    own: frozenset[str]
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class States:
    """The states that a question asks for, in its main clause."""

    asked: tuple[Asked, ...] = ()

    @classmethod
    def of(cls, question: str) -> States:
        """Reads the question; none where it denies, or asks what came of somebody."""
        if denies(question) or _FATE.search(question):
            return cls()
        main = _CLAUSE_LAST.sub(" ", _CLAUSE_FIRST.sub("", question))
        main_roots, roots = frozenset(_roots(main, asks=True)), frozenset(_roots(question, asks=True))
        every = roots | all_roots(question)
        return cls(tuple(found for field in FIELDS if (found := _asked(field, main_roots, roots, every))))

    def agree(self, text: str) -> bool:
        """True unless the text tells another state of a field, and none that is asked for."""
        if not self.asked:
            return True
        told = frozenset(_roots(text))
        every = told | all_roots(text)
        return not any(each.own.isdisjoint(every) and not each.others.isdisjoint(told) for each in self.asked)


def _asked(field: Sequence[State], main: frozenset[str], roots: frozenset[str], every: frozenset[str]) -> Asked | None:
    states = [state for state in field if not state.asks.isdisjoint(main)]
    if not states:
        return None
    own = and_alike(roots & frozenset().union(*(state.asks for state in states)))
    asks = frozenset[str]().union(*(state.asks for state in states))
    own = own.union(*(state.goes_with for state in states)) - (roots - asks)  # `awarded the prize`: it tells no award
    others = frozenset().union(*(state.tells for state in field if state.asks.isdisjoint(every)))
    return Asked(own, others - own)


def _roots(text: str, *, asks: bool = False) -> Iterator[str]:
    """The roots of the words in small letters that may tell a state: not of one that describes who is spoken of (`the
    injured climbers`), nor of one that is a noun here."""
    yield from phrases_in(text)
    words = WORD.findall(_LAID_DOWN.sub("laiddown", text))
    folded, helped = [fold(word) for word in words], False
    for at, (word, low) in enumerate(zip(words, folded, strict=True)):
        helped = helped or low in _HELPERS
        if word[0].isupper() and at:
            continue
        root, before, after = (
            root_of(low),
            folded[at - 1] if at else "the",
            words[at + 1] if at + 1 < len(words) else "to",
        )
        described = is_past(low) and before in _ARTICLES and after[0].islower() and after not in UNWEIGHED_WORDS
        if described or is_doer(low) or (is_deed_alone(root) and not ((asks and helped) or is_verb(folded, at))):
            continue
        yield root
        if asks and root in TRADES and _DONE.isdisjoint(folded) and not (is_past(low) and _NOW.isdisjoint(folded)):
            yield TRADES[root]  # `Where can I buy a ticket?` is told by where they are sold
