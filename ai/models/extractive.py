"""The default chat model: it selects sentences, it does not write. Honest, deterministic, and silent where nothing is
good enough.

1. A question that asks for an operation (a value, a difference, a neighbour ...) is answered by the sources marked
   `direct`, or not at all: a figure of another place or year is no answer.
2. A name that the gazetteer does not hold must stand in some source, or there is no answer.
3. Otherwise sentences compete (`candidates`). A sentence is a candidate when its source concerns the places asked
   for and it stands under the times asked for; when it has what the question word wants (a date, a number, a name);
   and when it covers enough of the question's content words, weighted by how rare they are among the sources. A word
   that no source holds, and a deed that the sentence does not say, are never outweighed (`demands`).
4. Where a reader is at hand, it drops the candidates when it finds an answer among the sentences unlikely; and where
   there is no candidate, sentences of prose compete by what it makes of them, and there is an answer when it finds one
   likely enough (`prose`). It is not asked about rows, nor where nothing in particular is asked for. Where it cannot be
   run, the candidates decide, and the identity says so.
5. The best one is cited, and up to two more that are nearly as good and say something else.
6. Where nothing is likely enough to answer, the likeliest sentence may follow the abstention: it comes closest, and is
   no answer.
7. Several questions in one are answered one by one; a fixed phrase says so where one of them has no answer.

Scores are integers in thousandths; the parameters of 3 are set on real questions (docs/adr/0010-generation.md), the
reader is trained (docs/adr/0043-the-reader.md).
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from ai.canonical import canonical, digest_of
from ai.errors import ReaderUnavailable
from ai.model import DEFAULT_MODEL, Completion, ModelIdentity, PromptSource, SentenceChance, SourceReading
from ai.models.candidates import PARAMETERS, SET_OUT, Candidate, Parameters, candidates, choose, holds_marker
from ai.models.chat_model import ChatRequest
from ai.models.coded import with_code
from ai.models.prose import closest, prospects, read_prospects
from ai.models.reader.lazy import SentenceReader
from ai.models.reading.parts import asked_apart
from ai.models.reading.source import tokens_of
from ai.models.reading.tokens import names
from ai.models.reading.versions import KEPT_VERSIONS, RELEASED
from ai.models.reading.versions import VERSION as RULES
from ai.text.catalogue import ABSTAIN, PARTIAL, PHRASES
from ai.text.parts import Part
from ai.text.question_type import asks_at_large
from ai.text.spelling import respelt
from retrieval.algebra.operations import Lookup
from retrieval.bundle import count_tokens
from retrieval.model import Intent

VERSION = str(RULES)
"""Raised with every change of behaviour: part of the model's identity."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """The sentences of an answer, the reading behind it, and the one that comes closest where there are none."""

    sentences: Sequence[Candidate] = ()
    reading: SourceReading | None = None
    closest: Candidate | None = None

    @property
    def lines(self) -> list[str]:
        return [line for each in self.sentences for line in each.lines]

    @property
    def closest_lines(self) -> tuple[str, ...]:
        return self.closest.lines if self.closest is not None else ()


