"""The default chat model: it selects sentences, it does not write. Honest, deterministic, and silent where nothing is
good enough.

1. A question that asks for an operation (a value, a difference, a neighbour ...) is answered by the sources marked
   `direct`, or not at all: a figure of another place or year is no answer.
2. A name that the gazetteer does not hold must stand in some source, or there is no answer.
3. Otherwise sentences compete (`ai.candidates`). A sentence is a candidate when its source concerns the places asked
   for and it stands under the times asked for; when it has what the question word wants (a date, a number, a name);
   and when it covers enough of the question's content words, weighted by how rare they are among the sources.
4. The best one is cited, and up to two more that are nearly as good and say something else.

Scores are integers in thousandths. Nothing is learned; the parameters are set on real questions
(docs/adr/0010-generation.md).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict

from ai.candidates import PARAMETERS, Parameters, candidates, choose, holds_marker, names, tokens_of
from ai.canonical import digest
from ai.catalogue import ABSTAIN, PARTIAL, PHRASES
from ai.chat_model import ChatRequest
from ai.model import Completion, ModelIdentity, PromptSource
from retrieval.bundle import count_tokens
from retrieval.model import Intent
from retrieval.operations import Lookup

VERSION = "3"
"""Raised with every change of behaviour: part of the model's identity."""


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
        """Sentences of the sources, one a line, each with its marker; or the abstention phrase. `max_tokens` cuts whole
        sentences.

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
        tokens = request.prompt.tokens
        return Completion(text, self._identity, tokens, count_tokens(text), truncated=len(kept) < len(lines))

    async def aclose(self) -> None:
        """Nothing to close."""


def select(request: ChatRequest, parameters: Parameters) -> list[str]:
    """The lines of the answer; the abstention phrase alone when there is none."""
    sources, intent = request.prompt.sources, request.intent
    if not _names_known(intent, sources):
        return [PHRASES[ABSTAIN]]
    if intent.operations:
        return _direct(sources, intent, parameters)
    stop_at = time.monotonic() + request.deadline_s
    chosen = choose(candidates(request.question, intent, sources, parameters, stop_at), parameters)
    return [line for each in chosen for line in each.lines] or [PHRASES[ABSTAIN]]


def _names_known(intent: Intent, sources: Sequence[PromptSource]) -> bool:
    if not intent.unknown_names:
        return True
    read = [tokens_of(source) for source in sources]
    return all(any(names(name, tokens) for tokens in read) for name in intent.unknown_names)


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
