"""The computation behind a citation, as it is described to clients."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ai.answer.shapes import Span, WirePromise, WireReading
from api.schemas.answer import ClosedModel


class Rows(BaseModel):
    """The rows of a computation that are asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    after: Annotated[int, Field(ge=0, le=1_000_000, description="how many rows to pass over")] = 0
    limit: Annotated[int, Field(ge=1, le=500, description="most rows")] = 100


class ComputationRow(ClosedModel):
    """A row that was computed with. Its words are null where only the figure over many rows may be told."""

    chunk_id: str
    href: Annotated[str, Field(description="the row in its document")]
    title: Annotated[str | None, Field(description="title of its source")]
    text: Annotated[str | None, Field(description="the row as its document has it")]
    statement: Annotated[str | None, Field(description="what it states, in words")]
    redacted: list[Span]


class ComputationResponse(ClosedModel):
    """A computation as an answer recorded it, and the rows that it was made from."""

    request_id: str
    entry_id: Annotated[str, Field(description="the entry of the answer")]
    n: Annotated[int, Field(description="number of the source in that answer", examples=[1])]
    operation: Annotated[str, Field(description="what was done with the rows", examples=["rank"])]
    parameters: Annotated[dict[str, Any], Field(description="what it was done with, such as measure and year")]
    result: Annotated[dict[str, Any], Field(description="what it came to, as data")]
    statement: Annotated[str, Field(description="what it came to, in words")]
    input_digest: Annotated[str, Field(description="digest of what the rows state")]
    inputs: Annotated[list[ComputationRow], Field(description="the rows, those that the result names before others")]
    inputs_total: Annotated[int, Field(description="how many rows there are in all", examples=[105])]
    next: Annotated[str | None, Field(description="leads to the rows after these; null at the end")]
    recomputed: Annotated[
        Literal["same", "other", "not_possible"],
        Field(description="what the rows give today; `not_possible` if one of them is no longer held"),
    ]
    check: Annotated[str, Field(description="how to check it, in words")]
    provenance: WireReading
    promise: WirePromise
