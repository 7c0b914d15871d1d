"""Which surface shows a search, and how: from what was found and read to its body.

A surface is a value that the entry keeps. `decide` and `show` are functions of it, of what was found and of what was
read; replay runs them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ai.answer.evidence import admit_bundle
from ai.case.case import Case, Services
from ai.case.profiles import ALL_CHANNELS, PASSAGES, WIDE, Profile
from ai.governance.admission import Access, admit
from ai.model import Ask, Mode
from ai.search.bodies import basic_body, expansion_body, named_body, packed_body, passage_body, stats_body
from ai.search.passage_search import (
    ShapedHit,
    ShapedHits,
    Shaping,
    is_exhaustive,
    require_answer,
    search_profile,
    shape,
    trace_of,
)
from ai.search.reads import Reads
from ai.search.result import SearchResult, results_of
from ai.search.shapes import PassageBody
from retrieval.bundle import GatheredRuns
from retrieval.model import ChannelName, ChannelRank, Evidence, EvidenceBundle

SurfaceName = Literal["basic", "query", "mget", "expand", "stats", "ablation", "pack"]
CHANNELS: Mapping[Mode, tuple[ChannelName, ...]] = {
    "keyword": (ChannelName.FULLTEXT,),
    "vector": (ChannelName.VECTOR,),
    "hybrid": ALL_CHANNELS,
}
MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class Surface:
    """A surface and how it shows: `ids` what mget names, `token_budget` that of pack, `weights_normalised` whether the
    caller's weights had another sum than one, `timeout_ms` the time for all channels (0: each has its own)."""

    name: SurfaceName
    shaping: Shaping | None = None
    ids: tuple[str, ...] = ()
    token_budget: int = 0
    trace: bool = False
    weights_normalised: bool = False
    timeout_ms: int = 0

    @property
    def searches(self) -> bool:
        """True if the channels are asked."""
        return self.name in {"basic", "query", "ablation", "pack"}


@dataclass(frozen=True, slots=True)
class SurfaceBody:
    """The body, and the hits behind it after shaping, where the surface shapes them."""

    body: Mapping[str, Any]
    passed: tuple[ShapedHit, ...] = ()


def retrieval_profile(profile: Profile, mode: Mode, top_k: int) -> Profile:
    """The profile of a result list of so many items in this mode. Hybrid search is routed by the kind of question,
    unless the profile brings rules of its own."""
    return replace(
        profile,
        channels=CHANNELS[mode],
        channel_top_k=max(24, 2 * top_k),
        rules=profile.rules or PASSAGES,
        limits=WIDE,
        routed=mode == "hybrid" and profile.rules is None,
    )


def surface_profile(surface: Surface, ask: Ask, profile: Profile) -> Profile:
    """How the surface searches, on the ground of a profile."""
    search = ask.options.search
    match surface.name:
        case "basic":
            return retrieval_profile(profile, search.mode, ask.options.top_k)
        case "mget":
            return retrieval_profile(profile, "keyword", ask.options.top_k)
        case "expand" | "stats":
            return profile
        case _:
            if surface.shaping is None or search.weights_milli is None:
                raise AssertionError("a search by weights has weights and is shaped")
            timeout_s = surface.timeout_ms / 1000
            return search_profile(profile, search.weights_milli, top_k=surface.shaping.top_k, timeout_s=timeout_s)


async def decide(
    case: Case, surface: Surface, gathered: GatheredRuns | None, reads: Reads, services: Services
) -> SearchResult:
    """The admitted results, in order; none where the query point refused, or where nothing was searched for."""
    if gathered is None:
        return SearchResult(case)
    if surface.name == "mget":
        admission = await admit(_named(gathered), access=Access.of(case), services=services)
    else:
        admission = await admit_bundle(case, gathered, services)
    documents = {item.evidence.first.record.document_id for item in admission.items}
    metadata = await reads.metadata(documents)
    results = results_of(case, gathered, admission.items, metadata, model=reads.embedding_model)
    return SearchResult(case, results, gathered, admission)


async def show(found: SearchResult, surface: Surface, reads: Reads, services: Services) -> SurfaceBody:
    """The surface's body. Raises `EmbedModelMismatch` and `ChannelTimeout` where R2 has nothing to show for it."""
    shaped = await _shaped(found, surface, reads, services)
    told = replace(found, case=replace(found.case, limitations=(*found.case.limitations, *shaped.limitations)))
    return SurfaceBody(await _body(told, surface, shaped.passed, reads), shaped.passed)


async def _body(
    found: SearchResult, surface: Surface, passed: tuple[ShapedHit, ...], reads: Reads
) -> Mapping[str, Any]:
    body: Mapping[str, Any]
    match surface.name:
        case "basic":
            body = basic_body(found, reads.embedding_model)
        case "query":
            body = await _query_body(found, surface, passed, reads)
        case "pack":
            body = packed_body(found, passed, surface.token_budget)
        case "ablation":
            body = {"surface": "ablation", "hits": [each.result.item.evidence.record_id for each in passed]}
        case "mget":
            body = named_body(found, surface.ids)
        case "expand":
            body = expansion_body(found, await reads.expansions() if found.case.decided.allowed else ())
        case "stats":
            body = stats_body(found, *await reads.version())
    return body


async def _query_body(
    found: SearchResult, surface: Surface, passed: tuple[ShapedHit, ...], reads: Reads
) -> PassageBody:
    version, _ = await reads.version()
    return passage_body(
        found,
        passed,
        model=reads.embedding_model,
        version=version,
        exhaustive=is_exhaustive(found, len(passed)),
        trace=_trace(found, surface, passed, reads) if surface.trace else None,
    )


async def _shaped(found: SearchResult, surface: Surface, reads: Reads, services: Services) -> ShapedHits:
    if surface.shaping is None:
        return ShapedHits(())
    require_answer(found)
    shaping = surface.shaping
    if shaping.reranker is not None:
        shaping = replace(shaping, reranker=reads.scored(shaping.reranker))
    return await shape(found, shaping, services, reads)


def _trace(found: SearchResult, surface: Surface, passed: Sequence[ShapedHit], reads: Reads) -> dict[str, Any]:
    bm25, vector = found.case.ask.options.search.weights_milli or (0, 0)
    told = {
        "weights_milli": {"bm25": bm25, "vector": vector},
        "weights_normalised": surface.weights_normalised,
        "documents_after_filters": reads.filtered,
    }
    return trace_of(found, passed, told)


def _named(gathered: GatheredRuns) -> EvidenceBundle:
    """Records that were asked for by name, in the order of the names."""
    rank = ChannelRank(ChannelName.FULLTEXT, "record", 1, 0.0)
    return EvidenceBundle(
        tuple(
            Evidence(n, record_id, (record,), (rank,), 0.0)
            for n, (record_id, record) in enumerate(gathered.records.items(), 1)
        )
    )
