"""The Embedder Protocol: text to unit vectors, with the identity of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EmbedModel:
    """The identity of an embedder: weights and version by name (`wordllama-0.4.0/l2_supercat_256@...`), and their
    dimension."""

    name: str
    dimension: int


class Embedder(Protocol):
    """Turns texts into L2-normalised float32 vectors of shape (len(texts), dimension).

    The same text gives the same vector, whatever batch it is in, as far as the model can. `identity` is stored with
    every index: vectors of another model or dimension are refused with `EmbedModelMismatch`. An empty text gives the
    zero vector. Nothing of a text is left out in silence. `identity` and `embed` raise `ChannelError` when the model
    cannot be reached, is missing, takes too long or answers nonsense.
    """

    async def identity(self) -> EmbedModel: ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    async def aclose(self) -> None: ...
