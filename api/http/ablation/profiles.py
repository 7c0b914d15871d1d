"""Saved queries through several profiles (requirement 002)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ai.model import Ask, Options, SearchOptions
from ai.retrieve import retrieve
from ai.search.passage_search import Shaping
from ai.search.surface import Surface
from api.http.ablation.measures import Figure, difference, figure, ndcg, recall, reciprocal_rank
from api.http.callers import Call
from api.schemas.retrieval.more import AblationProfile, AblationRequest
from api.wiring import new_id
from retrieval.ranking.reranker import HeuristicReranker

_MILLI = 1000
_TIMEOUT_MS = 10_000


async def leaderboard(request: AblationRequest, call: Call) -> list[dict[str, Any]]:
    """A row per profile, by nDCG; every search is an entry of the ledger. Raises what a search raises."""
    measured: dict[str, dict[str, list[float]]] = {}
    for profile in request.profiles:
        row = measured.setdefault(profile.name, {"ndcg": [], "recall": [], "mrr": []})
        for saved in request.queries:
            ranked, relevant = await _ranked(saved.query, profile, request.k, call), frozenset(saved.relevant)
            seen = [next((each for each in ids if each in relevant), ids[0]) for ids in ranked]
            row["ndcg"].append(ndcg(seen, relevant, request.k))
            row["recall"].append(recall(seen, relevant, request.k))
            row["mrr"].append(reciprocal_rank(seen, relevant))
    first = measured[request.profiles[0].name]["ndcg"]
    rows = [
        {"name": name}
        | {measure: _told(figure(values)) for measure, values in row.items()}
        | {"against_first": _told(difference(row["ndcg"], first))}
        for name, row in measured.items()
    ]
    return sorted(rows, key=lambda row: (-row["ndcg"]["mean"], row["name"]))


async def _ranked(query: str, profile: AblationProfile, k: int, call: Call) -> list[tuple[str, str]]:
    """(chunk, document) of the hits, in order."""
    total = profile.hybrid.bm25 + profile.hybrid.vector
    bm25 = round(_MILLI * profile.hybrid.bm25 / total)
    weights = (bm25, _MILLI - bm25)
    options = Options(profile="basic", top_k=min(100, 4 * k), search=SearchOptions(weights_milli=weights))
    shaping = Shaping(k, HeuristicReranker() if profile.rerank else None, 4 * k)
    done = await retrieve(
        Ask(new_id(), query, call.caller.subject, options=options),
        services=call.system.services,
        profile=call.system.profile("basic"),
        surface=Surface("ablation", shaping=shaping, timeout_ms=_TIMEOUT_MS),
    )
    found = [passed.result.item.evidence for passed in done.passed]
    return [(evidence.record_id, evidence.first.record.document_id) for evidence in found]


def _told(found: Figure) -> dict[str, float]:
    return {name: value for name, value in asdict(found).items() if name != "n"}
