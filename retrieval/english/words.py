"""Words of a question, compared without a search engine: cheap, pure and the same everywhere."""

from __future__ import annotations

import re

from retrieval.english.lists import STOP_WORDS

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "ed", "er", "es", "s", "y", "e")
_SHORTEST_STEM = 4


def words(text: str) -> list[str]:
    """Runs of letters and digits, case-folded."""
    return _WORD.findall(text.casefold())


def content_beginnings(text: str) -> tuple[str, ...]:
    """The beginnings of the words that carry a question, each once, in order; all words where none does."""
    found = words(text)
    return tuple(dict.fromkeys(beginning_of(w) for w in [w for w in found if w not in STOP_WORDS] or found))


def beginning_of(word: str) -> str:
    """The word without one common English ending, where at least four characters remain. A beginning to match with, no
    linguistics."""
    if not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def occurs(beginning: str, folded: str) -> bool:
    """True if a word of the case-folded text starts with `beginning`; shorter than four characters, or a number, it
    must be the word."""
    whole = len(beginning) < _SHORTEST_STEM or not beginning.isalpha()
    at = folded.find(beginning)
    while at >= 0:
        end = at + len(beginning)
        if (at == 0 or not folded[at - 1].isalnum()) and not (whole and end < len(folded) and folded[end].isalnum()):
            return True
        at = folded.find(beginning, at + 1)
    return False
