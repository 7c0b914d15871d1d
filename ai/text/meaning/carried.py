"""Whom the sentences of a passage mean by `he` or `she` and by a part of a name: who is asked about by name is known by
it there.

A passage begins with whom its last heading says it means (`she is Elspeth Quayle`), as ingest found it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ai.text.question_type import first_word
from retrieval.english.pronouns import NOTHING, Meaning, Person, Told, meanings

_FORMS = {"she": ("she", "her"), "he": ("he", "his"), "": ()}


@dataclass(frozen=True, slots=True)
class Carried:
    """The persons of a sentence. `opening`: whom the pronoun means that it begins with; `headed`: that is the one whom
    its last heading names."""

    meaning: Meaning = NOTHING
    opening: Person | None = None
    headed: bool = False

    @property
    def tokens(self) -> frozenset[str]:
        """The folded words of the names of those whom the sentence means."""
        return frozenset(word for person in self.meaning.persons for word in person.words)


UNSAID = Carried()
"""Of nobody."""


def carried_in(said: Sequence[tuple[str, bool]], known: Person | None) -> list[Carried]:
    """Of each sentence, and whether it opens a paragraph, what it means. `known`: whom the passage begins with."""
    told = [Told(text, opens) for text, opens in said]
    found: list[Carried] = []
    for one, meaning in zip(told, meanings(told, known), strict=True):
        opening = next((each for each in meaning.pronouns if first_word(one.text) in _FORMS[each.pronoun]), None)
        found.append(Carried(meaning, opening, opening is not None and opening == known))
    return found
