"""Vectors of another model for a corpus that stands: made beside the old ones, resumable, and then put in their
place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from retrieval.errors import EmbedModelMismatch
from retrieval.index import ChannelIndex, IndexRenewal
from retrieval.ingest.records.searchable import Suspicion, for_channels, nothing_suspect, tagged
from retrieval.ingest.upkeep.upkeep import IngestStore

Progress = Callable[[int, int], None]
_BATCH = 16


@dataclass(frozen=True, slots=True)
class ReembedReport:
    """The report of a run: documents that it embedded, and those that an earlier run had embedded already."""

    documents: int
    resumed: int


async def reembed(
    *,
    store: IngestStore,
    current: ChannelIndex,
    renewal: IndexRenewal,
    suspect: Suspicion = nothing_suspect,
    force: bool = False,
    progress: Progress | None = None,
) -> ReembedReport | None:
    """Embeds every active document of every tenant with the embedder that `renewal` has, and promotes the result.

    None where `current` holds vectors of that embedder already, unless `force`. Searches read the old vectors until the
    end, or all of the new ones. After a crash or a cancellation the next run goes on behind the last batch. `progress`
    is told how many documents of how many are done. Raises what store and indexes raise.
    """
    if not force and await _is_current(current):
        return None
    tenants = {tenant: {d.document_id for d in await store.stored(tenant)} for tenant in await store.tenants()}
    active = frozenset[str]().union(*tenants.values())
    held = await _taken_up(renewal, active)
    done = len(held)
    for tenant, document_ids in tenants.items():
        wanted, closed = sorted(document_ids - held), tagged(await store.classes(tenant))
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            await renewal.add(for_channels(await store.batch(tenant, batch), tagged=closed, suspect=suspect))
            await renewal.commit()
            done += len(batch)
            if progress is not None:
                progress(done, len(active))
    await renewal.promote()
    return ReembedReport(documents=len(active) - len(held), resumed=len(held))


async def _is_current(index: ChannelIndex) -> bool:
    try:
        await index.documents()
    except EmbedModelMismatch:
        return False
    return True


async def _taken_up(renewal: IndexRenewal, active: frozenset[str]) -> frozenset[str]:
    """The documents that an earlier run left, without those that have gone since; none if it had yet another model."""
    try:
        held = await renewal.documents()
    except EmbedModelMismatch:
        await renewal.clear()
        return frozenset()
    if held - active:
        await renewal.remove(held - active)
        await renewal.commit()
    return held & active
