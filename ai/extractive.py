"""The default chat model: it selects sentences, it does not write. Honest, deterministic, and silent where nothing is
good enough.

1. A question that asks for an operation (a value, a difference, a neighbour ...) is answered by the sources marked
   `direct`, or not at all: a figure of another place or year is no answer.
2. A name that the gazetteer does not hold must stand in some source, or there is no answer.
3. Otherwise sentences compete. A sentence is a candidate when its source concerns the places asked for and the
   sentence, or its source where the sentence is undated, the years asked for; when it has what the question word wants
   (a date, a number, a name); and when it covers enough of the question's content words, weighted by how rare they are
   among the sources (BM25's idf, over the sentences given).
4. The best one is cited, and up to two more from other places that are nearly as good.

All scores are integers in thousandths. Nothing is learned; `PARAMETERS` are set on real questions
(docs/adr/0010-generation.md).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from ai.canonical import digest
from ai.catalogue import ABSTAIN, PARTIAL, PHRASES
from ai.chat_model import ChatRequest
from ai.context import count_tokens
from ai.errors import ModelTimeout
from ai.model import Completion, ModelIdentity, PromptSource
from ai.question_type import Wanted, offers, wanted_of
from ai.sentences import split_sentences, trimmed, word_list
from ai.support import STOPWORDS, WORD, carries, fold, words_of
from retrieval.model import Intent, TimeRange

VERSION = "1"
_YEAR = re.compile(r"(?<![\d,.])(1[5-9]\d\d|20\d\d)(?![\d,]|\.\d)")
_ASKING = word_list(
    "happen happened happening tell describe explain give list find show know say said information kind type name "
    "called mean please story first time year years day date place people person number amount lot anything something"
)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Thresholds and weights, in thousandths where not said otherwise."""

    min_coverage: int = 600
    min_source_coverage: int = 700
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


@dataclass(frozen=True, slots=True)
class _Read:
    """A sentence as read once: its words, its years."""

    start: int
    text: str
    content: frozenset[str]
    years: frozenset[int]


class ExtractiveModel:
    """A `ChatModel` without weights. Identity: the digest of its version and parameters."""

    def __init__(self, parameters: Parameters = PARAMETERS) -> None:
        self._parameters = parameters
        body = {"code": VERSION, "parameters": asdict(parameters)}
        self._identity = ModelIdentity(name="extractive", digest=digest(body), details={"version": VERSION})

    async def identity(self) -> ModelIdentity:
        """The same for the life of the process; no I/O."""
        return self._identity

    async def complete(self, request: ChatRequest) -> Completion:
        """Sentences of the sources, one a line, each with its marker; or the abstention phrase. `max_tokens` cuts
        whole sentences.

        Raises `ModelTimeout` when the deadline passes between two sources.
        """
        lines = select(request, self._parameters)
        kept, used = list[str](), 0
        for line in lines:
            used += count_tokens(line)
            if kept and used > request.max_tokens:
                break
            kept.append(line)
        text = "\n".join(kept)
        return Completion(
            text, self._identity, request.prompt.tokens, count_tokens(text), truncated=len(kept) < len(lines)
        )

    async def aclose(self) -> None:
        """Nothing to close."""


def select(request: ChatRequest, parameters: Parameters) -> list[str]:
    """The lines of the answer; the abstention phrase alone when there is none."""
    sources, intent = request.prompt.sources, request.intent
    if not _names_known(intent, sources):
        return [PHRASES[ABSTAIN]]
    if intent.operations:
        return _direct(sources, len(intent.operations), parameters)
    stop_at = time.monotonic() + request.deadline_s
    chosen = _choose(_candidates(request.question, intent, sources, parameters, stop_at), parameters)
    return [f"{each.text} [{each.index}]" for each in chosen] or [PHRASES[ABSTAIN]]


def _names_known(intent: Intent, sources: Sequence[PromptSource]) -> bool:
    texts = [_whole(source).casefold() for source in sources]
    return all(any(name.casefold() in text for text in texts) for name in intent.unknown_names)


def _direct(sources: Sequence[PromptSource], operations: int, parameters: Parameters) -> list[str]:
    facts = [s for s in sources if s.direct and s.statement]
    computed = [s for s in facts if s.kind == "computed"]
    chosen = (computed or facts)[: max(operations, parameters.max_sentences)]
    lines = [f"{' '.join((s.statement or '').split())} [{s.index}]" for s in chosen]
    if lines and len(lines) < operations:
        lines.append(PHRASES[PARTIAL])
    return lines or [PHRASES[ABSTAIN]]


def _candidates(
    question: str, intent: Intent, sources: Sequence[PromptSource], parameters: Parameters, stop_at: float
) -> list[Candidate]:
    terms, wanted = question_terms(question, intent), wanted_of(question)
    reads = {source.index: _read(source) for source in sources}
    weights = _weights(terms, [read for each in reads.values() for read in each])
    found: list[Candidate] = []
    for source in sources:
        if time.monotonic() > stop_at:
            raise ModelTimeout("the deadline passed before all sources were read")
        if (
            not _concerns(source, intent)
            or _coverage(weights, words_of(_whole(source)).content) < parameters.min_source_coverage
        ):
            continue
        scorer = _Scorer(question, intent, wanted, weights, source, parameters)
        found += [c for read in reads[source.index] if (c := scorer.candidate(read)) is not None]
    return sorted(found, key=lambda c: (-c.score, c.index, c.start))


