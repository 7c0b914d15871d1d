"""A view of a text made ready to be searched; what is needed only for some matches is made at the first of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property

from ai.gate.linear import Spelled, spelled
from ai.gate.normalise import View

_MENTION = re.compile(r"\b(?:means?|meant|phrase|words?|expression|saying|quot(?:e[ds]?|ation|ing)|slogan|motto)\b")


class Subject:
    """A view, its spelling for the patterns, and where it quotes and speaks of words."""

    def __init__(self, view: View) -> None:
        self.view = view

    @cached_property
    def spelled(self) -> Spelled:
        """The text as patterns search it."""
        return spelled(self.view.text)

    def is_quoted(self, start: int, end: int) -> bool:
        """True if a quotation is open at `start` and a quotation mark follows `end`."""
        quotes = self._quotes
        return bisect_right(quotes, start) % 2 == 1 and bisect_left(quotes, end) < len(quotes)

    def speaks_of_words_before(self, place: int) -> bool:
        """True if a word such as "phrase" or "meant" ends before `place`."""
        return self._mention_end is not None and self._mention_end <= place

    @cached_property
    def _quotes(self) -> list[int]:
        return [at for at, char in enumerate(self.view.text) if char == '"']

    @cached_property
    def _mention_end(self) -> int | None:
        mention = _MENTION.search(self.view.text)
        return None if mention is None else mention.end()
