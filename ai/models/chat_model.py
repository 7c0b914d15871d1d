"""The ChatModel and StructuredModel Protocols: a prompt in, a completion out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

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


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class StructuredRequest:
    """One call for a JSON document. `schema` is the JSON schema that the output has to follow; the messages are all
    that the model reads. Nothing in them was not admitted."""

    messages: tuple[Message, ...]
    schema: Mapping[str, object]
    max_tokens: int
    temperature_milli: int
    seed: int | None
    deadline_s: float


class ChatModel(Protocol):
    """A chat model.

    `complete` returns the whole output for one request, deterministic at temperature 0 with a seed as far as the model
    can be; cancelling it stops the generation. Raises `ModelUnavailable`, `ModelTimeout` (no answer within
    `deadline_s`), `PromptTooLong`. It has no tools, no network and no data but the request. Its output is untrusted
    text. A model that can be held to a JSON schema is also a `StructuredModel`.
    """

    async def identity(self) -> ModelIdentity: ...

    async def complete(self, request: ChatRequest) -> Completion: ...

    async def aclose(self) -> None: ...


@runtime_checkable
class StructuredModel(Protocol):
    """A model whose output can be held to a JSON schema.

    `structured` returns text that the server constrained to `request.schema` while it was written. It is untrusted all
    the same: a `truncated` one is no whole document, and a server may ignore what it does not know of the schema, so
    the caller parses it into a value. Determinism, cancellation and errors are those of `ChatModel.complete`.
    """

    async def identity(self) -> ModelIdentity: ...

    async def structured(self, request: StructuredRequest) -> Completion: ...

    async def aclose(self) -> None: ...
