"""A question in the spelling of the sources: who types `Beausejour` or `Basset` means their `Beauséjour` and
`Bassett`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from ai.text.support import WORD, fold
from retrieval.model import Intent

_OWN_LETTERS = str.maketrans(
    {"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ı": "i", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "þ": "th"}
)
"""Letters that are no others with an accent, as they are typed where a keyboard lacks them."""
_DOUBLE = re.compile(r"([^\W\d_])\1")
_LEAST = 3
"""Letters of a word that may be spelt in another way: with fewer too many words are near each other."""
_LEAST_DOUBLED = 6
"""Letters of a name of which a letter may be doubled."""


def respelt(question: str, intent: Intent, vocabulary: frozenset[str]) -> tuple[str, Intent]:
    """The question, and the names that were read in it, with each word that the sources (`vocabulary`, their folded
    words) do not have written as they write it: where just one of their words differs from it in accents alone or, of
    names, in a letter that is doubled."""
    words = {match[0] for match in WORD.finditer(question)}
    spelt = {word: found for word in words if (found := _of_sources(word, vocabulary))}
    if not spelt:
        return question, intent
    mentions = tuple(replace(each, surface=_written(each.surface, spelt)) for each in intent.mentions)
    return _written(question, spelt), replace(intent, mentions=mentions)


def unaccented(text: str) -> str:
    """The text without accents."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def _of_sources(word: str, vocabulary: frozenset[str]) -> str:
    """How the sources write a word that they do not have as it stands; empty where they do, or write none or several
    like it."""
    own = fold(word)
    if len(own) < _LEAST or own in vocabulary or not own[0].isalpha():
        return ""
    bare = _typed(own)
    near = {each: _typed(each) for each in _near(bare, vocabulary)}
    found = [each for each, typed in near.items() if typed == bare]
    if not found and word[0].isupper() and len(bare) >= _LEAST_DOUBLED:
        single = _DOUBLE.sub(r"\1", bare)
        found = [each for each, typed in near.items() if _DOUBLE.sub(r"\1", typed) == single]
    if len(found) != 1:
        return ""
    [spelt] = found
    possessive = word[-2:] if own != word.casefold().replace("’", "'") else ""
    return (spelt.title() if word[0].isupper() else spelt) + possessive


def _typed(word: str) -> str:
    """A folded word in plain letters."""
    return word if word.isascii() else unaccented(word).translate(_OWN_LETTERS)


def _near(bare: str, vocabulary: frozenset[str]) -> Iterable[str]:
    """The words that may be it: with the same first letter or one with an accent, and about as long."""
    return (
        each for each in vocabulary if (each[0] == bare[0] or not each[0].isascii()) and abs(len(each) - len(bare)) <= 2
    )


def _written(text: str, spelt: dict[str, str]) -> str:
    return WORD.sub(lambda found: spelt.get(found[0], found[0]), text)
