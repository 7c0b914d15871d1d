"""Words of a question, compared without a search engine: cheap, pure and the same everywhere."""

from __future__ import annotations

import re

# Words that say how something is asked, not what.
STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be been before being between both but by can could did do does
    doing down during each few for from further had has have having he her here hers him his how i if in into is it its
    itself me more most my no nor not of off on once only or other our ours out over own s same she should so some such
    t than that the their theirs them then there these they this those through to too under until up us very was we
    were what when where which while who whom whose why will with would you your yours""".split()  # noqa: SIM905
)

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "ed", "er", "es", "s", "y", "e")
_SHORTEST_STEM = 4


def words(text: str) -> list[str]:
    """Runs of letters and digits, case-folded."""
    return _WORD.findall(text.casefold())


def content_stems(text: str) -> tuple[str, ...]:
    """The beginnings of the words that carry a question, each once, in order; all words where none does."""
    found = words(text)
    return tuple(dict.fromkeys(stem(w) for w in [w for w in found if w not in STOP_WORDS] or found))


def stem(word: str) -> str:
    """The word without one common English ending, where at least four characters remain. A beginning to match with, no
    linguistics."""
    if not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def occurs(beginning: str, folded: str) -> bool:
    """Whether a word of the case-folded text starts with `beginning`; shorter than four characters, or a number, it
    must be the word."""
    whole = len(beginning) < _SHORTEST_STEM or not beginning.isalpha()
    at = folded.find(beginning)
    while at >= 0:
        end = at + len(beginning)
        if (at == 0 or not folded[at - 1].isalnum()) and not (whole and end < len(folded) and folded[end].isalnum()):
            return True
        at = folded.find(beginning, at + 1)
    return False
