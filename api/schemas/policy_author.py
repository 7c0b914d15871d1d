"""The wire format of the routes by which authors try, publish and roll back policy."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from api.audit.policy.drafts import NAME
from api.schemas.answer import ClosedModel
from api.schemas.policy import WireRule

Digest = Annotated[
    str,
    Field(pattern=r"^sha256:[0-9a-f]{64}$", description="SHA-256 over its files", examples=["sha256:" + "93eb" * 16]),
]
Why = Annotated[
    str, Field(min_length=1, max_length=1_000, description="why, in words; kept on the ledger", examples=["Issue 12"])
]
CandidateName = Annotated[
    str, Field(pattern=NAME, description="name of a candidate in this home", examples=["wider-reading"])
]
LastEntries = Annotated[
    int, Field(ge=1, le=100_000, description="how many of the newest entries of the log are read", examples=[1_000])
]


class SpokenRule(WireRule):
    """A rule of the bundle in force, and how often it spoke."""

    spoke: int | None = Field(description="entries that name it; null without `ledger.audit`", examples=[12])


class RulesResponse(ClosedModel):
    """The rules of the bundle in force."""

    bundle_digest: str = Field(description="digest of the bundle in force", examples=["sha256:93eb…"])
    entries: int | None = Field(
        description="recorded answers and searches that were counted; null without `ledger.audit`", examples=[240]
    )
    rules: list[SpokenRule] = Field(description="by id")


class MatrixResponse(ClosedModel):
    """The visibility of an open item to each role: of every label, and with every handling tag on the lowest label."""

    bundle_digest: str = Field(description="the bundle in force", examples=["sha256:93eb…"])
    labels: list[str] = Field(description="labels, ascending", examples=[["public", "internal"]])
    tags: list[str] = Field(description="handling tags", examples=[["pii"]])
    cells: dict[str, list[str]] = Field(
        description="by role, for each label and then each tag: `visible`, `hidden`, or obligations joined by `+`",
        examples=[{"public_viewer": ["visible", "hidden", "redact"]}],
    )


class PolicyDataResponse(ClosedModel):
    """The data of the bundle in force: roles, labels, handling, thresholds."""

    bundle_digest: str = Field(description="digest of the bundle in force", examples=["sha256:93eb…"])
    data: dict[str, Any] = Field(description="as `kfm/config/data.json` has them")


class PolicyChange(ClosedModel):
    """A change of the bundle in force, as the ledger has it."""

    entry_id: str = Field(description="the entry", examples=["01a2031f-1fc5-776c-bb33-2bf6a0c1861e"])
    t_ms: int = Field(description="when it was recorded, UTC milliseconds", examples=[1795354024124])
    action: Literal["publish", "propose", "rollback", "taken up"] = Field(
        description="`propose`: waits for a second person; `taken up` is recorded by the server that decides by it",
        examples=["publish"],
    )
    before: str = Field(description="the bundle that decided until then", examples=["sha256:93eb…"])
    after: str = Field(description="the bundle that decides since", examples=["sha256:a1c2…"])
    by: str | None = Field(description="who did it", examples=["key:e45a25d1598c"])
    why: str | None = Field(description="the reason that was given; null where there is none", examples=["Issue 12"])
    widenings: list[str] = Field(
        description="what was newly permitted, by name; of a proposal, what needs a second person", examples=[[]]
    )


class ReleasesResponse(ClosedModel):
    """The bundles of this home."""

    active: str = Field(description="the bundle in force", examples=["sha256:93eb…"])
    shadow: str | None = Field(description="the bundle in its shadow", examples=[None])
    archived: list[str] = Field(description="bundles that can be rolled back to", examples=[["sha256:93eb…"]])
    candidates: list[str] = Field(description="names of candidates", examples=[["wider-reading"]])
    changes: list[PolicyChange] = Field(description="the newest first, at most 50")


class DraftRequest(BaseModel):
    """A candidate: the bundle in force with these data."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: CandidateName
    data: dict[str, JsonValue] = Field(description="as `PolicyData.data` has them, changed")


