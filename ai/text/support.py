"""How far the words of a sentence stand in the evidence that it cites. Integers, rules, no model.

`support_milli` (0..1000) is the share of the sentence's content words, by weight, that the cited quotes (or their
statements) carry. Three things collapse it to at most `COLLAPSED_MILLI`, however many words agree, because they are
what a wrong answer gets wrong:

- a number or date of the sentence that no cited item states;
- a name of the sentence (a capitalised word inside it) that no cited item states;
- a negation that no quote carries.

A citation whose own evidence shares next to nothing with the sentence is a false citation: the sentence then gets that
item's share. It measures words, not entailment: a paraphrase scores low, a reordering of the same words scores high.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from retrieval.english.lists import MONTHS, UNWEIGHED_WORDS, word_list
from retrieval.english.stems import root_of, stem

COLLAPSED_MILLI = 100
_FALSE_CITATION_MILLI = 150

WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
_NEGATIONS = word_list("no not never none neither nor without cannot")
_MONTHS = frozenset(month[:3] for month in MONTHS)


@dataclass(frozen=True, slots=True)
class WordSets:
    """A text as sets: content words (folded), their stems lazily, numbers in one form, names, whether it negates."""

    content: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    negates: bool


@lru_cache(maxsize=2048)
def words_of(text: str) -> WordSets:
    """Read a text once; the result depends on nothing else."""
    content, numbers, names = set[str](), set[str](), set[str]()
    negates, fresh = False, True
    for match in WORD.finditer(text):
        word = match[0]
        if word[0].isdigit():
            numbers.add(number_form(word))
        else:
            low = fold(word)
            negates = negates or low in _NEGATIONS
            if low not in UNWEIGHED_WORDS:
                content.add(low)
                if word[0].isupper() and not fresh and low[:3] not in _MONTHS:
                    names.add(low)
        fresh = text[match.end() : match.end() + 1] in {".", "!", "?", ":"}
    return WordSets(frozenset(content), frozenset(numbers), frozenset(names), negates)


@lru_cache(maxsize=4096)
def roots_of(text: str) -> frozenset[str]:
    """The roots of the content words of a text: `wrote` and `written` are one."""
    return frozenset(root_of(word) for word in words_of(text).content)


@lru_cache(maxsize=4096)
def folded_words(text: str) -> frozenset[str]:
    """All words of a text, folded."""
    return frozenset(map(fold, WORD.findall(text)))


@lru_cache(maxsize=4096)
def all_roots(text: str) -> frozenset[str]:
    """The roots of all words of a text."""
    return frozenset(root_of(fold(word)) for word in WORD.findall(text))


def weighed_roots(text: str) -> frozenset[str]:
    """The roots of all words of a text but the small ones, single letters and numbers too."""
    return frozenset(root_of(fold(word)) for word in WORD.findall(text) if fold(word) not in UNWEIGHED_WORDS)


@lru_cache(maxsize=16384)
def fold(word: str) -> str:
    """Lower case, without a possessive."""
    low = word.casefold().replace("’", "'")
    return low[:-2] if low.endswith("'s") else low


def number_form(word: str) -> str:
    """`85,200` and `85200.0` are one number, `07` and `7` too."""
    plain = word.replace(",", "")
    if "." in plain and plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    return plain.lstrip("0") or "0"


def carries(evidence: frozenset[str], word: str) -> bool:
    """True if a set of folded words has `word` or another form of it, which begins with the same three letters."""
    return word in evidence or (len(word) > 3 and _form(word) in _forms(evidence))


def held_of(evidence: frozenset[str], words: frozenset[str]) -> frozenset[str]:
    """Those of the words that a set of folded words carries."""
    left = words - evidence
    if not left:
        return words
    forms = _forms(evidence)
    return words - {word for word in left if len(word) <= 3 or _form(word) not in forms}


@lru_cache(maxsize=16384)
def _form(word: str) -> tuple[str, str]:
    """Its first three letters and its stem."""
    return word[:3], stem(word)


@lru_cache(maxsize=1024)
def _forms(words: frozenset[str]) -> frozenset[tuple[str, str]]:
    return frozenset(map(_form, words))


def support_milli(sentence: str, quotes: Sequence[str], evidence: Sequence[str]) -> int:
    """Support of `sentence` by its cited items: `quotes[i]` is the quote (with the statement) of an item,
    `evidence[i]` all its admitted text, title and statement. 0 without a quote or without a content word."""
    words = words_of(sentence)
    if not quotes or not (words.content or words.numbers):
        return 0
    shares = [_share(words, (quote,)) for quote in quotes]
    lowest = min(shares)
    share = _share(words, quotes) if lowest >= _FALSE_CITATION_MILLI else lowest
    return share if _holds(words, quotes, evidence) else min(share, COLLAPSED_MILLI)


def _share(words: WordSets, texts: Iterable[str]) -> int:
    read = [words_of(text) for text in texts]
    content = frozenset().union(*(r.content for r in read))
    numbers = frozenset().union(*(r.numbers for r in read))
    total = len(words.content) + 2 * len(words.numbers)
    found = len(held_of(content, words.content)) + 2 * len(words.numbers & numbers)
    return 1000 * found // total


def _holds(words: WordSets, quotes: Sequence[str], evidence: Sequence[str]) -> bool:
    read = [words_of(text) for text in evidence]
    numbers = frozenset().union(*(r.numbers for r in read))
    content = frozenset().union(*(r.content for r in read))
    if not words.numbers <= numbers or held_of(content, words.names) != words.names:
        return False
    return not words.negates or any(words_of(quote).negates for quote in quotes)
