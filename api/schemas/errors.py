"""The one error body."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

_CLOSED = ConfigDict(extra="forbid")


class Detail(BaseModel):
    """One field that is not valid."""

    model_config = _CLOSED
    field: str
    code: str
    message: str


class ErrorFields(BaseModel):
    """The account of an error. `entry_id` names the ledger entry that records it, where there is one."""

    model_config = _CLOSED
    code: str
    message: str
    details: list[Detail] | None = None
    request_id: str
    entry_id: str | None = Field(default=None, examples=["01a2031f-1fc5-776c-bb33-2bf6a0c1861e"])


class ErrorBody(BaseModel):
    """Every error, of every route."""

    model_config = _CLOSED
    error: ErrorFields


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The responses of a route that may answer with these statuses, for its description."""
    return {status: {"model": ErrorBody} for status in statuses}
