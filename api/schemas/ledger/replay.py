"""Replay of a recorded entry, as it is asked for and answered."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from api.schemas.answer import ClosedModel
from api.schemas.query import StrictModel

GradeName = Literal["NONE", "R0", "R1", "R2", "R3"]


class ReplayRequest(StrictModel):
    """How far an entry is to be computed again."""

    to: Literal["R0", "R1", "R2"] = Field(
        default="R1",
        description="the grade to try for: R0 proves the bytes, R1 computes the answer again, R2 asks the model too",
    )


class ReplayExcerpt(ClosedModel):
    """Where two texts differ for the first time."""

    recorded: str = Field(description="a piece of what is on record", examples=["had 85,200 people"])
    again: str = Field(description="the same piece as it came out now", examples=["had 85,000 people"])
    at: int = Field(description="where the first difference is in both pieces, in characters", examples=[7])


class ReplayStage(ClosedModel):
    """One comparison of the replay."""

    name: str = Field(description="what was compared: a part, the inclusion in the log, the model", examples=["answer"])
    same: bool = Field(description="true if it came out as recorded")
    detail: str = Field(description="where it does not hold, or what it differs in; empty if it is the same")
    excerpt: ReplayExcerpt | None = Field(description="both texts around the difference; null where there is none")


class ReplayPart(ClosedModel):
    """The grade of one part of the entry."""

    name: str = Field(description="the part, such as answer or sources/2", examples=["answer"])
    grade: GradeName | None = Field(description="how far it holds; null for what is kept and not computed again")
    reason: str = Field(description="why it has no grade, or a lower one; empty for what holds")


class ReplayResponse(ClosedModel):
    """How far the record of an entry holds when it is computed again."""

    entry_id: str = Field(description="id of the ledger entry that was replayed")
    kind: str = Field(description="outcome, retrieval or another kind of entry", examples=["outcome"])
    grade: GradeName = Field(description="how far it holds: bytes, computation, model; NONE if not even its bytes do")
    verdict: Literal["reproduced", "differs", "cannot_run", "broken"] = Field(
        description="cannot_run: this home does not have what the record names, which says nothing against the record"
    )
    differs_at: str | None = Field(description="the first comparison that is not the same; null if all are")
    limit: str = Field(description="why a higher grade was not tried; empty if it was")
    changed: list[str] = Field(description="settings that are others today; the replay ran with the recorded ones")
    missing: list[str] = Field(description="what the record names and this home does not have")
    erased: list[str] = Field(description="parts that were erased")
    stages: list[ReplayStage] = Field(description="the comparisons, in the order of the run")
    parts: list[ReplayPart] = Field(description="every part of the entry with its grade")
