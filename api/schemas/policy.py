"""The wire format of the routes for policy authors."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from api.schemas.answer import ClosedModel

Fate = Literal["allowed", "denied", "kept", "redacted", "dropped"]


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


class TracedRule(ClosedModel):
    """A rule of the point, and of what it spoke."""

    rule: str = Field(description="id of the rule")
    code: str = Field(description="code of the rule")
    severity: Literal["deny", "drop", "oblige"] = Field(description="what it does where it speaks")
    title: str = Field(description="what it is for")
    spoke: list[WireTarget] = Field(description="what it spoke of; empty where it did not")


class WireInputChange(ClosedModel):
    """A change of an input."""

    what: str = Field(description="such as group, purpose, role, label or handling")
    value: str = Field(description="what it becomes, in words; `-` before what is taken away")
    sets: dict[str, Any] = Field(description="fields by JSON pointer (RFC 6901), and what they are set to")


class InputFlip(ClosedModel):
    """The smallest change that turns what becomes of the request, of an item or of a sentence. It was decided: the
    input with these fields set has this digest."""

    item: WireTarget = Field(description="the request, an item of evidence or a sentence")
    before: Fate = Field(description="its fate as asked")
    becomes: Fate = Field(description="its fate after the change")
    changes: list[WireInputChange] = Field(description="one, or two together")
    input_digest: str = Field(description="digest of the changed input, as it was decided")


class EvaluateResponse(ClosedModel):
    """The checked decision. Nothing was released on it, and it is not recorded."""

    request_id: str
    point: str
    effect: str
    reasons: list[WireReason]
    obligations: list[WireObligation]
    admit: list[str]
    stamp: WireStamp
    trace: list[TracedRule] = Field(description="every rule of the point, by id")
    flips: list[InputFlip] = Field(description="the request first; what no single change or pair turns is absent")


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
