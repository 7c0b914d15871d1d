"""`/api/v1/policy` for those who change it: rules and how often they spoke, roles against labels, candidates and their
trials, publishing and rolling back. A change needs a key, `policy.publish`, and a page of this origin."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request

from api.audit.entries.records import AUDIT
from api.audit.log.search import EntrySearch
from api.audit.policy.backtesting import Shelf
from api.audit.policy.drafts import Drafts
from api.audit.policy.explaining import explain, explanation_document
from api.audit.policy.release import Candidacy, Change, Release, accept, may_publish, publish, roll_back
from api.audit.policy.use import policy_changes, rules_spoken
from api.errors import NoSuchThing, RequestRejected, TrialNeeded
from api.http.callers import SECURITY, Call, Calling, Writing
from api.http.policy.trials import PolicyTrials
from api.http.routes.policy.reading import AUTHOR, EntryId
from api.schemas.errors import errors
from api.schemas.policy_author import (
    AcceptRequest,
    CandidateName,
    DraftRequest,
    DraftResponse,
    ExplanationResponse,
    LastEntries,
    MatrixResponse,
    PolicyDataResponse,
    PublishRequest,
    ReleaseResponse,
    ReleasesResponse,
    RollbackRequest,
    RulesResponse,
    TrialResponse,
)
from api.wiring import active_digest, bundle_folder, open_entry_index, releases_of
from policy.authoring.lattice.domain import Domain
from policy.authoring.lattice.matrix import decide_matrix
from policy.data import DATA_PATH

router = APIRouter(prefix="/api/v1/policy", tags=["policy"], dependencies=SECURITY)
PUBLISH = "policy.publish"
_CHANGES = 50
Name = Annotated[CandidateName, Path()]


@router.get(
    "/rules",
    operation_id="listPolicyRules",
    summary="The rules, and how often each spoke",
    responses=errors(401, 403, 422, 503),
)
async def rules(call: Calling, last: Annotated[LastEntries, Query()] = 1_000) -> RulesResponse:
    """The rules of the bundle in force and, with `ledger.audit`, how often each spoke in the tenant's share of the
    newest entries. Needs `policy.author`."""
    call.caller.require(AUTHOR)
    spoken, entries = None, None
    if call.caller.may(AUDIT):
        ledger = call.system.services.ledger
        async with open_entry_index(call.system.configuration, origin=ledger.origin) as index:
            tenant = call.caller.subject.tenant
            spoken, entries = await rules_spoken(EntrySearch(ledger, index), tenant=tenant, last=last)
    bundle = call.system.policy.bundle
    told = [rule.wire() | {"spoke": None if spoken is None else spoken.get(rule.id, 0)} for rule in bundle.rules]
    document = {"bundle_digest": bundle.digest, "entries": entries, "rules": told}
    return RulesResponse.model_validate(document)


@router.get(
    "/matrix", operation_id="getPolicyMatrix", summary="Roles against labels and tags", responses=errors(401, 403, 503)
)
async def matrix(call: Calling) -> MatrixResponse:
    """Roles against labels and handling tags, decided now by the bundle in force. Needs `policy.author`."""
    call.caller.require(AUTHOR)
    services, bundle = call.system.services, call.system.policy.bundle
    found = await decide_matrix(services.points(services.clock_ms()), Domain.of(bundle))
    return MatrixResponse(
        bundle_digest=bundle.digest,
        labels=list(found.labels),
        tags=list(found.tags),
        cells={role: list(row) for role, row in found.cells.items()},
    )


@router.get(
    "/data", operation_id="getPolicyData", summary="The data of the bundle in force", responses=errors(401, 403, 500)
)
async def data(call: Calling) -> PolicyDataResponse:
    """The data of the bundle in force, to draft a candidate from. Needs `policy.author`."""
    call.caller.require(AUTHOR)
    backend = call.system.chosen.policy
    text = await asyncio.to_thread((bundle_folder(backend) / "rego" / DATA_PATH).read_bytes)
    return PolicyDataResponse(bundle_digest=call.system.policy.bundle.digest, data=json.loads(text))


@router.get(
    "/releases",
    operation_id="listPolicyReleases",
    summary="Bundles, candidates and changes",
    responses=errors(401, 403, 500, 503),
)
async def releases(call: Calling) -> ReleasesResponse:
    """The bundle in force, those in the archive, candidates, and who changed what, when and why. Needs
    `policy.author`."""
    call.caller.require(AUTHOR)
    archive = releases_of(call.system.chosen.policy).archive
    policy = call.system.policy
    document = {
        "active": policy.bundle.digest,
        "shadow": policy.shadow,
        "archived": await asyncio.to_thread(archive.digests),
        "candidates": await asyncio.to_thread(_drafts(call).names),
        "changes": await policy_changes(call.system.services.ledger, last=_CHANGES),
    }
    return ReleasesResponse.model_validate(document)


@router.get(
    "/explanations/{entry_id}",
    operation_id="explainEntry",
    summary="Why each candidate was kept or dropped",
    responses=errors(401, 403, 404, 422, 500, 503),
)
async def explanation(entry_id: EntryId, call: Calling) -> ExplanationResponse:
    """Why each candidate of a recorded request was kept, redacted or dropped, and the smallest change that turns it;
    only of what the caller may see now. Needs `policy.author`, of other people's requests also `ledger.audit`."""
    call.caller.require(AUTHOR)
    found = await explain(
        entry_id,
        caller=call.caller.subject,
        request_id=call.request_id,
        services=call.system.services,
        shelf=Shelf.of(call.system.configuration),
    )
    return ExplanationResponse.model_validate(explanation_document(found))


