"""A chat model served by Ollama, through its `/api/generate` and, held to a JSON schema, its `/api/chat`.

What Ollama does in silence is asked for aloud: a prompt over the window is an error (`truncate: false`), generation
never slides out of it (`shift: false`), `num_predict` is always set. The package knows neither of the two fields, so
the request body is built here. Output is streamed, because closing the stream is what stops the work.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import aclosing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from ai.canonical import digest
from ai.chat_model import ChatRequest, StructuredRequest
from ai.errors import ModelMissing, ModelTimeout, ModelUnavailable, PromptTooLong
from ai.model import Completion, ModelIdentity
from retrieval.ollama_server import OllamaConnections

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from ssl import SSLContext

_BLOB = re.compile(r"^(FROM|ADAPTER)\s.*sha256[-:]([0-9a-f]{64})\s*$", re.MULTILINE)
_COMMENTS = re.compile(r"\A(?:#.*\n|\s*\n)*")
_TOO_LONG = re.compile(
    r"exceeds (?:the|maximum) (?:available )?context|context (?:length|window|size) exceeded", re.IGNORECASE
)
_IDENTITY_S = 10.0


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
        try:
            async with asyncio.timeout(_IDENTITY_S):
                return await self._identified()
        except TimeoutError as exc:
            raise ModelTimeout(f"{self._model}: the server gave no answer within {_IDENTITY_S:g} s") from exc

    async def _identified(self) -> ModelIdentity:
        with _mapped(self._model):
            client = self._server.client
            shown = await client.show(self._model)
            answer = await client._request_raw("GET", "/api/version")  # type: ignore[no-untyped-call]
            version = str(answer.json().get("version", ""))
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
        """See `ai.chat_model.ChatModel`. Cancelling it, or its deadline, closes the stream, which stops the server's
        work."""
        return await _last(self.stream(request))

    async def structured(self, request: StructuredRequest) -> Completion:
        """See `ai.chat_model.StructuredModel`."""
        messages = [asdict(message) for message in request.messages]
        body = self._body(request) | {"messages": messages, "format": dict(request.schema)}
        return await _last(self._stream("/api/chat", body, request.deadline_s))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | Completion]:
        """The output piece by piece as it is generated, and last the whole of it. Leaving the stream stops the server's
        work. Raises as `complete`."""
        body = self._body(request) | {"system": request.prompt.system, "prompt": request.prompt.prompt}
        async with aclosing(self._stream("/api/generate", body, request.deadline_s)) as parts:
            async for part in parts:
                yield part

    async def aclose(self) -> None:
        """Close the connections; a second call does nothing."""
        await self._server.aclose()

    async def _stream(self, path: str, body: dict[str, Any], deadline_s: float) -> AsyncGenerator[str | Completion]:
        """The deadline is kept around each wait: a time-out must not span a `yield`."""
        until = asyncio.get_running_loop().time() + deadline_s
        try:
            with _mapped(self._model):
                async with asyncio.timeout_at(until):
                    identity = await self._identified()
                async with aclosing(self._parts(path, body)) as parts:
                    pieces: list[str] = []
                    while True:
                        async with asyncio.timeout_at(until):
                            part = await anext(parts, None)
                        if part is None:
                            break
                        said = _said(part)
                        pieces.append(said)
                        if part.get("done"):
                            yield _completion("".join(pieces), identity, part)
                            return
                        yield said
        except TimeoutError as exc:
            raise ModelTimeout(f"{self._model} gave no answer within {deadline_s:g} s") from exc
        # A runner that died; or the server's own guard, which ends the stream where one token comes 30 times in a row.
        raise ModelUnavailable(f"{self._model} stopped in the middle of its answer")

    async def _parts(self, path: str, body: dict[str, Any]) -> AsyncGenerator[Mapping[str, Any]]:
        stream = await self._server.client._request(dict, "POST", path, json=body, stream=True)
        async with aclosing(cast("AsyncGenerator[dict[str, Any]]", stream)) as parts:
            async for part in parts:
                yield part

    def _body(self, request: ChatRequest | StructuredRequest) -> dict[str, Any]:
        options: dict[str, Any] = {
            **self._options,
            "temperature": request.temperature_milli / 1000,
            "num_predict": request.max_tokens,
            "num_ctx": self._num_ctx,
        }
        if request.seed is not None:
            options["seed"] = request.seed
        elif request.temperature_milli == 0:
            options["seed"] = 0
        return {"model": self._model, "stream": True, "truncate": False, "shift": False, "options": options}


async def _last(stream: AsyncGenerator[str | Completion]) -> Completion:
    async with aclosing(stream) as parts:
        async for part in parts:
            if isinstance(part, Completion):
                return part
    raise AssertionError("a stream that does not raise ends with its completion")


def _said(part: Mapping[str, Any]) -> str:
    """The text of one part of either endpoint."""
    text = part["message"]["content"] if "message" in part else part["response"]
    if not isinstance(text, str):
        raise ValueError("the text of a part is no string")
    return text


def _completion(text: str, identity: ModelIdentity, last: Mapping[str, Any]) -> Completion:
    return Completion(
        text=text,
        model=identity,
        prompt_tokens=int(last.get("prompt_eval_count") or 0),
        output_tokens=int(last.get("eval_count") or 0),
        truncated=last.get("done_reason") == "length",
    )


@contextmanager
def _mapped(model: str) -> Iterator[None]:
    """Every error of the layers below as one of ours. A connection that is refused arrives as the built-in
    ConnectionError or as httpx's."""
    import httpx  # noqa: PLC0415
    from ollama import ResponseError  # noqa: PLC0415
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        yield
    except ResponseError as exc:
        if _TOO_LONG.search(exc.error):
            raise PromptTooLong(f"the prompt does not fit the window of {model}") from exc
        if exc.status_code == 404:
            raise ModelMissing(f"{model}: the server has no such model") from exc
        raise ModelUnavailable(f"{model}: the server failed (status {exc.status_code})") from exc
    except httpx.TimeoutException as exc:
        raise ModelTimeout(f"{model}: no connection or answer in time") from exc
    except TimeoutError:
        raise  # the deadline, which is told apart
    except (OSError, httpx.HTTPError, httpx.InvalidURL) as exc:
        raise ModelUnavailable(f"{model}: the server cannot be reached") from exc
    except (ValidationError, LookupError, ValueError, TypeError, AttributeError) as exc:
        raise ModelUnavailable(f"{model}: the server's answer cannot be read") from exc
