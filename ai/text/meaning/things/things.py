"""The things that a question asks of, and whether a sentence, where it stands, tells of another in their place
(ADR 0114)."""

from __future__ import annotations

from dataclasses import dataclass

from ai.text.meaning.things.bound import Bound
from ai.text.meaning.things.clauses import Clauses
from ai.text.meaning.things.counted import Counted
from ai.text.meaning.things.doers import Doer
from ai.text.meaning.things.done import Done
from ai.text.meaning.things.kin import Kin
from ai.text.meaning.things.measured import Measured
from ai.text.meaning.things.objects import Object
from ai.text.meaning.things.sorts import Sort
from ai.text.meaning.things.subjects import Subject
from ai.text.meaning.things.told import Told

Thing = Bound | Clauses | Counted | Doer | Done | Kin | Measured | Object | Sort | Subject
_KINDS: tuple[type[Thing], ...] = (Bound, Clauses, Counted, Doer, Done, Kin, Measured, Object, Sort, Subject)


@dataclass(frozen=True, slots=True)
class Things:
    """The things, places and persons that a question asks of."""

    asked: tuple[Thing, ...] = ()

    @classmethod
    def of(cls, question: str) -> Things:
        """Reads the question."""
        return cls(tuple(kind.of(question) for kind in _KINDS))

    def agree(self, told: Told) -> bool:
        """True unless the sentence tells of another thing, place or person."""
        return all(each.agrees(told) for each in self.asked)
