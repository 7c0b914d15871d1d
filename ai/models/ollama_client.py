"""A chat model served by Ollama, through its `/api/generate` and, held to a JSON schema, its `/api/chat`.

What Ollama does in silence is asked for aloud: a prompt over the window is an error (`truncate: false`), generation
never slides out of it (`shift: false`; both `retrieval.servers.ollama_transport`), `num_predict` is always set. Output
is streamed, because closing the stream is what stops the work.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import aclosing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from ai.canonical import digest
from ai.errors import ModelMissing, ModelTimeout, ModelUnavailable, PromptTooLong
from ai.model import Completion, ModelIdentity
from ai.models.chat_model import ChatRequest, StructuredRequest
from ai.models.served import UnreadableReply, errors_mapped, identity_in_time, last_of, seed_of
from retrieval.servers.ollama_server import OllamaConnections

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
    from ssl import SSLContext

    from ollama import AsyncClient, ChatResponse, GenerateResponse

    Part = GenerateResponse | ChatResponse
    _Call = Callable[[AsyncClient], Awaitable[AsyncIterator[Part]]]

_BLOB = re.compile(r"^(FROM|ADAPTER)\s.*sha256[-:]([0-9a-f]{64})\s*$", re.MULTILINE)
_COMMENTS = re.compile(r"\A(?:#.*\n|\s*\n)*")
_TOO_LONG = re.compile(
    r"exceeds (?:the|maximum) (?:available )?context|context (?:length|window|size) exceeded", re.IGNORECASE
)


class OllamaChat:
    """A `ChatModel` and `StructuredModel` on one Ollama server.

    `num_ctx` is the window in tokens; `options` are further Ollama options (`num_thread` ...); `token` and
    `certificates` are for a server behind a proxy.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        num_ctx: int = 8192,
        options: Mapping[str, Any] | None = None,
        token: str | None = None,
        certificates: SSLContext | None = None,
    ) -> None:
        self._server = OllamaConnections(base_url, token=token, certificates=certificates)
        self._model = model
        self._num_ctx = num_ctx
        self._options = dict(options or {})

    async def identity(self) -> ModelIdentity:
        """Name, and the digest of what decides the output: the sha256 of weights and adapters, template, parameters and
        the rest of the model's file, server version, window, options. Where the server keeps its files plays no part.

        Raises `ModelUnavailable`, `ModelTimeout` where that takes longer than ten seconds.
        """
        return await identity_in_time(self._model, self._identified())

    async def _identified(self) -> ModelIdentity:
        with _mapped(self._model):
            shown = await self._server.client.show(self._model)
            version = await self._server.version()
        modelfile = _COMMENTS.sub("", shown.modelfile or "")
        blobs = [f"sha256:{found}" for _, found in _BLOB.findall(modelfile)]
        pinned = {
            "weights": blobs[0] if len(blobs) == 1 else digest(blobs or modelfile),
            "template": digest(shown.template or ""),
            "parameters": digest(shown.parameters or ""),
            "modelfile": digest(_BLOB.sub(r"\1 sha256:\2", modelfile)),
            "server": version,
            "num_ctx": str(self._num_ctx),
            "options": digest({name: str(value) for name, value in self._options.items()}),
        }
        return ModelIdentity(name=self._model, digest=digest(pinned), details=pinned)

    async def complete(self, request: ChatRequest) -> Completion:
        """See `ChatModel`. Cancelling it, or its deadline, closes the stream, which stops the server's work."""
        return await last_of(self.stream(request))

    async def structured(self, request: StructuredRequest) -> Completion:
        """See `ai.models.chat_model.StructuredModel`."""
        messages = [asdict(message) for message in request.messages]
        return await last_of(
            self._stream(
                lambda client: client.chat(
                    self._model,
                    messages,
                    stream=True,
                    format=dict(request.schema),
                    options=self._options_of(request),
                ),
                request.deadline_s,
            )
        )

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | Completion]:
        """The output piece by piece as it is generated, and last the whole of it. Leaving the stream stops the server's
        work. Raises as `complete`."""
        stream = self._stream(
            lambda client: client.generate(
                self._model,
                request.prompt.prompt,
                system=request.prompt.system,
                stream=True,
                options=self._options_of(request),
            ),
            request.deadline_s,
        )
        async with aclosing(stream) as parts:
            async for part in parts:
                yield part

    async def aclose(self) -> None:
        """Close the connections; a second call does nothing."""
        await self._server.aclose()

    async def _stream(self, call: _Call, deadline_s: float) -> AsyncGenerator[str | Completion]:
        """The deadline is kept around each wait: a time-out must not span a `yield`.

        A model that breaks off, loops until the server stops it, or sends what cannot be read has answered, badly: what
        it said so far is its output, marked as cut. A server that never began to answer is a fault.
        """
        until = asyncio.get_running_loop().time() + deadline_s
        pieces: list[str] = []
        identity: ModelIdentity | None = None
        try:
            with _mapped(self._model):
                async with asyncio.timeout_at(until):
                    identity = await self._identified()
                async with aclosing(self._parts(call)) as parts:
                    while True:
                        async with asyncio.timeout_at(until):
                            part = await anext(parts, None)
                        if part is None:
                            break
                        said = _said(part)
                        pieces.append(said)
                        if part.done:
                            yield _completion("".join(pieces), identity, part)
                            return
                        yield said
        except TimeoutError as exc:
            raise ModelTimeout(f"{self._model} gave no answer within {deadline_s:g} s") from exc
        except ModelUnavailable as exc:
            if identity is None or not (pieces or isinstance(exc, UnreadableReply)):
                raise
        # A runner that died; or the server's own guard, which ends the stream where one token comes 30 times in a row.
        yield Completion("".join(pieces), identity, prompt_tokens=0, output_tokens=0, truncated=True)

    async def _parts(self, call: _Call) -> AsyncGenerator[Part]:
        async with aclosing(cast("AsyncGenerator[Part]", await call(self._server.client))) as parts:
            async for part in parts:
                yield part

    def _options_of(self, request: ChatRequest | StructuredRequest) -> dict[str, Any]:
        options: dict[str, Any] = {
            **self._options,
            "temperature": request.temperature_milli / 1000,
            "num_predict": request.max_tokens,
            "num_ctx": self._num_ctx,
        }
        seed = seed_of(request)
        return options if seed is None else options | {"seed": seed}


def _said(part: Part) -> str:
    """The text of one part of either endpoint."""
    text = part.message.content if hasattr(part, "message") else part.response
    if text is None:
        raise ValueError("a part without text")
    return text


def _completion(text: str, identity: ModelIdentity, last: Part) -> Completion:
    return Completion(
        text=text,
        model=identity,
        prompt_tokens=last.prompt_eval_count or 0,
        output_tokens=last.eval_count or 0,
        truncated=last.done_reason == "length",
    )


@contextmanager
def _mapped(model: str) -> Iterator[None]:
    """Every error of the layers below as one of ours."""
    from ollama import ResponseError  # noqa: PLC0415

    try:
        with errors_mapped(model):
            yield
    except ResponseError as exc:
        if _TOO_LONG.search(exc.error):
            raise PromptTooLong(f"the prompt does not fit the window of {model}") from exc
        if exc.status_code == 404:
            raise ModelMissing(f"{model}: the server has no such model") from exc
        raise ModelUnavailable(f"{model}: the server failed (status {exc.status_code})") from exc
