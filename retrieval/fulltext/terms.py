"""From a question to the words that full text looks for. Pure: knows no store and no store's query language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retrieval.english.lists import STOP_WORDS

MAX_TERMS = 64
MAX_PHRASES = 8
PHRASE_BOOST = 2.0
"""How much more a quoted phrase weighs than its words."""

_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{1,200})[\"”»]")


@dataclass(frozen=True, slots=True)
class Terms:
    """Stemmed words, each once and in order, and the quoted phrases as stemmed word sequences."""

    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()


def read_terms(text: str, *, split: Callable[[str], Sequence[str]], stem: Callable[[str], Sequence[str]]) -> Terms:
    """The terms of a question. `split` and `stem` are the index's own analysis without and with its stemmer, word for
    word parallel.

    Everything in `text` is words: operators, field names and wildcards of any query language are split like the rest.
    Stop words count only where nothing else is left. A lone surrogate belongs to no word. At most 64 words and 8
    phrases are kept.
    """
    clean = text.encode("utf-8", "replace").decode()
    plain, stemmed = split(clean), stem(clean)
    content = [s for p, s in zip(plain, stemmed, strict=True) if p not in STOP_WORDS]
    words = tuple(dict.fromkeys(content or stemmed))[:MAX_TERMS]
    phrases = [tuple(stem(quoted)) for quoted in _QUOTED.findall(clean)[:MAX_PHRASES]]
    return Terms(words, tuple(dict.fromkeys(p for p in phrases if len(p) > 1)))
