"""Token ids of many texts, word by word: words recur, and each is taken apart once.

The tokenizer puts `▁` before the text and in place of every space, and no token of its vocabulary has a `▁` after
another character. So no merge crosses from one word into the next, and the ids of a text are those of its words, one
after another. It is not so around a `▁` of the text's own, around two spaces, and around a special token: such a text
is encoded whole. `splits_at_spaces` checks the vocabulary, and a tokenizer of another kind encodes every text whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MARK = "▁"
MAX_WORDS = 200_000
_LONGEST_WORD = 32


class WordTokens:
    """`token_ids` equals the tokenizer's own encoding of each text without special tokens. Safe to use from several
    threads; holds at most `max_words` words, and `len` is how many it holds."""

    def __init__(self, tokenizer: Any, *, max_words: int = MAX_WORDS) -> None:
        self._tokenizer = tokenizer
        self._max_words = max_words
        self._ids: dict[str, bytes] = {}
        self._special: tuple[str, ...] | None = None
        self._by_word = False

    def __len__(self) -> int:
        return len(self._ids)

    def token_ids(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """The ids of each text."""
        special = self._read_vocabulary()
        parts = [self._parts(text, special) for text in texts]
        packed = [[*map(self._ids.get, each)] for each in parts]
        unknown = [(each, ids) for each, ids in zip(parts, packed, strict=True) if None in ids]
        new = self._encoded({part for pair in unknown for part, ids in zip(*pair, strict=True) if ids is None})
        for each, ids in unknown:
            ids[:] = [new[part] if known is None else known for part, known in zip(each, ids, strict=True)]
        self._remember(new)
        return [np.frombuffer(b"".join(filter(None, ids)), np.int32) for ids in packed]

    def _encoded(self, parts: Collection[str]) -> dict[str, bytes]:
        """The ids of each part as bytes: joining them is then the work of one call."""
        ordered = sorted(parts)
        encoded = self._tokenizer.encode_batch_fast(ordered, add_special_tokens=False) if ordered else []
        return {part: np.asarray(e.ids, np.int32).tobytes() for part, e in zip(ordered, encoded, strict=True)}

    def _parts(self, text: str, special: tuple[str, ...]) -> list[str]:
        words = text.split(" ")
        if self._by_word and "" not in words and not any(mark in text for mark in special):
            return words
        return [text]

    def _read_vocabulary(self) -> tuple[str, ...]:
        if self._special is None:
            self._by_word = splits_at_spaces(self._tokenizer.get_vocab(with_added_tokens=False))
            added = self._tokenizer.get_added_tokens_decoder().values()
            self._special = (MARK, *(token.content for token in added))
        return self._special

    def _remember(self, new: dict[str, bytes]) -> None:
        kept = {word: ids for word, ids in new.items() if len(word) <= _LONGEST_WORD and "\n" not in word}
        if len(self._ids) + len(kept) > self._max_words:
            self._ids = {}
        self._ids.update(kept)


def splits_at_spaces(vocabulary: Iterable[str]) -> bool:
    """True if no token has a `▁` after another character."""
    return not any(MARK in token.lstrip(MARK) for token in vocabulary)
