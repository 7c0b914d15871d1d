"""The common part of the clients of model servers: how long an identity may take, the seed of a call, the whole of a
stream, and errors of the layers below as ours."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

from ai.errors import ModelTimeout, ModelUnavailable
from ai.model import Completion, ModelIdentity
from ai.models.chat_model import ChatRequest, StructuredRequest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Iterator

_IDENTITY_S = 10.0


class UnreadableReply(ModelUnavailable):
    """Raised for a reply of the server that does not follow its interface."""


async def identity_in_time(model: str, identified: Awaitable[ModelIdentity]) -> ModelIdentity:
    """The identity that a server tells. Raises `ModelTimeout` where that takes longer than ten seconds."""
    try:
        async with asyncio.timeout(_IDENTITY_S):
            return await identified
    except TimeoutError as exc:
        raise ModelTimeout(f"{model}: the server gave no answer within {_IDENTITY_S:g} s") from exc


def seed_of(request: ChatRequest | StructuredRequest) -> int | None:
    """The seed of the call: that of the request, else 0 where nothing is left to chance; None where it is."""
    return 0 if request.seed is None and request.temperature_milli == 0 else request.seed


async def last_of(stream: AsyncGenerator[str | Completion]) -> Completion:
    """The completion with which a stream ends."""
    async with aclosing(stream) as parts:
        async for part in parts:
            if isinstance(part, Completion):
                return part
    raise AssertionError("a stream that does not raise ends with its completion")


@contextmanager
def errors_mapped(model: str) -> Iterator[None]:
    """Errors of the connection and of reading its replies as ours. A connection that is refused arrives as the built-in
    ConnectionError or as httpx's."""
    import httpx  # noqa: PLC0415

    try:
        yield
    except httpx.TimeoutException as exc:
        raise ModelTimeout(f"{model}: no connection or answer in time") from exc
    except TimeoutError:
        raise  # the deadline, which is told apart
    except (OSError, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as exc:
        raise ModelUnavailable(f"{model}: the server cannot be reached") from exc
    except (LookupError, ValueError, TypeError, AttributeError) as exc:
        raise UnreadableReply(f"{model}: the server's answer cannot be read") from exc
