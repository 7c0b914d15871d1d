"""A chat model on a server, behind a circuit breaker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from ai.errors import ModelMissing, ModelUnavailable
from ai.model import Completion, ModelIdentity
from ai.models.chat_model import ChatModel, ChatRequest, StructuredModel, StructuredRequest
from retrieval.servers.breaker import Breaker, CircuitOpen


class ServedModel(ChatModel, StructuredModel, Protocol):
    """A model that answers both ways."""


class GuardedModel:
    """The model it is given (which it closes), left alone while its server does not answer: then a call raises
    `ModelUnavailable` at once. A server without the model has answered. A `ChatModel` and `StructuredModel`."""

    def __init__(self, model: ServedModel, *, breaker: Breaker) -> None:
        self._model = model
        self._breaker = breaker

    async def identity(self) -> ModelIdentity:
        """See `ChatModel`."""
        return await self._model.identity()

    async def complete(self, request: ChatRequest) -> Completion:
        """See `ChatModel`."""
        return await self._guarded(partial(self._model.complete, request), request.deadline_s)

    async def structured(self, request: StructuredRequest) -> Completion:
        """See `StructuredModel`."""
        return await self._guarded(partial(self._model.structured, request), request.deadline_s)

    async def aclose(self) -> None:
        """See `ChatModel`."""
        await self._model.aclose()

    async def _guarded(self, call: Callable[[], Awaitable[Completion]], deadline_s: float) -> Completion:
        try:
            with self._breaker.call(deadline_s):
                made = await _made(call)
        except CircuitOpen:
            raise ModelUnavailable("the model is not responding; circuit open") from None
        if isinstance(made, ModelMissing):
            raise made
        return made


async def _made(call: Callable[[], Awaitable[Completion]]) -> Completion | ModelMissing:
    try:
        return await call()
    except ModelMissing as exc:
        return exc