def question_terms(question: str, intent: Intent) -> frozenset[str]:
    """The folded content words of the question without the words that only ask, and without the names and times that
    are checked apart."""
    named = {fold(w) for mention in intent.mentions if mention.candidates for w in WORD.findall(mention.surface)}
    words = {fold(match[0]) for match in WORD.finditer(question) if not match[0][0].isdigit()}
    return frozenset(w for w in words if w not in STOPWORDS and w not in _ASKING and w not in named and len(w) > 1)


def _weights(terms: frozenset[str], reads: Sequence[_Read]) -> dict[str, int]:
    """BM25's idf of each term over the sentences given, in thousandths."""
    total = len(reads)
    counts = {term: sum(carries(read.content, term) for read in reads) for term in terms}
    return {term: int(1000 * math.log(1 + (total - n + 0.5) / (n + 0.5))) for term, n in counts.items()}


def _coverage(weights: dict[str, int], content: frozenset[str]) -> int:
    total = sum(weights.values())
    return 1000 if total == 0 else 1000 * sum(w for term, w in weights.items() if carries(content, term)) // total


def _concerns(source: PromptSource, intent: Intent) -> bool:
    """Whether the source speaks of every place or thing that the question names (by one of its names)."""
    text = _whole(source).casefold()
    return all(
        mention.surface.casefold() in text or any(c.name.casefold() in text for c in mention.candidates)
        for mention in intent.mentions
        if mention.candidates
    )


@dataclass(frozen=True, slots=True)
class _Scorer:
    question: str
    intent: Intent
    wanted: Wanted
    weights: dict[str, int]
    source: PromptSource
    parameters: Parameters

    def candidate(self, read: _Read) -> Candidate | None:
        """The sentence as a candidate, or None where it cannot answer."""
        p = self.parameters
        words = len(read.text.split())
        coverage = _coverage(self.weights, read.content)
        if (
            not p.min_words <= words <= p.max_words
            or coverage < p.min_coverage
            or not _is_sentence(read.text, self.source)
        ):
            return None
        if not self._timely(read) or not offers(read.text, self.wanted, self.question):
            return None
        if not self.weights and not self.intent.times and not self.intent.mentions:
            return None
        score = coverage + p.wanted_bonus * (self.wanted is not Wanted.ANY)
        score += p.year_bonus * bool(self.intent.times and read.years) + p.entity_bonus * self._names_entity(read)
        score -= p.pronoun_penalty * (read.text.split()[0].lower() in _PRONOUNS)
        score -= p.long_penalty * (words > p.long_words)
        return Candidate(score, self.source.index, read.start, read.text)

    def _timely(self, read: _Read) -> bool:
        times = self.intent.times
        if not times:
            return True
        if read.years:
            return _within(read.years, times)
        return _within(_years(_whole(self.source)), times)

    def _names_entity(self, read: _Read) -> bool:
        low = read.text.casefold()
        return any(c.name.casefold() in low for c in self.intent.entities)


_PRONOUNS = word_list("he she they it this that these those his her their its such here there")


def _is_sentence(text: str, source: PromptSource) -> bool:
    """Whole: it starts like a sentence and ends like one. Rows and cells speak through their statement."""
    if source.kind != "passage":
        return True
    return text.rstrip("\"'”’)")[-1:] in {".", "!", "?"} and (
        text[0].isupper() or text[0].isdigit() or text[0] in "\"'“‘("
    )


def _choose(candidates: Sequence[Candidate], parameters: Parameters) -> list[Candidate]:
    chosen: list[Candidate] = []
    for candidate in candidates:
        if len(chosen) == parameters.max_sentences:
            break
        if chosen and 1000 * candidate.score < parameters.near_best * chosen[0].score:
            break
        if len(split_sentences(candidate.text)) == 1 and not any(
            _alike(candidate, c) >= parameters.alike for c in chosen
        ):
            chosen.append(candidate)
    return chosen


def _alike(one: Candidate, other: Candidate) -> int:
    a, b = words_of(one.text).content, words_of(other.text).content
    return 1000 * len(a & b) // max(1, min(len(a), len(b)))


def _read(source: PromptSource) -> list[_Read]:
    if source.statement:
        return [_sentence(0, source.statement)]
    spans = [trimmed(source.text, span) for span in split_sentences(source.text)]
    return [_sentence(span.start, source.text[span.start : span.end]) for span in spans]


def _sentence(start: int, raw: str) -> _Read:
    text = " ".join(raw.split())
    return _Read(start, text, words_of(text).content, _years(text))


def _years(text: str) -> frozenset[int]:
    return frozenset(int(year) for year in _YEAR.findall(text))


def _within(years: Iterable[int], times: Sequence[TimeRange]) -> bool:
    return any(time_range.start.year <= year <= time_range.end.year for year in years for time_range in times)


def _whole(source: PromptSource) -> str:
    return "\n".join((source.title, source.statement or "", source.text))
