"""A sentence that has the words of its source and leaves others out: whether it says no more than the source does.

Each check is a function of the two sentences, as `ai.answer.claims.roles` has them; none knows a language but English.
"""

from __future__ import annotations

from collections.abc import Sequence

from ai.answer.claims.omissions.hanging import hanging
from ai.answer.claims.omissions.reality import reality
from ai.answer.claims.omissions.scope import limits, strengthened
from ai.answer.claims.omissions.shortened import Shortened
from ai.answer.claims.omissions.subjects import subjects
from ai.answer.claims.roles import Found, Placed
from ai.answer.claims.tokens import Token


def omitted(mine: Sequence[Token], theirs: Sequence[Token], placed: Placed, text: str, source: str) -> Found:
    """The verdict for what is left out, with the reason; None where it may be."""
    if text == source:
        return None
    both = Shortened.of(mine, theirs, placed, text, source)
    for check in (subjects, hanging, strengthened, limits, reality):
        found = check(both)
        if found is not None:
            return found
    return None
