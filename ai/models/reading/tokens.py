"""The words, numbers and labels of a text, and the names that they carry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ai.text.support import WORD, carries, fold
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import IRREGULAR, root_of

_TOKEN = re.compile(r"[^\W\d_]+")
_AFTER_NUMBERS = word_list(
    "st nd rd th s am pm a p m g h l d k w v c f km cm mm nm kg mg ml cl dl ft in mi mph kmh kph kw kwh mw gb mb tb hz "
    "khz mhz ghz lb oz ha yr min sec hr bn bc ad ce bce x"
)
_WHOLE = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")


def tokens_in(folded: str) -> frozenset[str]:
    """The words of a folded text."""
    return frozenset(_TOKEN.findall(folded))


def numbers_in(text: str) -> frozenset[str]:
    """Numbers, and words with digits in them, as they stand among the words of a sentence, where only names ask for
    them: `#66`, `#ipv6`."""
    return frozenset(_number(each) for each in _WHOLE.findall(text) if _has_digit(each))


def labels_in(text: str) -> Iterator[str]:
    """The words that name a thing by letters and digits; `3rd`, `5km`, `1990s` and `7pm` are amounts and times."""
    for word in _WHOLE.findall(text):
        letters = word.lstrip("0123456789").casefold()
        if _has_digit(word) and any(map(str.isalpha, word)) and letters not in _AFTER_NUMBERS:
            yield _number(word)


def names(surface: str, tokens: frozenset[str]) -> bool:
    """True if `tokens` carry every content word of a name, in any order and form."""
    words = {fold(word) for word in WORD.findall(surface)} - UNWEIGHED_WORDS
    return bool(words) and all(carries(tokens, word) for word in words)


def names_by_number(surface: str, tokens: frozenset[str]) -> bool:
    """The same of a name with numbers in it, of which each is the same, as a whole: H1N1 is not H5N1."""
    numbers = numbers_in(surface)
    rest = " ".join(each for each in _WHOLE.findall(surface) if not _has_digit(each))
    return bool(numbers) and numbers <= tokens and (not rest or names(rest, tokens))


def forms_of(term: str, vocabulary: frozenset[str]) -> frozenset[str]:
    """The words of the vocabulary that are forms of the term; only what shares three letters, or is irregular, is
    looked at."""
    if len(term) < 3:
        return frozenset({term}) & vocabulary
    heads, root = (term[:3], IRREGULAR.get(term, term)[:3]), root_of(term)
    return frozenset(w for w in vocabulary if (w.startswith(heads) or w in IRREGULAR) and root_of(w) == root)


def _number(word: str) -> str:
    return f"#{word.casefold().removesuffix('s')}"


def _has_digit(word: str) -> bool:
    return any(map(str.isdecimal, word))
