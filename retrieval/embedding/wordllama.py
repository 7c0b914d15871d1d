"""Sentence vectors from the wordllama wheel's static token embeddings: no server, no network, no download.

The wheel's two data files are read directly. Importing `wordllama` itself pulls in an HTTP client, pydantic and a
logging set-up, none of which an embedding needs; a test proves that the vectors equal the package's own.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding.embedder import EmbedModel
from retrieval.embedding.word_tokens import WordTokens
from retrieval.errors import ChannelUnavailable
from retrieval.model import ChannelName
from retrieval.worker import Stop, Workers

CONFIG = "l2_supercat"
DIMENSION = 256
BATCH = 256
BULK = 32
INLINE_CHARS = 1_000  # a question takes a tenth of a millisecond, less than its way to a thread and back
_TENSOR = "embedding.weight"

Table = NDArray[np.float16] | NDArray[np.float32]


@dataclass(frozen=True)
class _Model:
    name: str
    tokenizer: Any
    table: NDArray[np.float16]

    @cached_property
    def wide(self) -> NDArray[np.float32]:
        """The table in float32: five times the speed over many texts for 32 MB and 40 ms, which one question should not
        pay."""
        return np.asarray(self.table, np.float32)


class WordllamaEmbedder:
    """The mean of a text's token vectors, L2-normalised. `load` reads the weights; vectors do not depend on the
    batch."""

    def __init__(self, model: _Model) -> None:
        self._model = model
        self._words = WordTokens(model.tokenizer)
        self._workers = Workers("embed", size=2)

    @classmethod
    async def load(cls) -> WordllamaEmbedder:
        """Reads the wheel's files in a thread. Raises `ChannelUnavailable` where they are missing or damaged."""
        try:
            return cls(await asyncio.to_thread(_read_model))
        except (OSError, ValueError, KeyError) as error:
            raise ChannelUnavailable(ChannelName.VECTOR, "the embedding model cannot be read") from error

    async def identity(self) -> EmbedModel:
        """Package version, weights' name and the start of their SHA-256; no I/O."""
        return EmbedModel(self._model.name, DIMENSION)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `retrieval.embedding.embedder.Embedder`. Cancelling stops it after the batch of 256 texts at hand."""
        if not texts:
            return np.zeros((0, DIMENSION), np.float32)
        if len(texts) == 1 and len(texts[0]) <= INLINE_CHARS:
            return self._embed_one(texts[0])
        return await self._workers.run(lambda stop: self._embed(list(texts), stop))

    async def aclose(self) -> None:
        """Ends the worker threads."""
        await self._workers.aclose()

    def _embed_one(self, text: str) -> NDArray[np.float32]:
        vectors = np.zeros((1, DIMENSION), np.float32)
        encoding = self._model.tokenizer.encode(_encodable(text), add_special_tokens=False)
        if encoding.ids:
            vectors[0] = _mean(self._model.table, np.asarray(encoding.ids, np.int32))
        return _normalised(vectors)

    def _embed(self, texts: list[str], stop: Stop) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        table = self._model.wide if len(texts) >= BULK else self._model.table
        for start in range(0, len(texts), BATCH):
            stop.check()
            batch = [_encodable(text) for text in texts[start : start + BATCH]]
            for offset, ids in enumerate(self._words.token_ids(batch)):
                if ids.size:
                    vectors[start + offset] = _mean(table, ids)
        return _normalised(vectors)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _mean(table: Table, ids: NDArray[np.int32]) -> NDArray[np.float32]:
    """The same bits from either table: widening a float16 is exact and comes before the sum."""
    rows = np.asarray(table.take(ids, axis=0, mode="clip"), np.float32)
    mean: NDArray[np.float32] = rows.sum(axis=0) / np.float32(len(ids))
    return mean


def _normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit rows; a zero row stays zero."""
    norms: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    vectors /= np.maximum(norms, np.finfo(np.float32).tiny)
    return vectors


@cache
def _read_model() -> _Model:
    """One for the process, however many homes are open in it."""
    from tokenizers import Tokenizer  # noqa: PLC0415 - 50 ms, and only needed here

    spec = importlib.util.find_spec("wordllama")  # finds the package without running it
    if spec is None or not spec.submodule_search_locations:
        raise OSError("wordllama is not installed")
    package = Path(next(iter(spec.submodule_search_locations)))
    weights = (package / "weights" / f"{CONFIG}_{DIMENSION}.safetensors").read_bytes()
    tokenizer = Tokenizer.from_file(str(package / "tokenizers" / f"{CONFIG}_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    name = f"wordllama-{version('wordllama')}/{CONFIG}_{DIMENSION}@{hashlib.sha256(weights).hexdigest()[:12]}"
    return _Model(name, tokenizer, _tensor(weights))


def _tensor(weights: bytes) -> NDArray[np.float16]:
    """The one tensor of a safetensors file: 8 bytes little-endian header size, JSON header, raw data."""
    size = int.from_bytes(weights[:8], "little")
    entry = json.loads(weights[8 : 8 + size])[_TENSOR]
    start, end = entry["data_offsets"]
    if entry["dtype"] != "F16" or entry["shape"][1] != DIMENSION:
        raise ValueError(f"unexpected weights: {entry}")
    return np.frombuffer(weights[8 + size + start : 8 + size + end], np.float16).reshape(entry["shape"])
