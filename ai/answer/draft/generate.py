"""Prompt to draft: one call of the chat model, recorded as a value, and its output read as sentences with citations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ai.answer.claims.check import Sources
from ai.answer.draft.citations import draft_sentences
from ai.answer.draft.paraphrases import Judge, paraphrased
from ai.answer.draft.written import read_written, schema_for
from ai.errors import ModelTimeout
from ai.gate import find_leaks, find_sensitive
from ai.model import (
    CLAIMS_VERSION,
    AdmittedItem,
    Completion,
    Draft,
    DraftingMode,
    ModelIdentity,
    Options,
    RenderedPrompt,
    SourceReading,
    TextSpan,
    mode_of,
)
from ai.models.chat_model import ChatModel, ChatRequest, Message, StructuredModel, StructuredRequest
from ai.models.prose import ReadSentences, sentences_read, sentences_read_beside
from retrieval.bundle import count_tokens
from retrieval.model import Intent

_PICKING_TOKENS = 120
"""As many as a list of eight numbers takes, however it is spaced."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call as the ledger keeps it: everything that went in, everything that came out. Times are UTC in
    milliseconds. `mode` is how the model was asked, which is free for one that cannot be held to a schema."""

    prompt: RenderedPrompt
    output: str
    truncated: bool
    model: ModelIdentity
    max_tokens: int
    temperature_milli: int
    seed: int | None
    start_ms: int
    end_ms: int
    mode: DraftingMode = "free"


async def generate(
    prompt: RenderedPrompt,
    *,
    question: str,
    intent: Intent,
    items: Sequence[AdmittedItem],
    options: Options,
    deadline_s: float,
    model: ChatModel,
    canaries: Sequence[str],
    clock_ms: Callable[[], int],
    bounded: bool = False,
    claims_version: int = CLAIMS_VERSION,
    reading: SourceReading | None = None,
    judge: Judge | None = None,
) -> tuple[Draft, ModelCall]:
    """Ask `model` and read its answer. Only items whose text was in the prompt can be cited. A `bounded` output is cut
    at `max_tokens` of the one counter, whatever the model made of them. `reading` is that of a reader beside a
    model that has none; `judge` is asked about what it says in its own words.

    Raises `ModelUnavailable`, `ModelTimeout` (also when the model ignores its deadline), `PromptTooLong`; a cancelled
    call stops the model.
    """
    request = ChatRequest(
        prompt=prompt,
        question=question,
        intent=intent,
        max_tokens=options.max_tokens,
        temperature_milli=options.temperature_milli,
        seed=options.seed,
        deadline_s=deadline_s,
    )
    start_ms = clock_ms()
    mode = mode_asked(model, prompt)
    completion = await _complete(model, request, mode)
    if bounded:
        completion = within(completion, options.max_tokens)
    completion = replace(completion, reading=completion.reading or reading)
    call = ModelCall(
        prompt=prompt,
        output=completion.text,
        truncated=completion.truncated,
        model=completion.model,
        max_tokens=options.max_tokens,
        temperature_milli=options.temperature_milli,
        seed=options.seed,
        start_ms=start_ms,
        end_ms=max(start_ms, clock_ms()),
        mode=mode,
    )
    read = partial(
        read_draft,
        prompt=prompt,
        items=items,
        canaries=canaries,
        intent=intent,
        question=question,
        claims_version=claims_version,
        mode=mode,
    )
    draft = read(completion)
    found = None if judge is None else await judge.judged(draft, prompt.sources)
    return draft if found is None else read(replace(completion, judged=found)), call


def mode_asked(model: ChatModel, prompt: RenderedPrompt) -> DraftingMode:
    """The mode that the prompt asks for; free for a model that cannot be held to a schema."""
    return mode_of(prompt.template) if isinstance(model, StructuredModel) else "free"


def read_draft(
    completion: Completion,
    *,
    prompt: RenderedPrompt,
    items: Sequence[AdmittedItem],
    canaries: Sequence[str],
    intent: Intent,
    question: str,
    claims_version: int = CLAIMS_VERSION,
    mode: DraftingMode = "free",
) -> Draft:
    """The draft of a completion; a function of its arguments, so that replay can read a recorded output again.
    Version 0 checks no claims, as it was before there were any."""
    seen = {source.index for source in prompt.sources}
    shown = [item for item in items if item.index in seen]
    sources = None
    if claims_version:
        read, told = _read(completion, prompt), paraphrased(completion.judged, prompt.sources)
        sources = Sources.of(shown, intent, question, read=read, paraphrased=told)
    find = partial(_findings, canaries=canaries, system=prompt.system)
    asked = question if claims_version else None
    written = read_written(completion, mode, prompt.offers)
    draft = draft_sentences(completion, shown, find=find, sources=sources, asked=asked, parsed=written.sentences)
    return replace(draft, fault=written.fault)


def _read(completion: Completion, prompt: RenderedPrompt) -> ReadSentences:
    """The prompt's sentences as a reader read them: the model's own one, or the one beside it."""
    reading = completion.reading
    own = reading is not None and completion.model.details.get("reader") == reading.reader
    return (sentences_read if own else sentences_read_beside)(reading, prompt.sources)


def within(completion: Completion, max_tokens: int) -> Completion:
    """The completion, cut after so many tokens, at the last end of a line before that where there is one."""
    if count_tokens(completion.text) <= max_tokens:
        return completion
    cut = completion.text.encode("utf-8", "replace")[: 4 * max_tokens].decode("utf-8", "ignore")
    whole, _, _ = cut.rpartition("\n")
    return replace(completion, text=whole or cut, truncated=True)


async def ask_in_mode(model: ChatModel, request: ChatRequest, mode: DraftingMode) -> Completion:
    """One call in that mode. Raises as `ChatModel.complete`."""
    if mode == "free" or not isinstance(model, StructuredModel):
        return await model.complete(request)
    most = min(request.max_tokens, _PICKING_TOKENS) if mode == "select" else request.max_tokens
    return await model.structured(
        StructuredRequest(
            messages=(Message("system", request.prompt.system), Message("user", request.prompt.prompt)),
            schema=schema_for(mode, request.prompt.offers),
            max_tokens=most,
            temperature_milli=request.temperature_milli,
            seed=request.seed,
            deadline_s=request.deadline_s,
        )
    )


async def _complete(model: ChatModel, request: ChatRequest, mode: DraftingMode) -> Completion:
    try:
        async with asyncio.timeout(request.deadline_s):
            return await ask_in_mode(model, request, mode)
    except TimeoutError as exc:
        raise ModelTimeout(f"the chat model gave no answer within {request.deadline_s:g} s") from exc


def _findings(text: str, *, canaries: Sequence[str], system: str) -> tuple[TextSpan, ...]:
    named = {str(number): token for number, token in enumerate(canaries)}
    found = (*find_sensitive(text), *find_leaks(text, canaries=named, system_prompt=system))
    return tuple(TextSpan(f.start, f.end, f.kind) for f in found)
