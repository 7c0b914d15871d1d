"""Sections that are headed by a date or a version, as in logs, diaries and lists of changes: when, or in which, what
their sentences tell came about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ai.intent.times import TimeSpan, read_times
from ai.text.leaning import leans_back
from ai.text.sentences import split_sentences
from retrieval.english.lists import word_list
from retrieval.model import TimeRange

_OF_DOCUMENTS = word_list("""
    agenda bulletin edition issue law letter meeting memo minutes newsletter notice policy report review statement
    summary update week
    """)
"""Words beside a date that is one of the text, not of what it tells."""
_WORD = re.compile(r"[^\W\d_]+")
_VERSION = re.compile(
    r"(?<![\w.])v?\d{1,4}(?:\.\d{1,4}){1,3}(?:-?(?:alpha|beta|rc)\.?\d{0,3})?(?![\w.])", re.IGNORECASE
)
_ASKS_WHEN = re.compile(
    r"\A\W{0,8}when\s(?:did|was|were|had|has|have)\b|\b(?:what|which)\s(?:day|date|month|year)\b", re.I
)
_ASKS_DAY = re.compile(r"\b(?:what|which)\s(?:day|date)\b", re.IGNORECASE)
_ASKS_VERSION = re.compile(r"\b(?:what|which)\s(?:version|release)\b", re.IGNORECASE)
_ASKS_WHAT = re.compile(
    r"\W*what(?:['’]s|\s(?:is|was|has|were))?\s(?:happened|took\splace|occurred|done|said|written|recorded|noted|new|changed)"
    r"\s(?:on|in|for|under|with)\s(?:the\s)?(?:version\s|release\s)?(?P<head>[^?]{3,40}?)[\s?.!]{0,8}",
    re.IGNORECASE,
)
_MOST_BESIDE = 3


@dataclass(frozen=True, slots=True)
class Head:
    """The heading of a section, where it is a date or a version and hardly more. `when`: the words of the date."""

    text: str
    time: TimeRange | None
    version: str
    when: str = ""

    @classmethod
    @lru_cache(maxsize=1024)
    def of(cls, title: str) -> Head | None:
        """That of the section that a title names last; None where it is none of these."""
        text = title.rpartition(" — ")[2].rpartition(" > ")[2].strip()
        spans, version = read_times(text), _VERSION.search(text)
        beside = _words_beside(text, spans)
        names = len(beside) <= _MOST_BESIDE and all(w[0].isupper() or len(w) < _MOST_BESIDE for w in beside)
        if len(spans) > 1 or not names or not _OF_DOCUMENTS.isdisjoint(map(str.casefold, beside)):
            return None
        time = spans[0].time if spans else None
        if time is not None and not _is_of_events(time, headed=" — " in title, named=bool(beside)):
            return None
        when = text[spans[0].start_char : spans[0].end_char] if spans else ""
        return cls(text, time, version[0] if version else "", when) if time or version else None

    def tells(self, question: str) -> bool:
        """True if it is of the kind that the question asks for."""
        if _ASKS_VERSION.search(question):
            return bool(self.version)
        if self.time is None or _ASKS_WHEN.search(question) is None:
            return False
        return _is_day(self.time) or _ASKS_DAY.search(question) is None

    def is_asked(self, question: str) -> bool:
        """True if the question asks what happened then, or is new in that version."""
        asked = _ASKS_WHAT.fullmatch(question)
        if asked is None:
            return False
        said = asked["head"]
        spans = read_times(said)
        whole = len(spans) == 1 and not _words_beside(said, spans)
        return (whole and spans[0].time == self.time) or (bool(self.version) and said == self.version)

    def over(self, sentence: str) -> str:
        """The sentence behind the heading."""
        return f"{self.text}: {sentence}"

    def forms(self, sentence: str) -> tuple[str, ...]:
        """The sentence with the heading before it, and with its date at the end."""
        return (self.over(sentence), *((f"{sentence.rstrip('.')}{self._dated}",) if self.when else ()))

    def without(self, text: str) -> str:
        """The sentence of which a text is one of these forms; another text as it is."""
        told = text.removeprefix(f"{self.text}: ")
        return f"{told.removesuffix(self._dated)}." if self.when and told.endswith(self._dated) else told

    @property
    def _dated(self) -> str:
        return f" {'on' if self.time and _is_day(self.time) else 'in'} {self.when}."


def _words_beside(text: str, spans: Sequence[TimeSpan]) -> list[str]:
    """The words of a text before and behind its first time."""
    return _WORD.findall(text[: spans[0].start_char] + text[spans[0].end_char :] if spans else text)


def _is_day(time: TimeRange) -> bool:
    return time.start == time.end


def _is_of_events(time: TimeRange, *, headed: bool, named: bool) -> bool:
    """True unless it is the date of a text: `Budget 2023` over a section, and of a whole document a book called `1984`
    and `The Courier, 14 January 2019`."""
    return (_is_day(time) or not named) if headed else (_is_day(time) and not named)


def under_head(question: str, title: str, sentence: str) -> str:
    """The sentence behind the heading of its section, where that is what the question asks for and the sentence does
    not say it; else as it stands."""
    head = Head.of(title)
    if head is None or not head.tells(question) or read_times(sentence) or leans_back(sentence):
        return sentence
    said = head.over(sentence)
    return said if len(split_sentences(said)) == 1 else sentence
