"""Texts that may answer a question of figures, places or rows that could not be read in full: texts that hold every
word that was not understood. A row states what it states whatever that word said, so no row does."""

from __future__ import annotations

from collections.abc import Sequence

from ai.case.case import Case
from ai.intent.unread import ALL
from ai.model import AdmittedItem
from retrieval.english.stems import stem
from retrieval.english.words import words
from retrieval.model import Intent, Limitation

NOT_UNDERSTOOD = "WORDS_NOT_UNDERSTOOD"


def answering(items: Sequence[AdmittedItem], intent: Intent) -> tuple[AdmittedItem, ...]:
    """The items that may answer; all of them where the question was read, or is one of texts."""
    if not intent.unread:
        return tuple(items)
    if ALL in intent.unread:
        return ()
    missing = {stem(word) for said in intent.unread for word in words(said)}
    return tuple(item for item in items if item.statement is None and missing <= _stems(item))


def _stems(item: AdmittedItem) -> set[str]:
    heading = item.evidence.first.record.heading or ""
    return {stem(word) for text in (item.text, item.evidence.first.source.title, heading) for word in words(text)}


def not_understood(case: Case) -> tuple[Limitation, ...]:
    """Which words were not understood, and what would be answered without them."""
    unread = case.intent.unread
    if not unread:
        return ()
    named = [f"“{word}”" for word in unread if word != ALL]
    said = " and ".join(named) or "The question as a whole"
    verb = "were" if len(named) > 1 else "was"
    told = f"{said} {verb} not understood, and no figure or row is given without that."
    return (Limitation(NOT_UNDERSTOOD, f"{told} {case.intent.nearest}".strip()),)
