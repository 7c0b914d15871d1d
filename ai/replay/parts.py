"""Grades part by part: which parts of an entry were computed again, which are kept as they are, and why.

A part that is compared has the entry's grade, or R0 where it came out otherwise, NONE where its bytes do not hold.
A part that is an input of the recomputation, or that nothing else tells of, is kept: it has no grade, and a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ai.replay.comparison import Stage
from ledger.entry.parts import source_number

KEPT: Mapping[str, str] = {
    "question": "what was asked",
    "context": "what was asked with it",
    "scope": "what the store of that day held; the gate's result in it is compared",
    "candidates": "what the stores found; R3 asks them again",
    "replay": "the inputs of the recomputation",
    "detail": "what was done to the log",
}
"""Parts that are recorded inputs."""


@dataclass(frozen=True, slots=True)
class PartGrade:
    """The grade of one part, as text; None for a part that is kept and not computed again, or erased: `reason` says
    which."""

    name: str
    grade: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of a replay: its stages, the grade that it gives the entry, and the parts without bytes."""

    stages: Collection[Stage]
    grade: str
    erased: Collection[str]
    empty: Collection[str]

    @property
    def compared(self) -> set[str]:
        """The names of the stages."""
        return {stage.name for stage in self.stages}

    @property
    def failed(self) -> set[str]:
        """Those that came out otherwise."""
        return {stage.name for stage in self.stages if not stage.same}

    def of(self, name: str) -> PartGrade:
        """The grade of one part."""
        lost = any(stage.startswith("commitment ") or stage == "inclusion" for stage in self.failed)
        if name in self.erased:
            return PartGrade(name, None, "erased")
        if lost:
            return PartGrade(name, "NONE", "its bytes, or those of another part, do not hold")
        if not self.compared - {"inclusion"}:
            return PartGrade(name, "R0", "of this kind of entry nothing is computed again")
        return self._compared(name) or PartGrade(name, None, f"kept, not computed again: {self._why(name)}")

    def _compared(self, name: str) -> PartGrade | None:
        family = "sources" if source_number(name) is not None else name
        against = {stage for stage in self.failed if _is_of(stage, name, family)}
        if against:
            return PartGrade(name, "R1" if all(map(_is_of_model, against)) else "R0", "it differs")
        if family in self.compared:
            return PartGrade(name, "R1" if self.grade == "R0" else self.grade)
        return None

    def _why(self, name: str) -> str:
        return KEPT.get(name) or ("empty" if name in self.empty else "the run did not come to it")


def _is_of(stage: str, name: str, family: str) -> bool:
    """True if the stage compares that part; `sources/2` is a part and a stage of its own."""
    if source_number(stage) is not None:
        return name in {stage, "sources"}
    return stage == name or (family == "calls" and _is_of_model(stage))


def _is_of_model(stage: str) -> bool:
    return stage.startswith("model.")
