"""The thing that is counted: of `nine crew on board, 14 people were injured` nobody knows how many crew were."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ai.text.meaning.things.told import NO_NOUN, Told
from ai.text.support import fold
from retrieval.english.alike import and_alike
from retrieval.english.lists import UNWEIGHED_WORDS, word_list
from retrieval.english.stems import is_many, is_past, root_of

_HOW_MANY = re.compile(r"\bhow\smany\s(?P<rest>[\w'’-]+(?:\s[\w'’-]+){0,6})", re.IGNORECASE)
_ENDS = word_list(
    "is are was were be been has have had do does did can could will would may might must shall should of in on at to "
    "from for by with about per a an the there did each it they he she we you i this that these those"
)
_TOKEN = re.compile(r"\d[\d.,]*\d|\d|[^\W\d_][\w'’-]*|[^\w\s]")
_NUMBERS = word_list(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand dozen several"
)
_BETWEEN = word_list(
    "is are was were be been being has have had can could will would may might must shall should also then later only "
    "not never still"
)
_SPANS = word_list("times years months weeks days hours minutes")
_RELATIVE = word_list("that which who")
_WITHIN = 3
"""Words between a number and what it counts."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The things that a question asks the number of: their nouns, and the root of what they did or had done to them."""

    nouns: tuple[str, ...] = ()
    deed: str = ""

    @classmethod
    def of(cls, question: str) -> Counted:
        """Reads the question."""
        found = _HOW_MANY.search(question)
        words = found["rest"].split() if found is not None else []
        end = next((at for at, word in enumerate(words) if at and _ends(word)), len(words))
        end = next((at + 1 for at, word in enumerate(words[:end]) if is_many(fold(word))), end)  # `students attend`
        if end and fold(words[end - 1]) in _SPANS:  # `unused days`: what stands before a span counts nothing
            return cls()
        nouns = tuple(word for word in words[:end] if fold(word) not in NO_NOUN and word.islower())
        return cls(nouns, _deed(words[end:]))

    def agrees(self, told: Told) -> bool:
        """True unless the sentence counts something else: it has the noun nowhere, nor have those before it, though the
        passage has; or the deed is that of others who are counted, beside a number of those asked about."""
        if not self.nouns:
            return True
        counts = any(map(self._counts, (told.text, *told.before[-1:])))
        return not ((counts and told.passes_over(self.nouns[-1])) or self._counts_others(told))

    def _counts(self, text: str) -> bool:
        """True if the text counts something else, which is no unit: `Eleven animals`."""
        tokens = _TOKEN.findall(text)
        return any(
            token.islower() and is_many(token) and fold(token) not in NO_NOUN and _is_counted(tokens, at)
            for at, token in enumerate(tokens)
        )

    def _counts_others(self, told: Told) -> bool:
        """True if others who are counted did it, and the passage counts those asked about apart."""
        tokens = _TOKEN.findall(told.text)
        like = and_alike({root_of(fold(self.nouns[-1]))})
        deeds = [at for at, token in enumerate(tokens) if token.islower() and root_of(fold(token)) == self.deed]
        counted = [noun for at in deeds if (noun := _counted_before(tokens, at))]
        if not counted or len(counted) < len(deeds) or any(root_of(fold(noun)) in like for noun in counted):
            return False
        return any(_counts_one(said, like) for said in (told.text, *told.elsewhere))


def _counts_one(text: str, like: frozenset[str]) -> bool:
    """True if the text has a number of one of the nouns, given by root."""
    tokens = _TOKEN.findall(text)
    return any(root_of(fold(token)) in like and _is_counted(tokens, at) for at, token in enumerate(tokens))


def _deed(behind: Sequence[str]) -> str:
    """The root of what those asked about did or had done to them: `were injured`, `sang`."""
    at = next((n for n, word in enumerate(behind) if fold(word) not in _BETWEEN), len(behind))
    word = fold(behind[at]) if at < len(behind) else ""
    return root_of(word) if word and (at or is_past(word)) and word not in UNWEIGHED_WORDS else ""


def _ends(word: str) -> bool:
    return fold(word) in _ENDS or is_past(fold(word)) or word[0].isupper()


def _counted_before(tokens: Sequence[str], deed: int) -> str:
    """The noun with a number before it that does the deed at that place, or has it done to it; empty without."""
    last = deed - 1
    while last >= 0 and fold(tokens[last]) in _BETWEEN | _RELATIVE:
        last -= 1
    noun = tokens[last] if last >= 0 and tokens[last].islower() else ""
    return noun if noun and fold(noun) not in UNWEIGHED_WORDS and _is_counted(tokens, last) else ""


def _is_counted(tokens: Sequence[str], noun: int) -> bool:
    before = tokens[max(0, noun - _WITHIN) : noun]
    end = next((n for n, each in enumerate(reversed(before)) if not each[0].isalnum()), len(before))
    return any(each[0].isdigit() or fold(each) in _NUMBERS for each in before[len(before) - end :])
