"""Vectors from a model that Ollama serves, through its `/api/embed`.

The server cuts a text over the model's window in silence; here it is told not to (`truncate: false`), and such a text
is split at a space near its middle until its parts fit: its vector is the mean of theirs, weighted by length.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding.embedder import EmbedModel
from retrieval.errors import ChannelFault, ChannelTimeout, ChannelUnavailable
from retrieval.model import ChannelName
from retrieval.servers.ollama_server import OllamaConnections

if TYPE_CHECKING:
    from ssl import SSLContext

BATCH = 32
_FRESH_S = 30.0  # how long a model of that name is taken to be the same one
_MOST = 1e18  # no component of a vector is so large, and its square is still a float32
_WEIGHTS = re.compile(r"^FROM\s.*sha256[-:]([0-9a-f]{64})\s*$", re.MULTILINE)
_TOO_LONG = re.compile(r"exceeds (?:the|maximum) context", re.IGNORECASE)
_NO_TOKEN = re.compile(r"no input provided", re.IGNORECASE)
Vectors = NDArray[np.float32]


class OllamaEmbedder:
    """An `Embedder` on one Ollama server, which is reached with the first use.

    `options` are Ollama's (`num_thread` ...); `deadline_s` is the longest time for one batch; `token` and
    `certificates` are for a server behind a proxy. The identity is the model's name and the start of its weights'
    SHA-256, so that another model under the same name is another model.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        deadline_s: float = 60.0,
        options: Mapping[str, Any] | None = None,
        token: str | None = None,
        certificates: SSLContext | None = None,
    ) -> None:
        self._server = OllamaConnections(base_url, answer_s=deadline_s, token=token, certificates=certificates)
        self._model = model
        self._options = dict(options or {})
        self._known: tuple[EmbedModel, float] | None = None
        self._lock = asyncio.Lock()

    async def identity(self) -> EmbedModel:
        """See `retrieval.embedding.embedder.Embedder`. Asked again when it is older than half a minute, or after an
        error."""
        async with self._lock:
            if self._known is None or time.monotonic() > self._known[1]:
                self._known = None
                with _mapped():
                    shown = await self._server.client.show(self._model)
                    weights = _WEIGHTS.search(shown.modelfile or "")
                if weights is None:
                    raise _fault("the embedding server does not say which weights it serves")
                try:
                    probe = await self._ask(["dimension"])
                except (_TextTooLong, _NoToken) as exc:
                    raise _fault("the embedding model takes no text") from exc
                name = f"ollama/{self._model.removesuffix(':latest')}@{weights[1][:12]}"
                self._known = EmbedModel(name, probe.shape[1]), time.monotonic() + _FRESH_S
            return self._known[0]

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `retrieval.embedding.embedder.Embedder`. Cancelling it closes the connection, which stops the server's
        work."""
        dimension = (await self.identity()).dimension
        vectors = np.zeros((len(texts), dimension), np.float32)
        rows = [row for row, text in enumerate(texts) if text.strip()]
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            found = await self._vectors([_encodable(texts[row]) for row in batch])
            if found.shape[1] != dimension:
                self._known = None
                raise _fault("the embedding model has changed its dimension")
            vectors[batch] = found
        return vectors

    async def aclose(self) -> None:
        """Close the connections; a second call does nothing."""
        await self._server.aclose()

    async def _vectors(self, texts: list[str]) -> Vectors:
        try:
            return await self._ask(texts)
        except _TextTooLong:
            if len(texts) == 1:
                return await self._parts(texts[0])
        except _NoToken:
            if len(texts) == 1:
                return np.zeros((1, (await self.identity()).dimension), np.float32)
        half = len(texts) // 2  # the others of the batch do not suffer from the one
        return np.concatenate([await self._vectors(texts[:half]), await self._vectors(texts[half:])])

    async def _parts(self, text: str) -> Vectors:
        """The vector of a text over the window."""
        parts = halves(text)
        if len(parts) < 2:
            raise _fault("the embedding model's window does not hold even one character")
        lengths = np.array([[len(part)] for part in parts], np.float32)
        return _normalised((await self._vectors(parts) * lengths).sum(axis=0, keepdims=True))

    async def _ask(self, texts: list[str]) -> Vectors:
        try:
            with _mapped():
                answer = await self._server.client.embed(self._model, texts, truncate=False, options=self._options)
                vectors = np.asarray(answer.embeddings, np.float64)
        except (ChannelUnavailable, ChannelFault):
            self._known = None
            raise
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1] or not (abs(vectors) < _MOST).all():
            raise _fault("the embedding server's answer is not a list of vectors")
        return _normalised(vectors)


class _TextTooLong(Exception):
    """A text is over the window."""


class _NoToken(Exception):
    """A text has nothing in it that the model knows."""


def halves(text: str) -> list[str]:
    """The text in two, at the space nearest to its middle, else in the middle; the parts that are not empty."""
    text = text.strip()
    middle = len(text) // 2
    spaces = [match.start() for match in re.finditer(r"\s", text)]
    cut = min(spaces, key=lambda place: abs(place - middle), default=middle)
    return [part for part in (text[:cut].strip(), text[cut:].strip()) if part]


def _normalised(vectors: Vectors | NDArray[np.float64]) -> Vectors:
    """Unit rows; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(norms, np.finfo(np.float32).tiny)).astype(np.float32)
    return unit


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _fault(message: str) -> ChannelFault:
    return ChannelFault(ChannelName.VECTOR, message)


@contextmanager
def _mapped() -> Iterator[None]:
    """Every error of the layers below as the channel's, with no address in it."""
    import httpx  # noqa: PLC0415
    from ollama import ResponseError  # noqa: PLC0415

    try:
        yield
    except ResponseError as exc:
        if _TOO_LONG.search(exc.error):
            raise _TextTooLong from exc
        if _NO_TOKEN.search(exc.error):
            raise _NoToken from exc
        said = "the embedding server has no such model" if exc.status_code == 404 else "the embedding server failed"
        raise ChannelUnavailable(ChannelName.VECTOR, said) from exc
    except httpx.TimeoutException as exc:
        raise ChannelTimeout(ChannelName.VECTOR, "the embedding server took too long") from exc
    except (OSError, httpx.HTTPError, httpx.InvalidURL) as exc:
        raise ChannelUnavailable(ChannelName.VECTOR, "the embedding server cannot be reached") from exc
    except (LookupError, ValueError, TypeError) as exc:
        raise _fault("the embedding server's answer cannot be read") from exc
