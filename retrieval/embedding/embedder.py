"""The Embedder Protocol: text to unit vectors, with the identity of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into L2-normalised float32 vectors of shape (len(texts), dimension).

    The same text gives the same vector. `model` names weights and version (`wordllama-0.4.0/l2_supercat_256`), and is
    stored with every index: vectors of another model or dimension are refused with `EmbedModelMismatch`. An empty text
    gives the zero vector. Raises `ChannelUnavailable` when the model cannot be reached.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    async def aclose(self) -> None: ...
