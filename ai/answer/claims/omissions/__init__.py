"""A sentence that has the words of its source and leaves others out: whether it says no more than the source does.

Each check is a function of the two sentences, as `ai.answer.claims.roles` has them; none knows a language but English.
"""

from __future__ import annotations

from ai.answer.claims.matched import Found, Matched
from ai.answer.claims.omissions.hanging import hanging
from ai.answer.claims.omissions.reality import reality
from ai.answer.claims.omissions.scope import limits, strengthened
from ai.answer.claims.omissions.subjects import subjects


def omitted(both: Matched) -> Found:
    """The verdict for what is left out, with the reason; None where it may be."""
    if both.text == both.source:
        return None
    for check in (subjects, hanging, strengthened, limits, reality):
        found = check(both)
        if found is not None:
            return found
    return None
