"""Values: a true figure, a true sentence with its question, a draft that a model might write, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ai.model import PromptSource

Family = Literal["figure", "prose"]
RIGHT: tuple[str, ...] = (
    "verbatim",
    "leaning",
    "rounded",
    "paraphrase",
    "merged",
    "list",
    "chatter",
    "uncited right",
    "miscited",
    "list of places",
    "computed",
)
"""The kinds of right draft; every other kind is wrong. A right sentence under a wrong number is right as long as the
number is put right."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One cell of a table of the corpus."""

    place_id: str
    place: str
    measure: str
    year: int
    value: str
    unit: str
    statement: str


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence of a passage that answers a question, or only seems to. `before`: the one before it where it leans on
    that by its first word, else empty."""

    question: str
    sentence: str
    passage: str
    before: str = ""
    answers: bool = True


Sources = Sequence[PromptSource]


@dataclass(frozen=True, slots=True)
class Trial:
    """A question, and the draft that the model writes once it has seen the sources: the text, and the sentences in
    it that are on trial. None where the sources do not hold what the draft is made from. `said` is what a released
    citation of a right sentence must say. `adjoining`: they count as released only one directly behind the
    other."""

    family: Family
    kind: str
    question: str
    write: Callable[[Sources], tuple[str, tuple[str, ...]] | None]
    said: tuple[str, ...] = ()
    adjoining: bool = False

    @property
    def right(self) -> bool:
        """True if the sentences on trial are true, and answer."""
        return self.kind in RIGHT


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a trial: whether its sentences left, and the whole draft, for the reader of the report."""

    trial: Trial
    draft: str
    released: bool
    outcome: str
    answer: str