class DraftResponse(ClosedModel):
    """The candidate as it was kept."""

    candidate: str = Field(description="name of the folder that holds it", examples=["wider-reading"])
    bundle_digest: str = Field(description="SHA-256 over its files", examples=["sha256:a1c2…"])


class TriedGate(ClosedModel):
    """A gate."""

    name: str = Field(description="what was checked", examples=["233 decision vectors on wasm:3c33"])
    passed: bool = Field(description="true if nothing is wrong", examples=[True])
    problems: list[str] = Field(description="lines, each with its place where it has one", examples=[[]])


class NamedWidening(ClosedModel):
    """Something that is newly permitted."""

    name: str = Field(description="what a publisher accepts it by", examples=["role contributor: clearance"])
    detail: str = Field(description="in words", examples=["internal becomes confidential"])


class TrialResponse(ClosedModel):
    """A trial as far as it has come."""

    candidate: str = Field(description="name of the folder that holds it", examples=["wider-reading"])
    bundle_digest: str = Field(description="SHA-256 over its files", examples=["sha256:a1c2…"])
    active_digest: str = Field(description="the bundle that it was compared with", examples=["sha256:93eb…"])
    state: Literal["running", "passed", "closed", "failed"] = Field(
        description="`closed`: a gate is; `failed`: the trial did not come to its end", examples=["passed"]
    )
    gates: list[TriedGate] = Field(description="in order; after a closed one, others may be left out")
    widenings: list[NamedWidening] = Field(description="what it permits beyond the bundle in force")
    narrowings: list[NamedWidening] = Field(
        description="what the bundle in force permits and it no longer does, told as what the way back would permit"
    )
    notes: list[str] = Field(description="what was left out, and why", examples=[[]])
    backtest: dict[str, Any] | None = Field(
        description="the newest recorded requests decided again, as `exhibit policy backtest --json` prints it",
        examples=[{"requests": 200, "decisions_reproduced": 200, "deny_to_allow": [], "allow_to_deny": []}],
    )
    fault: str | None = Field(description="why it failed", examples=[None])


class PublishRequest(BaseModel):
    """Let a candidate decide that was tried."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    candidate: CandidateName
    bundle_digest: Digest
    accept: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        default=[], max_length=1_000, description="names of widenings that are wanted", examples=[[]]
    )
    why: Why


class AcceptRequest(BaseModel):
    """Let a bundle decide that somebody else has proposed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    bundle_digest: Digest
    accept: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        max_length=1_000,
        description="names of widenings that need a second person",
        examples=[["role viewer: sees internal"]],
    )
    why: Why


class RollbackRequest(BaseModel):
    """Let an archived bundle decide again."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    bundle_digest: Digest
    why: Why


class ReleaseResponse(ClosedModel):
    """The change that was made. A running server takes it up within a second."""

    bundle_digest: str = Field(description="the bundle that decides from now on", examples=["sha256:a1c2…"])
    replaced: str = Field(description="the bundle that decided until now", examples=["sha256:93eb…"])
    entry_id: str | None = Field(
        description="the ledger entry of the change; null where nothing changed",
        examples=["01a2031f-1fc5-776c-bb33-2bf6a0c1861e"],
    )
    state: Literal["published", "proposed"] = Field(
        description="`proposed`: it opens what needs a second person, and waits for somebody else to accept it",
        examples=["published"],
    )


class ExplanationResponse(ClosedModel):
    """Why each candidate of a recorded request was kept, redacted or dropped, as `exhibit policy explain --json` tells
    it."""

    entry_id: str = Field(description="the entry", examples=["01a2031f-1fc5-776c-bb33-2bf6a0c1861e"])
    outcome: str | None = Field(description="its outcome; null for a search", examples=["ANSWER"])
    policy: str = Field(description="the bundle that decided", examples=["sha256:93eb…"])
    request: dict[str, Any] = Field(description="effect and reasons of the query point, and the change that turns it")
    candidates: list[dict[str, Any]] = Field(description="those that the caller may see now, with the smallest flip")
