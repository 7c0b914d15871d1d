"""Requirement 002's requests as the pipeline's values, and what it found as requirement 002's body."""

from __future__ import annotations

from collections.abc import Mapping

from ai.model import Ask, Options, SearchOptions
from ai.search.passage_search import Shaping
from ai.search.result import SearchResult
from ai.search.surface import Surface, SurfaceName
from api.errors import ActionForbidden, BadQuery, FieldProblem, NoSuchThing
from api.http.views.retrieve import UNKNOWN_BASE
from api.schemas.retrieval.search import RetrievalQuery
from policy.model import Subject
from retrieval.errors import EmbedModelMismatch, FilterInvalid
from retrieval.filters import Filter, canonical_filter, parse_filter
from retrieval.ranking.reranker import HEURISTIC, HeuristicReranker, Reranker

WEIGHT_TOLERANCE = 0.01
NOTHING_ASKED = "vector only"
_MILLI = 1000


def passage_ask(request: RetrievalQuery, *, subject: Subject, request_id: str, model: str) -> Ask:
    """The request as the pipeline takes it. Raises ActionForbidden for another tenant, EmbedModelMismatch, BadQuery."""
    require_tenant_of(request.tenant, subject)
    require_model(request, model)
    embedding = request.vector.embedding
    return Ask(
        request_id=request_id,
        question=request.query or NOTHING_ASKED,
        subject=subject,
        options=Options(
            profile="basic",
            top_k=min(100, 4 * request.top_k),
            collections=(request.collection,) if request.collection else (),
            search=SearchOptions(
                filters=canonical_filter(request.filters) if request.filters else "", weights_milli=weights(request)[0]
            ),
        ),
        filters=_filter(request),
        embedding=tuple(embedding) if embedding is not None else None,
    )


def require_tenant_of(named: str | None, subject: Subject) -> None:
    """Raises ActionForbidden where the body names another tenant than the credential's."""
    if named is not None and named != subject.tenant:
        raise ActionForbidden("The tenant in the request is not that of the credential.")


def require_model(request: RetrievalQuery, model: str) -> None:
    """Raises EmbedModelMismatch where the request names another model than the index holds; the name may leave out the
    version after `@`."""
    named = request.vector.model
    if named is not None and named not in (model, model.partition("@")[0]):
        raise EmbedModelMismatch("the index holds vectors of another model than the request names")


def _filter(request: RetrievalQuery) -> Filter | None:
    try:
        return parse_filter(request.filters) if request.filters else None
    except FilterInvalid as exc:
        raise BadQuery("The request is not valid.", (FieldProblem(exc.where, "filter", str(exc)),)) from None


def weights(request: RetrievalQuery) -> tuple[tuple[int, int], bool]:
    """Weights of full text and vectors in thousandths, and whether they had to be brought to a sum of one. Without a
    query only vectors count."""
    if request.query is None:
        return (0, _MILLI), False
    if request.hybrid is None:
        return (_MILLI * 2 // 3, _MILLI // 3), False
    total = request.hybrid.bm25 + request.hybrid.vector
    bm25 = round(_MILLI * request.hybrid.bm25 / total)
    return (bm25, _MILLI - bm25), abs(total - 1) > WEIGHT_TOLERANCE


def shaping_of(request: RetrievalQuery, rerankers: Mapping[str, Reranker]) -> Shaping:
    """The shaping of results; `rerankers` are those beside the heuristic one. Raises BadQuery for one that is not
    here."""
    known = {HEURISTIC: HeuristicReranker(), **rerankers}
    if request.rerank.enabled and request.rerank.model not in known:
        told = f"unknown reranker; known: {', '.join(known)}"
        raise BadQuery("The request is not valid.", (FieldProblem("rerank.model", "unknown_reranker", told),))
    return Shaping(
        top_k=request.top_k,
        reranker=known[request.rerank.model] if request.rerank.enabled else None,
        rerank_timeout_ms=request.timeout_ms,
        rerank_top_n=request.rerank.top_n,
        group_field=request.group_by.field if request.group_by else "",
        per_group=request.group_by.per_group if request.group_by else 0,
        window=request.span.window_tokens if request.span else 0,
        surround=request.span.surround_tokens if request.span else 0,
    )


def surface_of(
    request: RetrievalQuery, name: SurfaceName, *, rerankers: Mapping[str, Reranker], token_budget: int = 0
) -> Surface:
    """How the request shows what is found. Raises BadQuery for a reranker that is not here."""
    return Surface(
        name,
        shaping=shaping_of(request, rerankers),
        token_budget=token_budget,
        trace=request.trace,
        weights_normalised=weights(request)[1],
        timeout_ms=request.timeout_ms,
    )


def require_collection(found: SearchResult) -> None:
    """Raises NoSuchThing where the collection is unknown or not for this caller: they answer alike."""
    if UNKNOWN_BASE in found.reason_codes:
        raise NoSuchThing("There is no such collection.")