@router.post(
    "/candidates",
    operation_id="draftPolicy",
    summary="Draft a candidate",
    responses=errors(400, 401, 403, 413, 415, 422, 500),
)
async def draft(body: DraftRequest, call: Writing) -> DraftResponse:
    """Keep the bundle in force with other data as a candidate, in the place of an earlier one of that name. Nothing is
    decided by it. Needs `policy.publish`."""
    call.caller.require(PUBLISH)
    text = json.dumps(body.data, indent=2, ensure_ascii=False).encode() + b"\n"
    base = bundle_folder(call.system.chosen.policy)
    made = await asyncio.to_thread(lambda: _drafts(call).draft(body.name, base=base, data=text))
    return DraftResponse(candidate=body.name, bundle_digest=made.digest)


@router.post(
    "/candidates/{name}/trial",
    operation_id="tryPolicy",
    summary="Begin to try a candidate",
    status_code=202,
    responses=errors(401, 403, 404, 422, 500, 503),
)
async def start_trial(name: Name, call: Writing, request: Request) -> TrialResponse:
    """Begin to try a candidate: every gate, what it newly permits, and the newest requests decided again. One trial
    runs at a time. Needs `policy.publish`."""
    call.caller.require(PUBLISH)
    candidacy = await asyncio.to_thread(_candidacy, call, name)
    trial = _trials(request).start(name, candidacy, call.system.configuration)
    return TrialResponse.model_validate(trial.document)


@router.get(
    "/candidates/{name}/trial",
    operation_id="getPolicyTrial",
    summary="How a trial goes",
    responses=errors(401, 403, 404, 422),
)
async def trial(name: Name, call: Calling, request: Request) -> TrialResponse:
    """The last trial of a candidate by this process, as far as it has come. Entries that it names need `ledger.audit`.
    Needs `policy.author`."""
    call.caller.require(AUTHOR)
    found = _trials(request).of(name)
    if found is None:
        raise NoSuchThing("The candidate was not tried.")
    document: dict[str, Any] = found.document
    if not call.caller.may(AUDIT):
        document = document | {"backtest": None}
    return TrialResponse.model_validate(document)


