"""`/api/v1/policy`: for authors of policy and maintainers. Nothing here releases anything."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from api.audit.entries.decisions import DecisionReader
from api.audit.entries.records import Reader
from api.audit.policy.flips import smallest_flips
from api.audit.policy.trial import trace_of, tried
from api.http.callers import SECURITY, Call, Calling
from api.schemas.errors import errors
from api.schemas.policy import BundleResponse, DecisionsResponse, EvaluateRequest, EvaluateResponse
from policy.bundles.bundle import ENTRYPOINTS
from policy.model import Point

router = APIRouter(prefix="/api/v1/policy", tags=["policy"], dependencies=SECURITY)
AUTHOR = "policy.author"
EntryId = Annotated[str, Path(min_length=1, max_length=64, description="Id of a ledger entry.")]


@router.post(
    "/evaluate",
    operation_id="evaluatePolicy",
    summary="Try an input",
    responses=errors(400, 401, 403, 413, 415, 422, 500, 503),
)
async def evaluate(body: EvaluateRequest, call: Calling) -> EvaluateResponse:
    """Decide over this input with the bundle in force: with every rule of the point and whether it spoke, and for the
    request and each item the smallest change of the input that turns its fate, which was itself decided. Checked as
    for a request; not recorded, and nothing is released on it. Needs `policy.author`."""
    call.caller.require(AUTHOR)
    settings = call.system.configuration.settings.policy
    bundle, point = call.system.policy.bundle, Point(body.point)

    async def decide(asked: object) -> dict[str, Any]:
        alone, deadline_s = call.system.policy.alone, settings.deadline_ms / 1000
        return await tried(alone, point, asked, rules=bundle.rules, deadline_s=deadline_s)

    decision = await decide(body.input)
    flips = await smallest_flips(body.input, decision, decide=decide, data=bundle.data)
    trace = trace_of(point, decision, bundle.rules)
    return EvaluateResponse.model_validate({"request_id": call.request_id, **decision, "trace": trace, "flips": flips})


@router.get("/bundle", operation_id="getPolicyBundle", summary="The bundle in force", responses=errors(401, 403, 500))
async def bundle(call: Calling) -> BundleResponse:
    """The bundle in force: digest, engine, files, rules with their owners and their texts for readers. Needs
    `policy.author`."""
    call.caller.require(AUTHOR)
    policy = call.system.policy
    return BundleResponse.model_validate(
        {
            "bundle_digest": policy.bundle.digest,
            "engine": policy.engine.name,
            "module_sha256": policy.bundle.wasm_sha256,
            "shadow": policy.shadow,
            "entrypoints": list(ENTRYPOINTS),
            "files": dict(sorted(policy.bundle.files.items())),
            "rules": [rule.wire() for rule in policy.bundle.rules],
        }
    )


@router.get(
    "/decisions/{entry_id}",
    operation_id="listDecisions",
    summary="Decisions of an entry",
    responses=errors(401, 403, 404, 422, 500, 503),
)
async def decisions(entry_id: EntryId, call: Calling) -> DecisionsResponse:
    """The decisions that a ledger entry records. Needs `policy.author`; of other people's requests also `ledger.audit`,
    and so do the inputs and what was left out."""
    call.caller.require(AUTHOR)
    found = await _reader(call).of_entry(entry_id)
    return DecisionsResponse.model_validate({"entry_id": entry_id, "decisions": found})


def _reader(call: Call) -> DecisionReader:
    texts = {rule.code: rule.reader for rule in call.system.policy.bundle.rules}
    return DecisionReader(Reader(call.caller, call.request_id, call.system.services), texts)
