"""The words that make one phrase with a noun."""

from __future__ import annotations

from collections.abc import Sequence

from ai.answer.claims.tokens import Token

_CONTAINING = frozenset({"of", "in", "at", "on", "from", "near", "by"})
"""Prepositions behind which a phrase belongs to the noun before it: who is `who` of `the miller in Dunmore, who`."""
_LONGEST = 12
"""Words of a phrase."""


def phrase(tokens: Sequence[Token], last: int) -> list[int]:
    """The places of a noun that ends a phrase, of its names, and of what it belongs to or stands beside."""
    found = [last]
    for n in range(last, max(0, last - _LONGEST), -1):
        token = tokens[n]
        joined = token.name and tokens[n - 1].name
        beside = token.after_comma and not token.role
        if not (joined or token.opener in _CONTAINING or beside):
            break
        found.append(n - 1)
    return found
