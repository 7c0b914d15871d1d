"""Token ids of many texts, word by word: words recur, and each is taken apart once.

The tokenizer puts `▁` before the text and in place of every space, and no token of its vocabulary has a `▁` after
another character. So no merge crosses from one word into the next, and the ids of a text are those of its words, one
after another. It is not so around a `▁` of the text's own, around two spaces, and around a special token: such a text
is encoded whole. `splits_at_spaces` checks the vocabulary, and a tokenizer of another kind encodes every text whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

MARK = "▁"
MAX_WORDS = 200_000
_LONGEST_WORD = 32


class WordTokens:
    """`token_ids` equals the tokenizer's own encoding of each text without special tokens. Safe to use from several
    threads; holds at most `MAX_WORDS` words."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._ids: dict[str, list[int]] = {}
        self._special: tuple[str, ...] | None = None
        self._by_word = False

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        special = self._read_vocabulary()
        parts = [self._parts(text, special) for text in texts]
        known = self._ids
        unknown = list(dict.fromkeys(part for each in parts for part in each if part not in known))
        encoded = self._tokenizer.encode_batch_fast(unknown, add_special_tokens=False) if unknown else []
        new = {part: encoding.ids for part, encoding in zip(unknown, encoded, strict=True)}
        found = [[i for part in each for i in (known.get(part) or new.get(part) or ())] for each in parts]
        self._remember(new)
        return found

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

    def _remember(self, new: dict[str, list[int]]) -> None:
        kept = {word: ids for word, ids in new.items() if len(word) <= _LONGEST_WORD and "\n" not in word}
        if len(self._ids) + len(kept) > MAX_WORDS:
            self._ids = {}
        self._ids.update(kept)


def splits_at_spaces(vocabulary: Iterable[str]) -> bool:
    """Whether no token has a `▁` after another character."""
    return not any(MARK in token.lstrip(MARK) for token in vocabulary)
