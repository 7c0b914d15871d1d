"""From runs to the numbered evidence bundle."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from retrieval.channels.channel import Channel
from retrieval.channels.fan_out import Slots, fan_out
from retrieval.channels.run_cache import Authority, RunCache
from retrieval.model import (
    ChannelName,
    Computation,
    Evidence,
    EvidenceBundle,
    Hit,
    Limitation,
    Query,
    Run,
    SourcedRecord,
)
from retrieval.ranking.dedupe import Candidate, DedupeRules, dedupe
from retrieval.ranking.fusion import NANO, FusedRecord, FusionWeights, fuse
from retrieval.ranking.rerank import RerankWeights, rerank
from retrieval.registry.store import RecordStore
from retrieval.spatial.facts import Fact, digest_of_facts
from retrieval.stated import with_stated

TOKEN_COUNTER = "utf8-bytes/4"  # noqa: S105 - the name of a measure, no secret


def count_tokens(text: str) -> int:
    """Tokens as budgets count them: a quarter of the UTF-8 bytes, rounded up. No model's tokeniser, so that a budget
    means the same with every model; for English prose it lies within a few per cent of common ones."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


@dataclass(frozen=True, slots=True)
class BundleLimits:
    """Bounds of a bundle. A source's items stop at either of its bounds, the bundle at either of its own."""

    max_items: int = 8
    max_tokens: int = 4000
    max_tokens_per_source: int = 2000
    per_source_items: int = 8

    def __post_init__(self) -> None:
        if min(self.max_items, self.max_tokens, self.max_tokens_per_source, self.per_source_items) < 1:
            raise ValueError("every limit of a bundle is at least 1")


@dataclass(frozen=True, slots=True)
class BundleRules:
    """Everything that decides order and content, as data: recorded, and enough to replay a bundle from its runs."""

    fusion: FusionWeights = field(default_factory=FusionWeights)
    dedupe: DedupeRules = field(default_factory=DedupeRules)
    rerank: RerankWeights = field(default_factory=RerankWeights)


@dataclass(frozen=True, slots=True)
class GatheredRuns:
    """The results of the channels and the admitted records behind them; `assemble` can be run on it again."""

    runs: tuple[Run, ...]
    records: Mapping[str, SourcedRecord]
    limitations: tuple[Limitation, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)


async def gather(
    query: Query,
    *,
    channels: Sequence[Channel],
    store: RecordStore,
    deadlines_s: Mapping[ChannelName, float],
    slots: Slots,
    cache: RunCache | None = None,
    authority: Authority | None = None,
) -> GatheredRuns:
    """Asks all channels, then fetches every record they name, inputs of computed items included, in one read inside the
    scope. Raises `StoreUnavailable`; a channel's failure is a limitation. With `cache` and `authority`, channels that
    were asked the same are not asked again."""
    names = [channel.name for channel in channels]
    known = cache.get(query, names, authority) if cache is not None and authority is not None else None
    found = known or await fan_out(channels, query, deadlines_s=deadlines_s, slots=slots)
    if known is None and cache is not None and authority is not None:
        cache.put(query, names, authority, found)
    started = time.perf_counter()
    hits = [hit for run in found.runs for hit in run.hits]
    wanted = {hit.record_id for hit in hits if hit.computed is None}
    inputs = {record_id for hit in hits if hit.computed is not None for record_id in hit.computed.inputs} - wanted
    if not query.scope.aggregates:
        wanted, inputs = wanted | inputs, set()
    records = dict(await store.fetch(sorted(wanted), scope=query.scope)) if wanted else {}
    if inputs:
        records |= await store.fetch(sorted(inputs), scope=query.scope.with_aggregated)
    if query.documents is not None:  # a computed item has inputs of several documents
        records = {key: found for key, found in records.items() if found.record.document_id in query.documents}
    kept = [_borne_out(run, records) for run in found.runs]
    runs = tuple(with_stated(run, records, query) for run in kept)
    limitations = tuple(dict.fromkeys([*found.limitations, *(each for run in kept for each in run.limitations)]))
    timings = {**found.timings_ms, "fetch": round((time.perf_counter() - started) * 1000, 3)}
    return GatheredRuns(runs, records, limitations, timings)


