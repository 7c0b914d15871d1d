"""The comparison of two entries, and the changes of an answer over time, as the API gives them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.schemas.answer import ClosedModel

Status = Literal["explained", "same", "impossible", "not_shown"]


class ComparedEntry(ClosedModel):
    """One of the two entries."""

    entry_id: str
    t_ms: int


class ComparedRow(ClosedModel):
    """One thing that is compared, as lines of each side."""

    name: Annotated[str, Field(description="what is compared")]
    same: Annotated[bool, Field(description="true where both have the very same lines")]
    one: Annotated[list[str], Field(description="lines of the first entry")]
    other: Annotated[list[str], Field(description="lines of the second entry")]


class ExchangeEffect(ClosedModel):
    """The effect that one component of the second entry has alone in the first."""

    name: Annotated[str, Field(description="the component that was exchanged", examples=["policy"])]
    effect: Annotated[
        Literal["nothing", "changes", "explains"],
        Field(description="nothing, another answer, or the answer of the second entry", examples=["explains"]),
    ]


class AnswerExplanation(ClosedModel):
    """Which differences explain the answers. `causes` together, and none left out, give the second answer."""

    status: Annotated[Status, Field(description="whether there is an explanation, or why not")]
    text: Annotated[str, Field(description="the same in words")]
    causes: Annotated[list[str], Field(description="components that together give the second answer")]
    effects: Annotated[list[ExchangeEffect], Field(description="what each component that differs does alone")]


class DifferenceResponse(ClosedModel):
    """Two entries beside each other."""

    entries: Annotated[list[ComparedEntry], Field(description="the two entries")]
    rows: Annotated[list[ComparedRow], Field(description="what was compared, in the order in which it is shown")]
    explanation: Annotated[AnswerExplanation, Field(description="which difference explains the answer")]


class AnsweredOnce(ClosedModel):
    """One time that the question was answered."""

    entry_id: str = Field(description="id of the outcome")
    time: str = Field(description="when it was recorded, UTC", examples=["2026-03-01T12:00:00.000Z"])
    outcome: Literal["ANSWER", "ABSTAIN", "DENY"] = Field(description="how it ended")
    policy: str | None = Field(description="digest of the policy bundle that decided; null where none did")


class AnswerChange(ClosedModel):
    """A change of the answer, from one entry to the next."""

    before: AnsweredOnce = Field(description="the last entry with the earlier answer")
    after: AnsweredOnce = Field(description="the first entry with the later answer")
    explanation: AnswerExplanation = Field(description="which difference of the two explains it")


class AnswerChanges(ClosedModel):
    """Since when, and by what, a question is answered differently."""

    question: str = Field(description="what was asked, word for word")
    entries: list[AnsweredOnce] = Field(
        description="every time that it was asked in the same way with the same rights, the oldest first"
    )
    changes: list[AnswerChange] = Field(description="the changes of its answer, the oldest first")
