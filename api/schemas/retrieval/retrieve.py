"""`/api/v1/retrieve/basic` and `/agentic` (requirement 000): requests and responses, field by field."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, StrictInt

from api.schemas.query import WHOLE, Question, StrictModel, Text

_UUID = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
KbId = Annotated[str, Field(pattern=_UUID, json_schema_extra={"format": "uuid"})]
Filters = Annotated[dict[str, JsonValue], Field(description="metadata filters: the filter language, or field: value")]
WireMode = Literal["keyword", "vector", "hybrid"]


class BasicRequest(StrictModel):
    """One knowledge base, one query."""

    kb_id: KbId
    query: Question
    tenant_id: Text
    top_k: Annotated[StrictInt, Field(ge=1, le=100), WHOLE] = 10
    mode: WireMode = "vector"
    filters: Filters = Field(default={})
    similarity_threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.65


class AgenticRequest(StrictModel):
    """A question over several knowledge bases, inside budgets."""

    query: Question
    tenant_id: Text
    kb_ids: Annotated[list[KbId], Field(max_length=50)] = Field(default=[])
    max_steps: Annotated[StrictInt, Field(ge=1, le=20), WHOLE] = 5
    reasoning_effort: Literal["low", "medium", "high"] = "medium"
    top_k_per_step: Annotated[StrictInt, Field(ge=1, le=50), WHOLE] = 5
    token_budget: Annotated[StrictInt, Field(ge=100, le=100_000), WHOLE] = 8000
    max_latency_ms: Annotated[StrictInt, Field(ge=1000, le=120_000), WHOLE] = 30_000
    mode: WireMode = "hybrid"
    filters: Filters = Field(default={})
