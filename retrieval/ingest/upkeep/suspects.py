"""The records that read like instructions, so that nothing finds them: for whoever runs the home."""

from __future__ import annotations

from collections.abc import AsyncIterator

from retrieval.ingest.records.searchable import Suspicion, is_suspect
from retrieval.ingest.upkeep.upkeep import IngestStore
from retrieval.model import Record

_BATCH = 64


async def suspects(store: IngestStore, tenant: str, suspect: Suspicion) -> AsyncIterator[Record]:
    """Those of the tenant's active documents, by document and place. They are read by the rules of now, which are those
    that the evidence point applies; an index may still hold what was harmless when it was built."""
    wanted = sorted(held.document_id for held in await store.stored(tenant))
    for start in range(0, len(wanted), _BATCH):
        batch = await store.batch(tenant, wanted[start : start + _BATCH])
        for record in sorted(batch.records, key=lambda each: (each.document_id, each.ordinal)):
            if is_suspect(record, suspect):
                yield record
