"""Sentences of the sources as candidates for an answer: what each covers of the question, and which are chosen."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ai.errors import ModelTimeout
from ai.model import PromptSource
from ai.question_type import Wanted, offers, wanted_of
from ai.sentences import Span, split_sentences, trimmed, word_list
from ai.support import STOPWORDS, WORD, carries, fold, stem, words_of
from retrieval.model import Intent, TimeRange

_YEAR = re.compile(r"(?<![\d,.])(1[5-9]\d\d|20\d\d)(?![\d,]|\.\d)")
_TOKEN = re.compile(r"[^\W\d_]+")
_FIGURE = re.compile(r"\b(?:population|inhabitants)\b", re.IGNORECASE)
"""A figure is no event: it answers nobody who asks only what happened."""

_ASKING = word_list(
    "happen happened happening tell describe explain give list find show know say said information kind type name "
    "called mean please story first time year years day date place people person number amount lot anything something"
)
_MEANT = 2
_PRONOUNS = word_list("he she they it this that these those his her their its such here there")


@dataclass(frozen=True, slots=True)
class Parameters:
    """Thresholds and weights, in thousandths where not said otherwise."""

    min_coverage: int = 600
    min_source_coverage: int = 600
    near_best: int = 800
    max_sentences: int = 3
    max_words: int = 120
    min_words: int = 4
    alike: int = 700
    year_bonus: int = 250
    entity_bonus: int = 100
    wanted_bonus: int = 150
    pronoun_penalty: int = 100
    long_penalty: int = 100
    long_words: int = 60


PARAMETERS = Parameters()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of a source that may answer, with its score."""

    score: int
    index: int
    start: int
    text: str


def candidates(
    question: str, intent: Intent, sources: Sequence[PromptSource], parameters: Parameters, stop_at: float
) -> list[Candidate]:
    """All candidates, best first, ties by source and place. Raises `ModelTimeout` when `stop_at` (monotonic seconds)
    passes between two sources."""
    reads = [_ReadSource.of(source) for source in sources]
    asked = _Asked.of(question, intent, reads)
    found: list[Candidate] = []
    for read in reads:
        if time.monotonic() > stop_at:
            raise ModelTimeout("the deadline passed before all sources were read")
        if asked.coverage(read.tokens) >= parameters.min_source_coverage:
            found += _of_source(read, asked, parameters)
    return sorted(found, key=lambda c: (-c.score, c.index, c.start))


def choose(found: Sequence[Candidate], parameters: Parameters) -> list[Candidate]:
    """The best candidate, and others that are nearly as good and say something else."""
    chosen: list[Candidate] = []
    for candidate in found:
        if len(chosen) == parameters.max_sentences:
            break
        if chosen and 1000 * candidate.score < parameters.near_best * chosen[0].score:
            break
        stands_alone = len(split_sentences(candidate.text)) == 1
        if stands_alone and not any(_alike(candidate, c) >= parameters.alike for c in chosen):
            chosen.append(candidate)
    return chosen


def question_terms(question: str, intent: Intent) -> frozenset[str]:
    """The folded content words of the question without the words that only ask, and without the names and times that
    are checked apart."""
    named = {fold(w) for mention in intent.mentions for w in WORD.findall(mention.surface)}
    words = {fold(match[0]) for match in WORD.finditer(question) if not match[0][0].isdigit()}
    return frozenset(w for w in words if w not in STOPWORDS and w not in _ASKING and w not in named and len(w) > 1)


def names(surface: str, tokens: frozenset[str]) -> bool:
    """Whether `tokens` carry every content word of a name, in any order and form."""
    words = {fold(word) for word in WORD.findall(surface)} - STOPWORDS
    return bool(words) and all(carries(tokens, word) for word in words)


def tokens_of(source: PromptSource) -> frozenset[str]:
    """The folded words of title, statement and text."""
    return _tokens(" ".join((source.title, source.statement or "", source.text)).casefold())


@dataclass(frozen=True, slots=True)
class _Read:
    """A sentence as read once: its words, its years. `around` are its words, those of the two sentences before it,
    which its pronouns may mean, and the title's."""

    start: int
    text: str
    tokens: frozenset[str]
    around: frozenset[str]
    years: frozenset[int]


