"""A sentence as the tokens that a comparison needs: content words with the role that their preposition gives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ai.answer.claims.lexicon import ALIKE, FUNCTION, MARKED, NEGATIONS, POLES, PREPOSITIONS
from ai.answer.claims.numbers import read_numbers
from ai.text.markdown import plain, slice_of
from ai.text.sentences import bare_sentences, split_sentences, stems, trimmed
from ai.text.support import WORD
from retrieval.english.stems import stem

_PIECE = re.compile(r"\d[\d,.]*\d|\d+|[^\W\d_]+(?:['’][^\W\d_]+)*")
_WORDS = re.compile(r"[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)*")
_PAUSE = re.compile(r"[,;:—–()]")
_PRONOUNS = frozenset(
    {"he", "she", "it", "they", "his", "her", "their", "its", "him", "them", "who", "which", "this", "these"}
)


@dataclass(frozen=True, slots=True)
class Token:
    """A content word or number. `key` is what it is compared by; `role` the group of the preposition before it (empty:
    none) and `opener` that preposition; `name`: it reads like a name; `owns`: it has a possessive; `mark` its group of
    quantities, modes, reports and denials."""

    start: int
    end: int
    text: str
    key: str
    role: str
    opener: str
    name: bool
    number: bool
    owns: bool
    mark: str
    after_comma: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence's tokens, and whether it leans on the one before by a pronoun."""

    text: str
    tokens: tuple[Token, ...]
    leans: bool


@lru_cache(maxsize=4096)
def read_tokens(text: str) -> Reading:
    """The tokens of a text; a function of it alone."""
    numbers = {n.start: n for n in read_numbers(text)}
    tokens: list[Token] = []
    role, opener, comma, leans, skip = "", "", False, False, 0
    last = 0
    for match in _PIECE.finditer(text):
        if match.start() - last > 1 or text[last : match.start()] not in (" ", ""):
            comma = comma or _PAUSE.search(text, last, match.start()) is not None
        last = match.end()
        if match.start() < skip:
            continue
        word = match[0]
        number = numbers.get(match.start())
        low, owns = _folded(word)
        if number is not None and (low not in FUNCTION or number.spelt):
            skip = number.end
            key = (
                f"{number.value.normalize():f}"
                + ("%" if number.share else "")
                + ("s" if number.text.endswith("s") else "")
            )
            key += "" if number.bound in ("exact", "about") else f" {number.bound}"
            tokens.append(
                Token(number.start, number.end, number.text, key, role, opener, False, True, False, "", comma)
            )
            role, opener, comma = "", "", False
            continue
        if low in PREPOSITIONS:
            role, opener = PREPOSITIONS[low], low
            if low == "of":
                role = "of"
            continue
        if low in _PRONOUNS:
            leans = True
        if low in FUNCTION and not (word.isupper() and len(word) > 1):
            if low in ("and", "or", "but"):
                comma = True
            continue
        mark = "not" if low in NEGATIONS or low.endswith("n't") else MARKED.get(low, "")
        name = word[:1].isupper() and not mark
        tokens.append(Token(match.start(), match.end(), word, low, role, opener, name, False, owns, mark, comma))
        if not mark and low not in POLES:
            role, opener = (role, opener) if word[:1].isupper() and _next_is_name(text, match.end()) else ("", "")
        comma = False
    return Reading(text, tuple(tokens), leans)


@lru_cache(maxsize=4096)
def keys_of(text: str) -> frozenset[str]:
    """The keys of its tokens."""
    return frozenset(token.key for token in read_tokens(text).tokens)


@lru_cache(maxsize=4096)
def numbers_in(text: str) -> frozenset[str]:
    """The keys of its numbers."""
    return frozenset(token.key for token in read_tokens(text).tokens if token.number)


@lru_cache(maxsize=4096)
def words_in(text: str) -> frozenset[str]:
    """Every word of the text in lower case: at least its keys that are words."""
    return frozenset(_WORDS.findall(text.casefold()))


@lru_cache(maxsize=512)
def sentences_of(text: str, *, finer: bool = True) -> tuple[str, ...]:
    """The sentences of a passage, each on one line; a line that stands alone is one. `finer`: see
    `ai.text.sentences`."""
    spans = (trimmed(text, span) for span in split_sentences(text, lined=True, finer=finer))
    return tuple(found for span in spans if (found := " ".join(slice_of(text, span.start, span.end).split())))


@lru_cache(maxsize=512)
def stemmed(text: str) -> tuple[str, ...]:
    """The items of the lists of a passage that go on with the words before the list, with these words."""
    if ":" not in text:
        return ()
    spans = bare_sentences(text, lined=True)
    pairs = zip(spans, stems(text, spans), strict=True)
    return tuple(plain(f"{stem} {' '.join(text[span.start : span.end].split())}") for span, stem in pairs if stem)


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """The text without what only sets it: case, spacing, bullets, marks of emphasis, the stop at its end."""
    return " ".join(text.split()).strip(" .*_-–•").casefold()


@lru_cache(maxsize=16384)
def same(one: str, other: str) -> bool:
    """True if two keys are forms of one word, or words that may stand for each other."""
    if one == other:
        return True
    if one[:1].isdigit() or other[:1].isdigit():
        return False
    if len(one) > 3 and one[:3] == other[:3] and stem(one) == stem(other):
        return _pole(one) == _pole(other)
    mine, theirs = ALIKE.get(one), ALIKE.get(other)
    return mine is not None and theirs is not None and not mine.isdisjoint(theirs)


def _pole(word: str) -> int:
    return POLES.get(word, ("", 0))[1]


def _folded(word: str) -> tuple[str, bool]:
    if word.isalpha():
        return word.casefold(), False
    low = word.casefold().replace("’", "'")
    if low.endswith("'s"):
        return low[:-2], True
    return low, text_owns(word)


def text_owns(word: str) -> bool:
    """True if the word ends as a plural possessive does."""
    return word.endswith(("s'", "s’"))


def _next_is_name(text: str, at: int) -> bool:
    found = WORD.match(text, at + 1)
    return found is not None and found[0][:1].isupper()
