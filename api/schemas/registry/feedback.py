"""`/api/v1/registry/feedback` and `/quality`: what may be said and what is answered, as clients read it."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from ai.answer.shapes import WirePromise, WireReading
from api.audit.registry.feedback import FeedbackKind, Settlement
from api.schemas.answer import ClosedModel
from api.schemas.query import PLAIN, StrictModel, plain_text

Notes = Annotated[str, Field(max_length=2_000, json_schema_extra=PLAIN), AfterValidator(plain_text)]
Short = Annotated[str, Field(max_length=300, json_schema_extra=PLAIN), AfterValidator(plain_text)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$")]


class RegistryFeedbackRequest(StrictModel):
    """A remark on a recorded request. `result` is the id of what it is about; empty: the whole, or what is missing."""

    entry_id: Annotated[str, Field(min_length=1, max_length=64)]
    kind: FeedbackKind
    result: Short = ""
    notes: Notes = ""
    metadata: Annotated[dict[Name, Short], Field(max_length=20)] = Field(default={})


class FeedbackReceipt(ClosedModel):
    """The entry that holds the remark."""

    request_id: str
    about: str
    provenance: WireReading
    promise: WirePromise


class FeedbackSettlement(StrictModel):
    """A curator's decision."""

    settlement: Settlement
    notes: Notes = ""


class SettlementReceipt(ClosedModel):
    """The entry that holds the settlement."""

    request_id: str
    settles: str
    provenance: WireReading
    promise: WirePromise


class FeedbackItem(ClosedModel):
    """A remark as a curator reads it. `index` is its place in the ledger; `settled` how it was settled last."""

    feedback_id: str
    index: int
    t_ms: int
    about: str
    about_kind: str
    kind: str
    result: str
    notes: str
    metadata: dict[str, str]
    subject: str
    settled: Settlement | None


class FeedbackQueue(ClosedModel):
    """A page of remarks, oldest first."""

    total_count: int
    returned_count: int
    offset: int
    next_offset: int | None
    results: list[FeedbackItem]


class PermissionTimes(ClosedModel):
    """Milliseconds that policy took per query; null without queries."""

    p50: int | None
    p95: int | None
    most: int | None


class RegistryQuality(ClosedModel):
    """Measures; rates in thousandths, null where there is nothing to measure. `filtered_items` were withheld."""

    feedback: dict[str, int]
    feedback_open: int
    precision_milli: int | None
    citation_precision_milli: int | None
    retrievals: int
    zero_results_milli: int | None
    filtered_items: int
    permission_ms: PermissionTimes
