"""`POST /retrieval/query` (requirement 002): every field, or a refusal by name."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import ConfigDict, Field, JsonValue, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from api.schemas.query import WHOLE, Question, StrictModel, Text

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
FieldName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")]
Component = Annotated[float, Field(allow_inf_nan=False, ge=-1e6, le=1e6)]


_POSITIVE: dict[str, JsonValue] = {"type": "number", "exclusiveMinimum": 0}
_OF_VECTORS: dict[str, JsonValue] = {"type": "object", "required": ["vector"], "properties": {"vector": _POSITIVE}}
_OF_TEXT: dict[str, JsonValue] = {"type": "object", "required": ["bm25"], "properties": {"bm25": _POSITIVE}}
"""The JSON schema that the validator of weights asks for."""


class Hybrid(StrictModel):
    """Weights of full text and vectors; they count in proportion."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, json_schema_extra={"anyOf": [_OF_TEXT, _OF_VECTORS]}
    )
    bm25: Share = 0.0
    vector: Share = 0.0

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.bm25 + self.vector <= 0:
            raise PydanticCustomError("weights", "One of the weights must be above zero")
        return self


class Vector(StrictModel):
    """A vector of the caller's own, and the model it is of."""

    embedding: Annotated[list[Component], Field(min_length=1, max_length=4096)] | None = Field(
        default=None, examples=[[0.12, -0.03, 0.98]]
    )
    model: Text | None = Field(default=None, examples=["wordllama-0.4.0.post1/l2_supercat_256"])


class Rerank(StrictModel):
    """A second look at the best `top_n`."""

    enabled: StrictBool = True
    model: Text = "heuristic/1"
    top_n: Annotated[StrictInt, Field(ge=1, le=100), WHOLE] = 20


class GroupBy(StrictModel):
    """At most `per_group` hits of one value of a field."""

    field: FieldName
    per_group: Annotated[StrictInt, Field(ge=1, le=100), WHOLE] = 1


class SnippetSpan(StrictModel):
    """Snippets of `window_tokens`, with `surround_tokens` of the document on either side."""

    window_tokens: Annotated[StrictInt, Field(ge=1, le=4_000), WHOLE] = 180
    surround_tokens: Annotated[StrictInt, Field(ge=0, le=4_000), WHOLE] = 0


class RetrievalQuery(StrictModel):
    """A search. `query` or `vector.embedding` is required."""

    query: Question | None = None
    top_k: Annotated[StrictInt, Field(ge=1, le=100), WHOLE]
    hybrid: Hybrid | None = None
    vector: Vector = Vector()
    filters: dict[str, JsonValue] = Field(default={}, description="the filter language")
    rerank: Rerank = Rerank(enabled=False)
    group_by: GroupBy | None = None
    span: SnippetSpan | None = None
    timeout_ms: Annotated[StrictInt, Field(ge=1, le=600_000), WHOLE] = 10_000
    collection: Text | None = Field(default=None, description="name or id; absent: all that the caller may use")
    tenant: Text | None = Field(default=None, description="if given, it must be the credential's")
    trace: StrictBool = False

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.query is None and self.vector.embedding is None:
            raise PydanticCustomError("nothing_to_search", "Give query or vector.embedding")
        if self.query is None and self.hybrid is not None and self.hybrid.vector == 0:
            raise PydanticCustomError("nothing_to_search", "Full text needs a query")
        return self