class ExtractiveModel:
    """A `ChatModel` that selects. Identity: the digest of `document`, its version, parameters and reader."""

    NAME = DEFAULT_MODEL

    def __init__(
        self, parameters: Parameters = PARAMETERS, reader: SentenceReader | None = None, version: str = VERSION
    ) -> None:
        self._parameters, self._reader, self._version = parameters, reader, version
        self.document = self._described(None if reader is None else reader.digest)

    @classmethod
    def of(cls, document: bytes, reader: SentenceReader | None = None) -> ExtractiveModel | None:
        """The model of that document, with `reader` where it names that one; None for one of another version or
        reader."""
        try:
            told = json.loads(document)
            parameters, named = Parameters(**told["parameters"]), told.get("reader")
        except (ValueError, KeyError, TypeError):
            return None
        if told["code"] not in map(str, KEPT_VERSIONS) or (
            named is not None and (reader is None or named != reader.digest)
        ):
            return None
        return cls(parameters, None if named is None else reader, told["code"])

    @classmethod
    def documents(cls) -> tuple[bytes, ...]:
        """The documents with the default parameters of every version that runs, this one's first."""
        return tuple(cls(version=str(version)).document for version in sorted(KEPT_VERSIONS, reverse=True))

    async def identity(self) -> ModelIdentity:
        """That of the next answer: without the reader from when that was found not to run here. No I/O."""
        return self._identity()

    async def complete(self, request: ChatRequest) -> Completion:
        """Sentences of the sources, one a line, each with its marker; or the abstention phrase. `max_tokens` cuts whole
        sentences.

        Raises `ModelTimeout` when the deadline passes between two sources.
        """
        lines, reading = await self._select(request)
        kept, used = list[str](), 0
        for line in lines:
            used += count_tokens(line)
            if kept and used > request.max_tokens:
                break
            kept.append(line)
        text = "\n".join(kept)
        return Completion(
            text,
            self._identity(),
            request.prompt.tokens,
            count_tokens(text),
            truncated=len(kept) < len(lines),
            reading=reading,
        )

    async def aclose(self) -> None:
        """Nothing to close."""

    async def _select(self, request: ChatRequest) -> tuple[list[str], SourceReading | None]:
        """The lines of the answer, the abstention phrase alone when there is none; and the reading behind it."""
        rules, sources = int(self._version), request.prompt.sources
        read = [tokens_of(source) for source in sources]
        if rules > RELEASED:
            question, intent = respelt(request.question, request.intent, frozenset().union(*read))
            request = replace(request, question=question, intent=intent)
        intent = request.intent
        parts = asked_apart(request.question, intent) if rules > RELEASED else ()
        if parts:
            return await self._select_parts(request, parts, read)
        if not _are_named(intent, read):
            return [PHRASES[ABSTAIN]], None
        if intent.operations:
            return _direct(sources, intent, self._parameters), None
        choice = await self._choose(request, self._parameters)
        return choice.lines or [PHRASES[ABSTAIN], *choice.closest_lines], choice.reading

    async def _select_parts(
        self, request: ChatRequest, parts: Sequence[tuple[Part, Intent]], read: Sequence[frozenset[str]]
    ) -> tuple[list[str], SourceReading | None]:
        """The lines for each of several questions, and a phrase in their place where there are none for one of them."""
        few = replace(self._parameters, max_sentences=self._parameters.max_sentences - 1)
        lines: list[str] = []
        readings: list[SourceReading] = []
        for part, intent in parts:
            asked = replace(request, question=part.question, intent=intent)
            alone = not part.open and _are_named(intent, read)
            choice = await self._choose(asked, few) if alone else _Choice()
            lines += [line for line in choice.lines if line not in lines]
            readings += [choice.reading] if choice.sentences and choice.reading is not None else []
            if not choice.sentences and PHRASES[PARTIAL] not in lines:
                lines.append(PHRASES[PARTIAL])
        return (lines if lines != [PHRASES[PARTIAL]] else [PHRASES[ABSTAIN]]), _merged(readings)

    async def _choose(self, request: ChatRequest, parameters: Parameters) -> _Choice:
        """The sentences of the answer, none where there is none; and the reading behind it."""
        rules, sources = int(self._version), request.prompt.sources
        stop_at = time.monotonic() + request.deadline_s
        found = candidates(request.question, request.intent, sources, parameters, stop_at, version=rules)
        choice = _Choice(found)
        if (
            self._reader is not None
            and not asks_at_large(request.question)
            and not any(c.row or c.score == SET_OUT for c in found[:1])
        ):
            with suppress(ReaderUnavailable):
                choice = await self._read(request, self._reader, found)
        chosen = choose(choice.sentences, parameters)
        return replace(choice, sentences=with_code(chosen, request.question, sources) if rules > RELEASED else chosen)

    async def _read(self, request: ChatRequest, reader: SentenceReader, by_words: list[Candidate]) -> _Choice:
        """The candidates that the reader finds, or leaves of `by_words`, with its reading; `by_words` where it has
        nothing to read."""
        sources = request.prompt.sources
        rules = int(self._version)
        found = prospects(request.question, request.intent, sources, self._parameters, by_words, version=rules)
        if not found:
            return _Choice(by_words)
        sentences, reading = await read_prospects(
            request.question, found, sources, reader, by_words=by_words, version=rules
        )
        return _Choice(sentences, reading, closest(found, reading) if rules > RELEASED else None)

    def _identity(self) -> ModelIdentity:
        reader = None if self._reader is None else self._reader.lack or self._reader.digest
        details = {"version": self._version} | ({} if reader is None else {"reader": reader})
        return ModelIdentity(self.NAME, digest_of(self._described(reader)), details)

    def _described(self, reader: str | None) -> bytes:
        named = {} if reader is None else {"reader": reader}
        return canonical({"code": self._version, "parameters": asdict(self._parameters), **named})


def _are_named(intent: Intent, read: Sequence[frozenset[str]]) -> bool:
    """True unless a name that nothing admitted answers to stands in no source."""
    return all(any(names(name, tokens) for tokens in read) for name in intent.unknown_names)


def _merged(readings: Sequence[SourceReading]) -> SourceReading | None:
    """The readings of several questions as one: the chances of the likeliest answer, and all the sentences."""
    if not readings:
        return None
    best = max(readings, key=lambda reading: reading.answered_milli - reading.least_milli)
    chances: dict[tuple[int, int], SentenceChance] = {}
    for each in (each for reading in readings for each in reading.sentences):
        held = chances.get((each.index, each.start))
        chances[each.index, each.start] = each if held is None or each.milli > held.milli else held
    return replace(best, sentences=tuple(sorted(chances.values(), key=lambda c: (-c.milli, c.index, c.start))))


def _direct(sources: Sequence[PromptSource], intent: Intent, parameters: Parameters) -> list[str]:
    """Computed facts, else observed ones; with fewer facts than operations, the limitation phrase after them."""
    facts = [s for s in sources if s.direct and s.statement and not holds_marker(s.statement)]
    computed = [s for s in facts if s.kind == "computed"]
    chosen = (computed or facts)[: _most(intent, parameters)]
    lines = [f"{' '.join((s.statement or '').split())} [{s.index}]" for s in chosen]
    if lines and len(lines) < len(intent.operations):
        lines.append(PHRASES[PARTIAL])
    return lines or [PHRASES[ABSTAIN]]


def _most(intent: Intent, parameters: Parameters) -> int:
    """As many facts as there are places whose figure of a year is asked for; a list where the map's places are, or
    the figures of a span of years."""
    lookups = [operation for operation in intent.operations if isinstance(operation, Lookup)]
    if intent.times and any(not lookup.place_ids or lookup.year is None for lookup in lookups):
        return parameters.max_rows
    places = sum(len(lookup.place_ids) for lookup in lookups if lookup.year is not None)
    return max(len(intent.operations), parameters.max_sentences, places)
