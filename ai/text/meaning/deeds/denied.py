"""The deed of a question that a sentence denies: where dogs are admitted is not told by where they are not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ai.text.meaning.deeds.clause import BE, HELPER, clause_of
from ai.text.question_type import denies
from ai.text.support import WORD, all_roots, fold
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_past, root_of

_OPEN = re.compile(
    r"\A\W*(?:(?:in|on|at|from|to|for|by|with|under|during|into)\s)?(?P<word>who|whom|what|which|where|when)\b"
    r"(?!\s(?:happen|if\b))(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_CLAUSES = re.compile(r"[;:]\s|,?\s(?:but|whereas|while|although|though)\s", re.IGNORECASE)
_LABEL = re.compile(r"\bno\.\s?(?=\d)", re.IGNORECASE)
_EXCUSED = re.compile(
    r"\b(?:until|till|before|after|unless|except\w*|only|merely|just|without|other|alone|yet|than|longer|more|save|apart|if)\b",
    re.IGNORECASE,
)
"""Words by which a denial says when, where or of whom it does not hold: `not opened until 1904`."""
_NOT = word_list("not never cannot")
_FILLERS = word_list("be been being have has had ever also always generally normally usually currently therefore to")
_ENDS = word_list("and or but who which that where when")
_ALLOWS = frozenset(map(root_of, ("allow", "permit", "authorise", "authorize")))
_FORBIDS = frozenset(map(root_of, ("forbid", "forbidden", "prohibit", "ban", "banned", "outlaw", "disallow")))
_REACH = 6


@dataclass(frozen=True, slots=True)
class Denied:
    """The roots that may be the verb of an open question which denies nothing, of what it asks which ones, and of all
    its words."""

    deeds: frozenset[str] = frozenset()
    which: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()

    @classmethod
    def of(cls, question: str) -> Denied:
        """Reads the question; no deed where it denies or may be answered by a denial."""
        found = _OPEN.match(question)
        if found is None or denies(question):
            return cls()
        opening = [fold(word) for word in WORD.findall(found["rest"])]
        noun = list(takewhile(lambda word: word not in UNWEIGHED_WORDS, opening)) if _asks_which(found["word"]) else []
        deeds = frozenset(root_of(word) for word in _deeds(question, opening, which=_asks_which(found["word"])))
        return cls(deeds, frozenset(map(root_of, noun)) - deeds, all_roots(question))

    def agrees(self, text: str) -> bool:
        """True unless those of its clauses that say the deed and most of the question deny it."""
        if not self.deeds:
            return True
        clauses = [[fold(word) for word in WORD.findall(clause)] for clause in _CLAUSES.split(_LABEL.sub(" ", text))]
        rooted = [(words, [root_of(word) for word in words]) for words in clauses]
        meant = self.deeds | (_FORBIDS if self.deeds & _ALLOWS else frozenset[str]())
        telling = [(words, own) for words, own in rooted if not meant.isdisjoint(own)]
        if not telling or _EXCUSED.search(text):
            return True
        most = max(len(self.said.intersection(own)) for _, own in telling)
        return not all(self._denies(words, own) for words, own in telling if len(self.said.intersection(own)) == most)

    def _denies(self, words: Sequence[str], own: Sequence[str]) -> bool:
        allows = self.deeds & _ALLOWS
        if allows and allows.isdisjoint(own) and not _FORBIDS.isdisjoint(own):
            return _NOT.isdisjoint(words)
        return any(own[at] in self.deeds for at in self._denied(words, own))

    def _denied(self, words: Sequence[str], own: Sequence[str]) -> Iterator[int]:
        """The places of the words that are denied: behind `not`, and behind `no dogs are`."""
        for at, word in enumerate(words):
            if word in _NOT or word.endswith(("n't", "n’t")):
                behind = next((n for n in range(at + 1, len(words)) if words[n] not in _FILLERS), None)
                if behind is not None:
                    yield behind
            elif word == "no" and at + 1 < len(words) and own[at + 1] not in self.which:
                yield from takewhile(lambda n: words[n] not in _ENDS, range(at + 1, min(len(words), at + _REACH)))


def _asks_which(word: str) -> bool:
    return word.casefold() in ("which", "what")


def _deeds(question: str, opening: Sequence[str], *, which: bool) -> Iterator[str]:
    """The words that may be the verb: what a helping verb helps, in `Which key opens the loft?` the first."""
    helper, words, verb = clause_of(question)
    if helper:
        said = [word for word in map(fold, words) if word not in BE]
        yield from said[:1]
        if verb:
            yield fold(words[verb])
        return
    at = next((n for n, word in enumerate(opening) if re.fullmatch(HELPER, word)), None)
    if at is not None:  # `Which plants are sold?`
        yield from [word for word in opening[at + 1 :] if word not in BE][:1]
        return
    first = opening[0] if opening else ""
    if first and first not in UNWEIGHED_WORDS:
        yield first
    if which:
        yield from (word for word in opening[1:3] if is_past(word) or (word.endswith("s") and not word.endswith("ss")))
