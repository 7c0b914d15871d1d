"""Reasons that a sentence gives for what a question asks why."""

from __future__ import annotations

import re
from collections.abc import Collection

from ai.models.reading.tokens import tokens_in
from ai.text.leaning import means_another

_BECAUSE = re.compile(r"\b(because(?:\s+of)?|due\s+to|owing\s+to|thanks\s+to|since|out\s+of)\b", re.IGNORECASE)
_FORBIDS = re.compile(r"\W*(?:never|do not|don['’]t|no)\b", re.IGNORECASE)


def forbids(text: str) -> bool:
    """True if the text forbids something: it gives no reason for that."""
    return _FORBIDS.match(text) is not None


def explains(text: str, terms: Collection[frozenset[str]]) -> bool:
    """True unless a word of the question, of which `terms` are the forms, is said in the reason alone: `It was late
    because the lorry broke down` tells not why the lorry was late. A pronoun may mean it."""
    before, because, after = _BECAUSE.split(text, maxsplit=1) if _BECAUSE.search(text) else (text, "", "")
    if not because or means_another(text):
        return True
    if not before.strip():
        after, comma, before = after.partition(",")
        if not comma:
            return True
    told, reason = tokens_in(before.casefold()), tokens_in(after.casefold())
    return not any(not found.isdisjoint(reason) and found.isdisjoint(told) for found in terms)
