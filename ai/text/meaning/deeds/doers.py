"""The doer of what is asked about: another one in `When did Toyota close the works?` and `Mitsubishi closed the
works`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ai.text.meaning.deeds.clause import clause_of
from ai.text.support import all_roots, fold, weighed_roots
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of

_RUN = re.compile(r"[^\W\d_][\w'’-]*|[^\w\s]|\d[\w.,]*")
_HELPERS = word_list("do does did will would can could shall should may might must")
_BETWEEN = word_list(
    "has have had can could will would may might must shall should do does did also then later first never not soon "
    "once always often only still even again"
)
_NOBODY = word_list(
    "he she it they i we you who which that this these those one some all many most few others another both each what "
    "there to is are was were be been being and or"
)
_NEW = word_list("a an another")
_LIKE = 4
"""Letters that `Britain` and `British` share."""


@dataclass(frozen=True, slots=True)
class Doer:
    """The doer: the roots of the words, each with those of like meaning, and the root of the deed; without words
    where the question asks it of nobody. `named`: it is a name; `said`: the roots of all words of the question."""

    words: tuple[frozenset[str], ...] = ()
    deed: str = ""
    named: bool = False
    said: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str) -> Doer:
        """Reads the question."""
        helper, words, verb = clause_of(question)
        doer = words[:verb]
        deed = fold(words[verb]) if verb else ""
        if fold(helper) not in _HELPERS or not doer or deed in UNWEIGHED_WORDS or not deed.isalpha():
            return cls()
        roots = tuple(and_alike({root}) for root in sorted(weighed_roots(" ".join(doer))))
        return cls(roots, root_of(deed), doer[-1][0].isupper(), all_roots(question))

    def agrees(self, text: str, own: frozenset[str]) -> bool:
        """True unless the sentence, of the roots `own` with those of its title, says nothing of who does it, and each
        time that it is done says that another does: of names another name, of things a new one (`a boy`)."""
        if not self.words or any(not own.isdisjoint(each) for each in self.words):
            return True
        doers = list(_doers(text, self.deed))
        return not doers or not all(self._is_another(doer, before) for doer, before in doers)

    def _is_another(self, doer: str, before: frozenset[str]) -> bool:
        """True unless it may be the one asked about by another name, as `the weavers` may, who were told of before."""
        if not doer or (not doer[0].isupper() if self.named else not doer.islower() or before.isdisjoint(_NEW)):
            return False
        heads = {root[:_LIKE] for each in self.words for root in each}
        return self.said.isdisjoint(all_roots(doer)) and fold(doer)[:_LIKE] not in heads


def _doers(text: str, deed: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The word before each verb that says the deed, empty where that is nobody's name, nor a thing; and the two words
    before it."""
    words = _RUN.findall(text)
    for at, word in enumerate(words):
        if at == 0 or not word.islower() or root_of(fold(word)) != deed:
            continue
        before = at - 1
        while before >= 0 and (fold(words[before]) in _BETWEEN or fold(words[before]).endswith("ly")):
            before -= 1
        doer = words[before] if before >= 0 and not word.endswith("ing") else ""
        low = fold(doer)
        known = doer[:1].isalpha() and low not in _NOBODY and low not in UNWEIGHED_WORDS
        yield doer if known else "", frozenset(map(fold, words[max(0, before - 2) : max(0, before)]))
