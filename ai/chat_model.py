"""The ChatModel Protocol: a prompt in, a completion out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ai.model import Completion, ModelIdentity, RenderedPrompt
from retrieval.model import Intent


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call. A language model reads `prompt` alone; `question`, `intent` and `prompt.sources` are the structured
    form of what the prompt says, for models that select instead of write. Nothing in it was not admitted."""

    prompt: RenderedPrompt
    question: str
    intent: Intent
    max_tokens: int
    temperature_milli: int
    seed: int | None
    deadline_s: float


class ChatModel(Protocol):
    """A chat model.

    `complete` returns the whole output for one request, deterministic at temperature 0 with a seed as far as the model
    can be; cancelling it stops the generation. Raises `ModelUnavailable`, `ModelTimeout` (no answer within
    `deadline_s`), `PromptTooLong`. It has no tools, no network and no data but the request. Its output is untrusted
    text.
    """

    async def identity(self) -> ModelIdentity: ...

    async def complete(self, request: ChatRequest) -> Completion: ...

    async def aclose(self) -> None: ...