@router.post(
    "/publish",
    operation_id="publishPolicy",
    summary="Let a candidate decide",
    responses=errors(400, 401, 403, 404, 409, 413, 415, 422, 500, 503),
)
async def publish_candidate(body: PublishRequest, call: Writing, request: Request) -> ReleaseResponse:
    """Let a candidate decide that has passed every gate in its last trial, against the bundle that still decides. All
    that it newly permits must be accepted by name. Who and why are on the ledger before it decides. Needs
    `policy.publish`."""
    call.caller.require(PUBLISH)
    backend = call.system.chosen.policy
    may_publish(backend)
    tried, now = _trials(request).of(body.candidate), await asyncio.to_thread(_candidacy, call, body.candidate)
    if tried is None or tried.state != "passed" or now.bundle.digest != body.bundle_digest:
        raise TrialNeeded("This candidate has not passed its gates; try it first.")
    if tried.candidacy != now:
        raise TrialNeeded("The candidate or the bundle in force has changed since the trial; try it again.")
    names = [each["name"] for each in tried.widenings]
    if missing := [name for name in names if name not in body.accept]:
        raise RequestRejected(f"Not every widening is accepted by name: {missing[0]}")
    release = await publish(
        now,
        gates_passed=[each["name"] for each in tried.gates],
        widened=names,
        change=Change(call.caller.subject.id, body.why),
        configuration=call.system.configuration,
        ledger=call.system.services.ledger,
    )
    return _told(release, now.bundle.digest, now.active.digest)


@router.post(
    "/accept",
    operation_id="acceptPolicy",
    summary="Accept what a second person proposed",
    responses=errors(400, 401, 403, 404, 413, 415, 422, 500, 503),
)
async def accept_proposal(body: AcceptRequest, call: Writing) -> ReleaseResponse:
    """Let a bundle decide that somebody else has proposed, because it opens what the data in force ask a second person
    for. All of that must be accepted by name. Needs `policy.publish`; who proposed it may not accept it."""
    call.caller.require(PUBLISH)
    backend = call.system.chosen.policy
    may_publish(backend)
    active = await asyncio.to_thread(active_digest, backend)
    if body.bundle_digest not in releases_of(backend).archive.digests():
        raise NoSuchThing("There is no such bundle in the archive.")
    release = await accept(
        body.bundle_digest,
        accepted=body.accept,
        change=Change(call.caller.subject.id, body.why),
        configuration=call.system.configuration,
        ledger=call.system.services.ledger,
    )
    return _told(release, body.bundle_digest, active)


@router.post(
    "/rollback",
    operation_id="rollBackPolicy",
    summary="Let an earlier bundle decide again",
    responses=errors(400, 401, 403, 404, 413, 415, 422, 500, 503),
)
async def roll_back_to(body: RollbackRequest, call: Writing) -> ReleaseResponse:
    """Let an archived bundle decide again, which must still be whole and pass the canary. Who and why are on the ledger
    before it decides. Needs `policy.publish`."""
    call.caller.require(PUBLISH)
    backend = call.system.chosen.policy
    may_publish(backend)
    active = await asyncio.to_thread(active_digest, backend)
    if body.bundle_digest not in releases_of(backend).archive.digests():
        raise NoSuchThing("There is no such bundle in the archive.")
    change = Change(call.caller.subject.id, body.why)
    ledger = call.system.services.ledger
    configuration = call.system.configuration
    entry_id = await roll_back(
        body.bundle_digest, active=active, change=change, configuration=configuration, ledger=ledger
    )
    return _told(Release(entry_id), body.bundle_digest, active)


def _told(release: Release, digest: str, replaced: str) -> ReleaseResponse:
    state: Literal["published", "proposed"] = "proposed" if release.proposed else "published"
    return ReleaseResponse(bundle_digest=digest, replaced=replaced, entry_id=release.entry_id, state=state)


def _drafts(call: Call) -> Drafts:
    return Drafts(call.system.chosen.policy.releases / "candidates")


def _candidacy(call: Call, name: str) -> Candidacy:
    backend, drafts = call.system.chosen.policy, _drafts(call)
    return Candidacy.of(drafts.load(name), drafts.path(name), backend)


def _trials(request: Request) -> PolicyTrials:
    trials: PolicyTrials = request.app.state.trials
    return trials
