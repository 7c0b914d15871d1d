"""Requirement 002's optional endpoints: mget, expand, feedback, stats, ablation, pack."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse

from ai.canonical import canonical
from ai.model import Ask, Options
from ai.record.trace import traced
from ai.retrieve import RetrievalOutcome, retrieve
from ai.search.bodies import provenance_json
from ai.search.shapes import ExpandResponse, MgetResponse, PackResponse
from ai.search.surface import Surface
from api.audit.entries.records import Reader
from api.home.version import VERSION
from api.http.ablation.profiles import leaderboard
from api.http.callers import SECURITY, Call, Calling, Meters
from api.http.promised import promised
from api.http.views.retrieval import passage_ask, require_collection, require_tenant_of, surface_of
from api.schemas.errors import errors
from api.schemas.retrieval.more import (
    AblationRequest,
    AblationResponse,
    ExpandRequest,
    FeedbackRequest,
    FeedbackResponse,
    MgetRequest,
    PackRequest,
    StatsResponse,
)
from ledger.model import Kind
from retrieval.ranking.calibration import calibrations
from retrieval.ranking.reranker import HEURISTIC

router = APIRouter(prefix="/retrieval", tags=["retrieval"], dependencies=SECURITY)
STATUSES = (400, 401, 403, 404, 413, 415, 422, 500, 503, 504)
MGET = "documents by id"


@router.post(
    "/mget",
    operation_id="getPassages",
    summary="Read passages by id",
    response_model=None,
    responses={200: {"model": MgetResponse}, **errors(*STATUSES)},
)
async def mget(body: MgetRequest, call: Calling) -> JSONResponse:
    """Chunks, and all passages of documents, by id; decided and recorded like a search."""
    require_tenant_of(body.tenant, call.caller.subject)

    return JSONResponse((await _shown(call, MGET, Surface("mget", ids=tuple(body.ids)))).promised)


async def _shown(call: Call, question: str, surface: Surface) -> RetrievalOutcome:
    ask = Ask(call.request_id, question, call.caller.subject, options=Options(profile="basic", top_k=100))
    return await retrieve(ask, services=call.system.services, profile=call.system.profile("basic"), surface=surface)


@router.post(
    "/expand",
    operation_id="expandQuery",
    summary="Other ways to say a query",
    response_model=None,
    responses={200: {"model": ExpandResponse}, **errors(*STATUSES)},
)
async def expand(body: ExpandRequest, call: Calling) -> JSONResponse:
    """Other names, spellings, abbreviations and related entities, each with its source, from the caller's scope."""
    require_tenant_of(body.tenant, call.caller.subject)
    return JSONResponse((await _shown(call, body.query, Surface("expand"))).promised)


@router.post(
    "/feedback",
    operation_id="giveFeedback",
    summary="Label a result",
    response_model=None,
    responses={200: {"model": FeedbackResponse}, **errors(*STATUSES)},
)
async def feedback(body: FeedbackRequest, call: Calling) -> JSONResponse:
    """A label on something that a recorded request of the caller showed; it points at that entry in the ledger."""
    require_tenant_of(body.tenant, call.caller.subject)
    services = call.system.services
    about = await Reader(principal=call.caller, services=services, request_id=call.request_id).entry(body.entry_id)
    entry_id = services.new_id()
    told = {"request_id": call.request_id, "about": body.entry_id, "provenance": provenance_json(entry_id)}
    label = {
        "surface": "feedback",
        "subject": call.caller.subject.id,
        "chunk_id": body.chunk_id,
        "label": body.label,
        "comment": body.comment,
    }
    entry = await services.ledger.record(
        Kind.RETRIEVAL,
        tenant=call.caller.subject.tenant,
        request_id=call.request_id,
        parts={"context": canonical(traced(label)), "answer": canonical(told)},
        refs=[about.ref.as_ref("about")],
        entry_id=entry_id,
    )
    return JSONResponse(await promised(told, entry, services))


@router.get(
    "/stats",
    operation_id="getRetrievalStats",
    summary="What runs, and how fast",
    response_model=None,
    responses={200: {"model": StatsResponse}, **errors(401, 403, 503)},
)
async def stats(call: Calling, metrics: Meters) -> JSONResponse:
    """The running version, the size of the caller's corpus, and how long retrieval took for the
    caller's tenant since the process began."""
    services = call.system.services
    told = (await _shown(call, "stats", Surface("stats"))).body
    return JSONResponse(
        {
            "software": f"exhibit/{VERSION}",
            "embedding_model": services.embedding_model,
            "index_version": told["index_version"],
            "documents": told["documents"],
            "calibration": dict(calibrations(services.embedding_model)),
            "rerankers": [HEURISTIC, *services.rerankers],
            "policy_bundle": call.system.engine.bundle_digest,
            "latency": metrics.retrieval.latencies(tenant=call.caller.subject.tenant),
        }
    )


@router.post(
    "/ablation",
    operation_id="compareProfiles",
    summary="Compare ways of searching",
    response_model=None,
    responses={200: {"model": AblationResponse}, **errors(*STATUSES)},
)
async def ablation(body: AblationRequest, call: Calling) -> JSONResponse:
    """Saved queries through every profile, and a leaderboard with intervals; each search is recorded."""
    require_tenant_of(body.tenant, call.caller.subject)
    rows = await leaderboard(body, call)
    return JSONResponse({"request_id": call.request_id, "queries": len(body.queries), "k": body.k, "leaderboard": rows})


@router.post(
    "/pack",
    operation_id="packContext",
    summary="Pack hits into one text",
    response_model=None,
    responses={200: {"model": PackResponse}, **errors(*STATUSES)},
)
async def pack(body: PackRequest, call: Calling) -> JSONResponse:
    """A search whose hits become one text of numbered sources under a token budget."""
    services = call.system.services
    ask = passage_ask(body, subject=call.caller.subject, request_id=call.request_id, model=services.embedding_model)
    surface = surface_of(body, "pack", rerankers=services.rerankers, token_budget=body.token_budget)
    done = await retrieve(ask, services=services, profile=call.system.profile("basic"), surface=surface)
    require_collection(done.found)
    return JSONResponse(done.promised)
