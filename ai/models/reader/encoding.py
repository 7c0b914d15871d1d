"""Texts as word pieces: what the network is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MOST_PIECES = 128
"""Of one text, with the marks at its ends; what is longer is cut."""


class PieceReader:
    """The tokenizer of the base, from its file's bytes."""

    def __init__(self, file: bytes) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415  (heavy: only who reads prose loads it)

        self._tokenizer: Any = Tokenizer.from_buffer(file)
        self._tokenizer.enable_truncation(MOST_PIECES)
        self._tokenizer.no_padding()

    def read(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text's pieces, with the marks at its ends."""
        return [each.ids for each in self._tokenizer.encode_batch(list(texts))]

    def ranks(self, word: str) -> list[int]:
        """The places of a word's pieces in the vocabulary, which is ordered by how common they are."""
        ids: list[int] = self._tokenizer.encode(word, add_special_tokens=False).ids
        return ids
