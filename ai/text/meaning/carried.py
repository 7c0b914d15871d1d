"""Whom the sentences of a passage mean by `he` or `she` and by a part of a name: who is asked about by name is known by
it there, and what another does is not this person's deed.

A passage begins with whom its last heading says it means (`she is Elspeth Quayle`), as ingest found it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ai.text.meaning.antecedents import Antecedent
from ai.text.meaning.deeds.clause import MUTUAL
from ai.text.question_type import first_word
from ai.text.spelling import unaccented
from ai.text.support import WORD, fold
from retrieval.english.lists import word_list
from retrieval.english.pronouns import NOTHING, Meaning, Person, Told, meanings
from retrieval.english.stems import is_many, root_of

_BETWEEN = word_list("had has have was were then later also never first soon once finally again")
_BE = word_list("was were been")
_FORMS = {"she": word_list("she her"), "he": word_list("he his"), "": frozenset[str]()}


@dataclass(frozen=True, slots=True)
class Carried:
    """The persons of a sentence. `opening`: whom the pronoun means that it begins with; `headed`: that is the one who
    is `known` by its last heading."""

    meaning: Meaning = NOTHING
    opening: Person | None = None
    headed: bool = False
    known: Person | None = None

    @property
    def tokens(self) -> frozenset[str]:
        """The folded words of the names of those whom the sentence means."""
        return frozenset(word for person in self.meaning.persons for word in _words(person.name))

    def is_of(self, asked: Antecedent) -> bool:
        """True if the sentence means the one asked about."""
        return bool(asked.name) and any(_may_be(each, asked) for each in self.meaning.persons)

    def is_of_another(self, asked: Antecedent, text: str) -> bool:
        """True if the sentence does not say the name of the one asked about and tells what others did, or its pronoun
        may mean more than one; or if it says that another did the deed."""
        if not asked.name or (len(asked.name) == 1 and is_many(asked.name[0])):  # `Rovers` are no person
            return False
        if asked.deed and asked.deed not in MUTUAL and self._is_done_by_another(asked):
            return True
        if not frozenset(asked.name).isdisjoint(map(unaccented, _words(text))):
            return False
        meaning = self.meaning
        called = [each for each in meaning.persons if is_called(each.words, asked.name)]
        if called and not any(_may_be(each, asked) for each in called):
            return True
        if not any(is_called(name, asked.name) for name in meaning.doers):
            return bool(meaning.doers) or meaning.another or meaning.unclear or self._is_of_another_kind(asked)
        return False

    def _is_of_another_kind(self, asked: Antecedent) -> bool:
        """True if the sentence says `she` and the one asked about is known to be `he`, or the other way."""
        if self.known is None or not is_called(self.known.words, asked.name):
            return False
        return bool(self.meaning.acting) and self.known.pronoun not in self.meaning.acting

    def _is_done_by_another(self, asked: Antecedent) -> bool:
        doers = self.meaning.doers.union(each.words for each in self.meaning.pronouns)
        does = [each for each in doers if _does(self.meaning.spelt, each, asked.deed)]
        return bool(does) and not any(is_called(each, asked.name) for each in does)


UNSAID = Carried()
"""Of nobody."""


def carried_in(said: Sequence[tuple[str, bool]], known: Person | None) -> list[Carried]:
    """Of each sentence, and whether it opens a paragraph, what it means. `known`: whom the passage begins with."""
    told = [Told(text, opens) for text, opens in said]
    found: list[Carried] = []
    for one, meaning in zip(told, meanings(told, known), strict=True):
        opening = next((each for each in meaning.pronouns if first_word(one.text) in _FORMS[each.pronoun]), None)
        found.append(Carried(meaning, opening, opening is not None and opening == known, known))
    return found


def _may_be(person: Person, asked: Antecedent) -> bool:
    """True if the person may be called as it is asked, and has no other pronoun than the title that is asked with."""
    return is_called(person.words, asked.name) and asked.pronoun in ("", person.pronoun)


def is_called(name: Sequence[str], asked: Sequence[str]) -> bool:
    """True if somebody of a full name may be called as it is asked: by the first name, the last, or both."""
    plain = frozenset(map(unaccented, name))
    return frozenset(asked) <= plain or plain <= frozenset(asked)


def _does(text: str, name: Sequence[str], deed: str) -> bool:
    """True if somebody of that name does the deed right behind it, and it is not done to that one: `was taught by`."""
    words = _words(text)
    for at, word in enumerate(words):
        if word not in name:
            continue
        near = words[at + 1 : at + 4]
        verb = next((n for n, each in enumerate(near) if each not in _BETWEEN), len(near))
        if verb < len(near) and root_of(near[verb]) == deed:
            return near[verb].endswith("ing") or _BE.isdisjoint(near[:verb])
    return False


def _words(said: str) -> list[str]:
    return [fold(word) for word in WORD.findall(said)]
