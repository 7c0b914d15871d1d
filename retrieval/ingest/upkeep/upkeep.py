"""Keeps the channels in step with the store of record: what went leaves them, what is missing comes back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Protocol

from retrieval.index import ChannelIndex, IndexBatch
from retrieval.ingest.digest_cache import DigestCache
from retrieval.ingest.label import AccessTerms
from retrieval.ingest.records.searchable import Suspicion, for_channels, tagged
from retrieval.model import Lifecycle
from retrieval.registry.store import RecordStore, RecordWriter


class IngestStore(RecordStore, RecordWriter, Protocol):
    """Both sides of the store of record."""


async def channel_batches(
    store: IngestStore, tenant: str, document_ids: Collection[str], *, suspect: Suspicion
) -> AsyncIterator[IndexBatch]:
    """The contribution of the documents to the channels, a few documents at a time."""
    wanted = sorted(document_ids)
    closed = tagged(await store.classes(tenant)) if wanted else frozenset()
    for start in range(0, len(wanted), 16):
        batch = await store.batch(tenant, wanted[start : start + 16])
        yield await asyncio.to_thread(for_channels, batch, tagged=closed, suspect=suspect)


class Upkeep:
    """The store of record and every channel beside it. One at a time per store."""

    def __init__(
        self,
        *,
        store: IngestStore,
        indexes: Sequence[ChannelIndex],
        terms: Callable[[], AccessTerms],
        digests: DigestCache | None = None,
    ) -> None:
        self._store = store
        self._indexes = tuple(indexes)
        self._terms = terms
        self._digests = digests or DigestCache()

    async def remove(self, source_ids: Collection[str], *, tenant: str) -> tuple[str, ...]:
        """Withdraws sources: out of the reader's sight in one transaction, then out of every channel. Returns the
        documents."""
        held = await self._store.stored(tenant)
        gone = tuple(document.document_id for document in held if document.source_id in source_ids)
        await self._store.set_lifecycle(gone, Lifecycle.WITHDRAWN)
        await self._drop(gone)
        return gone

    async def erase(self, name: str, *, tenant: str) -> tuple[str, ...]:
        """Erases a source with all its versions, or one document: from the store of record, then from every channel,
        which is filled anew so that no byte stays in its files. Returns the documents."""
        gone = await self._store.erase(name, tenant=tenant)
        await asyncio.to_thread(self._digests.forget)  # it names places and digests of what went
        if gone:
            await self.rebuild()
        return gone

    async def repair(self, tenant: str) -> None:
        """Makes the channels hold exactly the tenant's active documents: what a kill or a lost index left is put
        right."""
        active = {document.document_id for document in await self._store.stored(tenant)}
        others = [await self._store.stored(tenant, state) for state in Lifecycle if state is not Lifecycle.ACTIVE]
        stale = {document.document_id for documents in others for document in documents}
        for index in self._indexes:
            held = await index.documents()
            if held & stale:
                await index.remove(held & stale)
                await index.commit()
            await self._refill([index], tenant, active - held)
        drafts = await self._store.stored(tenant, Lifecycle.DRAFT)
        await self._store.discard([document.document_id for document in drafts])

    async def repair_all(self) -> int:
        """`repair` for every tenant; what a channel holds beside their active documents (of a store that was set back,
        or lost) leaves it. Returns the number of tenants."""
        active: set[str] = set()
        tenants = await self._store.tenants()
        for tenant in tenants:
            await self.repair(tenant)
            active |= {document.document_id for document in await self._store.stored(tenant)}
        for index in self._indexes:
            unknown = await index.documents() - active
            if unknown:
                await index.remove(unknown)
                await index.commit()
        return len(tenants)

    async def rebuild(self) -> int:
        """Empties every channel and fills it from the store, all tenants; returns the number of documents. One commit
        does both: where a channel can, it answers from what it had until then."""
        for index in self._indexes:
            await index.clear()
        count = 0
        for tenant in await self._store.tenants():
            ids = [document.document_id for document in await self._store.stored(tenant)]
            await self._feed(self._indexes, tenant, ids)
            count += len(ids)
        for index in self._indexes:
            await index.commit()
        return count

    async def _refill(self, indexes: Sequence[ChannelIndex], tenant: str, document_ids: Collection[str]) -> None:
        await self._feed(indexes, tenant, document_ids)
        if document_ids:
            for index in indexes:
                await index.commit()

    async def _feed(self, indexes: Sequence[ChannelIndex], tenant: str, document_ids: Collection[str]) -> None:
        async for batch in channel_batches(self._store, tenant, document_ids, suspect=self._terms().suspect):
            for index in indexes:
                await index.add(batch)

    async def _drop(self, document_ids: Collection[str]) -> None:
        if document_ids:
            for index in self._indexes:
                await index.remove(document_ids)
                await index.commit()
