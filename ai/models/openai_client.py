"""A chat model on any server that speaks OpenAI's `/v1/chat/completions`: vLLM, llama.cpp, a gateway, Ollama itself.

Output is streamed, because closing the stream is what stops the work, and held to a JSON schema where one is asked for.
Such a server says neither its version nor what its weights are: the identity pins what can be pinned, the name that it
lists and our own settings. A prompt over the window is refused by most servers; one that cuts it does so in silence.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ai.canonical import digest
from ai.errors import ModelMissing, ModelTimeout, ModelUnavailable, PromptTooLong
from ai.model import Completion, ModelIdentity
from ai.models.chat_model import ChatRequest, Message, StructuredRequest
from ai.models.served import UnreadableReply, errors_mapped, identity_in_time, last_of, seed_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from ssl import SSLContext

    from httpx import AsyncClient

_CONNECT_S = 5.0
_LONGEST_LINE = 1_000_000
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum context|too many tokens|exceeds the .{0,40}context", re.I
)


@dataclass(frozen=True, slots=True)
class _Part:
    """One event of the stream: text, why it ended (empty: it goes on), and the tokens counted so far."""

    text: str
    finish: str
    prompt_tokens: int
    output_tokens: int


class OpenAIChat:
    """A `ChatModel` and `StructuredModel` on one server.

    `base_url` ends before `/chat/completions` (`https://host/v1`); `key` goes into the Authorization header and nowhere
    else; `extra` are further members of the request's body.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str | None = None,
        certificates: SSLContext | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self._url = base_url.rstrip("/")
        self._model = model
        self._key = key
        self._certificates = certificates
        self._extra = dict(extra or {})
        self._client: AsyncClient | None = None

    async def identity(self) -> ModelIdentity:
        """Name, and the digest of what the server tells of the model and of our settings; weights are not told.

        Raises `ModelUnavailable`, `ModelMissing`, `ModelTimeout` where that takes longer than ten seconds.
        """
        with errors_mapped(self._model):
            return await identity_in_time(self._model, self._identified())

    async def _identified(self) -> ModelIdentity:
        answer = await self._http().get(f"{self._url}/models")
        _checked(answer.status_code, answer.text, self._model)
        listed = {str(each["id"]): each for each in answer.json()["data"]}
        told = listed.get(self._model) or listed.get(f"{self._model}:latest")
        if told is None:
            raise ModelMissing(f"{self._model}: the server has no such model")
        pinned = {
            "interface": "openai/v1",
            "owner": str(told.get("owned_by", "")),
            "root": str(told.get("root", "")),
            "options": digest({name: str(value) for name, value in self._extra.items()}),
        }
        return ModelIdentity(name=self._model, digest=digest({"name": self._model, **pinned}), details=pinned)

    async def complete(self, request: ChatRequest) -> Completion:
        """See `ChatModel`. Cancelling it, or its deadline, closes the stream, which stops the server's work."""
        return await last_of(self.stream(request))

    async def structured(self, request: StructuredRequest) -> Completion:
        """See `ai.models.chat_model.StructuredModel`."""
        schema = {"name": "answer", "schema": dict(request.schema), "strict": True}
        body = self._body(request, request.messages) | {
            "response_format": {"type": "json_schema", "json_schema": schema}
        }
        return await last_of(self._stream(body, request.deadline_s))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | Completion]:
        """The output piece by piece as it is generated, and last the whole of it. Leaving the stream stops the server's
        work. Raises as `complete`."""
        messages = (Message("system", request.prompt.system), Message("user", request.prompt.prompt))
        async with aclosing(self._stream(self._body(request, messages), request.deadline_s)) as parts:
            async for part in parts:
                yield part

    async def aclose(self) -> None:
        """Close the connections; a second call does nothing."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _body(self, request: ChatRequest | StructuredRequest, messages: tuple[Message, ...]) -> dict[str, Any]:
        seed = seed_of(request)
        body = {
            **self._extra,
            "model": self._model,
            "messages": [asdict(message) for message in messages],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature_milli / 1000,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        return body if seed is None else body | {"seed": seed}

    async def _stream(self, body: dict[str, Any], deadline_s: float) -> AsyncGenerator[str | Completion]:
        """The deadline is kept around each wait: a time-out must not span a `yield`.

        A server that breaks off after the model began to speak has answered, badly: what it said is its output, marked
        as cut. One that never began is a fault.
        """
        until = asyncio.get_running_loop().time() + deadline_s
        pieces: list[str] = []
        last = _Part("", "", 0, 0)
        identity: ModelIdentity | None = None
        began = False
        try:
            with errors_mapped(self._model):
                async with asyncio.timeout_at(until):
                    identity = await self._identified()
                async with aclosing(self._parts(body)) as parts:
                    while True:
                        async with asyncio.timeout_at(until):
                            part = await anext(parts, None)
                        if part is None:
                            break
                        began = True
                        last = _Part("", part.finish or last.finish, *_most(last, part))
                        if part.text:
                            pieces.append(part.text)
                            yield part.text
        except TimeoutError as exc:
            raise ModelTimeout(f"{self._model} gave no answer within {deadline_s:g} s") from exc
        except ModelUnavailable as exc:
            if identity is None or not (began or isinstance(exc, UnreadableReply)):
                raise
        yield Completion(
            "".join(pieces), identity, last.prompt_tokens, last.output_tokens, truncated=last.finish != "stop"
        )

    async def _parts(self, body: dict[str, Any]) -> AsyncGenerator[_Part]:
        request = self._http().stream("POST", f"{self._url}/chat/completions", json=body)
        async with request as answer:
            if answer.status_code != 200:
                _checked(answer.status_code, (await answer.aread()).decode("utf-8", "replace"), self._model)
            async for line in answer.aiter_lines():
                if len(line) > _LONGEST_LINE:
                    raise ValueError("a line of the stream is too long")
                if not line.startswith("data:"):
                    continue
                data = line.removeprefix("data:").strip()
                if data == "[DONE]":
                    return
                yield _part(json.loads(data))

    def _http(self) -> AsyncClient:
        if self._client is None:
            import httpx  # noqa: PLC0415

            self._client = httpx.AsyncClient(
                headers={} if self._key is None else {"Authorization": f"Bearer {self._key}"},
                timeout=httpx.Timeout(None, connect=_CONNECT_S),
                trust_env=False,
                follow_redirects=False,
                verify=True if self._certificates is None else self._certificates,
            )
        return self._client


def _part(event: Mapping[str, Any]) -> _Part:
    """Raises LookupError, TypeError and ValueError for what is no event of the interface."""
    if "error" in event:
        if _TOO_LONG.search(json.dumps(event["error"])):
            raise PromptTooLong("the prompt does not fit the window of the model")
        raise ValueError("the server reports an error in its stream")
    choices, usage = event["choices"], event.get("usage") or {}
    choice = choices[0] if choices else {"delta": {}}
    text = (choice.get("delta") or {}).get("content") or ""
    if not isinstance(text, str):
        raise TypeError("the text of a part is not a string")
    return _Part(
        text,
        str(choice.get("finish_reason") or ""),
        int(usage.get("prompt_tokens") or 0),
        int(usage.get("completion_tokens") or 0),
    )


def _most(one: _Part, other: _Part) -> tuple[int, int]:
    return max(one.prompt_tokens, other.prompt_tokens), max(one.output_tokens, other.output_tokens)


def _checked(status: int, text: str, model: str) -> None:
    """Raises for a status that is no success. What the server wrote is read for its kind and not repeated: it may hold
    our own words, or a key."""
    if status == 200:
        return
    if _TOO_LONG.search(text):
        raise PromptTooLong(f"the prompt does not fit the window of {model}")
    if status == 404:
        raise ModelMissing(f"{model}: the server has no such model")
    raise ModelUnavailable(f"{model}: the server failed (status {status})")