def _borne_out(run: Run, records: Mapping[str, SourcedRecord]) -> Run:
    """The run; without hits where a result was computed from other figures or shapes than the records state: its index
    is damaged, or of another time, and what it left out nobody can tell."""
    if all(hit.computed is None or _states(records, hit.computed) for hit in run.hits):
        return run
    told = Limitation("CHANNEL_FAULT", "the index does not hold what its sources state", run.channel)
    return replace(run, hits=(), limitations=(*run.limitations, told))


def _states(records: Mapping[str, SourcedRecord], done: Computation) -> bool:
    """False where the inputs are all there and state something else."""
    if any(record_id not in records for record_id in done.inputs):
        return True
    facts = [Fact.of(records[record_id].record) for record_id in done.inputs]
    return digest_of_facts([fact for fact in facts if fact is not None]) == done.input_digest


def assemble(
    runs: Sequence[Run],
    records: Mapping[str, SourcedRecord],
    *,
    query: Query,
    rules: BundleRules,
    limits: BundleLimits,
    excluded: frozenset[str] = frozenset(),
    limitations: tuple[Limitation, ...] = (),
) -> EvidenceBundle:
    """The bundle of the hits that have a record and are not excluded. Pure: equal arguments, equal bundle.

    A hit without a record (not admitted, not active), an excluded one, and a computed one with such an input leave
    their run, whose ranks close up; so the bundle equals that of a corpus without them.
    """
    admitted = tuple(_without_absent(run, records, excluded) for run in runs)
    fused = fuse(admitted, rules.fusion)
    distinct = dedupe([_candidate(item, records) for item in fused], rules.dedupe)
    ordered = rerank(distinct, query=query, weights=rules.rerank)
    items = tuple(_evidence(n, c) for n, c in enumerate(_within(ordered, limits), start=1))
    return EvidenceBundle(items, limitations, admitted, candidates=len(fused))


def _without_absent(run: Run, records: Mapping[str, SourcedRecord], excluded: frozenset[str]) -> Run:
    def present(hit: Hit) -> bool:
        if hit.computed is None:
            return hit.record_id in records and hit.record_id not in excluded
        inputs = hit.computed.inputs
        gone = hit.record_id in excluded or not inputs
        return not gone and all(record_id in records and record_id not in excluded for record_id in inputs)

    kept = [hit for hit in sorted(run.hits, key=lambda hit: hit.rank) if present(hit)]
    closed = (hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in enumerate(kept, start=1))
    return replace(run, hits=tuple(closed))


def _candidate(item: FusedRecord, records: Mapping[str, SourcedRecord]) -> Candidate:
    ids = (item.record_id,) if item.computed is None else item.computed.inputs
    return Candidate(item.record_id, tuple(records[i] for i in ids), item.ranks, item.score_nano, item.computed)


def _within(ordered: Sequence[Candidate], limits: BundleLimits) -> Iterator[Candidate]:
    """The longest prefix-greedy choice: an item that does not fit is passed over, a later and smaller one may still
    fit. A source's first item may exceed the source's token bound (the context cuts it), never the bundle's."""
    tokens_left, items_left = limits.max_tokens, limits.max_items
    items_of: dict[str, int] = {}
    tokens_of: dict[str, int] = {}
    for candidate in ordered:
        if items_left == 0:
            return
        source, size = candidate.records[0].source.source_id, count_tokens(candidate.words)
        bounded = min(size, limits.max_tokens_per_source)
        spent = tokens_of.get(source, 0)
        full = items_of.get(source, 0) >= limits.per_source_items or spent + bounded > limits.max_tokens_per_source
        if full or bounded > tokens_left:
            continue
        items_of[source], tokens_of[source] = items_of.get(source, 0) + 1, spent + bounded
        tokens_left, items_left = tokens_left - bounded, items_left - 1
        yield candidate


def _evidence(index: int, candidate: Candidate) -> Evidence:
    return Evidence(
        index=index,
        record_id=candidate.record_id,
        records=candidate.records,
        ranks=candidate.ranks,
        fused_score=candidate.score_nano / NANO,
        computed=candidate.computed,
        duplicates=candidate.duplicates,
    )
