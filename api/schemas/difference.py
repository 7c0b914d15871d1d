"""The comparison of two entries as the API gives it."""

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
    """What one component of the second entry does alone in the first."""

    name: Annotated[str, Field(description="the component that was exchanged")]
    effect: Annotated[
        Literal["nothing", "changes", "explains"],
        Field(description="nothing, another answer, or the answer of the second entry"),
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
