"""The common part of every response of the API. The shapes of what is recorded are those of `ai.answer.shapes`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ClosedModel(BaseModel):
    """No field that is not described."""

    model_config = ConfigDict(extra="forbid")
