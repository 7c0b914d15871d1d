"""The wire format of the routes for policy authors."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from api.schemas.answer import ClosedModel


class EvaluateRequest(BaseModel):
    """An input for one point, as `exhibit.policy.input/1` describes it. It may be anything: to see what a missing or a
    wrong fact does is what the route is for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    point: Literal["query", "evidence", "answer"] = Field(description="Which point is asked.")
    input: JsonValue = Field(description="The facts; integers only, no keys beyond ASCII.")


class WireTarget(ClosedModel):
    """The subject of a reason or an obligation."""

    kind: str
    ref: str


class WireReason(ClosedModel):
    """A rule that spoke, with its text for readers."""

    rule: str
    code: str
    severity: str
    target: WireTarget
    params: dict[str, Any]
    text: str


class WireObligation(ClosedModel):
    """A duty that must be fulfilled before the decision holds."""

    op: str
    target: WireTarget
    rule: str
    params: dict[str, Any]


class WireStamp(ClosedModel):
    """Which bundle decided, on which engine, over which input (digests)."""

    bundle: str
    engine: str
    input: str


class EvaluateResponse(ClosedModel):
    """The checked decision. Nothing was released on it, and it is not recorded."""

    request_id: str
    point: str
    effect: str
    reasons: list[WireReason]
    obligations: list[WireObligation]
    admit: list[str]
    stamp: WireStamp


class WireRule(ClosedModel):
    """The METADATA of a rule of the bundle; `severity` is deny, drop or oblige."""

    id: str
    code: str
    severity: str
    title: str
    owner: str
    reader: str
    file: str
    row: int


class BundleResponse(ClosedModel):
    """The bundle that decides: its digest (which is its revision on a server), engine, files by SHA-256, rules; and the
    digest of the bundle in its shadow."""

    bundle_digest: str
    engine: str
    module_sha256: str
    shadow: str | None
    entrypoints: list[str]
    files: dict[str, str]
    rules: list[WireRule]


class WireDecision(ClosedModel):
    """One run of one point, as it was recorded. `input` only for those who may audit."""

    point: str
    run: int
    effect: str
    reasons: list[WireReason]
    obligations: list[WireObligation]
    admit: list[str]
    digest: str
    stamp: WireStamp
    input: dict[str, Any] | None


class DecisionsResponse(ClosedModel):
    """The decisions of one ledger entry, in the order in which they were made."""

    entry_id: str
    decisions: list[WireDecision]
