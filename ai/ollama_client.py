"""A chat model served by Ollama, through its `/api/generate`.

What Ollama does in silence is asked for aloud: a prompt over the window is an error (`truncate: false`), generation
never slides out of it (`shift: false`), `num_predict` is always set. The package knows neither of the two fields, so
the request body is built here. Output is streamed, because closing the stream is what stops the work.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any, cast

from ai.canonical import digest
from ai.chat_model import ChatRequest
from ai.errors import ModelTimeout, ModelUnavailable, PromptTooLong
from ai.model import Completion, ModelIdentity

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from ollama import AsyncClient, GenerateResponse

_WEIGHTS = re.compile(r"^FROM\s.*?sha256[-:]([0-9a-f]{64})", re.MULTILINE)
_TOO_LONG = re.compile(r"exceed|context length|context window|too long|truncat", re.IGNORECASE)
_CONNECT_S = 5.0


class OllamaChat:
    """A `ChatModel` on one Ollama server. `num_ctx` is the window in tokens; `options` are further Ollama options
    (`num_thread` ...)."""

    def __init__(
        self, base_url: str, model: str, *, num_ctx: int = 8192, options: Mapping[str, Any] | None = None
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._num_ctx = num_ctx
        self._options = dict(options or {})
        self._client: AsyncClient | None = None

    async def identity(self) -> ModelIdentity:
        """Name, and the digest of what decides the output: the weights' sha256, template, parameters, server version.

        Raises `ModelUnavailable`.
        """
        with _mapped(self._model):
            client = self._open()
            shown = await client.show(self._model)
            answer = await client._request_raw("GET", "/api/version")  # type: ignore[no-untyped-call]
            version = str(answer.json().get("version", ""))
        modelfile = shown.modelfile or ""
        weights = _WEIGHTS.search(modelfile)
        pinned = {
            "weights": f"sha256:{weights[1]}" if weights else digest(modelfile),
            "template": digest(shown.template or ""),
            "parameters": digest(shown.parameters or ""),
            "server": version,
            "num_ctx": str(self._num_ctx),
            "options": digest({name: str(value) for name, value in self._options.items()}),
        }
        return ModelIdentity(name=self._model, digest=digest(pinned), details=pinned)

    async def complete(self, request: ChatRequest) -> Completion:
        """One generation. Cancelling it, or its deadline, closes the stream, which stops the server's work."""
        try:
            async with asyncio.timeout(request.deadline_s):
                identity = await self.identity()
                with _mapped(self._model):
                    return await self._generate(request, identity)
        except TimeoutError as exc:
            raise ModelTimeout(f"{self._model} gave no answer within {request.deadline_s:g} s") from exc

    async def aclose(self) -> None:
        """Close the connections; a second call does nothing."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()  # type: ignore[no-untyped-call]

    async def _generate(self, request: ChatRequest, identity: ModelIdentity) -> Completion:
        from ollama import GenerateResponse  # noqa: PLC0415

        stream = await self._open()._request(
            GenerateResponse, "POST", "/api/generate", json=self._body(request), stream=True
        )
        pieces: list[str] = []
        async with aclosing(cast("AsyncGenerator[GenerateResponse]", stream)) as parts:
            async for part in cast("AsyncIterator[GenerateResponse]", parts):
                pieces.append(part.response or "")
                if part.done:
                    return Completion(
                        text="".join(pieces),
                        model=identity,
                        prompt_tokens=part.prompt_eval_count or 0,
                        output_tokens=part.eval_count or 0,
                        truncated=part.done_reason == "length",
                    )
        raise ModelUnavailable(f"{self._model} stopped in the middle of its answer")

    def _body(self, request: ChatRequest) -> dict[str, Any]:
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
        return {
            "model": self._model,
            "system": request.prompt.system,
            "prompt": request.prompt.prompt,
            "stream": True,
            "truncate": False,
            "shift": False,
            "options": options,
        }

    def _open(self) -> AsyncClient:
        if self._client is None:
            import httpx  # noqa: PLC0415
            from ollama import AsyncClient  # noqa: PLC0415  1.7 s to import

            timeout = httpx.Timeout(None, connect=_CONNECT_S)
            self._client = AsyncClient(host=self._base_url, timeout=timeout, follow_redirects=False, trust_env=False)
        return self._client


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
        if exc.status_code in {400, 413, 500, -1} and _TOO_LONG.search(exc.error):
            raise PromptTooLong(f"the prompt does not fit the window of {model}") from exc
        said = (
            "the server has no such model"
            if exc.status_code == 404
            else f"the server failed (status {exc.status_code})"
        )
        raise ModelUnavailable(f"{model}: {said}") from exc
    except httpx.TimeoutException as exc:
        raise ModelTimeout(f"{model}: no connection or answer in time") from exc
    except (ConnectionError, httpx.HTTPError, httpx.InvalidURL) as exc:
        raise ModelUnavailable(f"{model}: the server cannot be reached") from exc
    except (ValidationError, ValueError, TypeError, AttributeError) as exc:
        raise ModelUnavailable(f"{model}: the server's answer cannot be read") from exc