@dataclass(frozen=True, slots=True)
class _ReadSource:
    """A source as read once. A row, cell or feature is its statement."""

    source: PromptSource
    tokens: frozenset[str]
    title: frozenset[str]
    sentences: tuple[_Read, ...]

    @classmethod
    def of(cls, source: PromptSource) -> _ReadSource:
        text, title = source.statement or source.text, _tokens(source.title.casefold())
        spans = [Span(0, len(text))] if source.statement else [trimmed(text, span) for span in split_sentences(text)]
        sentences: list[_Read] = []
        for span in spans:
            shown = " ".join(text[span.start : span.end].split())
            tokens = _tokens(shown.casefold())
            around = title.union(tokens, *(before.tokens for before in sentences[-_MEANT:]))
            sentences.append(_Read(span.start, shown, tokens, around, _years(shown)))
        return cls(source, title.union(*(each.tokens for each in sentences)), title, tuple(sentences))


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the question wants. `weights` are BM25's idf of its terms over the sentences given, in thousandths, `forms`
    the words of the sources that are forms of each term."""

    question: str
    intent: Intent
    wanted: Wanted
    weights: Mapping[str, int]
    forms: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, question: str, intent: Intent, reads: Sequence[_ReadSource]) -> _Asked:
        vocabulary = frozenset[str]().union(*(read.tokens for read in reads))
        forms = {term: _forms(term, vocabulary) for term in sorted(question_terms(question, intent))}
        sentences = [sentence.tokens for read in reads for sentence in read.sentences]
        weights = {}
        for term, words in forms.items():
            n = sum(not words.isdisjoint(tokens) for tokens in sentences)
            weights[term] = int(1000 * math.log(1 + (len(sentences) - n + 0.5) / (n + 0.5)))
        return cls(question, intent, wanted_of(question), weights, forms)

    def coverage(self, tokens: frozenset[str]) -> int:
        """The share of the terms, by weight, that occur; 1000 for a question that has none."""
        total = sum(self.weights.values())
        held = sum(weight for term, weight in self.weights.items() if not self.forms[term].isdisjoint(tokens))
        return 1000 * held // total if total else 1000

    def concerns(self, tokens: frozenset[str]) -> bool:
        """Whether the words name every place or thing that the question names, by one of its names."""
        return all(
            names(mention.surface, tokens) or any(names(c.name, tokens) for c in mention.candidates)
            for mention in self.intent.mentions
        )

    def is_timely(self, read: _Read, source: PromptSource) -> bool:
        """Whether the sentence stands under the times asked for: by its own years or, undated, by the nearest year
        before it in its source, else by the title's. What only happened then must say so itself."""
        times = self.intent.times
        if not times or read.years:
            return not times or _within(read.years, times)
        before = _YEAR.findall(source.text, 0, read.start)
        dated = frozenset({int(before[-1])}) if before else _years(source.title)
        return bool(self.weights) and _within(dated, times)


def _of_source(read: _ReadSource, asked: _Asked, parameters: Parameters) -> list[Candidate]:
    scored = ((_score(each, read, asked, parameters), each) for each in read.sentences)
    return [Candidate(score, read.source.index, each.start, each.text) for score, each in scored if score is not None]


def _score(read: _Read, within: _ReadSource, asked: _Asked, parameters: Parameters) -> int | None:
    """The sentence's score, or None where it cannot answer."""
    covered, words = _covered(read, within, asked), read.text.count(" ") + 1
    if covered < parameters.min_coverage or not parameters.min_words <= words <= parameters.max_words:
        return None
    if not (_is_whole(read.text, within.source) and asked.is_timely(read, within.source)):
        return None
    if not (asked.concerns(read.around) and offers(read.text, asked.wanted, asked.question)):
        return None
    named = asked.concerns(read.tokens) and bool(asked.intent.mentions)
    if not asked.weights and (_FIGURE.search(read.text) or not (named or asked.intent.times)):
        return None
    bonus = parameters.wanted_bonus * (asked.wanted is not Wanted.ANY)
    bonus += parameters.year_bonus * bool(asked.intent.times and read.years) + parameters.entity_bonus * named
    penalty = parameters.pronoun_penalty * (read.text.casefold().partition(" ")[0] in _PRONOUNS)
    return covered + bonus - penalty - parameters.long_penalty * (words > parameters.long_words)


def _covered(read: _Read, within: _ReadSource, asked: _Asked) -> int:
    """How much of the question the sentence covers; what its title or heading adds counts half."""
    alone = asked.coverage(read.tokens)
    return (alone + asked.coverage(read.tokens | within.title)) // 2 if alone else 0


def _is_whole(text: str, source: PromptSource) -> bool:
    """It starts like a sentence and ends like one. Rows and cells speak through their statement."""
    if source.statement is not None:
        return True
    starts = text[0].isupper() or text[0].isdigit() or text[0] in "\"'“‘(”"
    return starts and text.rstrip("\"'”’)")[-1:] in {".", "!", "?"}


def _alike(one: Candidate, other: Candidate) -> int:
    a, b = words_of(one.text).content, words_of(other.text).content
    return 1000 * len(a & b) // max(1, min(len(a), len(b)))


def _tokens(folded: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(folded))


def _forms(term: str, vocabulary: frozenset[str]) -> frozenset[str]:
    """The words of the vocabulary that share the term's stem; only what shares three letters is stemmed."""
    head, root = term[:3], stem(term)
    return frozenset(w for w in vocabulary if w == term or (len(term) > 3 and w.startswith(head) and stem(w) == root))


def _years(text: str) -> frozenset[int]:
    return frozenset(int(year) for year in _YEAR.findall(text))


def _within(years: Iterable[int], times: Sequence[TimeRange]) -> bool:
    return any(time_range.start.year <= year <= time_range.end.year for year in years for time_range in times)
