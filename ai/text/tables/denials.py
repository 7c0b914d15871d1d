"""Rows for who asks which are so and which are not: a row tells that by a cell of yes or no, or in words that deny; all
others would be told of what they do not say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ai.text.tables.words import Cells, Word, words_of
from retrieval.english.lists import STOP_WORDS, word_list

_SO = word_list("yes true y")
_NOT_SO = word_list("no false n")
_DENIALS = word_list("not never no non none neither nor nobody nothing without cannot")
_CONTRARY = word_list("closed")
_SELECTS = re.compile(
    r"\b(?:which|who|whom|what|where|when|how many|list|name|show)\b(?!\s(?:of|for)\sthe\sreasons?\b)", re.IGNORECASE
)
_WHETHER = re.compile(r"\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|may|must)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Denials:
    """The columns of yes and no of which a question says that they hold or do not, and whether it denies something
    else. `either`: one of them is enough."""

    held: Mapping[str, bool]
    either: bool = False
    denied: frozenset[str] | None = None
    """The roots of the words behind a denial that is of no such column; None where there is none."""

    @classmethod
    def of(cls, question: str, table: Sequence[Cells]) -> Denials:
        """The conditions of a question that selects rows; none of any other."""
        if _SELECTS.search(question) is None or _WHETHER.match(question):
            return cls({})
        said = words_of(question)
        columns = _said_columns(said, table)
        held: dict[str, bool] = {}
        denial = False
        denied: frozenset[str] | None = None
        for at, word in enumerate(said):
            if _denies(said, at):
                denial, denied = True, frozenset(each.root for each in said[at + 1 :])
            elif word.root in columns:
                held.update(dict.fromkeys(columns[word.root], not denial))
                denied = None if denial else denied
                denial = denial and at + 1 < len(said) and said[at + 1].text == "or"
        return cls(held, "or" in {word.text for word in said} and all(held.values()), denied)

    def leave_out(self, row: Cells) -> bool:
        """True if a cell of the row says otherwise, or none says what is denied."""
        told = [(row[header].casefold() in _SO) is holds for header, holds in self.held.items() if header in row]
        if told and not (any(told) if self.either else all(told)):
            return True
        return self.denied is not None and not any(
            _says_not(text, self.denied) for pair in row.items() for text in pair
        )


def _denies(said: Sequence[Word], at: int) -> bool:
    text = said[at].text
    if text == "no" and at + 1 < len(said) and said[at + 1].text[:1].isdigit():
        return False
    return text in _DENIALS or text.endswith(("n't", "n’t"))


def _says_not(text: str, denied: frozenset[str]) -> bool:
    """True for words of a row that deny, or say the contrary of what is denied: `not on Sundays`, `unsold`."""
    said = words_of(text)
    contrary = any(word.text in _CONTRARY or word.root.removeprefix("un") in denied - {word.root} for word in said)
    return contrary or (len(said) > 1 and any(_denies(said, at) for at in range(len(said))))


def _said_columns(said: Sequence[Word], table: Sequence[Cells]) -> Mapping[str, list[str]]:
    """The columns of yes and no by the roots in the question that say them: of columns that share a word, those of
    which it says most."""
    asked = frozenset(word.root for word in said)
    held = {header: _content(header) for header in table[0] if all(_tells(row.get(header, "")) for row in table)}
    held = {header: words for header, words in held.items() if not _says_not(header, frozenset())}
    meant = {header: words & asked for header, words in held.items()}
    found: dict[str, list[str]] = {}
    for header, words in meant.items():
        rivals = [other for other in meant if not words.isdisjoint(meant[other])]
        if words and len(words) == max(len(meant[other]) for other in rivals):
            for root in words:
                found.setdefault(root, []).append(header)
    return found


def _content(header: str) -> frozenset[str]:
    return frozenset(word.root for word in words_of(header) if word.text not in STOP_WORDS)


def _tells(value: str) -> bool:
    return value.strip().casefold() in _SO | _NOT_SO
