"""The values that a reader is given and returns; numbers are integers in thousandths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Told:
    """A passage as the reader is given it: its title, its sentences, and the places of those that may be an answer."""

    title: str
    sentences: tuple[str, ...]
    places: tuple[int, ...]

    @classmethod
    def whole(cls, title: str, sentences: Sequence[str]) -> Told:
        """A passage of which any sentence may be one."""
        return cls(title, tuple(sentences), tuple(range(len(sentences))))

    def around(self, place: int) -> str:
        """The title and the sentence among its neighbours."""
        return f"{self.title} {' '.join(self.sentences[max(0, place - 2) : place + 2])}"


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence by its passage and its place there, and the chance that it answers."""

    passage: int
    place: int
    milli: int


@dataclass(frozen=True, slots=True)
class Reading:
    """The sentences, best first, and the chance that any of them answers."""

    sentences: tuple[Scored, ...]
    answered_milli: int


@dataclass(frozen=True, slots=True)
class BorneOut:
    """The chance that a passage bears a claim out, and the place of the sentence that does most for it."""

    milli: int
    place: int
