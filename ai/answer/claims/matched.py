"""A sentence beside the one of its source whose words it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ai.answer.claims.tokens import Token
from ai.model import Verdict

Found = tuple[Verdict, str] | None
"""The verdict of a check, with the reason; None where it finds nothing."""
Placed = dict[int, int]

_LOOK_BACK = 60
"""Characters before a word that are looked at."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Both sentences and their tokens; `placed` has by the place of a word of mine that of
    the source, but for words that the context gives; `kept` are those places in order, `taken` the same as a set."""

    mine: Sequence[Token]
    theirs: Sequence[Token]
    placed: Placed
    text: str
    source: str
    kept: tuple[int, ...]
    taken: frozenset[int]

    @classmethod
    def of(
        cls,
        mine: Sequence[Token],
        theirs: Sequence[Token],
        placed: Placed,
        text: str,
        source: str,
    ) -> Matched:
        """The two sentences, with the places that are kept."""
        taken = frozenset(placed.values())
        return cls(mine, theirs, placed, text, source, tuple(sorted(taken)), taken)

    def has(self, j: int) -> bool:
        """True if the word of the source is kept."""
        return j in self.taken

    def between(self, j: int, k: int) -> str:
        """The text of the source between two of its words."""
        return self.source[self.theirs[j].end : self.theirs[k].start]

    def before(self, j: int) -> str:
        """A piece of the source that ends before a word."""
        start = self.theirs[j].start
        return self.source[max(0, start - _LOOK_BACK) : start]

    def before_mine(self, i: int) -> str:
        """A piece of my sentence that ends before a word."""
        start = self.mine[i].start
        return self.text[max(0, start - _LOOK_BACK) : start]

    def adjoin(self, j: int) -> bool:
        """True if nothing but a space or a hyphen stands before a word of the source and the one before it."""
        return j > 0 and not self.between(j - 1, j).strip(" -")

    def is_comma_before(self, j: int) -> bool:
        """True if a pause parts a word from the one before it."""
        return any(mark in self.between(j - 1, j) for mark in ",;:—(")


def lost(word: Token, told: str) -> Found:
    """The verdict for a word that is kept, with what is told of it."""
    return "contradicted", f"in the source “{word.text}” {told}"


def unsaid(told: str) -> Found:
    """The verdict for what the source says and mine leaves out."""
    return "contradicted", f"the source says “{told}”"
