"""Rows for who asks which is the first, the cheapest or the most: a row tells that only where it says so."""

from __future__ import annotations

import re

from ai.text.meaning.modifiers import superlatives_in
from ai.text.tables.words import Cells, roots
from retrieval.english.stems import root_of

_RANK = re.compile(
    r"(?<!\bat\s)\b(?:(?P<order>first|last)(?!\s(?:names?|year|month|week|night|time)\b)|(?P<most>most|least|fewest)(?!\sof\b))\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:who|whom|whose|which|what|where|when|how)\b", re.IGNORECASE)


def ranks_nothing(question: str, row: Cells) -> bool:
    """True if the question asks for what is first, last or most of its kind, and neither a cell nor a header of the row
    says such a word."""
    if _ASKS.search(question) is None:
        return False
    asked = {root_of(found[0].casefold()) for found in _RANK.finditer(question)}
    asked |= {word.split()[-1] for _, word in superlatives_in(question, asks=True)}
    said = frozenset(root for header, value in row.items() for root in (*roots(header), *roots(value)))
    return bool(asked) and said.isdisjoint(asked)
