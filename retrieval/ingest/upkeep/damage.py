"""Damage to what is kept: the store of record against its sums, and what the channels state
against the store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from retrieval.errors import ChannelFault
from retrieval.files.sqlite_index import SqliteIndex
from retrieval.index import ChannelIndex, IndexBatch
from retrieval.ingest.records.searchable import Suspicion
from retrieval.ingest.upkeep.upkeep import IngestStore, channel_batches
from retrieval.registry.sums import Damage


class SummedStore(IngestStore, Protocol):
    """A store of record that can compare itself with its sums."""

    async def damage(self) -> tuple[Damage, ...]: ...


async def damage_of(store: SummedStore, indexes: Sequence[ChannelIndex], *, suspect: Suspicion) -> tuple[Damage, ...]:
    """Everything that is not what was stored. Channels are compared where their index is a file that computed answers
    rest on, and only with a store that is whole. Raises `StoreDamaged`, `ChannelUnavailable`."""
    found = await store.damage()
    if found:
        return found
    return tuple([each for index in indexes async for each in _of_index(store, index, suspect)])


async def _of_index(store: IngestStore, index: ChannelIndex, suspect: Suspicion) -> AsyncIterator[Damage]:
    """An index that lacks something, or holds too much, is for a repair."""
    if not isinstance(index, SqliteIndex):
        return
    held = await index.documents()
    both: dict[str, dict[str, str]] = {}
    for tenant in await store.tenants():
        active = await store.stored(tenant)
        both[tenant] = {each.document_id: each.source_id for each in active if each.document_id in held}

    async def batches() -> AsyncIterator[IndexBatch]:
        for tenant, documents in both.items():
            async for batch in channel_batches(store, tenant, documents, suspect=suspect):
                yield batch

    try:
        differing = await index.differing(batches())
    except ChannelFault as exc:
        yield Damage(f"the index {index.name}", exc.message, derived=True)
        return
    for document_id in sorted(differing - held):
        yield Damage(document_id, f"rows of the index {index.name}, which does not hold it", derived=True)
    for documents in both.values():
        for document_id in sorted(differing & documents.keys()):
            name = f"source {documents[document_id]} ({document_id})"
            yield Damage(name, f"what the index {index.name} states of it", derived=True)
